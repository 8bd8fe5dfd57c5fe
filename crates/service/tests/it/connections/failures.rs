//! Failed syncs: the messages shown to the person, and the accounts that are still synced.

use service::ingest::connections::{self, State};
use testkit::simplefin::{Fault, Transaction};

use super::disconnect::event_types;
use super::{ConnectionsFixture, DAY, HOUR, noon};
use crate::is_conflict;

fn states(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, state)| (name.to_string(), state.to_string())).collect()
}

const ALL_CONNECTED: [(&str, &str); 3] =
    [("Everyday Checking", "connected"), ("Visa (1234)", "connected"), ("Car Loan", "connected")];

#[tokio::test]
async fn access_that_was_revoked_needs_a_new_token_and_keeps_the_accounts() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let before = fixture.rows().await;
    let told = event_types(&fixture).await.len();
    fixture.server.revoke();
    let message = is_conflict(fixture.try_sync(id).await);
    assert!(message.contains("new setup token"), "{message}");
    let connection = fixture.connection(id).await;
    assert_eq!(
        (connection.state, connection.attention),
        (State::NeedsAttention, Some(message.clone()))
    );
    assert!(fixture.states().await.iter().all(|(_, state)| state == "needs_attention"));
    assert_eq!(event_types(&fixture).await[told..], ["account.needs_attention"; 3]);
    is_conflict(fixture.try_sync(id).await);
    assert_eq!(event_types(&fixture).await.len(), told + 3, "told once");
    assert_eq!(fixture.accounts().await[0].attention, Some(message));
    let token = fixture.server.setup_token();
    connections::reauthorize(&fixture.world.app, &fixture.robin.caller, id, &token).await.unwrap();
    assert_eq!(fixture.connection(id).await.state, State::Connected);
    fixture.run_due_syncs().await;
    assert_eq!(fixture.states().await, states(&ALL_CONNECTED));
    let ids = |rows: &[crate::listed::Listed]| rows.iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(&fixture.rows().await), ids(&before));
    assert_eq!(fixture.connection(id).await.open_offers, 0);
}

#[tokio::test]
async fn a_lapsed_subscription_is_shown_until_it_is_paid() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.server.set_unpaid(true);
    fixture.world.advance_seconds(7 * HOUR);
    fixture.run_due_syncs().await;
    let connection = fixture.connection(id).await;
    assert_eq!(connection.state, State::NeedsAttention);
    assert!(connection.attention.unwrap().contains("Renew it"));
    fixture.server.set_unpaid(false);
    fixture.world.advance_seconds(2 * HOUR);
    fixture.run_due_syncs().await;
    let connection = fixture.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::Connected, None));
}

#[tokio::test]
async fn a_problem_of_one_institution_is_shown_on_its_accounts_only() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.server.needs_auth("CON-2", true);
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    fixture.server.transaction("ACT-checking", lunch);
    let synced = fixture.sync(id).await;
    assert_eq!((synced.summary.new, synced.accounts_with_problems), (1, 1));
    let [checking, visa, _] = ALL_CONNECTED;
    assert_eq!(fixture.states().await, states(&[checking, visa, ("Car Loan", "needs_attention")]));
    let loan = fixture.account("Car Loan").await;
    assert!(loan.attention.unwrap().starts_with("Second Bank needs you to sign in again."));
    assert_eq!(fixture.account("Visa (1234)").await.attention, None);
    let connection = fixture.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::NeedsAttention, None));
    fixture.server.needs_auth("CON-2", false);
    fixture.sync(id).await;
    assert_eq!(fixture.states().await, states(&ALL_CONNECTED));
}

#[tokio::test]
async fn messages_of_protocol_version_one_are_matched_to_their_institution() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.server.use_version_one();
    fixture.sync(id).await;
    assert_eq!(fixture.accounts().await.len(), 3);
    fixture.server.needs_auth("CON-1", true);
    fixture.sync(id).await;
    let current = fixture.states().await;
    let affected = current.iter().filter(|(_, state)| state == "needs_attention").count();
    assert_eq!(affected, 2, "{current:?}");
}

