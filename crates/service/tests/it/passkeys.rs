//! Passkeys: real signatures are taken, and whatever differs from what was asked is not.

use base::PasskeyId;
use serde_json::{Value, json};
use service::Caller;
use service::access::passkeys::{self, ChallengeRequest, Purpose, RelyingParty};
use service::access::profiles;
use service::access::users;
use testkit::{Authenticator, Kind, World};

use crate::{
    ORIGIN, enrol, is_conflict, is_not_found, is_refused, param, party, session_of, signed_in,
    trail,
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
async fn a_passkey_of_each_kind_signs_its_person_in() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    for kind in [Kind::Es256, Kind::EdDsa, Kind::Rs256] {
        let key = enrol(&world, &caller, kind, &format!("{kind:?}")).await;
        let asked = ask(&world).await;
        assert_eq!(asked["allowCredentials"], json!([]));
        assert_eq!(answer(&world, &key.get(&asked)).await.unwrap(), robin.id, "{kind:?}");
    }
    let listed = passkeys::list(&world.app, &caller).await.unwrap();
    let names: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Rs256", "EdDsa", "Es256"]);
    assert!(listed.iter().all(|it| it.last_used_at == Some(world.clock.now())));
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    assert!(passkeys::list(&world.app, &kim).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_browser_is_asked_for_a_key_that_unlocks_and_can_be_found_again() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    enrol(&world, &caller, Kind::Es256, "first").await;
    let asked = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    assert_eq!(asked["rp"]["id"], "money.example.com");
    assert_eq!(asked["user"]["name"], robin.email.as_str());
    assert_eq!(asked["authenticatorSelection"]["userVerification"], "required");
    assert_eq!(asked["authenticatorSelection"]["residentKey"], "required");
    assert_eq!(asked["attestation"], "none");
    assert_eq!(asked["excludeCredentials"], json!([{ "type": "public-key", "id": "Zmlyc3Q" }]));
    let kinds = asked["pubKeyCredParams"].as_array().unwrap().iter();
    let kinds: Vec<i64> = kinds.map(|it| it["alg"].as_i64().unwrap()).collect();
    assert_eq!(kinds, [-7, -8, -257]);
    let other = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    assert_ne!(asked["challenge"], other["challenge"]);
}

#[tokio::test]
async fn an_answer_is_good_once_and_for_five_minutes() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let key = enrol(&world, &caller, Kind::EdDsa, "a").await;
    let given = key.get(&ask(&world).await);
    answer(&world, &given).await.unwrap();
    is_refused(answer(&world, &given).await);
    let late = ask(&world).await;
    world.advance_seconds(299);
    let just = ask(&world).await;
    world.advance_seconds(1);
    is_refused(answer(&world, &key.get(&late)).await);
    answer(&world, &key.get(&just)).await.unwrap();
    // A wrong answer spends the question too.
    let asked = ask(&world).await;
    let mut forged = key.get(&asked);
    forged["response"]["signature"] = json!("AAAA");
    is_refused(answer(&world, &forged).await);
    is_refused(answer(&world, &key.get(&asked)).await);
    // What nobody answered in time is forgotten: the late one and this.
    ask(&world).await;
    world.advance_seconds(299);
    assert_eq!(passkeys::forget_once(&world.app).await.unwrap(), 1);
    world.advance_seconds(1);
    assert_eq!(passkeys::forget_once(&world.app).await.unwrap(), 1);
}

