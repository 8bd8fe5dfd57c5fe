//! The event log: what a person, a key and a portal guest see of it, its filters and its pages.

use base::Timestamp;
use db::params;
use service::platform::cursors::Page;
use service::webhooks::{
    self, DeliveryStatus, EVENT_SCAN_MAX, EventFilter, EventPage, EventStatus, LoggedEvent, portal,
};
use service::{Caller, Error, Scopes};
use testkit::draft::{card, checking, statement, txn};
use testkit::receiver::ScriptedResponse;
use testkit::{World, new_key};
use wire::v1::Scope;

use super::{Fixture, create};

const DAY: u64 = 86_400;

async fn page(
    world: &World,
    caller: &Caller,
    filter: &EventFilter,
    page: Page<'_>,
) -> service::Result<EventPage> {
    webhooks::list_events(&world.app, caller, filter, page).await
}

/// All events that match a filter, in pages of that size.
async fn all_events(
    world: &World,
    caller: &Caller,
    filter: &EventFilter,
    limit: usize,
) -> Vec<LoggedEvent> {
    let (mut events, mut cursor) = (Vec::new(), None);
    loop {
        let next = Page { cursor: cursor.as_deref(), limit };
        let found = page(world, caller, filter, next).await.unwrap();
        assert!(found.events.len() <= limit);
        events.extend(found.events);
        cursor = found.next_cursor;
        if cursor.is_none() {
            return events;
        }
    }
}

async fn log(world: &World, caller: &Caller) -> Vec<LoggedEvent> {
    all_events(world, caller, &EventFilter::default(), 100).await
}

fn with_status(status: EventStatus) -> EventFilter {
    EventFilter { status: Some(status), ..EventFilter::default() }
}

fn of_type(name: &str) -> EventFilter {
    EventFilter { event_type: Some(name.to_owned()), ..EventFilter::default() }
}

fn ids(events: &[LoggedEvent]) -> Vec<base::EventId> {
    events.iter().map(|it| it.id).collect()
}

#[tokio::test]
async fn each_event_has_its_status_over_its_deliveries_also_without_an_endpoint() {
    let fixture = Fixture::new().await;
    fixture.receive_only("transaction.created").await;
    let (world, caller) = (&fixture.world, &fixture.key.caller);
    fixture.import_transaction("delivered").await;
    fixture.deliver().await;
    fixture.receiver.respond_with([ScriptedResponse::Status(500)]);
    fixture.import_transaction("retrying").await;
    fixture.deliver().await;
    fixture.import_transaction("pending").await;
    let events = all_events(world, caller, &of_type("transaction.created"), 100).await;
    let statuses: Vec<EventStatus> = events.iter().map(|it| it.status).collect();
    assert_eq!(statuses, [EventStatus::Pending, EventStatus::Retrying, EventStatus::Delivered]);
    let retrying = &events[1].deliveries[0];
    assert_eq!((retrying.endpoint, retrying.attempts), (fixture.endpoint.id, 1));
    assert_eq!(retrying.status, DeliveryStatus::Retrying);
    assert!(retrying.next_attempt_at.is_some_and(|it| it > world.clock.now()));
    assert_eq!(events[2].deliveries[0].next_attempt_at, None);
    let data: serde_json::Value = serde_json::from_str(events[0].data.as_ref().unwrap()).unwrap();
    assert_eq!(data["count"], 1);

    let unwanted = all_events(world, caller, &with_status(EventStatus::NoEndpoint), 100).await;
    assert!(unwanted.iter().any(|it| it.event_type == "account.connected"));
    assert!(unwanted.iter().all(|it| it.deliveries.is_empty() && it.data.is_some()));
    fixture.deliver().await;
    // One failed delivery makes the event failed, whatever became of the other.
    create(&world.app, caller, &fixture.receiver.url, &["transaction.created"]).await.unwrap();
    fixture.receiver.respond_with([ScriptedResponse::Status(410)]);
    fixture.import_transaction("both").await;
    fixture.deliver().await;
    let newest = &all_events(world, caller, &of_type("transaction.created"), 1).await[0];
    assert_eq!((newest.status, newest.deliveries.len()), (EventStatus::Failed, 2));
}

