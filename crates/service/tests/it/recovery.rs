//! Recovery codes: shown once, used once, and replaced all together.

use service::access::recovery;
use service::access::sessions::Visit;
use service::access::sign_ins::{self, SignInOutcome};
use testkit::{Kind, World, hex};

use crate::{PASSWORD, is_refused, param, register_passkey, signed_in};
use service::access::profiles;

async fn second_step(world: &World, email: &str) -> String {
    let outcome = sign_ins::by_password(&world.app, email, PASSWORD, Visit::default()).await;
    match outcome.unwrap() {
        SignInOutcome::SecondStep { token } => token,
        other => panic!("no second step: {other:?}"),
    }
}

#[tokio::test]
async fn each_of_ten_codes_replaces_the_passkey_once() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    register_passkey(&world, &caller, Kind::EdDsa, "Phone").await;
    profiles::set_second_step(&world.app, &caller, true).await.unwrap();
    assert_eq!(recovery::remaining(&world.app, &caller).await.unwrap(), 0);
    let codes = recovery::create(&world.app, &caller).await.unwrap();
    assert_eq!(codes.len(), 10);
    assert!(codes.iter().all(|it| it.len() == 14 && it.split('-').count() == 3), "{codes:?}");
    let enter = async |code: &str| {
        let token = second_step(&world, &robin.email).await;
        sign_ins::second_by_recovery_code(&world.app, &token, code, Visit::default()).await
    };
    enter(&codes[0].to_uppercase()).await.unwrap();
    is_refused(enter(&codes[0]).await);
    is_refused(enter("k7wq-3m2x-9d4h").await);
    is_refused(enter("").await);
    enter(&codes[1].replace('-', " ")).await.unwrap();
    assert_eq!(recovery::remaining(&world.app, &caller).await.unwrap(), 8);
    // New codes invalidate the old ones.
    let fresh = recovery::create(&world.app, &caller).await.unwrap();
    assert_eq!(recovery::remaining(&world.app, &caller).await.unwrap(), 10);
    is_refused(enter(&codes[2]).await);
    enter(&fresh[0]).await.unwrap();
    // Codes of another person are refused.
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    let kims = recovery::create(&world.app, &kim).await.unwrap();
    is_refused(enter(&kims[0]).await);
    let stored = format!("{:?}", world.stored().await);
    for code in fresh.iter().chain(&codes).chain(&kims) {
        assert!(!stored.contains(code.as_str()) && !stored.contains(&code.replace('-', "")));
        assert!(!stored.contains(&hex(code.as_bytes())));
    }
}

#[tokio::test]
async fn a_session_without_a_fresh_proof_cannot_create_codes() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    world.advance_seconds(600);
    assert_eq!(param(recovery::create(&world.app, &caller).await), "proof");
    sign_ins::prove_by_password(&world.app, &caller, PASSWORD).await.unwrap();
    recovery::create(&world.app, &caller).await.unwrap();
}