/// A lie at signing in, and what must be said to it.
#[tokio::test]
async fn whatever_differs_from_what_was_asked_is_refused() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let mut key = enrol(&world, &caller, Kind::Es256, "a").await;
    type Lie = fn(&mut Authenticator);
    let lies: [(Lie, &str); 6] = [
        (|it| it.origin = "https://evil.example.com".to_owned(), "another site"),
        (|it| it.origin = "http://money.example.com".to_owned(), "another site"),
        (|it| it.cross_origin = true, "another site"),
        (|it| it.site = Some("evil.example.com".to_owned()), "belongs to another site"),
        (|it| it.flags = 0b001, "did not verify that it is you"),
        (|it| it.flags = 0b100, "did not verify that it is you"),
    ];
    for (lie, reason) in lies {
        lie(&mut key);
        let refused = is_refused(answer(&world, &key.get(&ask(&world).await)).await);
        assert!(refused.contains(reason), "{refused} for {reason}");
        (key.origin, key.cross_origin) = (ORIGIN.to_owned(), false);
        (key.site, key.flags) = (None, 0b101);
    }
    // A challenge of the visitor's own, and one for another purpose.
    let mut made_up = ask(&world).await;
    made_up["challenge"] = json!("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
    is_refused(answer(&world, &key.get(&made_up)).await);
    let prove = ChallengeRequest::new(Purpose::Prove, Some(caller.user));
    let asked = passkeys::start(&world.app, &party(), prove).await.unwrap();
    is_refused(answer(&world, &key.get(&asked)).await);
    // The answer to one question in the frame of another.
    let (asked, other) = (ask(&world).await, ask(&world).await);
    let mut mixed = key.get(&asked);
    mixed["response"]["clientDataJSON"] = key.get(&other)["response"]["clientDataJSON"].clone();
    assert!(is_refused(answer(&world, &mixed).await).contains("signature"));
    for broken in ["", "{}", "[]", "null", r#"{"rawId": 1}"#, "\u{0}"] {
        is_refused(passkeys::finish(&world.app, &party(), ANYONE, broken).await);
    }
    // And the truth still works.
    answer(&world, &key.get(&ask(&world).await)).await.unwrap();
}

#[tokio::test]
async fn a_registration_is_not_an_assertion_and_each_is_held_to_its_type() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let mut key = enrol(&world, &caller, Kind::Es256, "a").await;
    let asked = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    let mut given = key.create(&asked);
    let sign_in = json!({ "rpId": "money.example.com", "challenge": asked["challenge"] });
    given["response"]["clientDataJSON"] = key.get(&sign_in)["response"]["clientDataJSON"].clone();
    let given = given.to_string();
    let made = passkeys::finish_registration(&world.app, &caller, &party(), &given, "X").await;
    assert!(is_refused(made).contains("another request"));
}

#[tokio::test]
async fn a_registration_must_be_whole_and_true() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let register = async |caller: &Caller, change: &dyn Fn(&mut Authenticator, &mut Value)| {
        let mut key = Authenticator::new(Kind::Es256, ORIGIN, b"one");
        let asked = passkeys::start_registration(&world.app, caller, &party()).await.unwrap();
        change(&mut key, &mut Value::Null);
        let mut given = key.create(&asked);
        change(&mut key, &mut given);
        let given = given.to_string();
        passkeys::finish_registration(&world.app, caller, &party(), &given, "Phone").await
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
    // The same credential again, by anyone.
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    assert!(is_conflict(register(&kim, &|_, _| {}).await).contains("already registered"));
    // Another's question is no question of mine.
    let asked = passkeys::start_registration(&world.app, &kim, &party()).await.unwrap();
    let given = Authenticator::new(Kind::Es256, ORIGIN, b"two").create(&asked).to_string();
    let stolen = passkeys::finish_registration(&world.app, &caller, &party(), &given, "X").await;
    is_refused(stolen);
    let unnamed = passkeys::finish_registration(&world.app, &kim, &party(), &given, " ").await;
    assert_eq!(param(unnamed), "name");
}

#[tokio::test]
async fn a_copied_passkey_gives_itself_away_by_its_counter() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let mut key = enrol(&world, &caller, Kind::EdDsa, "a").await;
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
async fn another_persons_passkey_does_not_answer_for_one() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    let (mine, other) = (
        enrol(&world, &caller, Kind::Es256, "robin").await,
        enrol(&world, &kim, Kind::Es256, "kim").await,
    );
    let question = ChallengeRequest::new(Purpose::SecondStep, Some(robin.id));
    let ask = async || passkeys::start(&world.app, &party(), question).await.unwrap();
    let answer = async |given: Value| {
        passkeys::finish(&world.app, &party(), question, &given.to_string()).await
    };
    let asked = ask().await;
    assert_eq!(asked["allowCredentials"], json!([{ "type": "public-key", "id": "cm9iaW4" }]));
    is_refused(answer(other.get(&asked)).await);
    assert_eq!(answer(mine.get(&ask().await)).await.unwrap(), robin.id);
    // A handle that belies the credential.
    let mut mixed = mine.get(&ask().await);
    mixed["response"]["userHandle"] = json!("AAAA");
    is_refused(answer(mixed).await);
    let stranger = Authenticator::new(Kind::Es256, ORIGIN, b"stranger");
    is_refused(answer(stranger.get(&ask().await)).await);
}