/// For every filter and page size, the pages are the matching events of the whole log, in its order.
#[tokio::test]
async fn pages_of_every_filter_have_each_matching_event_once() {
    let fixture = Fixture::new().await;
    let (world, caller) = (&fixture.world, &fixture.key.caller);
    fixture.receive_only("transaction.created").await;
    let mut starts = Vec::new();
    for number in 0..6 {
        starts.push(world.clock.now());
        let response = [200, 500, 410][number % 3];
        fixture.receiver.respond_with([ScriptedResponse::Status(response)]);
        fixture.import_transaction(&format!("n{number}")).await;
        fixture.deliver().await;
        let change = webhooks::EndpointChange {
            status: Some(webhooks::EndpointStatus::Active),
            ..Default::default()
        };
        let id = fixture.endpoint.id;
        webhooks::changes::update(&world.app, caller, id, change).await.unwrap();
        world.advance_seconds(1);
    }
    let whole = log(world, caller).await;
    assert!(whole.is_sorted_by(|a, b| a.id > b.id));
    let mut filters: Vec<EventFilter> =
        EventStatus::ALL.iter().map(|it| with_status(*it)).collect();
    filters.push(of_type("transaction.created"));
    filters.push(of_type("balance.updated"));
    let (start, end) = (Some(starts[1]), Some(starts[3]));
    filters.push(EventFilter { start, ..EventFilter::default() });
    filters.push(EventFilter { end, ..EventFilter::default() });
    filters.push(EventFilter { start, end, ..with_status(EventStatus::Failed) });
    filters.push(EventFilter { start: end, end, ..EventFilter::default() });
    for filter in &filters {
        let matches = |it: &&LoggedEvent| {
            filter.event_type.as_ref().is_none_or(|name| *name == it.event_type)
                && filter.status.is_none_or(|status| status == it.status)
                && filter.start.is_none_or(|start| it.created_at >= start)
                && filter.end.is_none_or(|end| it.created_at <= end)
        };
        let expected: Vec<_> = whole.iter().filter(matches).map(|it| it.id).collect();
        for limit in [1, 2, 5, 100] {
            let found = all_events(world, caller, filter, limit).await;
            assert_eq!(ids(&found), expected, "{filter:?} by {limit}");
        }
    }
    let failed = filters.iter().find(|it| it.status == Some(EventStatus::Failed)).unwrap();
    assert!(all_events(world, caller, failed, 100).await.len() > 1);
}

#[tokio::test]
async fn a_cursor_belongs_to_its_filter_and_key_and_new_events_do_not_shift_pages() {
    let fixture = Fixture::new().await;
    let (world, caller) = (&fixture.world, &fixture.key.caller);
    fixture.import_transaction("one").await;
    let before = log(world, caller).await;
    let everything = EventFilter::default();
    let first = page(world, caller, &everything, Page { cursor: None, limit: 1 }).await.unwrap();
    fixture.import_transaction("two").await;
    let cursor = first.next_cursor.as_deref();
    let rest = page(world, caller, &everything, Page { cursor, limit: 100 }).await.unwrap();
    assert_eq!(ids(&[first.events, rest.events].concat()), ids(&before));
    let other = fixture.person.key(new_key()).await.caller;
    for (caller, filter) in [(caller, &of_type("goal.updated")), (&other, &everything)] {
        let refused = page(world, caller, filter, Page { cursor, limit: 1 }).await;
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_key_sees_the_events_of_its_scopes_and_accounts() {
    let fixture = Fixture::new().await;
    let world = &fixture.world;
    let a = checking("A").with(txn("2026-03-09", -100, "KROGER #339").id("a"));
    let b = card("B").with(txn("2026-03-09", -200, "SHELL OIL").id("b"));
    fixture.person.import(statement([a, b])).await;
    let owner = fixture.person.session().await;
    let everything = log(world, &owner).await;
    assert_eq!(ids(&log(world, &fixture.key.caller).await), ids(&everything));

    let scopes = Scopes::from_iter([Scope::TransactionsRead, Scope::WebhooksManage]);
    let narrow = fixture.person.key(service::access::keys::NewKey { scopes, ..new_key() }).await;
    let seen = log(world, &narrow.caller).await;
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|it| it.event_type.starts_with("transaction.")), "{seen:?}");
    assert!(seen.iter().all(|it| it.status == EventStatus::NoEndpoint), "none of its own");

    let first = fixture.person.account("A").await;
    let accounts = Some(vec![first]);
    let limited = fixture.person.key(service::access::keys::NewKey { accounts, ..new_key() }).await;
    let seen = log(world, &limited.caller).await;
    let is_about = |it: &LoggedEvent| it.data.as_ref().unwrap().contains(&first.to_string());
    assert_eq!(
        ids(&seen),
        ids(&everything.iter().filter(|it| is_about(it)).cloned().collect::<Vec<_>>())
    );
    assert!(!seen.is_empty() && seen.len() < everything.len());
    let hidden = everything.iter().find(|it| !is_about(it)).unwrap().id;
    let refused = webhooks::get_event(&world.app, &limited.caller, hidden).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    webhooks::get_event(&world.app, &limited.caller, seen[0].id).await.unwrap();

    let stranger = world.person("kim@example.com").await.session().await;
    assert!(log(world, &stranger).await.is_empty());
    let refused = webhooks::get_event(&world.app, &stranger, hidden).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}

