//! Authorization: from a setup token to the choice of accounts.

use base::draft::AccountKind;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use service::ingest::connections::{
    self, AddAccount, Choice, OfferStatus, OwedSign, Selection, State,
};
use testkit::new_key;
use testkit::simplefin::{Account, Fault};

use super::{ConnectionsFixture, HOUR, add_choice, noon};
use crate::{is_not_found, param, trail};

#[tokio::test]
async fn a_setup_token_yields_offers_and_nothing_is_imported_before_the_person_chooses() {
    let fixture = ConnectionsFixture::new().await;
    let id = fixture.claim().await;
    let offered = fixture.offered(id).await;
    let summaries: Vec<_> = offered
        .iter()
        .map(|it| (it.external_id.as_str(), it.kind, it.owed, it.status, it.account))
        .collect();
    assert_eq!(
        summaries,
        [
            (
                "ACT-checking",
                AccountKind::Depository,
                OwedSign::Negative,
                OfferStatus::Undecided,
                None
            ),
            ("ACT-card", AccountKind::Credit, OwedSign::Negative, OfferStatus::Undecided, None),
            ("ACT-loan", AccountKind::Loan, OwedSign::Positive, OfferStatus::Undecided, None),
        ]
    );
    assert_eq!(offered[0].balance.unwrap().minor(), 10_023);
    fixture.world.advance_seconds(48 * HOUR);
    assert_eq!(fixture.run_due_syncs().await, 0);
    assert_eq!(fixture.accounts().await.len(), 0);
    let connection = fixture.connection(id).await;
    assert_eq!((connection.state, connection.open_offers), (State::Connected, 3));
    assert_eq!((connection.name.as_str(), connection.synced_at), ("SimpleFIN", None));
    assert_eq!(trail(&fixture.world, &fixture.robin.caller).await, ["connection.create"]);
}

#[tokio::test]
async fn an_invalid_or_used_setup_token_is_refused_with_a_message() {
    let fixture = ConnectionsFixture::new().await;
    let (app, robin) = (&fixture.world.app, &fixture.robin.caller);
    let token = fixture.server.setup_token();
    connections::create(app, robin, &token, Some("Mine")).await.unwrap();
    for bad in [token.as_str(), "", "hello", &STANDARD.encode("https://10.0.0.1/claim/x")] {
        let refused = connections::create(app, robin, bad, None).await;
        assert_eq!(param(refused), "setup_token", "{bad}");
    }
    let long = "x".repeat(81);
    let refused = connections::create(app, robin, &fixture.server.setup_token(), Some(&long)).await;
    assert_eq!(param(refused), "name");
    let all = connections::list(app, robin).await.unwrap();
    assert_eq!(all.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["Mine"]);
}

#[tokio::test]
async fn only_the_owner_manages_a_connection() {
    let fixture = ConnectionsFixture::new().await;
    let id = fixture.claim().await;
    let app = &fixture.world.app;
    let key = fixture.robin.key(new_key()).await.caller;
    let stranger = fixture.world.someone().await.caller;
    let token = fixture.server.setup_token();
    is_not_found(connections::create(app, &key, &token, None).await);
    is_not_found(connections::list(app, &key).await.map(|it| it.len()));
    for caller in [key, stranger] {
        is_not_found(connections::list_offers(app, &caller, id).await);
        is_not_found(connections::choose(app, &caller, id, Vec::new()).await);
        is_not_found(connections::sync(app, &caller, id).await);
        is_not_found(connections::sync_history(app, &caller, id).await);
        is_not_found(connections::get(app, &caller, id).await);
        is_not_found(connections::disconnect(app, &caller, id).await);
        is_not_found(connections::reauthorize(app, &caller, id, &token).await);
    }
    // None of these calls used up the token.
    connections::create(app, &fixture.robin.caller, &token, None).await.unwrap();
}

