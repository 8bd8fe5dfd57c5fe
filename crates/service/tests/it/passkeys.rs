//! Passkeys: valid signatures are accepted, and anything that differs from the request is refused.

use base::PasskeyId;
use serde_json::{Value, json};
use service::Caller;
use service::access::passkeys::{self, ChallengeRequest, Purpose, RelyingParty};
use service::access::profiles;
use service::access::users;
use testkit::{Authenticator, Kind, World};

use crate::{
    ORIGIN, is_conflict, is_not_found, is_refused, param, party, register_passkey, session_of,
    signed_in, trail,
};

const ANYONE: ChallengeRequest =
    ChallengeRequest { purpose: Purpose::SignIn, user: None, challenge: None };

async fn ask(world: &World) -> Value {
    passkeys::start(&world.app, &party(), ANYONE).await.unwrap()
}

async fn answer(world: &World, answer: &Value) -> service::Result<base::UserId> {
    passkeys::finish(&world.app, &party(), ANYONE, &answer.to_string()).await
}

#[tokio::test]
async fn a_passkey_of_each_algorithm_signs_its_person_in() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    for kind in [Kind::Es256, Kind::EdDsa, Kind::Rs256] {
        let key = register_passkey(&world, &caller, kind, &format!("{kind:?}")).await;
        let options = ask(&world).await;
        assert_eq!(options["allowCredentials"], json!([]));
        assert_eq!(answer(&world, &key.get(&options)).await.unwrap(), robin.id, "{kind:?}");
    }
    let listed = passkeys::list(&world.app, &caller).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Rs256", "EdDsa", "Es256"]);
    assert!(listed.iter().all(|it| it.last_used_at == Some(world.clock.now())));
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    assert!(passkeys::list(&world.app, &kim).await.unwrap().is_empty());
}

#[tokio::test]
async fn registration_requires_user_verification_and_a_discoverable_credential() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    register_passkey(&world, &caller, Kind::Es256, "first").await;
    let options = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    assert_eq!(options["rp"]["id"], "money.example.com");
    assert_eq!(options["user"]["name"], robin.email.as_str());
    assert_eq!(options["authenticatorSelection"]["userVerification"], "required");
    assert_eq!(options["authenticatorSelection"]["residentKey"], "required");
    assert_eq!(options["attestation"], "none");
    assert_eq!(options["excludeCredentials"], json!([{ "type": "public-key", "id": "Zmlyc3Q" }]));
    let kinds = options["pubKeyCredParams"].as_array().unwrap().iter();
    let kinds: Vec<i64> = kinds.map(|it| it["alg"].as_i64().unwrap()).collect();
    assert_eq!(kinds, [-7, -8, -257]);
    let other = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    assert_ne!(options["challenge"], other["challenge"]);
}

#[tokio::test]
async fn a_challenge_can_be_answered_once_and_for_five_minutes() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let key = register_passkey(&world, &caller, Kind::EdDsa, "a").await;
    let credential = key.get(&ask(&world).await);
    answer(&world, &credential).await.unwrap();
    is_refused(answer(&world, &credential).await);
    let late = ask(&world).await;
    world.advance_seconds(299);
    let just = ask(&world).await;
    world.advance_seconds(1);
    is_refused(answer(&world, &key.get(&late)).await);
    answer(&world, &key.get(&just)).await.unwrap();
    // A wrong answer uses up the challenge too.
    let options = ask(&world).await;
    let mut forged = key.get(&options);
    forged["response"]["signature"] = json!("AAAA");
    is_refused(answer(&world, &forged).await);
    is_refused(answer(&world, &key.get(&options)).await);
    // Challenges that nobody answered in time are deleted: the late one and this one.
    ask(&world).await;
    world.advance_seconds(299);
    assert_eq!(passkeys::forget_once(&world.app).await.unwrap(), 1);
    world.advance_seconds(1);
    assert_eq!(passkeys::forget_once(&world.app).await.unwrap(), 1);
}

