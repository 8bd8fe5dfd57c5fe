//! The summary: net worth, cash flow, recurring payments, goals and accounts.

use base::draft::AccountKind;
use service::access::keys::NewKey;
use service::ledger::{accounts, goals};
use service::{Error, Scopes, summary};
use testkit::draft::{account, card, checking, rate, statement, txn};
use testkit::{World, new_key};
use wire::json::Number;
use wire::v1::Scope;

use super::{day, every, monthly, recompute_all};

fn text(number: &Option<Number>) -> &str {
    number.as_ref().map_or("null", Number::as_str)
}

#[tokio::test]
async fn of_a_new_person_nothing_is_known() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Without a balance")])).await;
    let found = summary::get(&world.app, &robin.caller).await.unwrap();
    assert_eq!((text(&found.net_worth), text(&found.total_liabilities)), ("null", "null"));
    assert_eq!((text(&found.breakdown[0].amount), found.breakdown[0].account_count), ("null", 1));
    assert_eq!((text(&found.cash_flow.income), text(&found.cash_flow.net)), ("null", "null"));
    assert_eq!(text(&found.investments.current_value), "null");
    assert_eq!(
        (text(&found.goals.target_amount), text(&found.goals.current_value)),
        ("null", "null")
    );
    let analysis = service::insights::income::get(&world.app, &robin.caller).await.unwrap();
    let analysis = serde_json::to_value(&analysis).unwrap();
    for member in ["/monthly_income", "/variability/min", "/expenses/amount", "/expenses/percent"] {
        assert_eq!(analysis.pointer(member), Some(&serde_json::Value::Null), "{member}");
    }
}

#[tokio::test]
async fn balances_without_an_exchange_rate_are_named_and_in_no_total() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let as_of = "2026-03-10T08:00:00Z";
    let zurich = checking("Zurich").in_currency("CHF").balance(as_of, 12_345);
    robin.import(statement([checking("Everyday").balance(as_of, 500), zurich])).await;
    let found = summary::get(&world.app, &robin.caller).await.unwrap();
    assert_eq!(text(&found.net_worth), "5.00");
    let excluded = serde_json::to_string(&found.excluded).unwrap();
    assert_eq!(excluded, r#"[{"currency":"CHF","amount":123.45,"account_count":1}]"#);
}

#[tokio::test]
async fn net_worth_is_assets_minus_liabilities_in_the_base_currency() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let as_of = "2026-03-10T08:00:00Z";
    let mut all = statement([
        checking("Everyday")
            .with(txn("2026-03-01", -10_000, "SOMETHING").id("s"))
            .balance(as_of, 100_000),
        checking("Abroad").in_currency("EUR").balance(as_of, 10_000),
        card("Card").balance(as_of, 30_000),
        account("Mortgage", AccountKind::Loan, "mortgage").balance(as_of, 500_000),
        checking("Hidden").balance(as_of, 7_777_777),
        checking("Old").closed_on("2026-01-31"),
    ]);
    all.rates.push(rate("EUR", "USD", "2026-03-09", "1.1"));
    robin.import(all).await;
    let hidden = robin.account("Hidden").await;
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    recompute_all(&world).await;
    let found = summary::get(&world.app, &robin.caller).await.unwrap();
    // 1,000.00 and 100.00 euros at 1.1, against 300.00 and 5,000.00.
    assert_eq!(text(&found.total_assets), "1110.00");
    assert_eq!(text(&found.total_liabilities), "5300.00");
    assert_eq!(text(&found.net_worth), "-4190.00");
    let parts: Vec<_> = found
        .breakdown
        .iter()
        .map(|it| (it.r#type, text(&it.amount).to_owned(), it.account_count))
        .collect();
    let expected = [
        ("depository", "1110.00".to_owned(), 2),
        ("credit", "-300.00".to_owned(), 1),
        ("loan", "-5000.00".to_owned(), 1),
    ];
    assert_eq!(parts, expected);
    let counts = &found.accounts;
    assert_eq!((counts.open, counts.closed, counts.hidden), (4, 1, 1));
    assert!(found.scores.is_none());
    assert_eq!(found.pending_actions, 0);
}

#[tokio::test]
async fn cash_flow_excludes_transfers_and_the_next_bill_is_shown() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 20, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let rent = monthly("2026-03-02", 9, -120_000, "OAK STREET APARTMENTS RENT");
    let out = txn("2026-03-03", -50_000, "ONLINE TRANSFER TO SAVINGS 0042").id("out");
    let into = txn("2026-03-03", 50_000, "TRANSFER FROM CHECKING").id("in");
    let everyday = checking("Everyday").with_all(pay).with_all(rent).with(out);
    let savings = account("Rainy day", AccountKind::Depository, "savings").with(into);
    robin.import(statement([everyday, savings])).await;
    recompute_all(&world).await;
    let found = summary::get(&world.app, &robin.caller).await.unwrap();
    let flow = &found.cash_flow;
    assert_eq!((flow.window.start.0, flow.window.end.0), (day("2026-02-09"), day("2026-03-10")));
    assert_eq!((text(&flow.income), text(&flow.expenses)), ("3700.00", "1200.00"));
    assert_eq!(text(&flow.net), "2500.00");
    let next = found.recurring.next_outflow.unwrap();
    assert_eq!((next.date.0, next.amount.as_str()), (day("2026-04-02"), "1200.00"));
    assert!(found.scores.is_some());
}

#[tokio::test]
async fn a_key_needs_the_scope_of_every_part_and_sees_its_accounts_only() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let as_of = "2026-03-10T08:00:00Z";
    let accounts = [checking("A").balance(as_of, 100), checking("B").balance(as_of, 1_000)];
    robin.import(statement(accounts)).await;
    recompute_all(&world).await;
    let scopes: Scopes = Scope::ALL.into_iter().filter(|it| *it != Scope::GoalsRead).collect();
    let key = robin.key(NewKey { scopes, ..new_key() }).await;
    let refused = summary::get(&world.app, &key.caller).await;
    assert!(
        matches!(refused, Err(Error::Forbidden(it)) if it.has(Scope::GoalsRead)),
        "{refused:?}"
    );
    let only = vec![robin.account("A").await];
    let key = robin.key(NewKey { accounts: Some(only), ..new_key() }).await;
    let some = summary::get(&world.app, &key.caller).await.unwrap();
    assert_eq!((text(&some.net_worth), some.accounts.open), ("1.00", 1));
}

#[tokio::test]
async fn a_hidden_account_counts_neither_towards_its_goal_nor_in_the_summary() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let as_of = "2026-03-10T08:00:00Z";
    robin.import(statement([checking("Hidden").balance(as_of, 5_000)])).await;
    let hidden = robin.account("Hidden").await;
    let goal = goals::NewGoal {
        name: "Boat".to_owned(),
        kind: goals::Kind::Purchase,
        status: goals::Status::Active,
        target: base::Money::new(10_000, base::Currency::USD),
        saved_minor: 1_000,
        target_on: None,
        accounts: vec![hidden],
    };
    goals::create(&world.app, &robin.caller, goal).await.unwrap();
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    let listed = goals::list(&world.app, &robin.caller, None).await.unwrap();
    assert_eq!(listed[0].current_minor, Some(1_000));
    let found = summary::get(&world.app, &robin.caller).await.unwrap();
    assert_eq!(text(&found.goals.current_value), "10.00");
}
