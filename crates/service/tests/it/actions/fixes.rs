//! Proposed corrections and rules: applied as shown, and undone completely.

use std::collections::BTreeMap;

use base::category::Category;
use base::{Fixed9, TransactionId};
use service::actions::{self, Action, ActionPayload, ProposedPart, Status};
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::rules::{self, NewRule};
use service::classify::transfers;
use service::insights;
use service::ledger::annotations::{self, Tags};
use service::ledger::splits;
use testkit::draft::{checking, statement, txn};

use super::{ActionsFixture, approve, status_and_error};
use crate::{is_conflict, listed, param};

/// A year of transactions with a recurring stream, and the person's own correction and rule.
async fn household() -> (ActionsFixture, Vec<listed::Listed>) {
    let fixture = ActionsFixture::new().await;
    let mut account = checking("Everyday");
    for month in 1..=12 {
        let on = |day: u32| format!("2025-{month:02}-{day:02}");
        let id = |name: &str| format!("{name}-{month}");
        account = account
            .with(txn(&on(1), 310_000, "ACME CORP PAYROLL").id(&id("pay")))
            .with(txn(&on(3), -1_599, "NETFLIX.COM 866-579-7172 CA").id(&id("film")))
            .with(txn(&on(9), -4_210 - i64::from(month), "KROGER #339 TOLEDO OH").id(&id("food")))
            .with(txn(&on(20), -900, "X 1").id(&id("x")));
    }
    fixture.person.import(statement([account])).await;
    let owner = &fixture.person.caller;
    let rows = listed::all(fixture.app(), owner, &Default::default()).await;
    let one = with_text(&rows, "X 1")[0];
    corrections::correct(fixture.app(), owner, vec![one], named("The corner shop")).await.unwrap();
    let rule = NewRule {
        like: Some("KROGER #1204".to_owned()),
        sets: categorized("GENERAL_MERCHANDISE_SUPERSTORES"),
        ..NewRule::default()
    };
    rules::create(fixture.app(), owner, rule).await.unwrap();
    insights::pipeline::run_all(fixture.app()).await.unwrap();
    fixture.world.advance_seconds(60);
    let rows = listed::all(fixture.app(), owner, &Default::default()).await;
    (fixture, rows)
}

fn with_text(rows: &[listed::Listed], text: &str) -> Vec<TransactionId> {
    rows.iter().filter(|it| it.description.starts_with(text)).map(|it| it.id).collect()
}

fn named(name: &str) -> Override {
    Override { counterparty: Some(name.to_owned()), category: None }
}

fn categorized(code: &str) -> Override {
    Override { counterparty: None, category: Category::parse(code) }
}

fn correction(transactions: Vec<TransactionId>, sets: Override, always: bool) -> ActionPayload {
    ActionPayload::Correction { transactions, sets, always }
}

/// A split over groceries and coffee.
fn split(transaction: TransactionId, amounts: &[&str]) -> ActionPayload {
    let categories = ["FOOD_AND_DRINK_GROCERIES", "FOOD_AND_DRINK_COFFEE"];
    let part = |(amount, code): (&&str, &&str)| ProposedPart {
        amount: Fixed9::parse(amount).unwrap(),
        category: Category::parse(code).unwrap(),
        note: String::new(),
    };
    let parts = amounts.iter().zip(categories.iter().cycle()).map(part).collect();
    ActionPayload::Split { transaction, parts }
}

/// All stored tables that follow from the data, without the times at which rows were computed.
async fn derived(fixture: &ActionsFixture) -> BTreeMap<String, Vec<String>> {
    insights::pipeline::run_all(fixture.app()).await.unwrap();
    let mut stored = fixture.world.stored().await;
    for table in
        ["anchors", "audit", "actions", "events", "sessions", "api_keys", "users", "person_states"]
    {
        stored.remove(table);
    }
    let times = ["updated_at=", "computed_at=", "generated_at=", "analysis={\"generated_at\""];
    for row in stored.values_mut().flatten() {
        let words = row.split(' ').filter(|it| !times.iter().any(|time| it.starts_with(time)));
        *row = words.collect::<Vec<_>>().join(" ");
    }
    stored
}

