//! Card benefits: recognized, used, marked, and announced before they expire.

use base::BenefitId;
use service::insights;
use service::insights::benefits::{self, BenefitMark};
use service::ledger::accounts;
use service::platform::audit;
use testkit::draft::{Account, card, checking, statement, txn};
use testkit::{Person, World, new_key};
use wire::v1::{Benefit, BenefitSummary};

use super::{count_events, day, recompute_all};
use crate::{is_not_found, param};

fn gold() -> Account {
    let mut gold = card("American Express Gold Card");
    gold.institution_name = Some("American Express".to_owned());
    gold
}

async fn summary(world: &World, person: &Person) -> BenefitSummary {
    benefits::summary(&world.app, &person.caller).await.unwrap()
}

fn find<'a>(summary: &'a BenefitSummary, word: &str) -> &'a Benefit {
    let mut all = summary.cards.iter().flat_map(|it| &it.benefits);
    all.rfind(|it| it.name.contains(word)).unwrap_or_else(|| panic!("no {word} benefit"))
}

#[tokio::test]
async fn a_card_is_recognized_by_its_name_and_a_credit_uses_its_benefit() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([gold(), checking("Everyday")])).await;
    recompute_all(&world).await;
    let before = summary(&world, &robin).await;
    assert_eq!((before.cards.len(), before.totals.card_count), (1, 1));
    let resy = find(&before, "Resy");
    assert_eq!((resy.used_amount.as_str(), resy.status), ("0.00", "available"));
    assert_eq!((resy.cycle_end.0, resy.days_until_expiry), (day("2026-06-30"), 112));
    let used = gold()
        .with(txn("2026-03-01", -6_200, "RESY LILIA BROOKLYN NY").id("dinner"))
        .with(txn("2026-03-04", 5_000, "AMEX RESY CREDIT").id("credit"));
    robin.import(statement([used])).await;
    recompute_all(&world).await;
    let after = summary(&world, &robin).await;
    let resy = find(&after, "Resy");
    assert_eq!((resy.used_amount.as_str(), resy.status), ("50.00", "used"));
    let before = find(&before, "Resy");
    assert_eq!(resy.id, before.id, "the benefit keeps its id");
}

#[tokio::test]
async fn only_the_owner_marks_a_benefit_that_cannot_be_observed() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    robin.import(statement([gold()])).await;
    recompute_all(&world).await;
    let found = summary(&world, &robin).await;
    let uber = find(&found, "Uber");
    assert!(!uber.observable);
    let id = BenefitId::parse(&uber.id).unwrap();
    let key = robin.key(new_key()).await;
    is_not_found(benefits::mark(&world.app, &key.caller, id, BenefitMark::Used(None)).await);
    is_not_found(benefits::mark(&world.app, &kim.caller, id, BenefitMark::Used(None)).await);
    let negative = benefits::mark(&world.app, &robin.caller, id, BenefitMark::Used(Some(-1))).await;
    assert_eq!(param(negative), "used_amount");
    for (mark, used) in [
        (BenefitMark::Used(Some(400)), "4.00"),
        (BenefitMark::Used(None), "10.00"),
        (BenefitMark::Clear, "0.00"),
    ] {
        benefits::mark(&world.app, &robin.caller, id, mark).await.unwrap();
        recompute_all(&world).await;
        let found = summary(&world, &robin).await;
        assert_eq!(find(&found, "Uber").used_amount.as_str(), used, "{mark:?}");
    }
}

#[tokio::test]
async fn an_expiring_benefit_sends_one_event_per_cycle() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([gold()])).await;
    recompute_all(&world).await;
    // Three monthly credits end on the 31st of March, 21 days from now.
    let soon = benefits::expiring(&world.app, &robin.caller, 21).await.unwrap();
    assert!(soon.count >= 1 && soon.benefits.iter().all(|it| it.expires_on.0 == day("2026-03-31")));
    assert_eq!(benefits::expiring(&world.app, &robin.caller, 20).await.unwrap().count, 0);
    let first = count_events(&world, &robin, "benefit.expiring").await;
    assert_eq!(first, soon.count);
    let next_day = async || {
        world.advance_seconds(86_400);
        insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
        recompute_all(&world).await;
        count_events(&world, &robin, "benefit.expiring").await
    };
    assert_eq!(next_day().await, first, "the same benefits are not announced again");
    for _ in 0..21 {
        next_day().await;
    }
    assert_eq!(next_day().await, 2 * first, "the benefits of April are announced in April");
}

#[tokio::test]
async fn the_person_can_set_the_product_of_an_unrecognized_card() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([card("Plastic"), checking("Everyday")])).await;
    recompute_all(&world).await;
    assert_eq!(summary(&world, &robin).await.cards.len(), 0);
    let (plastic, everyday) = (robin.account("Plastic").await, robin.account("Everyday").await);
    let set = async |account, product| {
        let opened = Some(day("2024-02-29"));
        let set = benefits::set_card(&world.app, &robin.caller, account, product, opened).await;
        recompute_all(&world).await;
        set
    };
    assert_eq!(param(set(plastic, Some("amex-golb")).await), "product");
    assert_eq!(param(set(everyday, Some("amex-gold")).await), "account_id");
    set(plastic, Some("amex-gold")).await.unwrap();
    assert_eq!(summary(&world, &robin).await.cards.len(), 1);
    set(plastic, None).await.unwrap();
    assert_eq!(summary(&world, &robin).await.cards.len(), 0);
}

#[tokio::test]
async fn a_closed_card_has_no_benefits() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([gold()])).await;
    recompute_all(&world).await;
    robin.import(statement([gold().closed_on("2026-03-09")])).await;
    recompute_all(&world).await;
    let found = summary(&world, &robin).await;
    assert_eq!((found.cards.len(), found.totals.expiring_count), (0, 0));
}

#[tokio::test]
async fn the_card_product_is_shown_with_whether_the_person_set_it() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    robin.import(statement([gold(), checking("Everyday")])).await;
    recompute_all(&world).await;
    let id = robin.account("American Express Gold Card").await;
    let found = benefits::product(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!((found.product.as_deref(), found.decided), (Some("amex-gold"), false));
    // Renaming the account does not change the card product.
    accounts::rename(&world.app, &robin.caller, id, Some("Dinners")).await.unwrap();
    recompute_all(&world).await;
    assert_eq!(summary(&world, &robin).await.cards[0].account_name, "Dinners");
    let opened = Some(day("2024-05-01"));
    benefits::set_card(&world.app, &robin.caller, id, None, opened).await.unwrap();
    let found = benefits::product(&world.app, &robin.caller, id).await.unwrap();
    let expected = benefits::Product { product: None, opened_on: opened, decided: true };
    assert_eq!(found, expected);
    is_not_found(benefits::product(&world.app, &kim.caller, id).await);
    let entry = audit::list(&world.app, &robin.caller, None, 1).await.unwrap().remove(0);
    assert_eq!(entry.action, "account.set_card");
    assert_eq!(entry.details, "Set the card Dinners to a card that is not in the catalog");
}