/// Each change to an answer, with the reason for which it must be refused.
#[tokio::test]
async fn an_answer_that_differs_from_the_request_is_refused() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let mut key = register_passkey(&world, &caller, Kind::Es256, "a").await;
    type Tamper = fn(&mut Authenticator);
    let cases: [(Tamper, &str); 6] = [
        (|it| it.origin = "https://evil.example.com".to_owned(), "another site"),
        (|it| it.origin = "http://money.example.com".to_owned(), "another site"),
        (|it| it.cross_origin = true, "another site"),
        (|it| it.site = Some("evil.example.com".to_owned()), "belongs to another site"),
        (|it| it.flags = 0b001, "did not verify that it is you"),
        (|it| it.flags = 0b100, "did not verify that it is you"),
    ];
    for (tamper, reason) in cases {
        tamper(&mut key);
        let refused = is_refused(answer(&world, &key.get(&ask(&world).await)).await);
        assert!(refused.contains(reason), "{refused} for {reason}");
        (key.origin, key.cross_origin) = (ORIGIN.to_owned(), false);
        (key.site, key.flags) = (None, 0b101);
    }
    // A made-up challenge, and one for another purpose.
    let mut made_up = ask(&world).await;
    made_up["challenge"] = json!("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
    is_refused(answer(&world, &key.get(&made_up)).await);
    let prove = ChallengeRequest::new(Purpose::Prove, Some(caller.user));
    let options = passkeys::start(&world.app, &party(), prove).await.unwrap();
    is_refused(answer(&world, &key.get(&options)).await);
    // The signature for one challenge with the client data of another.
    let (options, other) = (ask(&world).await, ask(&world).await);
    let mut mixed = key.get(&options);
    mixed["response"]["clientDataJSON"] = key.get(&other)["response"]["clientDataJSON"].clone();
    assert!(is_refused(answer(&world, &mixed).await).contains("signature"));
    for broken in ["", "{}", "[]", "null", r#"{"rawId": 1}"#, "\u{0}"] {
        is_refused(passkeys::finish(&world.app, &party(), ANYONE, broken).await);
    }
    // An unchanged answer is still accepted.
    answer(&world, &key.get(&ask(&world).await)).await.unwrap();
}

#[tokio::test]
async fn a_registration_with_the_client_data_of_an_assertion_is_refused() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let mut key = register_passkey(&world, &caller, Kind::Es256, "a").await;
    let options = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    let mut credential = key.create(&options);
    let sign_in = json!({ "rpId": "money.example.com", "challenge": options["challenge"] });
    credential["response"]["clientDataJSON"] =
        key.get(&sign_in)["response"]["clientDataJSON"].clone();
    let credential = credential.to_string();
    let made = passkeys::finish_registration(&world.app, &caller, &party(), &credential, "X").await;
    assert!(is_refused(made).contains("another request"));
}

#[tokio::test]
async fn an_invalid_registration_is_refused() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let register = async |caller: &Caller, change: &dyn Fn(&mut Authenticator, &mut Value)| {
        let mut key = Authenticator::new(Kind::Es256, ORIGIN, b"one");
        let options = passkeys::start_registration(&world.app, caller, &party()).await.unwrap();
        change(&mut key, &mut Value::Null);
        let mut credential = key.create(&options);
        change(&mut key, &mut credential);
        let credential = credential.to_string();
        passkeys::finish_registration(&world.app, caller, &party(), &credential, "Phone").await
    };
    let refused = async |change: &dyn Fn(&mut Authenticator, &mut Value)| {
        is_refused(register(&caller, change).await)
    };
    let member = |name: &'static str, text: &'static str| {
        move |_: &mut Authenticator, it: &mut Value| {
            if it.is_object() {
                it["response"][name] = json!(text);
            }
        }
    };
    refused(&|key, _| key.origin = "https://evil.example.com".to_owned()).await;
    refused(&|key, _| key.site = Some("evil.example.com".to_owned())).await;
    refused(&|key, _| key.flags = 0b001).await;
    refused(&member("authenticatorData", "AAAA")).await;
    refused(&member("publicKey", "AAAA")).await;
    refused(&|_, it| {
        if it.is_object() {
            it["response"]["publicKeyAlgorithm"] = json!(-257);
        }
    })
    .await;
    let other_id = |_: &mut Authenticator, it: &mut Value| {
        if it.is_object() {
            it["rawId"] = json!("dHdv");
        }
    };
    assert!(refused(&other_id).await.contains("another passkey"));
    register(&caller, &|_, _| {}).await.unwrap();
    // The same credential cannot be registered again by anyone.
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    assert!(is_conflict(register(&kim, &|_, _| {}).await).contains("already registered"));
    // Another person's challenge cannot be answered.
    let options = passkeys::start_registration(&world.app, &kim, &party()).await.unwrap();
    let credential = Authenticator::new(Kind::Es256, ORIGIN, b"two").create(&options).to_string();
    let stolen =
        passkeys::finish_registration(&world.app, &caller, &party(), &credential, "X").await;
    is_refused(stolen);
    let unnamed = passkeys::finish_registration(&world.app, &kim, &party(), &credential, " ").await;
    assert_eq!(param(unnamed), "name");
}

