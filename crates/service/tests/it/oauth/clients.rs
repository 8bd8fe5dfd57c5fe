//! Registering and authenticating clients.

use base::AddressGroup;
use service::access::oauth::OAuthFailure;
use service::access::oauth::clients::{self, AuthMethod, Client, ClientCredentials, NewClient};
use service::{App, Error};
use sha2::{Digest as _, Sha256};
use testkit::{World, hex};

use super::{OAuthFixture, new_client, refusal};

fn claim(id: &str, secret: Option<&str>) -> ClientCredentials {
    ClientCredentials { id: Some(id.to_owned()), secret: secret.map(str::to_owned) }
}

#[tokio::test]
async fn public_clients_with_equal_metadata_are_registered_once() {
    let world = World::new().await;
    let app = &world.app;
    let (first, secret) = clients::register(app, new_client("Lens")).await.unwrap();
    assert!(secret.is_none());
    assert_eq!(clients::register(app, new_client(" Lens\n")).await.unwrap().0.id, first.id);
    let mut other = new_client("Lens");
    other.redirect_uris.push("https://app.example/other".to_owned());
    assert_ne!(clients::register(app, other).await.unwrap().0.id, first.id);
    assert_ne!(clients::register(app, new_client("Lens 2")).await.unwrap().0.id, first.id);
    let confidential = NewClient { auth_method: None, ..new_client("Lens") };
    let (one, one_secret) = clients::register(app, confidential.clone()).await.unwrap();
    let (two, two_secret) = clients::register(app, confidential).await.unwrap();
    assert_eq!(one.auth_method, AuthMethod::Basic);
    assert_ne!((one.id, one_secret), (two.id, two_secret));
}

#[tokio::test]
async fn a_secret_is_valid_for_its_own_client_only_and_stored_as_a_hash() {
    let world = World::new().await;
    let app = &world.app;
    let confidential = NewClient { auth_method: Some(AuthMethod::Post), ..new_client("Lens") };
    let (one, one_secret) = clients::register(app, confidential.clone()).await.unwrap();
    let (two, two_secret) = clients::register(app, confidential).await.unwrap();
    let (public, _) = clients::register(app, new_client("Public")).await.unwrap();
    let (one_secret, two_secret) = (one_secret.unwrap(), two_secret.unwrap());
    let (one, two, public) = (one.id.to_string(), two.id.to_string(), public.id.to_string());

    let good =
        [claim(&one, Some(&one_secret)), claim(&two, Some(&two_secret)), claim(&public, None)];
    for claim in good {
        assert_eq!(
            clients::authenticate(app, &claim).await.unwrap().id.to_string(),
            claim.id.unwrap()
        );
    }
    let unknown = "app_01kny3v1m8f2x9q4t7r5c6b8de";
    for claim in [
        claim(&one, Some(&two_secret)),
        claim(&one, None),
        claim(&one, Some("")),
        claim(&one, Some(&one_secret[1..])),
        claim(&public, Some(&one_secret)),
        claim(unknown, None),
        claim("", None),
        claim("app_\0", Some(&one_secret)),
    ] {
        let refused = refusal(clients::authenticate(app, &claim).await);
        assert_eq!(
            refused, "invalid_client: the client is unknown, or its secret is wrong",
            "{claim:?}"
        );
    }
    let none = refusal(clients::authenticate(app, &ClientCredentials::default()).await);
    assert_eq!(none, "invalid_client: client_id is missing");
    let stored = format!("{:?}", world.stored().await);
    assert!(stored.contains(&hex(&Sha256::digest(&one_secret))) && !stored.contains(&one_secret));
}

#[tokio::test]
async fn a_client_without_valid_redirect_uris_is_not_registered() {
    let world = World::new().await;
    let many = vec!["https://app.example/back"; 11];
    let ten = vec!["https://app.example/back"; 10];
    let register = async |uris: &[&str]| {
        let redirect_uris = uris.iter().map(|it| (*it).to_owned()).collect();
        clients::register(&world.app, NewClient { redirect_uris, ..new_client("Lens") }).await
    };
    for uris in [&[][..], &many, &["http://app.example/"], &["https://a.example", "javascript:x"]] {
        let refused = refusal(register(uris).await);
        assert!(refused.starts_with("invalid_redirect_uri: "), "{uris:?} {refused}");
    }
    assert!(world.stored().await["oauth_clients"].is_empty());
    register(&ten).await.unwrap();
    let nameless = NewClient { name: Some("\u{202e}".to_owned()), ..new_client("") };
    assert_eq!(clients::register(&world.app, nameless).await.unwrap().0.name, "app.example");
}

