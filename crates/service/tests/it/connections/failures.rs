//! What goes wrong, what the person is told, and what goes on all the same.

use service::ingest::connections::{self, State};
use testkit::simplefin::{Fault, Transaction};

use super::{DAY, HOUR, Home, noon};
use crate::is_conflict;

fn states(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, state)| (name.to_string(), state.to_string())).collect()
}

const WELL: [(&str, &str); 3] =
    [("Everyday Checking", "connected"), ("Visa (1234)", "connected"), ("Car Loan", "connected")];

#[tokio::test]
async fn access_that_was_revoked_needs_a_new_token_and_keeps_the_accounts() {
    let (home, id) = Home::synced().await;
    let before = home.rows().await;
    home.server.revoke();
    let said = is_conflict(home.try_sync(id).await);
    assert!(said.contains("new setup token"), "{said}");
    let connection = home.connection(id).await;
    assert_eq!(
        (connection.state, connection.attention),
        (State::NeedsAttention, Some(said.clone()))
    );
    assert!(home.states().await.iter().all(|(_, state)| state == "needs_attention"));
    assert_eq!(home.accounts().await[0].attention, Some(said));
    let token = home.server.setup_token();
    connections::reauthorize(&home.world.app, &home.robin.caller, id, &token).await.unwrap();
    assert_eq!(home.connection(id).await.state, State::Connected);
    home.steps().await;
    assert_eq!(home.states().await, states(&WELL));
    let ids = |rows: &[crate::listed::Listed]| rows.iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(&home.rows().await), ids(&before));
    assert_eq!(home.connection(id).await.open_offers, 0);
}

#[tokio::test]
async fn a_lapsed_subscription_is_shown_until_it_is_paid() {
    let (home, id) = Home::synced().await;
    home.server.set_unpaid(true);
    home.world.advance_seconds(7 * HOUR);
    home.steps().await;
    let connection = home.connection(id).await;
    assert_eq!(connection.state, State::NeedsAttention);
    assert!(connection.attention.unwrap().contains("Renew it"));
    home.server.set_unpaid(false);
    home.world.advance_seconds(2 * HOUR);
    home.steps().await;
    let connection = home.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::Connected, None));
}

#[tokio::test]
async fn a_problem_of_one_institution_is_shown_on_its_accounts_only() {
    let (home, id) = Home::synced().await;
    home.server.needs_auth("CON-2", true);
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    home.server.transaction("ACT-checking", lunch);
    let synced = home.sync(id).await;
    assert_eq!((synced.summary.new, synced.accounts_with_problems), (1, 1));
    let [checking, visa, _] = WELL;
    assert_eq!(home.states().await, states(&[checking, visa, ("Car Loan", "needs_attention")]));
    let loan = home.account("Car Loan").await;
    assert!(loan.attention.unwrap().starts_with("Second Bank needs you to sign in again."));
    assert_eq!(home.account("Visa (1234)").await.attention, None);
    let connection = home.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::NeedsAttention, None));
    home.server.needs_auth("CON-2", false);
    home.sync(id).await;
    assert_eq!(home.states().await, states(&WELL));
}

#[tokio::test]
async fn messages_of_protocol_version_one_find_their_institution_too() {
    let (home, id) = Home::synced().await;
    home.server.use_version_one();
    home.sync(id).await;
    assert_eq!(home.accounts().await.len(), 3);
    home.server.needs_auth("CON-1", true);
    home.sync(id).await;
    let told = home.states().await;
    let troubled = told.iter().filter(|(_, state)| state == "needs_attention").count();
    assert_eq!(troubled, 2, "{told:?}");
}

#[tokio::test]
async fn missing_data_is_shown_on_its_account_until_it_arrives() {
    let (home, id) = Home::synced().await;
    home.server.set_incomplete("ACT-card", true);
    home.sync(id).await;
    let card = home.account("Visa (1234)").await;
    assert_eq!(card.connection_status.as_str(), "needs_attention");
    assert!(card.attention.unwrap().contains("try again automatically"));
    home.server.set_incomplete("ACT-card", false);
    home.sync(id).await;
    assert_eq!(home.states().await, states(&WELL));
}