#[tokio::test]
async fn a_copied_passkey_is_detected_by_its_counter() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let mut key = register_passkey(&world, &caller, Kind::EdDsa, "a").await;
    let sign_in = async |key: &Authenticator| answer(&world, &key.get(&ask(&world).await)).await;
    sign_in(&key).await.unwrap();
    key.counter = 5;
    sign_in(&key).await.unwrap();
    for again in [5, 4, 0] {
        key.counter = again;
        assert!(is_refused(sign_in(&key).await).contains("copied"), "{again}");
    }
    key.counter = 6;
    sign_in(&key).await.unwrap();
}

#[tokio::test]
async fn another_persons_passkey_is_refused() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    let (mine, other) = (
        register_passkey(&world, &caller, Kind::Es256, "robin").await,
        register_passkey(&world, &kim, Kind::Es256, "kim").await,
    );
    let request = ChallengeRequest::new(Purpose::SecondStep, Some(robin.id));
    let ask = async || passkeys::start(&world.app, &party(), request).await.unwrap();
    let answer = async |credential: Value| {
        passkeys::finish(&world.app, &party(), request, &credential.to_string()).await
    };
    let options = ask().await;
    assert_eq!(options["allowCredentials"], json!([{ "type": "public-key", "id": "cm9iaW4" }]));
    is_refused(answer(other.get(&options)).await);
    assert_eq!(answer(mine.get(&ask().await)).await.unwrap(), robin.id);
    // A user handle that does not match the credential.
    let mut mixed = mine.get(&ask().await);
    mixed["response"]["userHandle"] = json!("AAAA");
    is_refused(answer(mixed).await);
    let stranger = Authenticator::new(Kind::Es256, ORIGIN, b"stranger");
    is_refused(answer(stranger.get(&ask().await)).await);
}

#[tokio::test]
async fn the_challenge_can_be_the_digest_of_what_is_signed() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let key = register_passkey(&world, &caller, Kind::Es256, "a").await;
    let about = |digest: u8| ChallengeRequest {
        challenge: Some([digest; 32]),
        ..ChallengeRequest::new(Purpose::Prove, Some(robin.id))
    };
    let finish = async |request: ChallengeRequest, credential: &Value| {
        passkeys::finish(&world.app, &party(), request, &credential.to_string()).await
    };
    // The challenge is requested twice, as by a page that is opened again.
    passkeys::start(&world.app, &party(), about(1)).await.unwrap();
    let options = passkeys::start(&world.app, &party(), about(1)).await.unwrap();
    let credential = key.get(&options);
    assert!(is_refused(finish(about(2), &credential).await).contains("older request"));
    let options = passkeys::start(&world.app, &party(), about(1)).await.unwrap();
    assert_eq!(finish(about(1), &key.get(&options)).await.unwrap(), robin.id);
    is_refused(finish(about(1), &credential).await);
}

