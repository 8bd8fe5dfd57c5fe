//! What a person decides about recurring streams: dismissed, restored, renamed and marked.

use base::StreamId;
use service::insights::recurring::{self, Filter, Kind, StreamLabels};
use service::insights::{cash_left, pipeline};
use service::{Error, summary};
use testkit::draft::{checking, statement};
use testkit::{Person, World, new_key};

use super::{count_events, day, every, monthly, recompute_all};
use crate::{is_not_found, param, trail};

const ALL: Filter = Filter { status: None, account_id: None, direction: None };

/// A household with pay, rent, and a weekly purchase that looks like a subscription.
async fn household(world: &World) -> Person {
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 10, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let rent = monthly("2026-03-02", 8, -120_000, "OAK STREET APARTMENTS RENT");
    let tv = monthly("2026-02-21", 8, -1_549, "NETFLIX.COM 866-579-7172");
    let everyday = checking("Everyday").with_all(pay).with_all(rent).with_all(tv);
    robin.import(statement([everyday.balance("2026-03-09T08:00:00Z", 300_000)])).await;
    recompute_all(world).await;
    robin
}

async fn find(world: &World, robin: &Person, name: &str) -> Option<recurring::Stream> {
    let listed = recurring::list(&world.app, &robin.caller, ALL).await.unwrap();
    listed.streams.into_iter().map(|it| it.0).find(|it| it.name.contains(name))
}

async fn netflix(world: &World, robin: &Person) -> StreamId {
    find(world, robin, "Netflix").await.unwrap().id
}

#[tokio::test]
async fn a_dismissed_stream_leaves_lists_totals_forecasts_and_events_and_can_come_back() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let id = netflix(&world, &robin).await;
    let before = recurring::list(app, caller, ALL).await.unwrap();
    let left = cash_left::get(app, caller).await.unwrap().unwrap();
    assert_eq!(count_events(&world, &robin, "recurring.updated").await, 1);
    recurring::dismiss(app, caller, id).await.unwrap();
    assert_eq!(count_events(&world, &robin, "recurring.updated").await, 2, "it left the list");
    assert_eq!(trail(&world, caller).await[0], "stream.dismiss");
    let after = recurring::list(app, caller, ALL).await.unwrap();
    assert_eq!((after.streams.len(), after.dismissed_count), (before.streams.len() - 1, 1));
    assert_eq!(after.monthly_outflow_minor, before.monthly_outflow_minor - 1_549);
    let summary = summary::get(app, caller).await.unwrap();
    assert_eq!(
        summary.recurring.monthly_outflow,
        wire::json::Number::from(base::Money::new(120_000, base::Currency::USD))
    );
    is_not_found(recurring::find(app, caller, id).await);
    let due = recurring::month(app, caller, day("2026-03-10")).await.unwrap().due;
    assert!(due.iter().all(|it| it.stream != id), "{due:?}");
    let without = cash_left::get(app, caller).await.unwrap().unwrap();
    assert!(without.bills_minor <= left.bills_minor);
    // New payments, a new day and a full recompute change nothing, and are not announced.
    world.advance_seconds(15 * 86_400);
    let next = monthly("2026-03-21", 1, -1_799, "NETFLIX.COM 866-579-7172");
    robin.import(statement([checking("Everyday").with_all(next)])).await;
    recompute_all(&world).await;
    service::platform::dirty_queue::request_recompute(app, robin.user.id).await.unwrap();
    world.advance_seconds(86_400);
    pipeline::queue_new_day_once(app).await.unwrap();
    recompute_all(&world).await;
    assert!(find(&world, &robin, "Netflix").await.is_none());
    let dismissed = recurring::list_dismissed(app, caller).await.unwrap();
    assert_eq!((dismissed[0].0.id, dismissed[0].0.transactions.len()), (id, 9));
    recurring::restore(app, caller, id).await.unwrap();
    assert_eq!(netflix(&world, &robin).await, id);
    assert!(recurring::list_dismissed(app, caller).await.unwrap().is_empty());
    recompute_all(&world).await;
    assert_eq!(netflix(&world, &robin).await, id);
}