#[tokio::test]
async fn an_account_that_is_no_longer_listed_has_a_message_after_two_days() {
    let (home, id) = Home::synced().await;
    home.server.relink("CON-2", false);
    home.sync(id).await;
    assert_eq!(home.states().await, states(&WELL));
    home.world.advance_seconds(3 * DAY);
    home.sync(id).await;
    let loan = home.account("Car Loan").await;
    assert!(loan.attention.unwrap().contains("no longer lists this account"));
    assert_eq!(home.connection(id).await.open_offers, 1);
}

#[tokio::test]
async fn failed_syncs_are_retried_with_longer_and_longer_waits() {
    let (home, id) = Home::synced().await;
    home.steps().await;
    home.world.advance_seconds(7 * HOUR);
    let mut waits = Vec::new();
    for _ in 0..6 {
        home.server.fail_next(Fault::Response(503, String::new()));
        assert_eq!(home.steps().await, 1);
        let connection = home.connection(id).await;
        let seconds =
            connection.next_sync_at.unwrap().as_second() - home.world.clock.now().as_second();
        waits.push((seconds / 3_600, connection.state == State::NeedsAttention));
        home.world.advance_seconds(seconds as u64 + 1);
    }
    assert_eq!(
        waits.iter().map(|it| it.1).collect::<Vec<_>>(),
        [false, false, true, true, true, true]
    );
    for ((hours, _), least) in waits.iter().zip([1, 2, 4, 8, 16, 24]) {
        assert!((least..=least + least / 10).contains(hours), "{waits:?}");
    }
    home.steps().await;
    let connection = home.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::Connected, None));
}

#[tokio::test]
async fn a_rate_limited_connection_is_not_synced_until_tomorrow() {
    let (home, id) = Home::synced().await;
    home.steps().await;
    home.server.add_error("Please make fewer requests.");
    let synced = home.sync(id).await;
    assert!(synced.attention.unwrap().contains("too many requests"));
    let asked = home.asked();
    is_conflict(home.try_sync(id).await);
    home.world.advance_seconds(8 * HOUR);
    home.steps().await;
    assert_eq!(home.asked(), asked);
    home.world.advance_seconds(5 * HOUR);
    home.steps().await;
    assert_eq!(home.asked(), asked + 1);
}

#[tokio::test]
async fn messages_of_a_server_are_plain_text() {
    let (home, id) = Home::synced().await;
    home.server.add_error("<script>alert(1)</script>Service on <b>Sunday</b>");
    let said = home.sync(id).await.attention.unwrap();
    assert_eq!(said, "Message from SimpleFIN: \"Service on Sunday\".");
    let connection = home.connection(id).await;
    assert_eq!((connection.state, connection.attention), (State::Connected, Some(said)));
    home.server.fail_next(Fault::Response(418, "<img src=x onerror=alert(1)>Tea".to_owned()));
    let said = is_conflict(home.try_sync(id).await);
    assert!(said.contains("Tea") && !said.contains('<'), "{said}");
}

#[tokio::test]
async fn one_account_with_invalid_data_does_not_block_the_others() {
    let (home, id) = Home::synced().await;
    let absurd = Transaction::posted("T9", noon("2026-03-10"), "-99999999999999.00", "ABSURD");
    home.server.transaction("ACT-card", absurd);
    home.server.update_account("ACT-loan", |it| it.currency = "EUR".to_owned());
    let lunch = Transaction::posted("T4", noon("2026-03-10"), "-9.00", "LUNCH");
    home.server.transaction("ACT-checking", lunch);
    let synced = home.sync(id).await;
    // A row that nobody can mean is left out by itself; an account in another currency as a whole.
    assert_eq!((synced.summary.new, synced.accounts_with_problems), (1, 1));
    assert_eq!(home.told().await[0], "LUNCH");
    assert_eq!(home.account("Visa (1234)").await.attention, None);
    let loan = home.account("Car Loan").await.attention.unwrap();
    assert!(loan.contains("is invalid"), "{loan}");
}
