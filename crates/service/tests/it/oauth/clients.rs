use service::oauth::clients::{self, AuthMethod, Claim, NewClient};
use sha2::{Digest as _, Sha256};
use testkit::{World, hex};

use super::{Scene, new_client, refusal};

fn claim(id: &str, secret: Option<&str>) -> Claim {
    Claim { id: Some(id.to_owned()), secret: secret.map(str::to_owned) }
}

#[tokio::test]
async fn public_clients_that_say_the_same_are_the_same_and_others_are_not() {
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
async fn a_secret_fits_its_own_client_only_and_is_kept_as_a_hash() {
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
        let said = refusal(clients::authenticate(app, &claim).await);
        assert_eq!(
            said, "invalid_client: the client is unknown, or its secret is wrong",
            "{claim:?}"
        );
    }
    let none = refusal(clients::authenticate(app, &Claim::default()).await);
    assert_eq!(none, "invalid_client: client_id is missing");
    let stored = format!("{:?}", world.stored().await);
    assert!(stored.contains(&hex(&Sha256::digest(&one_secret))) && !stored.contains(&one_secret));
}

#[tokio::test]
async fn a_client_without_a_good_place_to_answer_is_not_registered() {
    let world = World::new().await;
    let many = vec!["https://app.example/back"; 11];
    let ten = vec!["https://app.example/back"; 10];
    let register = async |uris: &[&str]| {
        let redirect_uris = uris.iter().map(|it| (*it).to_owned()).collect();
        clients::register(&world.app, NewClient { redirect_uris, ..new_client("Lens") }).await
    };
    for uris in [&[][..], &many, &["http://app.example/"], &["https://a.example", "javascript:x"]] {
        let said = refusal(register(uris).await);
        assert!(said.starts_with("invalid_redirect_uri: "), "{uris:?} {said}");
    }
    assert!(world.stored().await["oauth_clients"].is_empty());
    register(&ten).await.unwrap();
    let nameless = NewClient { name: Some("\u{202e}".to_owned()), ..new_client("") };
    assert_eq!(clients::register(&world.app, nameless).await.unwrap().0.name, "app.example");
}

#[tokio::test]
async fn a_client_that_nobody_lets_in_is_forgotten_and_one_that_is_let_in_stays() {
    let scene = Scene::new().await;
    let app = &scene.world.app;
    let (idle, _) = clients::register(app, new_client("Idle")).await.unwrap();
    let mut pair = scene.pair().await;
    for _ in 0..4 {
        scene.world.advance_seconds(25 * 86_400);
        pair = scene.refresh(&pair.refresh).await.unwrap();
        service::oauth::forget_once(app).await.unwrap();
    }
    assert!(clients::find(app, &idle.id.to_string()).await.unwrap().is_none());
    assert!(clients::find(app, &scene.client.id.to_string()).await.unwrap().is_some());
    scene.enter(&pair.access).await.unwrap();
}