#[tokio::test]
async fn a_decision_outlives_the_stream_and_moves_to_the_one_that_is_found_again() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let rows = || monthly("2026-03-01", 6, -999, "HULU 877-8244858 CA");
    robin.import(statement([checking("Everyday").with_all(rows())])).await;
    recompute_all(&world).await;
    let hulu = find(&world, &robin, "Hulu").await.unwrap().id;
    recurring::dismiss(app, caller, hulu).await.unwrap();
    let import = service::ingest::imports::list(app, caller, None, 1).await.unwrap()[0].id;
    service::ingest::imports::undo(app, caller, import).await.unwrap();
    recompute_all(&world).await;
    assert!(recurring::list_dismissed(app, caller).await.unwrap().is_empty(), "it is gone");
    robin.import(statement([checking("Everyday").with_all(rows())])).await;
    recompute_all(&world).await;
    let dismissed = recurring::list_dismissed(app, caller).await.unwrap();
    assert_eq!(dismissed.len(), 1);
    assert_ne!(dismissed[0].0.id, hulu, "its transactions are new");
    assert!(find(&world, &robin, "Hulu").await.is_none());
    // The other direction of the merchant is another stream.
    let refunds = monthly("2026-03-05", 6, 4_000, "HULU 877-8244858 CA");
    robin.import(statement([checking("Everyday").with_all(refunds)])).await;
    recompute_all(&world).await;
    assert_eq!(recurring::list_dismissed(app, caller).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_stream_keeps_its_name_and_type_until_they_are_automatic_again() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let id = netflix(&world, &robin).await;
    let mine = StreamLabels {
        name: Some("  Family TV ".to_owned()),
        kind: Some(Kind::Bill),
        amount_minor: None,
    };
    recurring::set_labels(app, caller, id, mine).await.unwrap();
    let renamed = find(&world, &robin, "Family TV").await.unwrap();
    assert_eq!((renamed.name.as_str(), renamed.kind), ("Family TV", Kind::Bill));
    world.advance_seconds(15 * 86_400);
    let next = monthly("2026-03-21", 1, -1_549, "NETFLIX.COM 866-579-7172");
    robin.import(statement([checking("Everyday").with_all(next)])).await;
    recompute_all(&world).await;
    let later = find(&world, &robin, "Family TV").await.unwrap();
    assert_eq!((later.id, later.kind, later.transactions.len()), (id, Kind::Bill, 9));
    let labels = recurring::get_labels(app, caller, id).await.unwrap();
    assert_eq!((labels.name.as_deref(), labels.kind), (Some("Family TV"), Some(Kind::Bill)));
    recurring::set_labels(app, caller, id, StreamLabels::default()).await.unwrap();
    let automatic = find(&world, &robin, "Netflix").await.unwrap();
    assert_eq!((automatic.id, automatic.kind), (id, Kind::Subscription));
}

#[tokio::test]
async fn decisions_are_checked_and_belong_to_the_person() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let id = netflix(&world, &robin).await;
    for name in ["", "  ", "two\nlines", &"x".repeat(81)] {
        let labels = StreamLabels { name: Some(name.to_owned()), ..StreamLabels::default() };
        assert_eq!(param(recurring::set_labels(app, caller, id, labels).await), "name", "{name:?}");
    }
    let pay = find(&world, &robin, "Acme").await.unwrap().id;
    for (stream, kind) in [(pay, Kind::Bill), (id, Kind::Income), (id, Kind::Transfer)] {
        let labels = StreamLabels { kind: Some(kind), ..StreamLabels::default() };
        let refused = recurring::set_labels(app, caller, stream, labels).await;
        assert_eq!(param(refused), "stream_type", "{kind:?}");
    }
    let kim = world.person("kim@example.com").await;
    is_not_found(recurring::dismiss(app, &kim.caller, id).await);
    is_not_found(recurring::set_labels(app, &kim.caller, id, StreamLabels::default()).await);
    // A program decides nothing.
    let key = robin.key(new_key()).await;
    is_not_found(recurring::dismiss(app, &key.caller, id).await);
    let asked = recurring::list_dismissed(app, &key.caller).await;
    assert!(matches!(asked, Err(Error::NotFound(_))));
    assert_eq!(netflix(&world, &robin).await, id);
}
