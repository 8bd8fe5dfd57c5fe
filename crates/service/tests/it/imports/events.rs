//! Events of an import: complete, bounded in size, and written in the same transaction.

use ::webhooks::outbox::{self, StoredEvent};
use testkit::draft::{brokerage, checking, position, statement, txn};
use testkit::{Person, World};

async fn events(world: &World, person: &Person) -> Vec<StoredEvent> {
    outbox::list(&world.app.db, person.user.id, None, 1000).await.unwrap()
}

fn types(events: &[StoredEvent]) -> Vec<&str> {
    events.iter().map(|it| it.event_type.as_str()).collect()
}

#[tokio::test]
async fn each_kind_of_change_sends_its_own_event_once() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let first = checking("Everyday")
        .with(txn("2026-03-01", -100, "A").id("a"))
        .with(txn("2026-03-02", -200, "B").id("b"))
        .balance("2026-03-09T08:00:00Z", 100);
    let broker = brokerage("Brokerage").holding([position("VTI", "1").priced("100", "99")]);
    robin.import(statement([first, broker])).await;
    let sent = events(&world, &robin).await;
    let expected = ["account.connected", "balance.updated", "transaction.created"];
    assert_eq!(types(&sent)[..3], expected);
    assert_eq!(types(&sent)[3..], ["account.connected", "investment.updated"]);
    let account = robin.account("Everyday").await;
    assert!(sent[2].data.contains(&format!(r#""account_id":"{account}""#)), "{}", sent[2].data);
    assert!(sent[2].data.ends_with(r#""count":2}"#), "{}", sent[2].data);
    let second = checking("Everyday")
        .with(txn("2026-03-01", -150, "A").id("a"))
        .without("b")
        .balance("2026-03-10T08:00:00Z", 50);
    let broker = brokerage("Brokerage").holding([position("VTI", "1").priced("101", "100")]);
    robin.import(statement([second, broker])).await;
    let sent = events(&world, &robin).await.split_off(5);
    let expected =
        ["balance.updated", "transaction.updated", "transaction.updated", "investment.updated"];
    assert_eq!(types(&sent), expected);
    assert!(sent[1].data.ends_with(r#""count":1,"removed":false}"#), "{}", sent[1].data);
    assert!(sent[2].data.ends_with(r#""count":1,"removed":true}"#), "{}", sent[2].data);
}

#[tokio::test]
async fn an_event_holds_at_most_a_hundred_ids_and_together_they_hold_all() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let many = (0..250).map(|it| txn("2026-03-01", -it, &format!("T{it}")).id(&it.to_string()));
    robin.import(statement([checking("Everyday").with_all(many)])).await;
    let mut ids = Vec::new();
    let mut counts = Vec::new();
    for event in events(&world, &robin).await {
        if event.event_type == "transaction.created" {
            let named = event.data.split('"').filter(|it| it.starts_with("txn_"));
            let named: Vec<String> = named.map(str::to_owned).collect();
            assert!(event.data.ends_with(&format!(r#""count":{}}}"#, named.len())));
            counts.push(named.len());
            ids.extend(named);
        }
    }
    assert_eq!(counts, [100, 100, 50]);
    let rows = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    let mut listed: Vec<String> = rows.iter().map(|it| it.id.to_string()).collect();
    listed.sort();
    ids.sort();
    assert_eq!(ids, listed);
}

#[tokio::test]
async fn a_failed_import_sends_no_events_and_stores_nothing() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let before = world.stored().await;
    // The first account is valid. The second has euros in a dollar account, which is found after the first was written.
    let fine = checking("Everyday").with(txn("2026-03-01", -100, "A"));
    let mut wrong = checking("Other").with(txn("2026-03-01", -100, "B"));
    wrong.transactions[0].amount = base::Money::new(-1, base::Currency::EUR);
    assert_eq!(crate::param(robin.try_import(statement([fine, wrong])).await), "currency");
    assert_eq!(world.stored().await, before);
}

#[tokio::test]
async fn events_are_listed_in_order_and_after_a_given_event() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    for name in ["A", "B", "C"] {
        robin.import(statement([checking(name)])).await;
    }
    let all = events(&world, &robin).await;
    assert_eq!(all.len(), 3);
    let rest = outbox::list(&world.app.db, robin.user.id, Some(all[0].id), 1).await.unwrap();
    assert_eq!(rest, [all[1].clone()]);
    let other = world.person("kim@example.com").await;
    assert_eq!(events(&world, &other).await, []);
}
