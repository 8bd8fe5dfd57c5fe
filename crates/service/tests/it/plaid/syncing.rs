//! Syncs: the cursor moves with the rows, a pending transaction keeps its id, and problems come with a remedy.

use base::draft::Source;
use serde_json::json;
use service::ingest::connections::{
    self, AddAccount, Choice, LinkState, LinkTarget, OwedSign, Remedy, Selection, State,
};
use testkit::plaid::{Fault, WebhookSigner, holding, security};

use super::{BROKERAGE, CHECKING, PlaidFixture, row};
use crate::is_conflict;

#[tokio::test]
async fn the_first_sync_imports_accounts_transactions_and_holdings() {
    let fixture = PlaidFixture::new().await;
    let (id, item) = fixture.connect("ins_1").await;
    let mut coffee = row("t1", "2026-03-01", "4.5", "COFFEE ROASTERS");
    coffee["personal_finance_category"] =
        json!({ "primary": "FOOD_AND_DRINK", "detailed": "FOOD_AND_DRINK_COFFEE" });
    fixture.server.add(&item, coffee);
    let (acme, position) = (
        security("s1", "ACME", "Acme Inc", "equity"),
        holding(BROKERAGE, "s1", "10.5", "195.2619", "2050.25"),
    );
    fixture.server.set_investments(&item, vec![acme], vec![position], Vec::new());
    fixture.add_all(id).await;
    let synced = fixture.sync(id).await;
    assert_eq!((synced.summary.new, synced.accounts_with_problems), (1, 0));
    assert_eq!(fixture.descriptions().await, ["COFFEE ROASTERS"]);
    let stored = fixture.world.stored().await;
    assert_eq!(stored["holdings"].len(), 1);
    assert!(stored["transactions"][0].contains("told_category=FOOD_AND_DRINK_COFFEE"));
    assert!(stored["transactions"][0].contains("amount_minor=-450"));
    let it = fixture.connection(id).await;
    assert_eq!((it.state, it.source, it.open_offers), (State::Connected, Source::Plaid, 0));
    assert!(it.next_sync_at.unwrap() > fixture.world.clock.now());
    // Nothing new: the cursor continues, and the balance is refreshed.
    assert_eq!(fixture.sync(id).await.summary.new, 0);
    assert_eq!(fixture.server.count("/investments/holdings/get"), 1);
}

#[tokio::test]
async fn a_pending_transaction_that_posts_keeps_its_id() {
    let (fixture, id, item) = PlaidFixture::synced().await;
    assert_eq!(fixture.descriptions().await, ["COFFEE?", "GROCER 12"]);
    let before = fixture.rows().await[0].id;
    fixture.server.post(&item, "p1", row("t2", "2026-03-10", "5.40", "COFFEE WITH TIP"));
    let synced = fixture.sync(id).await;
    assert_eq!((synced.summary.new, synced.summary.changed, synced.summary.removed), (0, 1, 0));
    let rows = fixture.rows().await;
    assert_eq!(rows[0].id, before);
    assert_eq!(fixture.descriptions().await, ["COFFEE WITH TIP", "GROCER 12"]);
    fixture.server.modify(&item, row("t2", "2026-03-10", "5.50", "COFFEE WITH TIP"));
    fixture.server.remove(&item, "t1", CHECKING);
    let synced = fixture.sync(id).await;
    assert_eq!((synced.summary.changed, synced.summary.removed), (1, 1));
    assert_eq!(fixture.rows().await[0].id, before);
    assert_eq!(fixture.descriptions().await, ["COFFEE WITH TIP"]);
}

#[tokio::test]
async fn a_sync_that_fails_in_the_middle_stores_nothing_and_is_repeated_from_its_cursor() {
    let (fixture, id, item) = PlaidFixture::synced().await;
    let rows = fixture.descriptions().await;
    let state = || async { fixture.world.stored().await["connections"].join(" ") };
    let cursor = |text: String| text.split("sync_state=").nth(1).unwrap()[..60].to_owned();
    let before = cursor(state().await);
    (0..700).for_each(|it| {
        fixture.server.add(&item, row(&format!("n{it:03}"), "2026-03-05", "1", "MANY"));
    });
    fixture.server.fail_next("/accounts/get", Fault::Cut);
    let message = is_conflict(fixture.try_sync(id).await);
    assert!(message.contains("could not be reached"), "{message}");
    assert_eq!(fixture.descriptions().await, rows);
    assert_eq!(cursor(state().await), before);
    assert_eq!(fixture.sync(id).await.summary.new, 700);
    assert_eq!(fixture.sync(id).await.summary.new, 0);
}

