//! Recurring payments that a person merges or gives an amount, and the calendar feed.

use base::StreamId;
use service::insights::cash_left;
use service::insights::recurring::{
    self, FeedDetail, Filter, PriceChange, Status, StreamLabels, create_feed, find_feed,
    list_feed_events, revoke_feed,
};
use service::platform::dirty_queue;
use testkit::draft::{card, checking, statement};
use testkit::{Person, World, hex, new_key};

use super::{count_events, day, every, monthly, recompute_all};
use crate::{is_not_found, param, trail};

const ALL: Filter = Filter { status: None, account_id: None, direction: None };

/// A subscription that moved from one card to another and got dearer, with pay and rent.
async fn household(world: &World) -> Person {
    let robin = world.person("robin@example.com").await;
    let pay = every(14, "2026-03-06", 10, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let rent = monthly("2026-03-02", 8, -120_000, "OAK STREET APARTMENTS RENT");
    let before = monthly("2025-10-21", 6, -1_549, "NETFLIX.COM 866-579-7172");
    let after = monthly("2026-02-21", 4, -1_799, "NETFLIX.COM 866-579-7172");
    let everyday = checking("Everyday").with_all(pay).with_all(rent);
    let accounts = [
        everyday.balance("2026-03-09T08:00:00Z", 300_000),
        card("Old card").with_all(before),
        card("New card").with_all(after),
    ];
    robin.import(statement(accounts)).await;
    recompute_all(world).await;
    robin
}

/// Computes everything again.
async fn compute_anew(world: &World, robin: &Person) {
    dirty_queue::request_recompute(&world.app, robin.user.id).await.unwrap();
    recompute_all(world).await;
}

/// The stream of a merchant on an account.
async fn stream(world: &World, robin: &Person, name: &str, account: &str) -> StreamId {
    let listed = recurring::list(&world.app, &robin.caller, ALL).await.unwrap();
    let found = listed.streams.into_iter().find(|(it, on)| it.name.contains(name) && on == account);
    found.unwrap_or_else(|| panic!("no stream {name} on {account}")).0.id
}

#[tokio::test]
async fn merged_streams_are_one_payment_everywhere_until_they_are_separated() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let old = stream(&world, &robin, "Netflix", "Old card").await;
    let new = stream(&world, &robin, "Netflix", "New card").await;
    let before = recurring::list(app, caller, ALL).await.unwrap();
    // The ended one keeps its identity, and gets the schedule of the newer one.
    recurring::merge(app, caller, new, old).await.unwrap();
    assert_eq!(trail(&world, caller).await[0], "stream.merge");
    for _ in 0..2 {
        let listed = recurring::list(app, caller, ALL).await.unwrap();
        assert_eq!(listed.streams.len(), before.streams.len() - 1);
        assert_eq!(listed.monthly_outflow_minor, before.monthly_outflow_minor);
        let (found, account, payments) = recurring::get(app, caller, old).await.unwrap();
        assert_eq!((found.status, account.as_str()), (Status::Active, "New card"));
        assert_eq!((found.first_on, found.last_on), (day("2025-05-21"), day("2026-02-21")));
        assert_eq!((found.transactions.len(), payments.len()), (10, 10));
        assert_eq!((found.expected_minor(), found.monthly_minor), (1_799, 1_799));
        let change = PriceChange { on: day("2025-11-21"), from_minor: 1_549, to_minor: 1_799 };
        assert_eq!(found.price_changes, [change]);
        assert_eq!(found.merged[0].id, new);
        is_not_found(recurring::find(app, caller, new).await);
        assert_eq!(recurring::get(app, caller, new).await.unwrap().0.merged_into, Some(old));
        let due = recurring::month(app, caller, day("2026-03-10")).await.unwrap().due;
        assert_eq!(due.iter().filter(|it| it.stream == old).count(), 1, "{due:?}");
        assert!(due.iter().all(|it| it.stream != new), "{due:?}");
        // It stays so when everything is computed anew.
        compute_anew(&world, &robin).await;
    }
    recurring::separate(app, caller, new).await.unwrap();
    let after = recurring::list(app, caller, ALL).await.unwrap();
    assert_eq!(after.streams.len(), before.streams.len());
    assert!(recurring::find(app, caller, new).await.is_ok());
}

#[tokio::test]
async fn a_merged_stream_sees_only_the_accounts_of_a_key() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let old = stream(&world, &robin, "Netflix", "Old card").await;
    let new = stream(&world, &robin, "Netflix", "New card").await;
    recurring::merge(app, caller, old, new).await.unwrap();
    let accounts = Some(vec![robin.account("New card").await]);
    let key = robin.key(service::access::keys::NewKey { accounts, ..new_key() }).await;
    let (found, _) = recurring::find(app, &key.caller, new).await.unwrap();
    assert_eq!((found.transactions.len(), found.first_on), (4, day("2025-11-21")));
    let accounts = Some(vec![robin.account("Old card").await]);
    let key = robin.key(service::access::keys::NewKey { accounts, ..new_key() }).await;
    let listed = recurring::list(app, &key.caller, ALL).await.unwrap();
    assert_eq!(listed.streams.iter().map(|it| it.0.id).collect::<Vec<_>>(), [old]);
}

