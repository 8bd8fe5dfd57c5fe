//! Names and categories of transactions: from corrections, rules, the bank or the built-in tables, in this order.

use base::category::Category;
use service::classify::corrections;
use service::classify::overrides::Override;
use service::classify::rules::{self, NewRule};
use service::platform::audit;
use testkit::World;
use testkit::draft::{checking, statement, txn};

use super::{count_events, recompute_all};
use crate::listed::{self, Listed};
use crate::{is_not_found, param};

async fn rows(world: &World, person: &testkit::Person) -> Vec<Listed> {
    listed::all(&world.app, &person.caller, &Default::default()).await
}

fn named(name: &str) -> Override {
    Override { counterparty: Some(name.to_owned()), category: None }
}

fn categorized(code: &str) -> Override {
    Override { counterparty: None, category: Category::parse(code) }
}

#[tokio::test]
async fn an_imported_transaction_gets_a_name_and_a_category_immediately() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let bought = txn("2026-03-02", -4_210, "AplPay KROGER #339 000000339 INDIANAPOLIS IN");
    robin.import(statement([checking("Everyday").with(bought)])).await;
    let row = &rows(&world, &robin).await[0];
    assert_eq!(row.counterparty.as_deref(), Some("Kroger"));
    assert_eq!(row.category, Category::parse("FOOD_AND_DRINK_GROCERIES"));
}

#[tokio::test]
async fn corrections_precede_rules_then_the_bank_then_the_built_in_tables() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let bought = |id: &str| txn("2026-03-02", -4_210, "KROGER #339").id(id);
    let all = || {
        let bank = bought("bank").category("GENERAL_MERCHANDISE_SUPERSTORES");
        statement([checking("Everyday").with(bought("table")).with(bank)])
    };
    robin.import(all()).await;
    recompute_all(&world).await;
    let categories = async || {
        let mut all: Vec<_> = rows(&world, &robin)
            .await
            .into_iter()
            .map(|it| it.category.map_or("", Category::detailed))
            .collect();
        all.sort_unstable();
        all
    };
    let tables = ["FOOD_AND_DRINK_GROCERIES", "GENERAL_MERCHANDISE_SUPERSTORES"];
    assert_eq!(categories().await, tables);
    let rule = NewRule {
        like: Some("KROGER #1204 TOLEDO OH".to_owned()),
        sets: categorized("FOOD_AND_DRINK_OTHER_FOOD_AND_DRINK"),
        ..NewRule::default()
    };
    let rule = rules::create(&world.app, &robin.caller, rule).await.unwrap().id;
    recompute_all(&world).await;
    assert_eq!(categories().await, ["FOOD_AND_DRINK_OTHER_FOOD_AND_DRINK"; 2]);
    let id = rows(&world, &robin).await[0].id;
    corrections::correct(
        &world.app,
        &robin.caller,
        vec![id],
        categorized("MEDICAL_VETERINARY_SERVICES"),
    )
    .await
    .unwrap();
    robin.import(all()).await;
    recompute_all(&world).await;
    let expected = ["FOOD_AND_DRINK_OTHER_FOOD_AND_DRINK", "MEDICAL_VETERINARY_SERVICES"];
    assert_eq!(categories().await, expected, "a sync does not override the correction");
    rules::delete(&world.app, &robin.caller, rule).await.unwrap();
    corrections::undo(&world.app, &robin.caller, id).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(categories().await, tables, "undoing restores the previous categories");
}

#[tokio::test]
async fn a_name_and_a_category_can_be_corrected_separately() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin
        .import(statement([checking("Everyday").with(txn("2026-03-02", -900, "X 1").id("x"))]))
        .await;
    let id = rows(&world, &robin).await[0].id;
    corrections::correct(&world.app, &robin.caller, vec![id], named("The corner shop"))
        .await
        .unwrap();
    corrections::correct(
        &world.app,
        &robin.caller,
        vec![id],
        categorized("FOOD_AND_DRINK_GROCERIES"),
    )
    .await
    .unwrap();
    recompute_all(&world).await;
    let row = &rows(&world, &robin).await[0];
    assert_eq!(row.counterparty.as_deref(), Some("The corner shop"));
    assert_eq!(row.category, Category::parse("FOOD_AND_DRINK_GROCERIES"));
}

