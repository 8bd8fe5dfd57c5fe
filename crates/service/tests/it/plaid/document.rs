//! Our requests and the simulated answers, compared with Plaid's own OpenAPI document.

use service::ingest::connections::{self, LinkTarget};
use testkit::openapi::{Document, PLAID_DOCUMENT};
use testkit::plaid::{WebhookSigner, holding, investment, security};

use super::{BROKERAGE, CARD, PlaidFixture, row};

/// The paths that we request.
const PATHS: [&str; 10] = [
    "/link/token/create",
    "/link/token/get",
    "/item/public_token/exchange",
    "/item/remove",
    "/accounts/get",
    "/transactions/sync",
    "/investments/holdings/get",
    "/investments/transactions/get",
    "/liabilities/get",
    "/webhook_verification_key/get",
];

/// With the document, the simulated server checks every request and every answer, in all tests. This test sends each kind
/// of request.
#[tokio::test]
async fn requests_and_answers_are_as_plaids_document_says() {
    if Document::of_plaid().is_none() {
        eprintln!("not checked against Plaid's document: {PLAID_DOCUMENT} is not set");
    }
    let (fixture, id, item) = PlaidFixture::synced().await;
    let server = &fixture.server;
    server.set_investments(
        &item,
        vec![security("s1", "ACME", "Acme", "equity")],
        vec![holding(BROKERAGE, "s1", "10", "20.5", "205")],
        vec![investment("i1", (BROKERAGE, Some("s1")), "2026-03-02", ("10", "205"), "buy/buy")],
    );
    server.set_liabilities(&item, testkit::plaid::card_terms(CARD));
    server.modify(&item, row("t1", "2026-03-01", "33.21", "GROCER 12"));
    server.remove(&item, "p1", super::CHECKING);
    fixture.world.advance_seconds(86_400);
    fixture.sync(id).await;
    server.set_error(&item, Some(("ITEM_ERROR", "ITEM_LOGIN_REQUIRED")));
    fixture.try_sync(id).await.unwrap_err();
    let link = fixture.start(LinkTarget::Repair(id)).await;
    server.sign_in_again();
    fixture.check(&link).await;
    fixture.start(LinkTarget::AddAccounts(id)).await;
    let body = WebhookSigner::body("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", &item);
    let at = fixture.world.clock.now().as_second();
    let signature = server.signer().sign(&body, at);
    let source = base::draft::Source::Plaid;
    let received = connections::receive_webhook(&fixture.app, source, &signature, &body).await;
    assert!(received.unwrap());
    connections::disconnect(&fixture.app, &fixture.robin.caller, id).await.unwrap();
    connections::revoke_once(&fixture.app).await.unwrap();
    assert!(server.is_removed(&item));
    for path in PATHS {
        assert!(server.count(path) > 0, "{path} was not requested");
    }
}
