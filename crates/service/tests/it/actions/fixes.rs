//! Corrections and rules: applied as shown, and taken back so that everything is as it was.

use std::collections::BTreeMap;

use base::TransactionId;
use base::category::Category;
use service::actions::{self, Action, ActionPayload, Status};
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::rules::{self, NewRule};
use service::insights;
use testkit::draft::{checking, statement, txn};

use super::{Desk, approve, ended};
use crate::{is_conflict, listed, param};

/// A household of a year, with a stream, and corrections and rules of the person's own.
async fn household() -> (Desk, Vec<listed::Listed>) {
    let desk = Desk::new().await;
    let mut account = checking("Everyday");
    for month in 1..=12 {
        let on = |day: u32| format!("2025-{month:02}-{day:02}");
        let id = |what: &str| format!("{what} {month}");
        account = account
            .with(txn(&on(1), 310_000, "ACME CORP PAYROLL").id(&id("pay")))
            .with(txn(&on(3), -1_599, "NETFLIX.COM 866-579-7172 CA").id(&id("film")))
            .with(txn(&on(9), -4_210 - i64::from(month), "KROGER #339 TOLEDO OH").id(&id("food")))
            .with(txn(&on(20), -900, "X 1").id(&id("x")));
    }
    desk.person.import(statement([account])).await;
    let owner = &desk.person.caller;
    let rows = listed::all(desk.app(), owner, &Default::default()).await;
    let one = with_text(&rows, "X 1")[0];
    corrections::correct(desk.app(), owner, vec![one], named("The corner shop")).await.unwrap();
    let rule = NewRule {
        like: Some("KROGER #1204".to_owned()),
        sets: of("GENERAL_MERCHANDISE_SUPERSTORES"),
        ..NewRule::default()
    };
    rules::create(desk.app(), owner, rule).await.unwrap();
    insights::pipeline::run_all(desk.app()).await.unwrap();
    desk.world.advance_seconds(60);
    let rows = listed::all(desk.app(), owner, &Default::default()).await;
    (desk, rows)
}

fn with_text(rows: &[listed::Listed], text: &str) -> Vec<TransactionId> {
    rows.iter().filter(|it| it.description.starts_with(text)).map(|it| it.id).collect()
}

fn named(name: &str) -> Override {
    Override { counterparty: Some(name.to_owned()), category: None }
}

fn of(code: &str) -> Override {
    Override { counterparty: None, category: Category::parse(code) }
}

fn fix(transactions: Vec<TransactionId>, word: Override, always: bool) -> ActionPayload {
    ActionPayload::Correction { transactions, sets: word, always }
}

/// Everything that follows from the data, without the moments at which it was worked out.
async fn derived(desk: &Desk) -> BTreeMap<String, Vec<String>> {
    insights::pipeline::run_all(desk.app()).await.unwrap();
    let mut stored = desk.world.stored().await;
    for told in ["anchors", "audit", "actions", "events", "sessions", "api_keys", "users"] {
        stored.remove(told);
    }
    let moments = ["updated_at=", "computed_at=", "generated_at=", "analysis={\"generated_at\""];
    for row in stored.values_mut().flatten() {
        let words =
            row.split(' ').filter(|it| !moments.iter().any(|moment| it.starts_with(moment)));
        *row = words.collect::<Vec<_>>().join(" ");
    }
    stored
}

async fn done(desk: &Desk, what: ActionPayload) -> Action {
    let action = desk.propose(what.into()).await.unwrap();
    let done = approve(desk.app(), &desk.session, &action, None).await.unwrap();
    assert_eq!(done.status, Status::Executed, "{:?}", done.error_message);
    done
}

#[track_caller]
fn is_same(before: &BTreeMap<String, Vec<String>>, after: &BTreeMap<String, Vec<String>>) {
    for (table, rows) in before {
        assert_eq!(rows, &after[table], "{table}");
    }
}

