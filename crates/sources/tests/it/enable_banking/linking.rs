//! Consent: the bank's page, the way back, renewal, and the end.

use sources::enable_banking::Keys;
use sources::provider::{ErrorKind, LinkOutcome, LinkPurpose, LinkRequest, Remedy, Secret};
use testkit::enable_banking::Quirks;

use super::{Consent, context, provider, request, start};

#[tokio::test]
async fn consent_is_asked_for_as_long_as_the_bank_and_the_standard_allow() {
    let server = start().await;
    let context = context(&server);
    for (bank, until) in
        [("Nordbank", "2026-06-08T12:00:00Z"), ("Alpenbank", "2026-09-06T12:00:00Z")]
    {
        let link = provider().start_link(&context, &request(bank)).await.unwrap();
        assert!(link.url.starts_with("https://"));
        let asked = server.last_auth();
        assert_eq!(asked["access"]["valid_until"], until, "{bank}");
        assert_eq!((&asked["psu_type"], &asked["state"]), (&"personal".into(), &"abc123".into()));
    }
    provider().start_link(&context, &request("Firmenbank")).await.unwrap();
    assert_eq!(server.last_auth()["psu_type"], "business");
    let banks = provider().list_banks(&context, "DE").await.unwrap();
    let ids: Vec<&str> = banks.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["DE Alpenbank", "DE Firmenbank", "DE Nordbank"], "by name");
    assert!(provider().list_banks(&context, "../x").await.is_err());
    assert!(provider().start_link(&context, &request("Nobank")).await.is_err());
    let nowhere = LinkRequest { return_url: None, ..request("Nordbank") };
    let refused = provider().start_link(&context, &nowhere).await.unwrap_err();
    assert!(refused.message.contains("public_url"), "{refused}");
    let elsewhere = Some("https://elsewhere.example/back".to_owned());
    let unknown = LinkRequest { return_url: elsewhere, ..request("Nordbank") };
    let refused = provider().start_link(&context, &unknown).await.unwrap_err();
    assert!(refused.message.contains("Add https://elsewhere.example/back"), "{refused}");
}

#[tokio::test]
async fn only_the_code_for_this_persons_state_is_taken() {
    let server = start().await;
    let context = context(&server);
    let link = provider().start_link(&context, &request("Nordbank")).await.unwrap();
    let query = server.consent();
    let finish = async |returned: Option<&str>| {
        provider().finish_link(&context, &link.session, returned).await.unwrap()
    };
    assert!(matches!(finish(None).await, LinkOutcome::Waiting));
    let foreign = query.replace("state=abc123", "state=other");
    assert!(matches!(finish(Some(&foreign)).await, LinkOutcome::Waiting));
    let denied = finish(Some(&server.refuse_consent())).await;
    assert!(matches!(denied, LinkOutcome::Canceled(_)), "{denied:?}");
    let LinkOutcome::Connected(banks) = finish(Some(&query)).await else { panic!() };
    let access = provider().exchange(&context, banks[0].token.expose()).await.unwrap();
    assert_eq!(access.institution.unwrap().name, "Nordbank");
    assert_eq!(access.ends_at.unwrap().to_string(), "2026-06-08T12:00:00Z");
    assert!(provider().exchange(&context, banks[0].token.expose()).await.is_err(), "only once");
}

#[tokio::test]
async fn a_renewed_consent_keeps_the_accounts_by_their_stable_ids() {
    for changes_hashes in [false, true] {
        check_renewal(changes_hashes).await;
    }
}

async fn check_renewal(changes_hashes: bool) {
    let mut consent = Consent::new().await;
    let before = consent.sync(None).await;
    consent.server.set_quirks(Quirks { changes_hashes, ..Quirks::default() });
    consent.server.end_consents();
    let ended = consent.try_sync(before.state.as_deref(), None).await.unwrap_err();
    assert_eq!(ended.remedy(), Some(Remedy::Repair));
    let access = Some(consent.access.clone());
    let again = LinkRequest { purpose: LinkPurpose::Repair, access, bank: None, ..request("") };
    let context = context(&consent.server);
    let link = provider().start_link(&context, &again).await.unwrap();
    assert_eq!(consent.server.last_auth()["aspsp"]["name"], "Nordbank");
    let query = consent.server.consent();
    let outcome = provider().finish_link(&context, &link.session, Some(&query)).await.unwrap();
    let LinkOutcome::Connected(banks) = outcome else { panic!() };
    let renewed = provider().exchange(&context, banks[0].token.expose()).await.unwrap();
    assert_ne!(renewed.access.expose(), consent.access.expose());
    consent.access = renewed.access;
    let after = consent.sync(None).await;
    let ids = |it: &sources::provider::Response| {
        it.offers.iter().map(|it| it.external_id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&after), ids(&before));
}

#[tokio::test]
async fn a_consent_is_ended_at_the_bank() {
    let consent = Consent::new().await;
    let context = context(&consent.server);
    provider().disconnect(&context, &consent.access).await.unwrap();
    assert_eq!(consent.server.session_count(), 0);
    let again = provider().disconnect(&context, &consent.access).await.unwrap_err();
    assert_eq!(again.kind, ErrorKind::Ended);
}

#[tokio::test]
async fn keys_are_checked_before_they_are_used_and_never_printed() {
    let server = start().await;
    let keys = server.keys();
    provider().check_keys(&keys.to_secret()).unwrap();
    assert!(!format!("{keys:?}").contains("BEGIN"));
    let wrong = [
        Keys { application_id: "no".to_owned(), ..keys.clone() },
        Keys { private_key: "no key".to_owned(), ..keys.clone() },
        Keys { private_key: keys.private_key[..200].to_owned(), ..keys.clone() },
    ];
    for keys in wrong {
        assert!(provider().check_keys(&keys.to_secret()).is_err());
    }
    assert!(provider().check_keys(&Secret::new("{}")).is_err());
    // The key of another application is refused by the server.
    let mut context = context(&server);
    context.keys = Some(std::sync::Arc::new(server.foreign_keys().to_secret()));
    let refused = provider().start_link(&context, &request("Nordbank")).await.unwrap_err();
    assert_eq!(refused.remedy(), Some(Remedy::ChangeKeys));
}