#[tokio::test]
async fn payments_that_cannot_be_merged_are_refused() {
    let world = World::new().await;
    let robin = household(&world).await;
    let kim = world.someone().await;
    let (app, caller) = (&world.app, &robin.caller);
    let old = stream(&world, &robin, "Netflix", "Old card").await;
    let new = stream(&world, &robin, "Netflix", "New card").await;
    let pay = stream(&world, &robin, "Acme", "Everyday").await;
    let rent = stream(&world, &robin, "Oak Street", "Everyday").await;
    assert_eq!(param(recurring::merge(app, caller, old, old).await), "into");
    assert_eq!(param(recurring::merge(app, caller, old, pay).await), "into");
    let unknown = StreamId::from_bytes([7; 16]);
    assert_eq!(param(recurring::merge(app, caller, old, unknown).await), "into");
    is_not_found(recurring::merge(app, &kim.caller, old, new).await);
    let key = robin.key(new_key()).await;
    is_not_found(recurring::merge(app, &key.caller, old, new).await);
    recurring::merge(app, caller, old, new).await.unwrap();
    assert_eq!(param(recurring::merge(app, caller, rent, old).await), "into", "merged already");
    // What was merged into a payment moves with it.
    recurring::merge(app, caller, new, rent).await.unwrap();
    let (found, _) = recurring::find(app, caller, rent).await.unwrap();
    assert_eq!(found.merged.len(), 2);
    assert_eq!(count_events(&world, &robin, "recurring.updated").await, 3);
}

#[tokio::test]
async fn an_amount_that_the_person_sets_counts_in_totals_and_forecasts() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let rent = stream(&world, &robin, "Oak Street", "Everyday").await;
    let before = recurring::list(app, caller, ALL).await.unwrap().monthly_outflow_minor;
    let labels = StreamLabels { amount_minor: Some(130_000), ..StreamLabels::default() };
    recurring::set_labels(app, caller, rent, labels.clone()).await.unwrap();
    for _ in 0..2 {
        let (found, _) = recurring::find(app, caller, rent).await.unwrap();
        assert_eq!((found.expected_minor(), found.monthly_minor), (130_000, 130_000));
        assert_eq!(found.last_minor, 120_000, "what was paid stays what it was");
        let listed = recurring::list(app, caller, ALL).await.unwrap();
        assert_eq!(listed.monthly_outflow_minor, before + 10_000);
        let due = recurring::month(app, caller, day("2026-04-01")).await.unwrap().due;
        let next = due.iter().find(|it| it.stream == rent).unwrap();
        assert_eq!(next.amount.minor(), 130_000);
        compute_anew(&world, &robin).await;
    }
    assert_eq!(recurring::get_labels(app, caller, rent).await.unwrap(), labels);
    assert!(cash_left::get(app, caller).await.unwrap().is_some());
    let zero = StreamLabels { amount_minor: Some(0), ..StreamLabels::default() };
    assert_eq!(param(recurring::set_labels(app, caller, rent, zero).await), "amount");
    recurring::set_labels(app, caller, rent, StreamLabels::default()).await.unwrap();
    let (found, _) = recurring::find(app, caller, rent).await.unwrap();
    assert_eq!((found.expected_minor(), found.monthly_minor), (120_000, 120_000));
}

#[tokio::test]
async fn the_calendar_feed_shows_the_next_payments_to_whoever_has_its_secret() {
    let world = World::new().await;
    let robin = household(&world).await;
    let kim = world.someone().await;
    let (app, caller) = (&world.app, &robin.caller);
    assert_eq!(find_feed(app, caller).await.unwrap(), None);
    let token = create_feed(app, caller, FeedDetail::Names).await.unwrap();
    assert_eq!(trail(&world, caller).await[0], "calendar.create");
    let events = list_feed_events(app, &token).await.unwrap().unwrap();
    let rent: Vec<String> = events
        .iter()
        .filter(|it| it.name.contains("Oak Street"))
        .map(|it| it.on.to_string())
        .collect();
    assert_eq!(rent[..2], ["2026-04-02", "2026-05-02"]);
    assert_eq!(rent.len(), 12);
    assert!(events.iter().all(|it| it.amount.is_none()), "amounts are shown only if asked for");
    assert!(events.is_sorted_by_key(|it| it.on));
    let stored = format!("{:?}", world.stored().await);
    assert!(!stored.contains(&token) && !stored.contains(&hex(token.as_bytes())));
    // A new address replaces the old one.
    let next = create_feed(app, caller, FeedDetail::Amounts).await.unwrap();
    assert_eq!(list_feed_events(app, &token).await.unwrap(), None);
    let events = list_feed_events(app, &next).await.unwrap().unwrap();
    let first = events.iter().find(|it| it.name.contains("Oak Street")).unwrap();
    assert_eq!(first.amount.unwrap().minor(), 120_000);
    assert_eq!(find_feed(app, caller).await.unwrap().unwrap().detail, FeedDetail::Amounts);
    // Others can neither see nor end it, and have their own.
    let key = robin.key(new_key()).await;
    is_not_found(create_feed(app, &key.caller, FeedDetail::Names).await);
    is_not_found(find_feed(app, &key.caller).await);
    let theirs = create_feed(app, &kim.caller, FeedDetail::Names).await.unwrap();
    assert_eq!(list_feed_events(app, &theirs).await.unwrap(), Some(Vec::new()));
    revoke_feed(app, &kim.caller).await.unwrap();
    assert!(list_feed_events(app, &next).await.unwrap().is_some());
    revoke_feed(app, caller).await.unwrap();
    assert_eq!(list_feed_events(app, &next).await.unwrap(), None);
    for bad in ["", "ekc_", "ekc_wrong", &next[..next.len() - 1]] {
        assert_eq!(list_feed_events(app, bad).await.unwrap(), None, "{bad}");
    }
}
