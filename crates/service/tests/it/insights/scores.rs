//! Scores: available with enough data, observed once a day, and announced when they change.

use service::access::keys::NewKey;
use service::insights::scores;
use service::{Error, insights};
use testkit::draft::{Account, checking, statement, txn};
use testkit::{World, new_key};
use wire::v1::Code;

use super::{count_events, day, every, monthly, recompute_all};

fn household() -> Account {
    let pay = every(14, "2026-03-06", 20, 185_000, "ACME CORP PAYROLL PPD ID: 9111111101");
    let rent = monthly("2026-03-02", 9, -120_000, "OAK STREET APARTMENTS RENT");
    checking("Everyday").with_all(pay).with_all(rent).balance("2026-03-10T08:00:00Z", 300_000)
}

fn missing(outcome: Result<scores::Observation, Error>) -> String {
    match outcome {
        Err(Error::Conflict { code: Code::ScoresNotReady, message }) => message,
        other => panic!("not a refusal for lack of data: {other:?}"),
    }
}

#[tokio::test]
async fn with_too_little_data_the_refusal_says_what_is_missing() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let message = missing(scores::get(&world.app, &robin.caller).await);
    assert!(message.contains("import transactions to see your scores"), "{message}");
    let short = monthly("2026-03-02", 1, -120_000, "OAK STREET APARTMENTS RENT");
    robin.import(statement([checking("Everyday").with_all(short)])).await;
    recompute_all(&world).await;
    let message = missing(scores::get(&world.app, &robin.caller).await);
    assert!(message.contains("at least 60 days of history"), "{message}");
    assert_eq!(count_events(&world, &robin, "score.updated").await, 0);
}

#[tokio::test]
async fn one_observation_is_kept_for_each_day_and_a_changed_score_sends_an_event() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([household()])).await;
    recompute_all(&world).await;
    let first = scores::get(&world.app, &robin.caller).await.unwrap();
    assert_eq!(first.observed_on, day("2026-03-10"));
    for number in [first.evenkeel, first.recovery, first.capacity, first.baseline] {
        assert!((0..=100).contains(&number), "{first:?}");
    }
    assert!(!first.explanation.reasons.is_empty() && !first.explanation.coverage.is_empty());
    assert_eq!(count_events(&world, &robin, "score.updated").await, 1);
    world.advance_seconds(86_400);
    insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
    recompute_all(&world).await;
    let history = scores::history(&world.app, &robin.caller, day("2026-03-01"), day("2026-03-31"));
    assert_eq!(history.await.unwrap().len(), 2);
    // Nearly all of the money is spent.
    let poor = household()
        .with(txn("2026-03-11", -290_000, "CASHIERS CHECK").id("gone"))
        .balance("2026-03-11T08:00:00Z", 10_000);
    robin.import(statement([poor])).await;
    recompute_all(&world).await;
    let before = count_events(&world, &robin, "score.updated").await;
    world.advance_seconds(20 * 86_400);
    insights::pipeline::queue_new_day_once(&world.app).await.unwrap();
    recompute_all(&world).await;
    let later = scores::get(&world.app, &robin.caller).await.unwrap();
    assert!(later.recovery < first.recovery, "{later:?}");
    assert!(count_events(&world, &robin, "score.updated").await > before);
}

#[tokio::test]
async fn a_limited_key_gets_the_scores_of_its_accounts() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let rich = checking("Rich")
        .past_balance("2026-01-01", 90_000_000)
        .balance("2026-03-10T08:00:00Z", 90_000_000);
    robin.import(statement([household(), rich])).await;
    recompute_all(&world).await;
    let all = scores::get(&world.app, &robin.caller).await.unwrap();
    let only = vec![robin.account("Everyday").await];
    let key = robin.key(NewKey { accounts: Some(only), ..new_key() }).await;
    let some = scores::get(&world.app, &key.caller).await.unwrap();
    assert!(some.recovery < all.recovery, "{some:?} {all:?}");
}