#[tokio::test]
async fn missing_data_is_shown_on_its_account_until_it_arrives() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.server.set_incomplete("ACT-card", true);
    fixture.sync(id).await;
    let card = fixture.account("Visa (1234)").await;
    assert_eq!(card.connection_status.as_str(), "needs_attention");
    assert!(card.attention.unwrap().contains("try again automatically"));
    fixture.server.set_incomplete("ACT-card", false);
    fixture.sync(id).await;
    assert_eq!(fixture.states().await, states(&ALL_CONNECTED));
}

#[tokio::test]
async fn an_account_that_is_no_longer_listed_has_a_message_after_two_days() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.server.relink("CON-2", false);
    fixture.sync(id).await;
    assert_eq!(fixture.states().await, states(&ALL_CONNECTED));
    fixture.world.advance_seconds(3 * DAY);
    fixture.sync(id).await;
    let loan = fixture.account("Car Loan").await;
    assert!(loan.attention.unwrap().contains("no longer lists this account"));
    assert_eq!(fixture.connection(id).await.open_offers, 1);
}

#[tokio::test]
async fn failed_syncs_are_retried_with_longer_and_longer_waits() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.run_due_syncs().await;
    fixture.world.advance_seconds(7 * HOUR);
    let mut waits = Vec::new();
    for _ in 0..6 {
        fixture.server.fail_next(Fault::Response(503, String::new()));
        assert_eq!(fixture.run_due_syncs().await, 1);
        let connection = fixture.connection(id).await;
        let seconds =
            connection.next_sync_at.unwrap().as_second() - fixture.world.clock.now().as_second();
        waits.push((seconds / 3_600, connection.state == State::NeedsAttention));
        fixture.world.advance_seconds(seconds as u64 + 1);
    }
    assert_eq!(
        waits.iter().map(|it| it.1).collect::<Vec<_>>(),
        [false, false, true, true, true, true]
    );
    for ((hours, _), least) in waits.iter().zip([1, 2, 4, 8, 16, 24]) {
        assert!((least..=least + least / 10).contains(hours), "{waits:?}");
    }
    fixture.run_due_syncs().await;
    let connection = fixture.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::Connected, None));
}

#[tokio::test]
async fn a_rate_limited_connection_is_not_synced_until_tomorrow() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.run_due_syncs().await;
    fixture.server.add_error("Please make fewer requests.");
    let synced = fixture.sync(id).await;
    assert!(synced.attention.unwrap().contains("too many requests"));
    let requests = fixture.request_count();
    is_conflict(fixture.try_sync(id).await);
    fixture.world.advance_seconds(8 * HOUR);
    fixture.run_due_syncs().await;
    assert_eq!(fixture.request_count(), requests);
    fixture.world.advance_seconds(5 * HOUR);
    fixture.run_due_syncs().await;
    assert_eq!(fixture.request_count(), requests + 1);
}

#[tokio::test]
async fn messages_of_a_server_are_plain_text() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    fixture.server.add_error("<script>alert(1)</script>Service on <b>Sunday</b>");
    let message = fixture.sync(id).await.attention.unwrap();
    assert_eq!(message, "Message from SimpleFIN: \"Service on Sunday\".");
    let connection = fixture.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::Connected, Some(message)));
    fixture.server.fail_next(Fault::Response(418, "<img src=x onerror=alert(1)>Tea".to_owned()));
    let message = is_conflict(fixture.try_sync(id).await);
    assert!(message.contains("Tea") && !message.contains('<'), "{message}");
}

#[tokio::test]
async fn one_account_with_invalid_data_does_not_block_the_others() {
    let (fixture, id) = ConnectionsFixture::synced().await;
    let absurd = Transaction::posted("T9", noon("2026-03-10"), "-99999999999999.00", "ABSURD");
    fixture.server.transaction("ACT-card", absurd);
    fixture.server.update_account("ACT-loan", |it| it.currency = "EUR".to_owned());
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    fixture.server.transaction("ACT-checking", lunch);
    let synced = fixture.sync(id).await;
    // A row with an absurd amount is skipped alone; an account in another currency is skipped as a whole.
    assert_eq!((synced.summary.new, synced.accounts_with_problems), (1, 1));
    assert_eq!(fixture.descriptions().await[0], "LUNCH");
    assert_eq!(fixture.account("Visa (1234)").await.attention, None);
    let loan = fixture.account("Car Loan").await.attention.unwrap();
    assert!(loan.contains("is invalid"), "{loan}");
}