#[tokio::test]
async fn passkeys_can_be_renamed_and_removed_but_not_the_only_way_to_sign_in() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    register_passkey(&world, &caller, Kind::EdDsa, "Phone").await;
    let app = &world.app;
    let id = passkeys::list(app, &caller).await.unwrap()[0].id;
    passkeys::rename(app, &caller, id, "  Old phone ").await.unwrap();
    assert_eq!(passkeys::list(app, &caller).await.unwrap()[0].name, "Old phone");
    for bad in ["", " ", "a\nb", &"x".repeat(81)] {
        assert_eq!(param(passkeys::rename(app, &caller, id, bad).await), "name");
    }
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    is_not_found(passkeys::rename(app, &kim, id, "Mine").await);
    is_not_found(passkeys::remove(app, &kim, id).await);
    is_not_found(passkeys::remove(app, &caller, PasskeyId::from_bytes([1; 16])).await);
    profiles::set_second_step(app, &caller, true).await.unwrap();
    assert!(is_conflict(passkeys::remove(app, &caller, id).await).contains("second step"));
    profiles::set_second_step(app, &caller, false).await.unwrap();
    passkeys::remove(app, &caller, id).await.unwrap();
    assert!(passkeys::list(app, &caller).await.unwrap().is_empty());
    let actions = trail(&world, &caller).await;
    assert_eq!(actions[0], "passkey.delete");
    assert!(actions.contains(&"passkey.rename".to_owned()));
    assert!(actions.contains(&"passkey.create".to_owned()));
    // Without a password the last passkey cannot be removed.
    let bare = world.person("bare@example.com").await;
    assert!(!users::has_password(app, bare.user.id).await.unwrap());
    let bare = session_of(&world, &bare.user).await;
    register_passkey(&world, &bare, Kind::EdDsa, "one").await;
    register_passkey(&world, &bare, Kind::EdDsa, "two").await;
    let listed = passkeys::list(app, &bare).await.unwrap();
    passkeys::remove(app, &bare, listed[0].id).await.unwrap();
    assert!(
        is_conflict(passkeys::remove(app, &bare, listed[1].id).await)
            .contains("only way to sign in")
    );
    assert!(users::has_password(app, robin.id).await.unwrap());
}

#[tokio::test]
async fn a_session_without_a_fresh_proof_cannot_add_or_remove_a_passkey() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    register_passkey(&world, &caller, Kind::EdDsa, "Phone").await;
    let id = passkeys::list(&world.app, &caller).await.unwrap()[0].id;
    world.advance_seconds(599);
    passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    world.advance_seconds(1);
    let options = passkeys::start_registration(&world.app, &caller, &party()).await;
    assert_eq!(param(options), "proof");
    assert_eq!(param(passkeys::remove(&world.app, &caller, id).await), "proof");
    assert_eq!(passkeys::list(&world.app, &caller).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_person_has_at_most_twenty_passkeys() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    for number in 0..20 {
        register_passkey(&world, &caller, Kind::EdDsa, &format!("key {number}")).await;
    }
    let options = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    let credential = Authenticator::new(Kind::EdDsa, ORIGIN, b"more").create(&options).to_string();
    let made = passkeys::finish_registration(&world.app, &caller, &party(), &credential, "X").await;
    is_conflict(made);
}

#[tokio::test]
async fn a_loopback_installation_accepts_answers_from_localhost() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let party = RelyingParty::from_url("http://127.0.0.1:4680").unwrap();
    let mut key = Authenticator::new(Kind::Es256, "http://localhost:4680", b"a");
    let options = passkeys::start_registration(&world.app, &caller, &party).await.unwrap();
    let credential = key.create(&options).to_string();
    passkeys::finish_registration(&world.app, &caller, &party, &credential, "Laptop")
        .await
        .unwrap();
    let options = passkeys::start(&world.app, &party, ANYONE).await.unwrap();
    let credential = key.get(&options).to_string();
    assert_eq!(passkeys::finish(&world.app, &party, ANYONE, &credential).await.unwrap(), robin.id);
    key.origin = "http://localhost:4681".to_owned();
    let options = passkeys::start(&world.app, &party, ANYONE).await.unwrap();
    let credential = key.get(&options).to_string();
    is_refused(passkeys::finish(&world.app, &party, ANYONE, &credential).await);
}
