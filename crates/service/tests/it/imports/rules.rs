//! Rules of imports: who may import, for whom, and which data is refused.

use base::UserId;
use base::draft::{Source, Statement};
use service::ingest::imports;
use service::ledger::accounts::{self, Filter, Status};
use service::{Caller, Error};
use testkit::draft::{checking, rate, statement, txn};
use testkit::{World, new_key};

use crate::{is_not_found, param};

#[tokio::test]
async fn an_api_key_cannot_import_whatever_its_scopes() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let key = robin.key(new_key()).await;
    let before = world.stored().await;
    is_not_found(imports::commit(&world.app, &key.caller, statement([checking("A")])).await);
    assert_eq!(world.stored().await, before);
}

#[tokio::test]
async fn an_unknown_user_cannot_import() {
    let world = World::new().await;
    let nobody = Caller::owner(UserId::from_bytes([7; 16]), base::TimeZone::utc());
    is_not_found(imports::commit(&world.app, &nobody, statement([checking("A")])).await);
}

#[tokio::test]
async fn equal_data_of_two_people_is_stored_separately() {
    let world = World::new().await;
    let (robin, kim) =
        (world.person("robin@example.com").await, world.person("kim@example.com").await);
    let same = || {
        let everyday = checking("Everyday").with(txn("2026-03-01", -4210, "KROGER").id("a"));
        statement([everyday.balance("2026-03-09T08:00:00Z", 100)])
    };
    robin.import(same()).await;
    let of_robin = world.stored().await;
    assert_eq!(kim.import(same()).await.new, 1);
    kim.import(statement([checking("Everyday").without("a")])).await;
    let both = world.stored().await;
    for (table, rows) in of_robin {
        // Kim's rows in `users` and `person_states` existed before, and her first import updates them.
        let own = testkit::hex(robin.user.id.as_bytes());
        let is_person = ["users", "person_states"].contains(&table.as_str());
        let ours = |it: &&String| !is_person || it.contains(&own);
        for row in rows.iter().filter(ours) {
            assert!(both[&table].contains(row), "{table}: {row}");
        }
    }
    assert_ne!(robin.account("Everyday").await, kim.account("Everyday").await);
}

#[tokio::test]
async fn accounts_of_the_same_name_at_two_connections_are_separate() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Everyday")])).await;
    let other =
        Statement { connection: "other bank".to_owned(), ..statement([checking("Everyday")]) };
    robin.import(other).await;
    let manual = Statement { source: Source::Manual, ..statement([checking("Everyday")]) };
    robin.import(manual).await;
    let filter = Filter { status: Status::All, include_hidden: true };
    let found = accounts::list(&world.app, &robin.caller, filter).await.unwrap();
    let mut states: Vec<&str> = found.iter().map(|it| it.connection_status.as_str()).collect();
    states.sort_unstable();
    assert_eq!(states, ["connected", "connected", "manual"]);
}

#[tokio::test]
async fn the_first_import_sets_when_the_person_connected() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let connected_at = async || {
        let found = service::access::users::get(&world.app, &robin.caller).await.unwrap();
        found.connected_at
    };
    assert_eq!(connected_at().await, None);
    let first = world.clock.now();
    robin.import(statement([checking("A")])).await;
    world.advance_seconds(60);
    robin.import(statement([checking("A")])).await;
    assert_eq!(connected_at().await, Some(first));
}

#[tokio::test]
async fn a_rate_that_is_reported_again_for_its_day_is_replaced() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    for value in ["1.08", "1.09"] {
        let rates = vec![rate("EUR", "USD", "2026-03-09", value)];
        robin.import(Statement { rates, ..statement([]) }).await;
    }
    let stored = world.stored().await;
    assert_eq!(stored["exchange_rates"].len(), 1);
    assert!(stored["exchange_rates"][0].contains("rate=1.09 "), "{stored:?}");
}

#[tokio::test]
async fn imports_work_again_after_a_refused_one() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Everyday")])).await;
    let wrong = statement([checking("Everyday").in_currency("EUR")]);
    assert!(matches!(robin.try_import(wrong).await, Err(Error::Invalid { .. })));
    let right = statement([checking("Everyday").with(txn("2026-03-01", -1, "A"))]);
    assert_eq!(robin.import(right).await.new, 1);
}

#[tokio::test]
async fn a_nul_character_in_imported_text_is_dropped_and_the_rest_is_kept() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let odd = || {
        let row = txn("2026-03-01", -100, "KRO\0GER").id("t\0").from("Kro\0ger");
        statement([checking("Every\0day").with(row)])
    };
    assert_eq!(robin.import(odd()).await.new, 1);
    assert_eq!(robin.import(odd()).await.seen, 1);
    let stored = world.stored().await;
    assert!(stored["transactions"][0].contains("description=KROGER"), "{stored:?}");
    assert!(stored["accounts"][0].contains("name=Everyday"));
}

#[tokio::test]
async fn an_import_with_an_impossibly_large_amount_is_refused_as_a_whole() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let absurd = 100_000_000_000_001;
    let fine = || checking("Everyday").with(txn("2026-03-01", -absurd + 1, "A HOUSE OR TWO"));
    robin.import(statement([fine()])).await;
    let before = world.stored().await;
    let rows = checking("Other").with(txn("2026-03-01", -absurd, "ALL THERE IS"));
    assert_eq!(param(robin.try_import(statement([fine(), rows])).await), "amount");
    let balance = checking("Other").balance("2026-03-09T08:00:00Z", absurd);
    assert_eq!(param(robin.try_import(statement([balance])).await), "balance");
    let past = checking("Other").past_balance("2026-03-01", -absurd);
    assert_eq!(param(robin.try_import(statement([past])).await), "balance");
    assert_eq!(world.stored().await, before);
}