#[tokio::test]
async fn a_broken_login_is_repaired_on_the_providers_page_and_continues() {
    let (fixture, id, item) = PlaidFixture::synced().await;
    fixture.server.set_error(&item, Some(("ITEM_ERROR", "ITEM_LOGIN_REQUIRED")));
    let message = is_conflict(fixture.try_sync(id).await);
    assert!(message.contains("Select Repair"), "{message}");
    let broken = fixture.connection(id).await;
    assert_eq!((broken.state, broken.remedy), (State::NeedsAttention, Some(Remedy::Repair)));
    fixture.server.add(&item, row("t9", "2026-03-10", "9", "LUNCH"));
    let link = fixture.start(LinkTarget::Repair(id)).await;
    assert!(matches!(fixture.check(&link).await, LinkState::Waiting { .. }));
    fixture.server.sign_in_again();
    let LinkState::Done { connection } = fixture.check(&link).await else { panic!() };
    assert_eq!(connection, id);
    let repaired = fixture.connection(id).await;
    assert_eq!((repaired.state, repaired.remedy), (State::Connected, None));
    connections::sync_once(&fixture.app).await.unwrap();
    assert_eq!(fixture.descriptions().await, ["LUNCH", "COFFEE?", "GROCER 12"]);
    assert_eq!(fixture.server.count("/item/public_token/exchange"), 1);
}

#[tokio::test]
async fn an_account_that_is_chosen_later_gets_its_whole_history() {
    let fixture = PlaidFixture::new().await;
    let (id, item) = fixture.connect("ins_1").await;
    fixture.server.add(&item, row("t1", "2025-03-01", "33.20", "OLD"));
    let choose = async |external_id: &str, kind: &str| {
        let selection = Selection::Add(AddAccount {
            kind: base::draft::AccountKind::parse(kind).unwrap(),
            subtype: None,
            name: None,
            owed: OwedSign::Positive,
        });
        let choice = Choice { external_id: external_id.to_owned(), selection };
        let choices = vec![choice];
        connections::choose(&fixture.app, &fixture.robin.caller, id, choices).await.unwrap();
    };
    choose(super::CARD, "credit").await;
    fixture.sync(id).await;
    assert!(fixture.descriptions().await.is_empty());
    choose(CHECKING, "depository").await;
    fixture.sync(id).await;
    assert_eq!(fixture.descriptions().await, ["OLD"]);
    assert_eq!(fixture.sync(id).await.summary.new, 0);
}

#[tokio::test]
async fn while_plaid_fetches_the_history_the_next_sync_follows_soon() {
    let fixture = PlaidFixture::new().await;
    let (id, item) = fixture.connect("ins_1").await;
    fixture.server.set_status(&item, "NOT_READY");
    fixture.add_all(id).await;
    assert_eq!(connections::sync_once(&fixture.app).await.unwrap(), 1);
    assert_eq!(connections::sync_once(&fixture.app).await.unwrap(), 0);
    fixture.server.add(&item, row("t1", "2026-03-01", "33.20", "GROCER 12"));
    fixture.server.set_status(&item, "HISTORICAL_UPDATE_COMPLETE");
    fixture.world.advance_seconds(11);
    assert_eq!(connections::sync_once(&fixture.app).await.unwrap(), 1);
    assert_eq!(fixture.descriptions().await, ["GROCER 12"]);
}

#[tokio::test]
async fn a_signed_webhook_makes_its_connection_due() {
    let (fixture, _, item) = PlaidFixture::synced().await;
    let (app, signer) = (&fixture.app, fixture.server.signer());
    let at = fixture.world.clock.now().as_second();
    let receive = async |signature: &str, body: &[u8]| {
        connections::receive_webhook(app, Source::Plaid, signature, body).await.unwrap()
    };
    let body = WebhookSigner::body("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", &item);
    let forger = WebhookSigner::generate();
    assert!(!receive(&forger.sign(&body, at), &body).await, "another key with the same id");
    assert!(!receive(&signer.sign(&body, at - 600), &body).await, "stale");
    assert!(!receive(&signer.sign(b"{}", at), &body).await, "another body");
    let unknown = WebhookSigner::body("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", "item9");
    assert!(!receive(&signer.sign(&unknown, at), &unknown).await, "an unknown login");
    assert_eq!(connections::sync_once(app).await.unwrap(), 0);
    fixture.server.add(&item, row("t9", "2026-03-10", "9", "LUNCH"));
    assert!(receive(&signer.sign(&body, at), &body).await);
    assert_eq!(connections::sync_once(app).await.unwrap(), 1);
    assert_eq!(fixture.descriptions().await, ["LUNCH", "COFFEE?", "GROCER 12"]);
    // The key was fetched once, and its answer is remembered.
    assert_eq!(fixture.server.count("/webhook_verification_key/get"), 1);
    let strange = WebhookSigner::generate().named("invented");
    for _ in 0..3 {
        assert!(!receive(&strange.sign(&body, at), &body).await);
    }
    assert_eq!(fixture.server.count("/webhook_verification_key/get"), 2);
}