#[tokio::test]
async fn whatever_was_corrected_is_byte_for_byte_as_it_was_after_it_is_taken_back() {
    let (desk, rows) = household().await;
    let all: Vec<TransactionId> = rows.iter().map(|it| it.id).collect();
    let before = derived(&desk).await;
    for what in [
        fix(with_text(&rows, "X 1")[..1].to_vec(), named("Somebody"), false),
        fix(all.clone(), named("Everybody"), false),
        fix(with_text(&rows, "KROGER"), of("FOOD_AND_DRINK_GROCERIES"), true),
        fix(with_text(&rows, "KROGER")[..1].to_vec(), named("The other Kroger"), true),
        fix(all.clone(), of("TRANSFER_OUT_ACCOUNT_TRANSFER"), true),
        ActionPayload::Rule(NewRule {
            words: Some("payroll".to_owned()),
            sets: named("Acme"),
            ..NewRule::default()
        }),
        ActionPayload::Rule(NewRule {
            like: Some("KROGER #7".to_owned()),
            sets: of("FOOD_AND_DRINK_GROCERIES"),
            ..NewRule::default()
        }),
    ] {
        let said = format!("{what:?}");
        let action = done(&desk, what).await;
        assert!(action.can_be_undone(desk.world.clock.now()));
        assert_ne!(derived(&desk).await, before, "{said} did nothing");
        desk.world.advance_seconds(60);
        let undone = actions::undo(desk.app(), &desk.session, action.id).await.unwrap();
        assert!(undone.undone_at.is_some());
        is_same(&before, &derived(&desk).await);
        let again = actions::undo(desk.app(), &desk.session, action.id).await;
        assert_eq!(is_conflict(again), "this can no longer be undone");
        desk.world.advance_seconds(60);
    }
    desk.is_sound().await;
}

#[tokio::test]
async fn a_correction_says_what_changes_and_shows_at_once() {
    let (desk, rows) = household().await;
    let netflix = with_text(&rows, "NETFLIX");
    let what = fix(netflix.clone(), of("ENTERTAINMENT_OTHER_ENTERTAINMENT"), true);
    let action = desk.propose(what.into()).await.unwrap();
    let plain = action.details().plain.unwrap();
    assert_eq!(plain.changes.len(), 12);
    assert!(plain.title.starts_with("Recategorize 12 transactions to "), "{}", plain.title);
    assert!(plain.summary_markdown.unwrap().contains("a rule for future transactions of Netflix"));
    assert!(plain.changes[0].before.is_some());
    let done = approve(desk.app(), &desk.session, &action, None).await.unwrap();
    let result: serde_json::Value = serde_json::from_str(&done.result.unwrap()).unwrap();
    assert_eq!(result["transaction_count"], 12);
    assert_eq!(result["rule_ids"].as_array().unwrap().len(), 1);
    let rows = listed::all(desk.app(), &desk.person.caller, &Default::default()).await;
    let all = rows.iter().filter(|it| netflix.contains(&it.id));
    assert!(all.clone().count() == 12);
    for row in all {
        assert_eq!(row.category, Category::parse("ENTERTAINMENT_OTHER_ENTERTAINMENT"));
    }
    // The rule speaks for what comes later.
    let late = txn("2026-03-09", -1_599, "NETFLIX.COM 866-579-7172 CA").id("late");
    desk.person.import(statement([checking("Everyday").with(late)])).await;
    let rows = listed::all(desk.app(), &desk.person.caller, &Default::default()).await;
    assert_eq!(rows[0].category, Category::parse("ENTERTAINMENT_OTHER_ENTERTAINMENT"));
}

#[tokio::test]
async fn the_persons_later_word_survives_when_an_older_one_is_taken_back() {
    let (desk, rows) = household().await;
    let owner = &desk.person.caller;
    let (one, two) = (with_text(&rows, "KROGER")[0], with_text(&rows, "KROGER")[1]);
    let action = done(&desk, fix(vec![one, two], named("A"), true)).await;
    desk.world.advance_seconds(60);
    corrections::correct(desk.app(), owner, vec![one], named("Mine")).await.unwrap();
    let rule =
        NewRule { like: Some("KROGER".to_owned()), sets: named("My rule"), ..NewRule::default() };
    let mine = rules::create(desk.app(), owner, rule).await.unwrap();
    actions::undo(desk.app(), &desk.session, action.id).await.unwrap();
    insights::pipeline::run_all(desk.app()).await.unwrap();
    let rows = listed::all(desk.app(), owner, &Default::default()).await;
    let name = |id| rows.iter().find(|it| it.id == id).unwrap().counterparty.clone().unwrap();
    assert_eq!((name(one).as_str(), name(two).as_str()), ("Mine", "My rule"));
    let rules = rules::list(desk.app(), owner).await.unwrap();
    assert!(rules.iter().any(|it| it.id == mine), "{rules:?}");
    assert!(rules.iter().all(|it| it.counterparty.as_deref() != Some("A")), "{rules:?}");
}

