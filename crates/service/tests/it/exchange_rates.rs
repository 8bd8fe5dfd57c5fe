//! Exchange rates: the reference rates that everyone shares, and those of a person's own sources.

use service::ledger::net_worth::{self, Range};
use service::ledger::reference_rates;
use service::ledger::spans::Interval;
use testkit::draft::{checking, rate, statement};
use testkit::receiver::{Receiver, ScriptedResponse};
use testkit::{Person, World, day};

use crate::param;

const FILE: &str = "Date,USD,GBP,\n2026-03-09,1.10,0.80,\n2026-03-06,1.20,0.80,\n";

async fn abroad(world: &World) -> Person {
    let robin = world.someone().await;
    let euros = checking("Konto")
        .in_currency("EUR")
        .past_balance("2026-03-05", 100_000)
        .balance("2026-03-10T08:00:00Z", 100_000);
    robin.import(statement([euros, checking("Home").balance("2026-03-10T08:00:00Z", 5_000)])).await;
    robin
}

#[tokio::test]
async fn totals_convert_with_the_newest_rate_and_name_its_day() {
    let world = World::new().await;
    let robin = abroad(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    let worth = net_worth::get(app, caller).await.unwrap();
    assert_eq!((worth.minor(), worth.excluded.len()), (Some(5_000), 1));
    assert_eq!(reference_rates::newest_day(app).await.unwrap(), None);
    let done = reference_rates::import(app, FILE.as_bytes()).await.unwrap();
    assert_eq!((done.rates, done.changed, done.currencies), (4, 4, 2));
    assert_eq!((done.first_on, done.last_on), (day("2026-03-06"), day("2026-03-09")));
    let worth = net_worth::get(app, caller).await.unwrap();
    assert_eq!((worth.minor(), worth.excluded.len()), (Some(115_000), 0));
    assert_eq!(worth.rates.len(), 1);
    assert_eq!(
        (worth.rates[0].rate.to_string(), worth.rates[0].on),
        ("1.1".to_owned(), day("2026-03-09"))
    );
    // The same file again changes nothing, and a corrected rate replaces the old one.
    assert_eq!(reference_rates::import(app, FILE.as_bytes()).await.unwrap().changed, 0);
    let mended = FILE.replace("1.10", "1.15");
    assert_eq!(reference_rates::import(app, mended.as_bytes()).await.unwrap().changed, 1);
    assert_eq!(net_worth::get(app, caller).await.unwrap().minor(), Some(120_000));
    assert_eq!(param(reference_rates::import(app, b"Name\n").await), "file");
}

#[tokio::test]
async fn the_history_uses_the_rate_of_each_day() {
    let world = World::new().await;
    let robin = abroad(&world).await;
    reference_rates::import(&world.app, FILE.as_bytes()).await.unwrap();
    let range =
        Range { start_on: Some(day("2026-03-05")), end_on: None, interval: Interval::Daily };
    let found = net_worth::history(&world.app, &robin.caller, range).await.unwrap();
    let points: Vec<(String, String)> = found
        .points
        .iter()
        .map(|it| (serde_json::to_string(&it.date).unwrap(), it.net_worth.as_str().to_owned()))
        .collect();
    let of = |on: &str| points.iter().find(|it| it.0.contains(on)).unwrap().1.clone();
    assert_eq!(of("2026-03-05"), "1200.00", "the first known rate");
    assert_eq!(of("2026-03-08"), "1200.00", "the rate of Friday");
    assert_eq!(of("2026-03-09"), "1100.00");
    assert_eq!(of("2026-03-10"), "1150.00", "with the balance of the other account");
    assert_eq!(found.exchange_rates.len(), 1);
    assert_eq!(found.exchange_rates[0].rate.as_str(), "1.1");
}

#[tokio::test]
async fn the_newer_of_a_persons_own_rate_and_the_reference_rate_counts() {
    let world = World::new().await;
    let robin = abroad(&world).await;
    let (app, caller) = (&world.app, &robin.caller);
    reference_rates::import(app, FILE.as_bytes()).await.unwrap();
    let mut own = statement([]);
    own.rates.push(rate("EUR", "USD", "2026-03-08", "3"));
    robin.import(own.clone()).await;
    assert_eq!(net_worth::get(app, caller).await.unwrap().minor(), Some(115_000), "an older one");
    own.rates = vec![rate("EUR", "USD", "2026-03-09", "2")];
    robin.import(own).await;
    assert_eq!(net_worth::get(app, caller).await.unwrap().minor(), Some(205_000));
    // Nobody else has that rate.
    let kim = abroad(&world).await;
    assert_eq!(net_worth::get(app, &kim.caller).await.unwrap().minor(), Some(115_000));
}

#[tokio::test]
async fn rates_are_fetched_only_if_allowed_and_not_more_often_than_needed() {
    let world = World::new().await;
    assert_eq!(reference_rates::fetch_once(&world.app).await.unwrap(), 0, "off by default");
    let receiver = Receiver::start().await;
    let app = world.with_rates_url(&receiver.url);
    receiver.respond_with([
        ScriptedResponse::Status(500),
        ScriptedResponse::Text(200, FILE.to_owned()),
    ]);
    assert_eq!(reference_rates::fetch_once(&app).await.unwrap(), 0, "the server failed");
    assert_eq!(reference_rates::fetch_once(&app).await.unwrap(), 0, "not again at once");
    assert_eq!(receiver.requests().len(), 1);
    world.advance_seconds(3_601);
    assert_eq!(reference_rates::fetch_once(&app).await.unwrap(), 4);
    world.advance_seconds(3_601);
    assert_eq!(reference_rates::fetch_once(&app).await.unwrap(), 0);
    assert_eq!(receiver.requests().len(), 2, "the next one is in twelve hours");
    assert_eq!(reference_rates::newest_day(&app).await.unwrap(), Some(day("2026-03-09")));
}