#[tokio::test]
async fn empty_and_invalid_corrections_are_refused() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    robin
        .import(statement([checking("Everyday").with(txn("2026-03-02", -900, "X").id("x"))]))
        .await;
    let id = rows(&world, &robin).await[0].id;
    let correct = async |ids: Vec<_>, correction| {
        corrections::correct(&world.app, &robin.caller, ids, correction).await
    };
    assert_eq!(param(correct(vec![id], Override::default()).await), "category");
    assert_eq!(param(correct(vec![id], named(" ")).await), "counterparty_name");
    assert_eq!(param(correct(vec![id], named("a\nb")).await), "counterparty_name");
    assert_eq!(param(correct(vec![id], named(&"x".repeat(81))).await), "counterparty_name");
    assert_eq!(param(correct(vec![], named("A")).await), "transaction_ids");
    assert_eq!(param(correct(vec![id; 101], named("A")).await), "transaction_ids");
    is_not_found(corrections::correct(&world.app, &kim.caller, vec![id], named("A")).await);
    is_not_found(corrections::undo(&world.app, &robin.caller, id).await);
    let rule = NewRule { sets: named("A"), ..NewRule::default() };
    assert_eq!(param(rules::create(&world.app, &robin.caller, rule).await), "words");
}

#[tokio::test]
async fn a_correction_applies_immediately_sends_an_event_and_is_audited() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin
        .import(statement([checking("Everyday").with(txn("2026-03-02", -4_210, "KROGER #339"))]))
        .await;
    recompute_all(&world).await;
    let before = count_events(&world, &robin, "transaction.updated").await;
    let id = rows(&world, &robin).await[0].id;
    let vet = categorized("MEDICAL_VETERINARY_SERVICES");
    corrections::correct(&world.app, &robin.caller, vec![id], vet.clone()).await.unwrap();
    assert_eq!(rows(&world, &robin).await[0].category, vet.category);
    assert_eq!(count_events(&world, &robin, "transaction.updated").await, before + 1);
    recompute_all(&world).await;
    assert_eq!(
        count_events(&world, &robin, "transaction.updated").await,
        before + 1,
        "only one event is sent"
    );
    corrections::undo(&world.app, &robin.caller, id).await.unwrap();
    let groceries = Category::parse("FOOD_AND_DRINK_GROCERIES");
    assert_eq!(rows(&world, &robin).await[0].category, groceries);
    let trail = audit::list(&world.app, &robin.caller, None, 10).await.unwrap();
    let done: Vec<&str> = trail.iter().map(|it| it.action.as_str()).collect();
    assert_eq!(done[..2], ["transaction.undo", "transaction.correct"]);
    assert_eq!(trail[1].details, "Corrected 1 transaction to Vet");
    assert_eq!(trail[1].subject, Some(id.to_string()));
}

#[tokio::test]
async fn correcting_always_creates_one_rule_that_replaces_the_one_before() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let bought = |on: &str, id: &str| txn(on, -4_210, "KROGER #339").id(id);
    let everyday =
        checking("Everyday").with(bought("2026-03-02", "a")).with(bought("2025-03-02", "b"));
    robin.import(statement([everyday])).await;
    recompute_all(&world).await;
    let all = rows(&world, &robin).await;
    for code in ["MEDICAL_DENTAL_CARE", "MEDICAL_VETERINARY_SERVICES"] {
        corrections::correct_always(&world.app, &robin.caller, all[0].id, categorized(code))
            .await
            .unwrap();
    }
    let vet = Category::parse("MEDICAL_VETERINARY_SERVICES");
    assert_eq!(rows(&world, &robin).await[0].category, vet, "the corrected one, immediately");
    recompute_all(&world).await;
    assert_eq!(rows(&world, &robin).await[1].category, vet, "the older one, by the rule");
    let kept = rules::list(&world.app, &robin.caller).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].merchant.as_deref(), kept[0].category), (Some("Kroger"), vet));
    // A rule for the name does not replace a rule for the category.
    corrections::correct_always(&world.app, &robin.caller, all[0].id, named("Corner"))
        .await
        .unwrap();
    assert_eq!(rules::list(&world.app, &robin.caller).await.unwrap().len(), 2);
    let kim = world.person("kim@example.com").await;
    is_not_found(rules::delete(&world.app, &kim.caller, kept[0].id).await);
    assert_eq!(rules::list(&world.app, &kim.caller).await.unwrap(), []);
    rules::delete(&world.app, &robin.caller, kept[0].id).await.unwrap();
    let trail = audit::list(&world.app, &robin.caller, None, 20).await.unwrap();
    let made = trail.iter().filter(|it| it.action == "rule.create").count();
    assert_eq!((trail[0].action.as_str(), made), ("rule.delete", 3));
}

#[tokio::test]
async fn no_rule_is_created_from_a_text_without_a_name() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Everyday").with(txn("2026-03-02", -4_210, "--"))])).await;
    let id = rows(&world, &robin).await[0].id;
    let refused = corrections::correct_always(&world.app, &robin.caller, id, named("Corner")).await;
    assert_eq!(param(refused), "always");
    assert_eq!(rows(&world, &robin).await[0].counterparty, None, "nothing was stored");
}