#[tokio::test]
async fn a_rule_that_the_person_has_replaced_does_not_bring_its_forerunner_back() {
    let (desk, _) = household().await;
    let owner = &desk.person.caller;
    let rule = |code: &str| NewRule {
        like: Some("KROGER".to_owned()),
        sets: of(code),
        ..NewRule::default()
    };
    let action = done(&desk, ActionPayload::Rule(rule("FOOD_AND_DRINK_GROCERIES"))).await;
    let rules = rules::list(desk.app(), owner).await.unwrap();
    assert_eq!(rules.len(), 1, "it takes the place of the person's older one");
    desk.world.advance_seconds(60);
    let mine = rule("MEDICAL_VETERINARY_SERVICES");
    let mine = rules::create(desk.app(), owner, mine).await.unwrap();
    actions::undo(desk.app(), &desk.session, action.id).await.unwrap();
    let rules = rules::list(desk.app(), owner).await.unwrap();
    assert_eq!(rules.iter().map(|it| it.id).collect::<Vec<_>>(), [mine]);
}

#[tokio::test]
async fn one_to_a_hundred_transactions_are_corrected_at_once_and_all_or_none() {
    let desk = Desk::new().await;
    let mut account = checking("Everyday");
    for number in 0..101 {
        account = account.with(txn("2026-03-02", -900 - number, "X 1").id(&number.to_string()));
    }
    desk.person.import(statement([account.clone()])).await;
    let rows = listed::all(desk.app(), &desk.person.caller, &Default::default()).await;
    let ids: Vec<TransactionId> = rows.iter().map(|it| it.id).collect();
    for wrong in [vec![], ids.clone()] {
        let refused = desk.propose(fix(wrong, named("A"), false).into()).await;
        assert_eq!(param(refused), "payload.transaction_ids");
    }
    let twice: Vec<_> = ids[..100].iter().chain(&ids[..100]).copied().collect();
    done(&desk, fix(twice, named("A"), false)).await;
    let rows = listed::all(desk.app(), &desk.person.caller, &Default::default()).await;
    let corrected = rows.iter().filter(|it| it.counterparty.as_deref() == Some("A")).count();
    assert_eq!(corrected, 100);
    // One of them is gone by the time it is approved: none is corrected.
    let action = desk.propose(fix(ids[..100].to_vec(), named("B"), false).into()).await.unwrap();
    let gone = rows.iter().find(|it| it.id == ids[50]).unwrap().minor;
    let mut account = checking("Everyday");
    account.removed = vec![(-gone - 900).to_string()];
    desk.person.import(statement([account])).await;
    let failed = approve(desk.app(), &desk.session, &action, None).await.unwrap();
    assert_eq!(ended(&failed), ("failed", Some("NOT_FOUND")));
    let rows = listed::all(desk.app(), &desk.person.caller, &Default::default()).await;
    assert!(rows.iter().all(|it| it.counterparty.as_deref() != Some("B")));
}

/// The rules are full only when half of the work is done; what was done before is undone with it.
#[tokio::test]
async fn a_correction_that_finds_no_room_for_its_rule_leaves_nothing_behind() {
    let (desk, rows) = household().await;
    let (user, now) = (desk.session.user, desk.world.clock.now());
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
    desk.app().db.write(fill).await.unwrap();
    let before = derived(&desk).await;
    let what = fix(with_text(&rows, "NETFLIX"), named("Films"), true);
    let action = desk.propose(what.into()).await.unwrap();
    let failed = approve(desk.app(), &desk.session, &action, None).await.unwrap();
    assert_eq!(ended(&failed), ("failed", Some("VALIDATION_ERROR")));
    assert!(failed.error_message.unwrap().contains("at most 1000 rules"));
    is_same(&before, &derived(&desk).await);
    desk.is_sound().await;
}

#[tokio::test]
async fn after_thirty_days_a_correction_stays() {
    let (desk, rows) = household().await;
    let action = done(&desk, fix(with_text(&rows, "NETFLIX"), named("Films"), false)).await;
    desk.world.advance_seconds(30 * 86_400 + 1);
    let late = actions::undo(desk.app(), &desk.session, action.id).await;
    assert_eq!(is_conflict(late), "this can no longer be undone");
}