#[tokio::test]
async fn the_portal_shows_the_log_of_its_key() {
    let fixture = Fixture::new().await;
    let world = &fixture.world;
    let scopes = Scopes::from_iter([Scope::AccountsRead, Scope::WebhooksManage]);
    let narrow = fixture.person.key(service::access::keys::NewKey { scopes, ..new_key() }).await;
    fixture.import_transaction("one").await;
    let (app, caller) = (world.app.clone(), narrow.caller.clone());
    let link = world.app.db.write(move |tx| portal::create_link(&app, tx, &caller)).await.unwrap();
    let session = portal::redeem_link(&world.app, &link.0).await.unwrap();
    let guest = portal::find_session(&world.app, &session).await.unwrap().unwrap().caller;
    let seen = log(world, &guest).await;
    assert_eq!(ids(&seen), ids(&log(world, &narrow.caller).await));
    assert!(seen.iter().any(|it| it.event_type == "account.connected"));
    assert!(!seen.iter().any(|it| it.event_type.starts_with("transaction.")));
}

#[tokio::test]
async fn tests_and_events_about_endpoints_are_in_the_log_of_their_key_alone() {
    let fixture = Fixture::new().await;
    let world = &fixture.world;
    let other = fixture.person.key(new_key()).await.caller;
    fixture.receiver.respond_with([ScriptedResponse::Status(500), ScriptedResponse::Status(410)]);
    let caller = &fixture.key.caller;
    let id = fixture.endpoint.id;
    webhooks::test(&world.app, caller, id, Some("transaction.created")).await.unwrap();
    fixture.import_transaction("gone").await;
    fixture.deliver().await;
    let test = all_events(world, caller, &of_type("transaction.created"), 100).await.pop().unwrap();
    assert_eq!((test.status, test.deliveries[0].attempts), (EventStatus::Failed, 1));
    let failed = all_events(world, caller, &with_status(EventStatus::Failed), 100).await;
    assert!(ids(&failed).contains(&test.id), "the filter agrees with the status");
    let told = all_events(world, caller, &of_type("webhook.endpoint_disabled"), 100).await;
    assert_eq!((told.len(), told[0].status), (1, EventStatus::NoEndpoint));
    let seen = ids(&log(world, &other).await);
    assert!(!seen.is_empty() && !seen.contains(&test.id) && !seen.contains(&told[0].id));
    let person = fixture.person.session().await;
    let seen = log(world, &person).await;
    let shown = seen.iter().find(|it| it.id == test.id).unwrap();
    assert_eq!(shown.status, EventStatus::Failed);
    assert!(ids(&seen).contains(&told[0].id));
}

#[tokio::test]
async fn an_event_is_kept_ninety_days_and_its_payload_thirty() {
    let fixture = Fixture::new().await;
    let (world, caller) = (&fixture.world, &fixture.key.caller);
    fixture.import_transaction("one").await;
    fixture.deliver().await;
    let before = log(world, caller).await;
    world.advance_seconds(31 * DAY);
    webhooks::delete_expired_once(&world.app).await.unwrap();
    let after = log(world, caller).await;
    assert_eq!(ids(&after), ids(&before));
    assert!(after.iter().all(|it| it.data.is_none() && it.status == EventStatus::Delivered));
    world.advance_seconds(60 * DAY);
    webhooks::delete_expired_once(&world.app).await.unwrap();
    assert!(log(world, caller).await.is_empty());
}

/// A page looks through a bounded number of events, and its cursor goes on from there.
#[tokio::test]
async fn a_filter_that_matches_little_is_searched_for_in_bounded_steps() {
    let fixture = Fixture::new().await;
    let (world, caller) = (&fixture.world, &fixture.key.caller);
    fixture.import_transaction("old").await;
    let user = fixture.person.user.id;
    let (ids, now) = (world.app.ids.clone(), world.clock.now());
    let count = EVENT_SCAN_MAX + 500;
    let fill = move |tx: &mut db::Tx<'_>| {
        for _ in 0..count {
            let id: base::EventId = ids.make();
            let values = params![user, id, now];
            tx.execute(
                "insert into events (user_id, id, type, data, created_at)
                values ($1, $2, 'score.updated', '{}', $3)",
                values,
            )?;
        }
        Ok::<_, Error>(())
    };
    world.app.db.write(fill).await.unwrap();
    let filter = of_type("transaction.created");
    let first = page(world, caller, &filter, Page { cursor: None, limit: 50 }).await.unwrap();
    assert!(first.events.is_empty() && first.next_cursor.is_some());
    assert_eq!(all_events(world, caller, &filter, 50).await.len(), 1);
}

#[tokio::test]
async fn a_moment_outside_the_range_of_ids_is_no_error() {
    let fixture = Fixture::new().await;
    fixture.import_transaction("one").await;
    let (start, end) = (Some(Timestamp::MIN), Some(Timestamp::MAX));
    let filter = EventFilter { start, end, ..EventFilter::default() };
    let found = all_events(&fixture.world, &fixture.key.caller, &filter, 100).await;
    assert_eq!(ids(&found), ids(&log(&fixture.world, &fixture.key.caller).await));
    assert!(!found.is_empty());
}
