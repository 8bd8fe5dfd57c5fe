//! The preview of a rule, its amounts, and the order of rules.

use std::collections::BTreeSet;

use base::category::Category;
use base::{Currency, RuleId};
use service::classify::AmountRange;
use service::classify::overrides::Override;
use service::classify::rule_order::{self, Move};
use service::classify::rule_preview::{self, RulePreview};
use service::classify::rules::{self, NewRule, RuleEdit};
use service::classify::{corrections, rule_matches};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World};

use super::recompute_all;
use crate::{is_not_found, listed, param};

const VET: &str = "MEDICAL_VETERINARY_SERVICES";
const FLIGHTS: &str = "TRAVEL_FLIGHTS";

fn categorized(code: &str) -> Override {
    Override { counterparty: None, category: Category::parse(code) }
}

fn dollars(least_minor: Option<i64>, most_minor: Option<i64>) -> Option<AmountRange> {
    Some(AmountRange { currency: Currency::USD, least_minor, most_minor })
}

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday")
        .with(txn("2026-03-01", -999, "KROGER #339").id("a"))
        .with(txn("2026-03-02", -4_210, "KROGER #12").id("b"))
        .with(txn("2026-03-03", 4_210, "KROGER #339").id("back"))
        .with(txn("2026-03-04", -999, "CORNER CAFE").id("cafe"));
    robin.import(statement([everyday])).await;
    recompute_all(world).await;
    robin
}

/// The amounts of the transactions with a category, in the order of the list.
async fn amounts(world: &World, robin: &Person, code: &str) -> Vec<i64> {
    recompute_all(world).await;
    let rows = listed::all(&world.app, &robin.caller, &Default::default()).await;
    rows.iter().filter(|it| it.category == Category::parse(code)).map(|it| it.minor).collect()
}

/// What a preview says about a new rule is what happens when it is saved.
#[tokio::test]
async fn a_preview_says_what_saving_the_rule_changes() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let rows = listed::all(app, caller, &Default::default()).await;
    let cafe = rows.iter().find(|it| it.description == "CORNER CAFE").unwrap().id;
    corrections::correct(app, caller, vec![cafe], categorized(FLIGHTS)).await.unwrap();
    let kroger = NewRule { like: Some("KROGER".into()), ..NewRule::default() };
    for (new, matching, changing) in [
        (NewRule { sets: categorized(VET), ..kroger.clone() }, 3, 3),
        (NewRule { sets: categorized(VET), amounts: dollars(None, Some(1_000)), ..kroger }, 1, 1),
        // The correction of the cafe stays.
        (
            NewRule {
                sets: categorized(VET),
                amounts: dollars(Some(999), Some(999)),
                ..NewRule::default()
            },
            2,
            1,
        ),
        (NewRule { words: Some("corner".into()), hides: true, ..NewRule::default() }, 1, 1),
        (NewRule { words: Some("nothing".into()), hides: true, ..NewRule::default() }, 0, 0),
    ] {
        let before = listed::all(app, caller, &Default::default()).await;
        let found = rule_preview::preview(app, caller, &new, None).await.unwrap();
        assert_eq!((found.matching, found.changing), (matching, changing), "{new:?}");
        assert_eq!(listed::all(app, caller, &Default::default()).await, before);
        let id = rules::create(app, caller, new.clone()).await.unwrap().id;
        recompute_all(&world).await;
        let after = listed::all(app, caller, &Default::default()).await;
        let is_same = |it: &&listed::Listed| {
            after.iter().any(|now| (now.id, now.category) == (it.id, it.category))
        };
        let changed = before.iter().filter(|it| !is_same(it)).count() as i64;
        assert_eq!(changed, changing, "{new:?}");
        // Once it is saved, nothing is left to change.
        let again = rule_preview::preview(app, caller, &new, Some(id)).await.unwrap();
        assert_eq!(again.changing, 0, "{new:?}");
        assert_eq!(rule_matches::count(app, caller).await.unwrap()[&id].would_change, 0);
        rules::delete(app, caller, id).await.unwrap();
        recompute_all(&world).await;
    }
}

