//! Counts of the transactions that a rule decides, and of earlier ones that it would change.

use base::RuleId;
use base::category::Category;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::rule_matches::{self, RuleMatches};
use service::classify::rules::{self, NewRule};
use testkit::draft::{card, checking, statement, txn};
use testkit::{Person, World};

use super::recompute_all;
use crate::listed;

const VET: &str = "MEDICAL_VETERINARY_SERVICES";

fn categorized(code: &str) -> Override {
    Override { counterparty: None, category: Category::parse(code) }
}

async fn count_matches(world: &World, robin: &Person, rule: RuleId) -> (i64, i64) {
    let all = rule_matches::count(&world.app, &robin.caller).await.unwrap();
    let RuleMatches { applied, would_change } = all[&rule];
    (applied, would_change)
}

/// The number of transactions of a category.
async fn count(world: &World, robin: &Person, code: &str) -> usize {
    let rows = listed::all(&world.app, &robin.caller, &Default::default()).await;
    rows.iter().filter(|it| it.category == Category::parse(code)).count()
}

async fn household(world: &World) -> Person {
    let robin = world.person("robin@example.com").await;
    let bought = |on: &str, id: &str| txn(on, -4_210, "KROGER #339").id(id);
    let everyday = checking("Everyday")
        .with(bought("2026-03-01", "a"))
        .with(bought("2026-03-02", "b"))
        .with(txn("2026-03-03", 4_210, "KROGER #339").id("back"))
        .with(txn("2026-03-04", -900, "CORNER CAFE").id("cafe"));
    robin.import(statement([everyday, card("Visa").with(bought("2026-03-02", "c"))])).await;
    recompute_all(world).await;
    robin
}

#[tokio::test]
async fn each_rule_counts_only_the_transactions_that_it_decides() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let merchant =
        NewRule { like: Some("KROGER".into()), sets: categorized(VET), ..NewRule::default() };
    let all = rules::create(app, caller, merchant.clone()).await.unwrap().id;
    assert_eq!(count_matches(&world, &robin, all).await, (4, 0));
    let visa = Some(robin.account("Visa").await);
    let on_card = NewRule { account_id: visa, sets: categorized("TRAVEL_FLIGHTS"), ..merchant };
    let on_card = rules::create(app, caller, on_card).await.unwrap().id;
    // The more specific rule decides.
    assert_eq!(count_matches(&world, &robin, all).await, (3, 0));
    assert_eq!(count_matches(&world, &robin, on_card).await, (1, 0));
    // A correction precedes both.
    recompute_all(&world).await;
    let rows = listed::all(app, caller, &Default::default()).await;
    let first = rows.iter().find(|it| it.minor == -4_210).unwrap().id;
    corrections::correct(app, caller, vec![first], categorized("TRAVEL_LODGING")).await.unwrap();
    let by_index = (
        count_matches(&world, &robin, all).await.0,
        count_matches(&world, &robin, on_card).await.0,
    );
    assert_eq!(by_index.0 + by_index.1, 3);
    // Words are searched in the texts, and the matches of the other rules are counted as they were by the index.
    let words =
        NewRule { words: Some("corner".into()), sets: categorized(VET), ..NewRule::default() };
    let words = rules::create(app, caller, words).await.unwrap().id;
    assert_eq!(count_matches(&world, &robin, words).await, (1, 0));
    let by_scan = (
        count_matches(&world, &robin, all).await.0,
        count_matches(&world, &robin, on_card).await.0,
    );
    assert_eq!(by_scan, by_index);
    recompute_all(&world).await;
    let by_rules = count(&world, &robin, VET).await + count(&world, &robin, "TRAVEL_FLIGHTS").await;
    assert_eq!(by_rules, 4);
}

#[tokio::test]
async fn a_rule_from_now_on_changes_earlier_transactions_only_when_applied_to_the_past() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    world.advance_seconds(60);
    let rows = listed::all(app, caller, &Default::default()).await;
    let fixed = rows.iter().find(|it| it.minor == -4_210).unwrap().id;
    let rule =
        corrections::correct_from_now_on(app, caller, fixed, categorized(VET)).await.unwrap().id;
    recompute_all(&world).await;
    assert_eq!(count(&world, &robin, VET).await, 1, "only the corrected one");
    assert_eq!(count_matches(&world, &robin, rule).await, (0, 3));
    world.advance_seconds(60);
    let new = txn("2026-03-09", -100, "KROGER #339").id("new");
    robin.import(statement([checking("Everyday").with(new)])).await;
    recompute_all(&world).await;
    assert_eq!(count(&world, &robin, VET).await, 2, "and the one imported since");
    assert_eq!(count_matches(&world, &robin, rule).await, (1, 3));
    rules::apply_to_past(app, caller, rule).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(count(&world, &robin, VET).await, 5);
    assert_eq!(count_matches(&world, &robin, rule).await, (4, 0));
    assert_eq!(rules::list(app, caller).await.unwrap()[0].holds_from, None);
}

#[tokio::test]
async fn a_rule_from_now_on_does_not_replace_the_rule_for_earlier_transactions() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let rule = |code: &str, from_now_on: bool| NewRule {
        like: Some("KROGER".to_owned()),
        sets: categorized(code),
        from_now_on,
        ..NewRule::default()
    };
    rules::create(app, caller, rule("TRAVEL_FLIGHTS", false)).await.unwrap();
    world.advance_seconds(60);
    rules::create(app, caller, rule(VET, true)).await.unwrap();
    world.advance_seconds(60);
    let new = txn("2026-03-09", -100, "KROGER #339").id("new");
    robin.import(statement([checking("Everyday").with(new)])).await;
    recompute_all(&world).await;
    assert_eq!(count(&world, &robin, "TRAVEL_FLIGHTS").await, 4);
    assert_eq!(count(&world, &robin, VET).await, 1);
    assert_eq!(rules::list(app, caller).await.unwrap().len(), 2);
}
