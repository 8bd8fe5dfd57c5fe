//! How far rules reach: what they decide, and what came in before them.

use base::RuleId;
use base::category::Category;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::rule_matches::{self, RuleMatches};
use service::classify::rules::{self, NewRule};
use testkit::draft::{card, checking, statement, txn};
use testkit::{Person, World};

use super::settle;
use crate::listed;

const VET: &str = "MEDICAL_VETERINARY_SERVICES";

fn of(code: &str) -> Override {
    Override { counterparty: None, category: Category::parse(code) }
}

async fn reach(world: &World, robin: &Person, rule: RuleId) -> (i64, i64) {
    let all = rule_matches::count(&world.app, &robin.caller).await.unwrap();
    let RuleMatches { applied, would_change } = all[&rule];
    (applied, would_change)
}

/// How many there are of a category.
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
    settle(world).await;
    robin
}

#[tokio::test]
async fn each_rule_counts_what_it_decides_and_only_that() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let merchant = NewRule { like: Some("KROGER".into()), sets: of(VET), ..NewRule::default() };
    let all = rules::create(app, caller, merchant.clone()).await.unwrap();
    assert_eq!(reach(&world, &robin, all).await, (4, 0));
    let visa = Some(robin.account("Visa").await);
    let on_card = NewRule { account_id: visa, sets: of("TRAVEL_FLIGHTS"), ..merchant };
    let on_card = rules::create(app, caller, on_card).await.unwrap();
    // The narrower one decides.
    assert_eq!(reach(&world, &robin, all).await, (3, 0));
    assert_eq!(reach(&world, &robin, on_card).await, (1, 0));
    // And the person's own word before both.
    settle(&world).await;
    let rows = listed::all(app, caller, &Default::default()).await;
    let first = rows.iter().find(|it| it.minor == -4_210).unwrap().id;
    corrections::correct(app, caller, vec![first], of("TRAVEL_LODGING")).await.unwrap();
    let by_merchants = (reach(&world, &robin, all).await.0, reach(&world, &robin, on_card).await.0);
    assert_eq!(by_merchants.0 + by_merchants.1, 3);
    // Words are looked for in the texts, and what was counted by the index is counted the same.
    let words = NewRule { words: Some("corner".into()), sets: of(VET), ..NewRule::default() };
    let words = rules::create(app, caller, words).await.unwrap();
    assert_eq!(reach(&world, &robin, words).await, (1, 0));
    let walked = (reach(&world, &robin, all).await.0, reach(&world, &robin, on_card).await.0);
    assert_eq!(walked, by_merchants);
    settle(&world).await;
    let by_rules = count(&world, &robin, VET).await + count(&world, &robin, "TRAVEL_FLIGHTS").await;
    assert_eq!(by_rules, 4);
}

#[tokio::test]
async fn a_rule_from_now_on_leaves_the_past_alone_until_it_is_applied() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    world.advance_seconds(60);
    let rows = listed::all(app, caller, &Default::default()).await;
    let fixed = rows.iter().find(|it| it.minor == -4_210).unwrap().id;
    let rule = corrections::correct_from_now_on(app, caller, fixed, of(VET)).await.unwrap();
    settle(&world).await;
    assert_eq!(count(&world, &robin, VET).await, 1, "the one that was corrected");
    assert_eq!(reach(&world, &robin, rule).await, (0, 3));
    world.advance_seconds(60);
    let new = txn("2026-03-09", -100, "KROGER #339").id("new");
    robin.import(statement([checking("Everyday").with(new)])).await;
    settle(&world).await;
    assert_eq!(count(&world, &robin, VET).await, 2, "and the one that came since");
    assert_eq!(reach(&world, &robin, rule).await, (1, 3));
    rules::apply_to_past(app, caller, rule).await.unwrap();
    settle(&world).await;
    assert_eq!(count(&world, &robin, VET).await, 5);
    assert_eq!(reach(&world, &robin, rule).await, (4, 0));
    assert_eq!(rules::list(app, caller).await.unwrap()[0].holds_from, None);
}

#[tokio::test]
async fn a_rule_from_now_on_does_not_take_the_place_of_the_one_that_holds_for_the_past() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let rule = |code: &str, from_now_on: bool| NewRule {
        like: Some("KROGER".to_owned()),
        sets: of(code),
        from_now_on,
        ..NewRule::default()
    };
    rules::create(app, caller, rule("TRAVEL_FLIGHTS", false)).await.unwrap();
    world.advance_seconds(60);
    rules::create(app, caller, rule(VET, true)).await.unwrap();
    world.advance_seconds(60);
    let new = txn("2026-03-09", -100, "KROGER #339").id("new");
    robin.import(statement([checking("Everyday").with(new)])).await;
    settle(&world).await;
    assert_eq!(count(&world, &robin, "TRAVEL_FLIGHTS").await, 4);
    assert_eq!(count(&world, &robin, VET).await, 1);
    assert_eq!(rules::list(app, caller).await.unwrap().len(), 2);
}