#[tokio::test]
async fn an_edit_is_previewed_in_the_place_of_its_rule_and_belongs_to_the_person() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let new = NewRule { like: Some("KROGER".into()), sets: categorized(VET), ..NewRule::default() };
    let id = rules::create(app, caller, new).await.unwrap().id;
    recompute_all(&world).await;
    let edit = NewRule {
        sets: categorized(FLIGHTS),
        amounts: dollars(Some(4_000), None),
        ..NewRule::default()
    };
    let found: RulePreview = rule_preview::preview(app, caller, &edit, Some(id)).await.unwrap();
    assert_eq!((found.matching, found.changing), (2, 2));
    let first = &found.examples[0];
    assert_eq!((first.amount.minor(), first.new_category), (4_210, Category::parse(FLIGHTS)));
    assert_eq!(first.category, Category::parse(VET));
    let NewRule { sets, amounts: range, .. } = edit.clone();
    let stored = RuleEdit { sets, amounts: range, ..RuleEdit::default() };
    rules::update(app, caller, id, stored).await.unwrap();
    assert_eq!(amounts(&world, &robin, FLIGHTS).await, [4_210, -4_210]);
    assert_eq!(rules::list(app, caller).await.unwrap()[0].amounts, range);
    let kim = world.someone().await;
    is_not_found(rule_preview::preview(app, &kim.caller, &edit, Some(id)).await);
    is_not_found(rule_order::move_rule(app, &kim.caller, id, Move::Up).await);
}

#[tokio::test]
async fn the_first_rule_that_matches_decides_and_rules_can_be_moved() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let merchant =
        NewRule { like: Some("KROGER".into()), sets: categorized(VET), ..NewRule::default() };
    let merchant = rules::create(app, caller, merchant).await.unwrap().id;
    let small = NewRule {
        amounts: dollars(None, Some(1_000)),
        sets: categorized(FLIGHTS),
        ..NewRule::default()
    };
    let small = rules::create(app, caller, small).await.unwrap().id;
    let order = async || {
        rules::list(app, caller).await.unwrap().into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(order().await, [merchant, small], "a merchant comes before other conditions");
    assert_eq!(amounts(&world, &robin, FLIGHTS).await, [-999]);
    rule_order::move_rule(app, caller, small, Move::Up).await.unwrap();
    assert_eq!(order().await, [small, merchant]);
    assert_eq!(amounts(&world, &robin, FLIGHTS).await, [-999, -999]);
    // At the end, nothing happens; a new rule comes first.
    rule_order::move_rule(app, caller, small, Move::Up).await.unwrap();
    let words = NewRule { words: Some("339".into()), sets: categorized(VET), ..NewRule::default() };
    let words = rules::create(app, caller, words).await.unwrap().id;
    assert_eq!(order().await, [words, small, merchant]);
    rule_order::move_rule(app, caller, words, Move::Down).await.unwrap();
    assert_eq!(order().await, [small, words, merchant]);
}

#[tokio::test]
async fn the_preview_says_which_older_rules_a_rule_replaces() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let worded =
        |sets: Override| NewRule { words: Some(" corner ".into()), sets, ..NewRule::default() };
    let named = Override { counterparty: Some("Corner".into()), ..Override::default() };
    let both = Override { counterparty: Some("Cafe".into()), ..categorized(VET) };
    let large = NewRule { amounts: dollars(Some(4_000), None), ..worded(categorized(VET)) };
    let later = NewRule { from_now_on: true, ..worded(both.clone()) };
    // A rule stays if it sets more than the new one, has other conditions, or decides about older transactions.
    for (new, replaced) in [
        (worded(categorized(VET)), 0),
        (worded(categorized(FLIGHTS)), 1),
        (worded(named), 0),
        (large, 0),
        (later, 0),
        (worded(both), 3),
    ] {
        let before = rules::list(app, caller).await.unwrap();
        let preview = rule_preview::preview(app, caller, &new, None).await.unwrap();
        let created = rules::create(app, caller, new.clone()).await.unwrap();
        assert_eq!(preview.replaced.len(), replaced, "{new:?}");
        let sorted = |ids: &[RuleId]| ids.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(sorted(&preview.replaced), sorted(&created.replaced), "{new:?}");
        let after = rules::list(app, caller).await.unwrap();
        let gone = before.iter().map(|it| it.id).filter(|id| !after.iter().any(|it| it.id == *id));
        assert_eq!(gone.collect::<BTreeSet<_>>(), sorted(&created.replaced), "{new:?}");
    }
}

#[tokio::test]
async fn a_rule_without_a_condition_or_with_a_reversed_range_is_refused() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let sets = || categorized(VET);
    let nothing = NewRule { sets: sets(), ..NewRule::default() };
    let reversed =
        NewRule { sets: sets(), amounts: dollars(Some(2), Some(1)), ..NewRule::default() };
    let negative = NewRule { sets: sets(), amounts: dollars(Some(-2), None), ..NewRule::default() };
    for (new, name) in [(nothing, "words"), (reversed, "amount_least"), (negative, "amount_least")]
    {
        assert_eq!(param(rule_preview::preview(app, caller, &new, None).await), name, "{new:?}");
        assert_eq!(param(rules::create(app, caller, new).await), name);
    }
}