async fn execute(fixture: &ActionsFixture, payload: ActionPayload) -> Action {
    let action = fixture.propose(payload.into()).await.unwrap();
    let done = approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    assert_eq!(done.status, Status::Executed, "{:?}", done.error_message);
    done
}

#[track_caller]
fn assert_same_rows(before: &BTreeMap<String, Vec<String>>, after: &BTreeMap<String, Vec<String>>) {
    for (table, rows) in before {
        assert_eq!(rows, &after[table], "{table}");
    }
}

#[tokio::test]
async fn undoing_a_correction_or_rule_restores_every_row_exactly() {
    let (fixture, rows) = household().await;
    let all: Vec<TransactionId> = rows.iter().map(|it| it.id).collect();
    let before = derived(&fixture).await;
    for payload in [
        correction(with_text(&rows, "X 1")[..1].to_vec(), named("Somebody"), false),
        correction(all.clone(), named("Everybody"), false),
        correction(with_text(&rows, "KROGER"), categorized("FOOD_AND_DRINK_GROCERIES"), true),
        correction(with_text(&rows, "KROGER")[..1].to_vec(), named("The other Kroger"), true),
        correction(all.clone(), categorized("TRANSFER_OUT_ACCOUNT_TRANSFER"), true),
        ActionPayload::Rule(NewRule {
            words: Some("payroll".to_owned()),
            sets: named("Acme"),
            ..NewRule::default()
        }),
        ActionPayload::Rule(NewRule {
            like: Some("KROGER #7".to_owned()),
            sets: categorized("FOOD_AND_DRINK_GROCERIES"),
            ..NewRule::default()
        }),
        split(with_text(&rows, "X 1")[0], &["-4.00", "-5.00"]),
        ActionPayload::Annotation {
            transactions: with_text(&rows, "KROGER"),
            note: Some("Weekly".to_owned()),
            tags: Tags::parse("home").unwrap(),
        },
    ] {
        let description = format!("{payload:?}");
        let action = execute(&fixture, payload).await;
        assert!(action.can_be_undone(fixture.world.clock.now()));
        assert_ne!(derived(&fixture).await, before, "{description} changed nothing");
        fixture.world.advance_seconds(60);
        let undone = actions::undo(fixture.app(), &fixture.session, action.id).await.unwrap();
        assert!(undone.undone_at.is_some());
        assert_same_rows(&before, &derived(&fixture).await);
        let again = actions::undo(fixture.app(), &fixture.session, action.id).await;
        assert_eq!(is_conflict(again), "this can no longer be undone");
        fixture.world.advance_seconds(60);
    }
    fixture.verify_integrity().await;
}

