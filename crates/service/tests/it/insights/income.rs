//! The income analysis: adds up to the cent, and covers only the accounts of a limited key.

use std::sync::Arc;

use serde_json::Value;
use service::access::keys::NewKey;
use service::access::profiles::{self, Profile};
use service::insights::income;
use service::{App, Caller};
use testkit::draft::{account, checking, statement, txn};
use testkit::{World, new_key};

use super::{count_events, every, monthly, recompute_all};

async fn get(app: &App, caller: &Caller) -> Value {
    let analysis = income::get(app, caller).await.unwrap();
    serde_json::from_str(&serde_json::to_string(&analysis).unwrap()).unwrap()
}

/// Cents, parsed from the exact text.
fn cents(value: &Value) -> i64 {
    let text = value.to_string();
    base::Money::parse(&text, base::Currency::USD).unwrap().minor()
}

#[tokio::test]
async fn blocks_add_up_to_the_cent_and_a_third_payday_in_a_month_does_not_raise_the_income() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 27, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let rent = monthly("2026-03-02", 14, -120_000, "OAK STREET APARTMENTS RENT");
    let food = every(7, "2026-03-07", 52, -8_133, "KROGER #339 INDIANAPOLIS IN");
    let everyday = checking("Everyday").with_all(pay).with_all(rent).with_all(food);
    robin.import(statement([everyday])).await;
    recompute_all(&world).await;
    let income = get(&world.app, &robin.caller).await;
    assert_eq!(cents(&income["monthly_income"]), 402_210, "{income}");
    assert_eq!(cents(&income["variability"]["range"]), 0);
    assert_eq!(income["window"]["months"], 12);
    let blocks = ["expenses", "debt", "emergency_fund", "investments"];
    let allocated: i64 = blocks.iter().map(|it| cents(&income[it]["amount"])).sum();
    assert_eq!(allocated + cents(&income["unallocated"]), cents(&income["monthly_income"]));
    for block in ["expenses", "debt"] {
        let parts = income[block]["breakdown"].as_object().unwrap();
        let sum: i64 = parts.values().map(|it| cents(&it["amount"])).sum();
        assert_eq!(sum, cents(&income[block]["amount"]), "{block}");
    }
    assert_eq!(cents(&income["expenses"]["breakdown"]["rent_and_utilities"]["amount"]), 120_000);
    assert_eq!(count_events(&world, &robin, "income.updated").await, 1);
}

#[tokio::test]
async fn the_time_of_the_analysis_changes_only_with_the_analysis() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 20, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    robin.import(statement([checking("Everyday").with_all(pay)])).await;
    recompute_all(&world).await;
    let before = get(&world.app, &robin.caller).await;
    world.advance_seconds(60);
    service::platform::dirty_queue::request_recompute(&world.app, robin.user.id).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(get(&world.app, &robin.caller).await, before);
    // Spending in a month of the window.
    let spent = txn("2026-02-11", -1_200, "KROGER #339").id("late");
    robin.import(statement([checking("Everyday").with(spent)])).await;
    recompute_all(&world).await;
    let after = get(&world.app, &robin.caller).await;
    assert_ne!(after["generated_at"], before["generated_at"]);
    assert_eq!(count_events(&world, &robin, "income.updated").await, 2);
}

#[tokio::test]
async fn a_limited_key_gets_the_analysis_of_its_accounts() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 27, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let rent = monthly("2026-03-02", 13, -120_000, "OAK STREET APARTMENTS RENT");
    let accounts = [checking("Pay").with_all(pay), checking("Bills").with_all(rent)];
    robin.import(statement(accounts)).await;
    recompute_all(&world).await;
    let all = get(&world.app, &robin.caller).await;
    let only = vec![robin.account("Bills").await];
    let key = robin.key(NewKey { accounts: Some(only), ..new_key() }).await;
    let some = get(&world.app, &key.caller).await;
    assert_eq!(cents(&all["monthly_income"]), 402_210);
    assert_eq!(cents(&some["monthly_income"]), 0);
    assert_eq!(some["expenses"]["amount"], all["expenses"]["amount"]);
    assert_eq!(some["expenses"]["percent"], Value::Null, "there is no income to divide by");
}