#[tokio::test]
async fn a_client_that_nobody_authorized_is_deleted_after_a_day_and_an_authorized_one_stays() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let (idle, _) = clients::register(app, new_client("Idle")).await.unwrap();
    let mut pair = fixture.pair().await;
    fixture.world.advance_seconds(86_399);
    service::access::oauth::forget_once(app).await.unwrap();
    assert!(clients::find(app, &idle.id.to_string()).await.unwrap().is_some());
    fixture.world.advance_seconds(1);
    service::access::oauth::forget_once(app).await.unwrap();
    assert!(clients::find(app, &idle.id.to_string()).await.unwrap().is_none(), "after a day");
    for _ in 0..4 {
        fixture.world.advance_seconds(25 * 86_400);
        pair = fixture.refresh(&pair.refresh).await.unwrap();
        service::access::oauth::forget_once(app).await.unwrap();
    }
    assert!(clients::find(app, &fixture.client.id.to_string()).await.unwrap().is_some());
    fixture.authenticate(&pair.access).await.unwrap();
}

/// Registers a client from an address.
async fn register_from(app: &App, address: &str, number: usize) -> Result<Client, OAuthFailure> {
    let new = NewClient {
        registered_from: AddressGroup::parse(Some(address)),
        ..new_client(&format!("App {number} of {address}"))
    };
    clients::register(app, new).await.map(|it| it.0)
}

fn is_limited<T: std::fmt::Debug>(outcome: Result<T, OAuthFailure>) -> i64 {
    match outcome {
        Err(OAuthFailure::Internal(Error::Limited { retry_after_seconds, .. })) => {
            retry_after_seconds
        }
        other => panic!("not limited: {other:?}"),
    }
}

#[tokio::test]
async fn unauthorized_clients_are_limited_for_each_address_group() {
    let fixture = OAuthFixture::new().await;
    let app = &fixture.world.app;
    let network = |host: usize| format!("2001:db8::{host:x}");
    let first = register_from(app, &network(0), 0).await.unwrap();
    fixture.world.advance_seconds(300);
    for number in 1..50 {
        register_from(app, &network(number), number).await.unwrap();
    }
    assert_eq!(is_limited(register_from(app, &network(50), 50).await), 300);
    register_from(app, "2001:db8:0:1::1", 50).await.unwrap();
    // The same app does not count twice.
    let again = register_from(app, &network(0), 0).await.unwrap();
    assert_eq!(again.id, first.id);
    // After ten minutes the oldest is replaced, and one that a person authorized is not counted.
    let kept = super::request(app, &again).await;
    service::access::oauth::codes::allow(app, &fixture.person.caller, &kept, kept.scopes)
        .await
        .unwrap();
    register_from(app, &network(50), 50).await.unwrap();
    is_limited(register_from(app, &network(51), 51).await);
    fixture.world.advance_seconds(600);
    register_from(app, &network(51), 51).await.unwrap();
    assert!(clients::find(app, &first.id.to_string()).await.unwrap().is_some());
    let mine = fixture.world.stored().await["oauth_clients"].clone();
    let of_group = mine.iter().filter(|it| it.contains("registered_from=2001:db8::/64"));
    assert_eq!(of_group.count(), 51, "fifty unauthorized clients and the authorized one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unauthorized_clients_are_limited_for_all_address_groups_together() {
    let world = World::new().await;
    let apps = [world.app.clone(), world.other_process().await];
    let mut running = tokio::task::JoinSet::new();
    for task in 0..8_usize {
        let app = apps[task % 2].clone();
        running.spawn(async move {
            let mut accepted = 0;
            for number in 0..140 {
                let address = format!("192.0.{task}.{number}");
                accepted += usize::from(register_from(&app, &address, number).await.is_ok());
            }
            accepted
        });
    }
    let accepted: usize = running.join_all().await.into_iter().sum();
    assert_eq!(accepted, 1_000);
    assert_eq!(world.stored().await["oauth_clients"].len(), 1_000);
    is_limited(register_from(&world.app, "198.51.100.1", 0).await);
    world.advance_seconds(600);
    register_from(&world.app, "198.51.100.1", 0).await.unwrap();
    assert_eq!(world.stored().await["oauth_clients"].len(), 1_000);
}