#[tokio::test]
async fn access_is_kept_when_discovering_accounts_fails() {
    let fixture = ConnectionsFixture::new().await;
    fixture.server.fail_next(Fault::Response(500, "<h1>Oops</h1>".to_owned()));
    let id = fixture.claim().await;
    let connection = fixture.connection(id).await;
    assert_eq!(connection.state, State::Connected);
    assert!(connection.attention.unwrap().contains("has a problem (500)"));
    assert_eq!(fixture.offered(id).await.len(), 0);
    assert_eq!(fixture.run_due_syncs().await, 0);
    fixture.world.advance_seconds(2 * HOUR);
    assert_eq!(fixture.run_due_syncs().await, 1);
    assert_eq!(fixture.offered(id).await.len(), 3);
    let connection = fixture.connection(id).await;
    assert_eq!((connection.attention, connection.next_sync_at), (None, None));
}

#[tokio::test]
async fn a_skipped_account_is_not_synced_and_can_be_added_later() {
    let fixture = ConnectionsFixture::new().await;
    let id = fixture.claim().await;
    let offered = fixture.offered(id).await;
    let skip = |at: usize| Choice {
        external_id: offered[at].external_id.clone(),
        selection: Selection::Skip,
    };
    let mut named = add_choice(&offered[0]);
    if let Selection::Add(AddAccount { name, .. }) = &mut named.selection {
        *name = Some("Household".to_owned());
    }
    fixture.choose(id, vec![named, skip(1), skip(2)]).await.unwrap();
    fixture.sync(id).await;
    let account = fixture.account("Household").await;
    assert_eq!(
        (account.bank_name.as_str(), account.source.as_str()),
        ("Everyday Checking", "simplefin")
    );
    assert_eq!(fixture.accounts().await.len(), 1);
    fixture.choose(id, vec![add_choice(&offered[1])]).await.unwrap();
    fixture.sync(id).await;
    let card = fixture.account("Visa (1234)").await;
    assert_eq!((card.kind, card.balance_current_minor), (AccountKind::Credit, Some(42_000)));
    assert_eq!(fixture.accounts().await.len(), 2);
}

#[tokio::test]
async fn an_account_without_a_currency_is_listed_with_the_reason_and_cannot_be_added() {
    let fixture = ConnectionsFixture::new().await;
    let mut miles = Account::new("CON-1", "ACT-miles", "Miles", "5", noon("2026-03-10"));
    miles.currency = "https://airline.example/miles".to_owned();
    fixture.server.account(miles);
    let id = fixture.claim().await;
    let offered = fixture.offered(id).await;
    let miles = offered.iter().find(|it| it.external_id == "ACT-miles").unwrap();
    assert_eq!((miles.status, miles.currency), (OfferStatus::Unsupported, None));
    assert!(miles.reason.as_ref().unwrap().contains("units of its own"));
    assert_eq!(param(fixture.choose(id, vec![add_choice(miles)]).await), "external_id");
    fixture.add_all(id).await;
    fixture.sync(id).await;
    assert_eq!(fixture.accounts().await.len(), 3);
    fixture.server.update_account("ACT-miles", |it| it.currency = "USD".to_owned());
    fixture.sync(id).await;
    assert_eq!(fixture.connection(id).await.open_offers, 1);
    let unknown = Choice { external_id: "ACT-none".to_owned(), selection: Selection::Skip };
    assert_eq!(param(fixture.choose(id, vec![unknown]).await), "external_id");
}

#[tokio::test]
async fn a_server_without_certificate_authorities_does_not_use_up_the_setup_token() {
    let fixture = ConnectionsFixture::new().await;
    let app = fixture.world.without_bank_client();
    let token = fixture.server.setup_token();
    let refused = connections::create(&app, &fixture.robin.caller, &token, None).await;
    assert!(crate::is_conflict(refused).contains("certificate"));
    connections::create(&fixture.world.app, &fixture.robin.caller, &token, None).await.unwrap();
}