/// Two amounts that differ by a fee, weeks apart: nothing but the person's word pairs them.
#[tokio::test]
async fn linking_two_transactions_as_a_transfer_holds_and_is_undone_completely() {
    let (fixture, _) = household().await;
    let (app, owner) = (fixture.app(), &fixture.person.caller);
    let savings = checking("Nest egg");
    let savings = savings.with(txn("2025-07-01", 49_500, "DEPOSIT").id("in"));
    let everyday = checking("Everyday").with(txn("2025-06-10", -50_000, "WIRE 11").id("out"));
    fixture.person.import(statement([savings, everyday])).await;
    let rows = listed::all(app, owner, &Default::default()).await;
    let (out, into) = (with_text(&rows, "WIRE")[0], with_text(&rows, "DEPOSIT")[0]);
    let is_paired = async || {
        insights::pipeline::run_all(app).await.unwrap();
        let found = transfers::list(app, owner).await.unwrap();
        found.iter().any(|it| it.paired && (it.outflow, it.inflow) == (out, into))
    };
    for refused_before in [false, true] {
        if refused_before {
            transfers::refuse(app, owner, out, into).await.unwrap();
        }
        let before = derived(&fixture).await;
        assert!(!is_paired().await);
        // The order of the two does not matter.
        let transactions = if refused_before { [out, into] } else { [into, out] };
        fixture.world.advance_seconds(60);
        let action = execute(&fixture, ActionPayload::TransferLink { transactions }).await;
        assert!(is_paired().await);
        fixture.world.advance_seconds(60);
        actions::undo(app, &fixture.session, action.id).await.unwrap();
        assert!(!is_paired().await);
        assert_same_rows(&before, &derived(&fixture).await);
    }
    // A decision that the person makes after the proposal stays when the proposal is undone.
    let payload = ActionPayload::TransferLink { transactions: [out, into] };
    let action = execute(&fixture, payload).await;
    fixture.world.advance_seconds(60);
    transfers::confirm(app, owner, out, into).await.unwrap();
    actions::undo(app, &fixture.session, action.id).await.unwrap();
    assert!(is_paired().await);
    let shop = with_text(&rows, "KROGER")[0];
    for transactions in [[out, shop], [into, into], [shop, with_text(&rows, "ACME")[0]]] {
        let payload = ActionPayload::TransferLink { transactions };
        let refused = fixture.propose(payload.into()).await;
        assert_eq!(param(refused), "payload.transaction_ids");
    }
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_correction_lists_its_changes_and_is_applied_immediately() {
    let (fixture, rows) = household().await;
    let netflix = with_text(&rows, "NETFLIX");
    let payload =
        correction(netflix.clone(), categorized("ENTERTAINMENT_OTHER_ENTERTAINMENT"), true);
    let action = fixture.propose(payload.into()).await.unwrap();
    let plain = action.details().plain.unwrap();
    assert_eq!(plain.changes.len(), 12);
    assert!(plain.title.starts_with("Recategorize 12 transactions to "), "{}", plain.title);
    assert!(plain.summary_markdown.unwrap().contains("a rule for future transactions of Netflix"));
    assert!(plain.changes[0].before.is_some());
    let done = approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    let result: serde_json::Value = serde_json::from_str(&done.result.unwrap()).unwrap();
    assert_eq!(result["transaction_count"], 12);
    assert_eq!(result["rule_ids"].as_array().unwrap().len(), 1);
    let rows = listed::all(fixture.app(), &fixture.person.caller, &Default::default()).await;
    let all = rows.iter().filter(|it| netflix.contains(&it.id));
    assert!(all.clone().count() == 12);
    for row in all {
        assert_eq!(row.category, Category::parse("ENTERTAINMENT_OTHER_ENTERTAINMENT"));
    }
    // The rule applies to later transactions.
    let late = txn("2026-03-09", -1_599, "NETFLIX.COM 866-579-7172 CA").id("late");
    fixture.person.import(statement([checking("Everyday").with(late)])).await;
    let rows = listed::all(fixture.app(), &fixture.person.caller, &Default::default()).await;
    assert_eq!(rows[0].category, Category::parse("ENTERTAINMENT_OTHER_ENTERTAINMENT"));
}

#[tokio::test]
async fn undoing_an_action_keeps_the_persons_later_corrections_and_rules() {
    let (fixture, rows) = household().await;
    let owner = &fixture.person.caller;
    let (one, two) = (with_text(&rows, "KROGER")[0], with_text(&rows, "KROGER")[1]);
    let action = execute(&fixture, correction(vec![one, two], named("A"), true)).await;
    fixture.world.advance_seconds(60);
    corrections::correct(fixture.app(), owner, vec![one], named("Mine")).await.unwrap();
    let rule =
        NewRule { like: Some("KROGER".to_owned()), sets: named("My rule"), ..NewRule::default() };
    let mine = rules::create(fixture.app(), owner, rule).await.unwrap().id;
    actions::undo(fixture.app(), &fixture.session, action.id).await.unwrap();
    insights::pipeline::run_all(fixture.app()).await.unwrap();
    let rows = listed::all(fixture.app(), owner, &Default::default()).await;
    let name = |id| rows.iter().find(|it| it.id == id).unwrap().counterparty.clone().unwrap();
    assert_eq!((name(one).as_str(), name(two).as_str()), ("Mine", "My rule"));
    let rules = rules::list(fixture.app(), owner).await.unwrap();
    assert!(rules.iter().any(|it| it.id == mine), "{rules:?}");
    assert!(rules.iter().all(|it| it.counterparty.as_deref() != Some("A")), "{rules:?}");
}

#[tokio::test]
async fn undoing_a_replaced_rule_does_not_restore_the_rule_before_it() {
    let (fixture, _) = household().await;
    let owner = &fixture.person.caller;
    let rule = |code: &str| NewRule {
        like: Some("KROGER".to_owned()),
        sets: categorized(code),
        ..NewRule::default()
    };
    let action = execute(&fixture, ActionPayload::Rule(rule("FOOD_AND_DRINK_GROCERIES"))).await;
    let rules = rules::list(fixture.app(), owner).await.unwrap();
    assert_eq!(rules.len(), 1, "it replaces the person's older rule");
    fixture.world.advance_seconds(60);
    let mine = rule("MEDICAL_VETERINARY_SERVICES");
    let mine = rules::create(fixture.app(), owner, mine).await.unwrap().id;
    actions::undo(fixture.app(), &fixture.session, action.id).await.unwrap();
    let rules = rules::list(fixture.app(), owner).await.unwrap();
    assert_eq!(rules.iter().map(|it| it.id).collect::<Vec<_>>(), [mine]);
}

#[tokio::test]
async fn a_correction_covers_one_to_a_hundred_transactions_and_is_all_or_nothing() {
    let fixture = ActionsFixture::new().await;
    let mut account = checking("Everyday");
    for number in 0..101 {
        account = account.with(txn("2026-03-02", -900 - number, "X 1").id(&number.to_string()));
    }
    fixture.person.import(statement([account.clone()])).await;
    let rows = listed::all(fixture.app(), &fixture.person.caller, &Default::default()).await;
    let ids: Vec<TransactionId> = rows.iter().map(|it| it.id).collect();
    for wrong in [vec![], ids.clone()] {
        let refused = fixture.propose(correction(wrong, named("A"), false).into()).await;
        assert_eq!(param(refused), "payload.transaction_ids");
    }
    let twice: Vec<_> = ids[..100].iter().chain(&ids[..100]).copied().collect();
    execute(&fixture, correction(twice, named("A"), false)).await;
    let rows = listed::all(fixture.app(), &fixture.person.caller, &Default::default()).await;
    let corrected = rows.iter().filter(|it| it.counterparty.as_deref() == Some("A")).count();
    assert_eq!(corrected, 100);
    // One of them is removed before the approval, so none is corrected.
    let action =
        fixture.propose(correction(ids[..100].to_vec(), named("B"), false).into()).await.unwrap();
    let gone = rows.iter().find(|it| it.id == ids[50]).unwrap().minor;
    let mut account = checking("Everyday");
    account.removed = vec![(-gone - 900).to_string()];
    fixture.person.import(statement([account])).await;
    let failed = approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    assert_eq!(status_and_error(&failed), ("failed", Some("NOT_FOUND")));
    let rows = listed::all(fixture.app(), &fixture.person.caller, &Default::default()).await;
    assert!(rows.iter().all(|it| it.counterparty.as_deref() != Some("B")));
}

/// The limit of rules is reached only halfway through, and the corrections made before it are rolled back.
#[tokio::test]
async fn a_correction_whose_rule_exceeds_the_limit_changes_nothing() {
    let (fixture, rows) = household().await;
    let (user, now) = (fixture.session.user, fixture.world.clock.now());
    let fill = move |tx: &mut db::Tx<'_>| {
        for number in 0..999_u32 {
            let mut id = [9; 16];
            id[..4].copy_from_slice(&number.to_be_bytes());
            let sql = "insert into rules (user_id, id, words, counterparty, created_at)
                values ($1, $2, $3, 'Nobody', $4)";
            let words = format!("NEVER SAID {number}");
            tx.execute(sql, db::params![user, &id[..], words.as_str(), now])?;
        }
        Ok::<_, service::Error>(())
    };
    fixture.app().db.write(fill).await.unwrap();
    let before = derived(&fixture).await;
    let payload = correction(with_text(&rows, "NETFLIX"), named("Films"), true);
    let action = fixture.propose(payload.into()).await.unwrap();
    let failed = approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    assert_eq!(status_and_error(&failed), ("failed", Some("VALIDATION_ERROR")));
    assert!(failed.error_message.unwrap().contains("at most 1000 rules"));
    assert_same_rows(&before, &derived(&fixture).await);
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_correction_cannot_be_undone_after_thirty_days() {
    let (fixture, rows) = household().await;
    let action =
        execute(&fixture, correction(with_text(&rows, "NETFLIX"), named("Films"), false)).await;
    fixture.world.advance_seconds(30 * 86_400 + 1);
    let late = actions::undo(fixture.app(), &fixture.session, action.id).await;
    assert_eq!(is_conflict(late), "this can no longer be undone");
}

#[tokio::test]
async fn an_undo_keeps_a_split_and_a_note_that_the_person_changed_since() {
    let (fixture, rows) = household().await;
    let (app, owner) = (fixture.app(), &fixture.person.caller);
    let id = with_text(&rows, "X 1")[0];
    let divided = execute(&fixture, split(id, &["-4.00", "-5.00"])).await;
    let tags = Tags::parse("gym").unwrap();
    let tagged = ActionPayload::Annotation { transactions: vec![id], note: None, tags };
    let tagged = execute(&fixture, tagged).await;
    let find = async || insights::transaction_detail::get(app, owner, id).await.unwrap();
    let found = find().await;
    assert_eq!((found.split.unwrap().parts.len(), found.tags.text().as_str()), (2, "gym"));
    splits::remove(app, owner, id).await.unwrap();
    annotations::set(app, owner, id, ("Mine", Tags::parse("mine").unwrap())).await.unwrap();
    for action in [divided, tagged] {
        actions::undo(app, &fixture.session, action.id).await.unwrap();
    }
    let found = find().await;
    assert!(found.split.is_none());
    assert_eq!((found.note.as_deref(), found.tags.text().as_str()), (Some("Mine"), "mine"));
}

#[tokio::test]
async fn a_proposed_split_that_does_not_fit_is_refused() {
    let (fixture, rows) = household().await;
    let id = with_text(&rows, "X 1")[0];
    for wrong in [&["-4.00", "-4.99"][..], &["-9.00"], &["4.00", "5.00"], &["-4.001", "-4.999"]] {
        let refused = fixture.propose(split(id, wrong).into()).await;
        assert_eq!(param(refused), "payload.splits", "{wrong:?}");
    }
}

#[tokio::test]
async fn an_approved_split_fails_if_the_amount_has_changed_since() {
    let (fixture, rows) = household().await;
    let on = testkit::day("2025-12-20");
    let id = rows.iter().find(|it| it.posted_on == on).unwrap().id;
    let proposed = fixture.propose(split(id, &["-4.00", "-5.00"]).into()).await.unwrap();
    // The bank corrects the amount, from 9.00 to 9.50.
    let changed = txn("2025-12-20", -950, "X 1").id("x-12");
    fixture.person.import(statement([checking("Everyday").with(changed)])).await;
    let (app, owner) = (fixture.app(), &fixture.person.caller);
    let find = async || insights::transaction_detail::get(app, owner, id).await.unwrap();
    assert_eq!(find().await.amount.minor(), -950);
    let failed = approve(app, &fixture.session, &proposed, None).await.unwrap();
    assert_eq!(status_and_error(&failed), ("failed", Some("VALIDATION_ERROR")));
    let message = "The parts must add up to the amount of the transaction, which is -$9.50. Nothing was done.";
    assert_eq!(failed.error_message.as_deref(), Some(message));
    assert!(find().await.split.is_none());
    assert!(actions::undo(app, &fixture.session, failed.id).await.is_err());
}