#[tokio::test]
async fn what_is_to_be_signed_can_decide_the_challenge() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let key = enrol(&world, &caller, Kind::Es256, "a").await;
    let about = |digest: u8| ChallengeRequest {
        challenge: Some([digest; 32]),
        ..ChallengeRequest::new(Purpose::Prove, Some(robin.id))
    };
    let finish = async |question: ChallengeRequest, given: &Value| {
        passkeys::finish(&world.app, &party(), question, &given.to_string()).await
    };
    // Asked twice, as by a page that is opened again.
    passkeys::start(&world.app, &party(), about(1)).await.unwrap();
    let asked = passkeys::start(&world.app, &party(), about(1)).await.unwrap();
    let given = key.get(&asked);
    assert!(is_refused(finish(about(2), &given).await).contains("older request"));
    let asked = passkeys::start(&world.app, &party(), about(1)).await.unwrap();
    assert_eq!(finish(about(1), &key.get(&asked)).await.unwrap(), robin.id);
    is_refused(finish(about(1), &given).await);
}

#[tokio::test]
async fn passkeys_are_renamed_and_removed_but_never_the_last_way_in() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    enrol(&world, &caller, Kind::EdDsa, "Phone").await;
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
    // Without a password one stays.
    let bare = world.person("bare@example.com").await;
    assert!(!users::has_password(app, bare.user.id).await.unwrap());
    let bare = session_of(&world, &bare.user).await;
    enrol(&world, &bare, Kind::EdDsa, "one").await;
    enrol(&world, &bare, Kind::EdDsa, "two").await;
    let listed = passkeys::list(app, &bare).await.unwrap();
    passkeys::remove(app, &bare, listed[0].id).await.unwrap();
    assert!(
        is_conflict(passkeys::remove(app, &bare, listed[1].id).await)
            .contains("only way to sign in")
    );
    assert!(users::has_password(app, robin.id).await.unwrap());
}

#[tokio::test]
async fn a_session_left_open_cannot_make_or_remove_a_way_in() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    enrol(&world, &caller, Kind::EdDsa, "Phone").await;
    let id = passkeys::list(&world.app, &caller).await.unwrap()[0].id;
    world.advance_seconds(599);
    passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    world.advance_seconds(1);
    let asked = passkeys::start_registration(&world.app, &caller, &party()).await;
    assert_eq!(param(asked), "proof");
    assert_eq!(param(passkeys::remove(&world.app, &caller, id).await), "proof");
    assert_eq!(passkeys::list(&world.app, &caller).await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_person_has_at_most_twenty() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    for number in 0..20 {
        enrol(&world, &caller, Kind::EdDsa, &format!("key {number}")).await;
    }
    let asked = passkeys::start_registration(&world.app, &caller, &party()).await.unwrap();
    let given = Authenticator::new(Kind::EdDsa, ORIGIN, b"more").create(&asked).to_string();
    let made = passkeys::finish_registration(&world.app, &caller, &party(), &given, "X").await;
    is_conflict(made);
}

#[tokio::test]
async fn a_loopback_installation_takes_answers_from_localhost() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let party = RelyingParty::from_url("http://127.0.0.1:4680").unwrap();
    let mut key = Authenticator::new(Kind::Es256, "http://localhost:4680", b"a");
    let asked = passkeys::start_registration(&world.app, &caller, &party).await.unwrap();
    let given = key.create(&asked).to_string();
    passkeys::finish_registration(&world.app, &caller, &party, &given, "Laptop").await.unwrap();
    let asked = passkeys::start(&world.app, &party, ANYONE).await.unwrap();
    let given = key.get(&asked).to_string();
    assert_eq!(passkeys::finish(&world.app, &party, ANYONE, &given).await.unwrap(), robin.id);
    key.origin = "http://localhost:4681".to_owned();
    let asked = passkeys::start(&world.app, &party, ANYONE).await.unwrap();
    let given = key.get(&asked).to_string();
    is_refused(passkeys::finish(&world.app, &party, ANYONE, &given).await);
}