/// The stored analysis is computed from packed months, and the one for such a key from the transactions themselves.
#[tokio::test]
async fn a_key_limited_to_all_accounts_gets_the_same_analysis_as_the_person() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 40, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let food = every(3, "2026-03-07", 200, -8_133, "KROGER #339 INDIANAPOLIS IN");
    let saved = monthly("2026-03-03", 12, -30_000, "ONLINE TRANSFER TO SAVINGS");
    let stored = monthly("2026-03-03", 12, 30_000, "TRANSFER FROM CHECKING");
    let savings = |it| account(it, base::draft::AccountKind::Depository, "savings");
    let everyday = checking("Everyday").with_all(pay).with_all(food).with_all(saved);
    robin.import(statement([everyday, savings("Rainy day").with_all(stored)])).await;
    recompute_all(&world).await;
    let refund = txn("2025-11-20", 4_000, "REFUND KROGER #339").id("late");
    let steps = [
        checking("Everyday").with(refund),
        checking("Everyday").with(txn("2026-03-07", -1_200, "NETFLIX.COM").id("new")),
        checking("Everyday").without("late"),
    ];
    let only = vec![robin.account("Everyday").await, robin.account("Rainy day").await];
    let key = robin.key(NewKey { accounts: Some(only), ..new_key() }).await;
    for step in steps {
        robin.import(statement([step, savings("Rainy day")])).await;
        recompute_all(&world).await;
        let mut stored = get(&world.app, &robin.caller).await;
        let mut computed = get(&world.app, &key.caller).await;
        for analysis in [&mut stored, &mut computed] {
            analysis.as_object_mut().unwrap().remove("generated_at");
        }
        assert_eq!(stored, computed);
    }
}

#[tokio::test]
async fn someone_without_data_has_an_empty_analysis() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let income = get(&world.app, &robin.caller).await;
    assert!(income["monthly_income"].is_null());
    assert_eq!(income["emergency_fund"]["breakdown"], serde_json::json!({}));
}

#[tokio::test]
async fn a_report_is_kept_until_something_it_depends_on_changes() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let (app, caller) = (&world.app, &robin.caller);
    let pay = every(14, "2026-03-06", 20, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    robin.import(statement([checking("Everyday").with_all(pay)])).await;
    recompute_all(&world).await;
    let report = async || income::analyze(app, caller).await.unwrap();
    let first = report().await;
    assert!(first.income.monthly_income_minor > 0 && Arc::ptr_eq(&first, &report().await));

    // Not recomputed yet, and nevertheless right.
    let bonus = txn("2026-02-20", 500_000, "ACME CORP BONUS").id("bonus");
    robin.import(statement([checking("Everyday").with(bonus)])).await;
    let second = report().await;
    assert_ne!(second.income, first.income);
    assert!(!Arc::ptr_eq(&second, &report().await), "it may change with the recompute");
    recompute_all(&world).await;
    let third = report().await;
    assert!(Arc::ptr_eq(&third, &report().await));

    // Another process changes something, at another time.
    world.advance_seconds(1);
    let other = world.other_process().await;
    let (base_currency, timezone) = (base::Currency::EUR, robin.caller.timezone);
    let profile = Profile { preferred_name: None, base_currency, timezone };
    profiles::update(&other, caller, profile).await.unwrap();
    service::insights::pipeline::run_all(&other).await.unwrap();
    assert_eq!(report().await.currency, base::Currency::EUR);

    // A new day may begin a new month.
    let before = report().await;
    assert!(Arc::ptr_eq(&before, &report().await));
    world.advance_seconds(86_400);
    assert!(!Arc::ptr_eq(&before, &report().await));

    // A key for another account sees nothing of it.
    robin.import(statement([checking("Bills")])).await;
    let only = vec![robin.account("Bills").await];
    let key = robin.key(NewKey { accounts: Some(only), ..new_key() }).await;
    let limited = income::analyze(app, &key.caller).await.unwrap();
    assert_eq!(limited.income.monthly_income_minor, 0);
}
