//! Signing in and signing up: guessing is limited, and exactly one person is the first.

use service::access::sessions::{self, Visit};
use service::access::sign_ins::{self, SignInOutcome};
use service::access::users::{self, Role};
use service::access::{passkeys, profiles};
use service::platform::audit;
use service::{App, Error};
use testkit::{Kind, World, new_user};

use crate::{
    PASSWORD, is_refused, param, party, register_passkey, session_of, signed_in, trail,
    with_password,
};

fn visit_from(address: &str) -> Visit {
    let (agent, address) = (Some("A browser".to_owned()), Some(address.to_owned()));
    Visit { agent, address, device: None }
}

async fn sign_in(
    app: &App,
    email: &str,
    password: &str,
    address: &str,
) -> Result<SignInOutcome, Error> {
    sign_ins::by_password(app, email, password, visit_from(address)).await
}

fn retry_after(outcome: Result<SignInOutcome, Error>) -> i64 {
    match outcome {
        Err(Error::Limited { retry_after_seconds, .. }) => retry_after_seconds,
        other => panic!("not limited: {other:?}"),
    }
}

#[tokio::test]
async fn the_right_password_starts_a_new_session_every_time() {
    let world = World::new().await;
    let robin = users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let outcome = sign_in(&world.app, " Robin@Example.com", PASSWORD, "192.0.2.1").await;
        let SignInOutcome::SignedIn { session } = outcome.unwrap() else {
            panic!("the sign-in asked for a second step")
        };
        let (found, caller) = sessions::find(&world.app, &session, None).await.unwrap().unwrap();
        assert_eq!((found.user, found.method.as_str()), (robin.id, "password"));
        assert_eq!(found.agent.as_deref(), Some("A browser"));
        assert_eq!(trail(&world, &caller).await[0], "session.create");
        tokens.push(session);
    }
    assert_ne!(tokens[0], tokens[1]);
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_person_get_the_same_answer() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    world.person("bare@example.com").await;
    let mut reasons = Vec::new();
    for email in ["robin@example.com", "nobody@example.com", "bare@example.com"] {
        reasons.push(is_refused(sign_in(&world.app, email, "wrong password", "192.0.2.1").await));
    }
    assert!(reasons.iter().all(|it| *it == reasons[0]), "{reasons:?}");
    // Each failure is counted once for the account and once for the address.
    assert_eq!(world.stored().await["sign_in_failures"].len(), 6);
    // Only an existing person has an audit trail that records it.
    let entry = audit::list(&world.app, &caller, None, 1).await.unwrap().remove(0);
    assert_eq!((entry.action.as_str(), entry.actor.kind.as_str()), ("sign_in.fail", "visitor"));
    assert_eq!(entry.actor.address.as_deref(), Some("192.0.2.1"));
    assert_eq!(param(sign_in(&world.app, "robin", PASSWORD, "192.0.2.1").await), "email");
}

#[tokio::test]
async fn ten_failures_lock_an_account_for_a_quarter_of_an_hour_whether_it_exists_or_not() {
    let world = World::new().await;
    users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let other_process = world.other_process().await;
    for email in ["robin@example.com", "nobody@example.com"] {
        for number in 0..10 {
            let address = format!("192.0.2.{number}");
            is_refused(sign_in(&other_process, email, "wrong password", &address).await);
            world.advance_seconds(1);
        }
        let locked = sign_in(&world.app, email, PASSWORD, "198.51.100.1").await;
        assert_eq!(retry_after(locked), 15 * 60 - 10, "{email}");
    }
    // Attempts refused by the lock do not extend it: it ends when the first failure is old enough.
    world.advance_seconds(15 * 60 - 21);
    retry_after(sign_in(&world.app, "robin@example.com", PASSWORD, "198.51.100.1").await);
    world.advance_seconds(1);
    sign_in(&world.app, "robin@example.com", PASSWORD, "198.51.100.1").await.unwrap();
}

#[tokio::test]
async fn a_successful_sign_in_clears_no_failures() {
    let world = World::new().await;
    users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    for _ in 0..9 {
        is_refused(sign_in(&world.app, "robin@example.com", "wrong password", "::1").await);
    }
    // A sign-in by the owner gives an attacker no further guesses.
    sign_in(&world.app, "robin@example.com", PASSWORD, "192.0.2.9").await.unwrap();
    is_refused(sign_in(&world.app, "robin@example.com", "wrong password", "::1").await);
    retry_after(sign_in(&world.app, "robin@example.com", "wrong password", "::2").await);
    for number in 0..40 {
        let email = format!("person{number}@example.com");
        is_refused(sign_in(&world.app, &email, "wrong password", "::3").await);
    }
    // Fifty failures from one network lock it for every account.
    retry_after(sign_in(&world.app, "kim@example.com", PASSWORD, "::4").await);
    is_refused(sign_in(&world.app, "kim@example.com", "wrong password", "192.0.2.9").await);
    world.advance_seconds(900);
    sign_ins::forget_once(&world.app).await.unwrap();
    let left = world.stored().await["sign_in_failures"].len();
    assert_eq!(left, 51, "failures by account count for a day");
    world.advance_seconds(86_400 - 900);
    sign_ins::forget_once(&world.app).await.unwrap();
    assert!(world.stored().await["sign_in_failures"].is_empty());
}

#[tokio::test]
async fn concurrent_guesses_do_not_exceed_the_limit() {
    let world = World::new().await;
    users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let mut guesses = tokio::task::JoinSet::new();
    for number in 0..30 {
        let app = world.app.clone();
        guesses.spawn(async move {
            sign_in(&app, "robin@example.com", "wrong password", &format!("192.0.2.{number}")).await
        });
    }
    let outcomes = guesses.join_all().await;
    let checked = outcomes.iter().filter(|it| matches!(it, Err(Error::Unauthenticated(_))));
    assert!(checked.count() <= 10, "{outcomes:?}");
}

#[tokio::test]
async fn a_passkey_alone_signs_its_person_in() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let key = register_passkey(&world, &caller, Kind::Es256, "Phone").await;
    profiles::set_second_step(&world.app, &caller, true).await.unwrap();
    let app = &world.app;
    let options = sign_ins::start_passkey(app, &party(), &visit_from("::1")).await.unwrap();
    let answer = key.get(&options).to_string();
    let session = sign_ins::by_passkey(app, &party(), &answer, visit_from("::1")).await.unwrap();
    let (found, _) = sessions::find(app, &session, None).await.unwrap().unwrap();
    assert_eq!((found.user, found.method.as_str()), (robin.id, "passkey"));
    is_refused(sign_ins::by_passkey(app, &party(), &answer, visit_from("::1")).await);
    // The number of challenges for one address is limited.
    for _ in 0..199 {
        sign_ins::start_passkey(app, &party(), &visit_from("::1")).await.unwrap();
    }
    let more = sign_ins::start_passkey(app, &party(), &visit_from("::1")).await;
    assert!(matches!(more, Err(Error::Limited { .. })));
}

#[tokio::test]
async fn the_second_step_requires_a_passkey_of_the_same_person() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    let mine = register_passkey(&world, &caller, Kind::Es256, "robin").await;
    let other = register_passkey(&world, &kim, Kind::Es256, "kim").await;
    profiles::set_second_step(&world.app, &caller, true).await.unwrap();
    let app = &world.app;
    let password = async || match sign_in(app, &robin.email, PASSWORD, "::1").await.unwrap() {
        SignInOutcome::SecondStep { token } => token,
        SignInOutcome::SignedIn { .. } => panic!("the passkey was not asked for"),
    };
    let token = password().await;
    // The token between the steps is not a session.
    assert!(sessions::find(app, &token, None).await.unwrap().is_none());
    assert_eq!(sign_ins::find_second_step(app, &token).await.unwrap().unwrap().id, robin.id);
    let ask = async |token: &str| sign_ins::start_second_step(app, &party(), token).await.unwrap();
    let answer = async |token: &str, credential: serde_json::Value| {
        let credential = credential.to_string();
        sign_ins::second_by_passkey(app, &party(), token, &credential, visit_from("::1")).await
    };
    is_refused(answer(&token, other.get(&ask(&token).await)).await);
    // An answer to a challenge for signing in by passkey is refused here.
    let for_sign_in = sign_ins::start_passkey(app, &party(), &Visit::default()).await.unwrap();
    is_refused(answer(&token, mine.get(&for_sign_in)).await);
    let session = answer(&token, mine.get(&ask(&token).await)).await.unwrap();
    let (found, _) = sessions::find(app, &session, None).await.unwrap().unwrap();
    assert_eq!((found.user, found.method.as_str()), (robin.id, "password_and_passkey"));
    // The token can be used once only.
    assert!(sign_ins::find_second_step(app, &token).await.unwrap().is_none());
    is_refused(sign_ins::start_second_step(app, &party(), &token).await);
    // The token expires after five minutes.
    let token = password().await;
    let options = ask(&token).await;
    world.advance_seconds(300);
    is_refused(answer(&token, mine.get(&options)).await);
    assert!(sign_ins::find_second_step(app, "ek2_x").await.unwrap().is_none());
    let fails = trail(&world, &caller).await.into_iter().filter(|it| it == "sign_in.fail");
    assert_eq!(fails.count(), 2);
}

#[tokio::test]
async fn guesses_of_recovery_codes_are_limited() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    register_passkey(&world, &caller, Kind::EdDsa, "Phone").await;
    profiles::set_second_step(&world.app, &caller, true).await.unwrap();
    let app = &world.app;
    let guess = async || {
        let SignInOutcome::SecondStep { token } =
            sign_in(app, &robin.email, PASSWORD, "::1").await.unwrap()
        else {
            panic!("the passkey was not asked for")
        };
        sign_ins::second_by_recovery_code(app, &token, "k7wq-3m2x-9d4h", visit_from("::1")).await
    };
    for _ in 0..10 {
        is_refused(guess().await);
    }
    assert!(matches!(guess().await, Err(Error::Limited { .. })));
}

#[tokio::test]
async fn a_fresh_proof_can_be_given_by_password_or_passkey() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let key = register_passkey(&world, &caller, Kind::EdDsa, "Phone").await;
    let app = &world.app;
    let is_stale =
        async || param(passkeys::start_registration(app, &caller, &party()).await) == "proof";
    world.advance_seconds(600);
    assert!(is_stale().await);
    let wrong = sign_ins::prove_by_password(app, &caller, "wrong password").await;
    assert_eq!(param(wrong), "password");
    assert!(is_stale().await);
    sign_ins::prove_by_password(app, &caller, PASSWORD).await.unwrap();
    passkeys::start_registration(app, &caller, &party()).await.unwrap();
    world.advance_seconds(600);
    let options = sign_ins::start_proof(app, &caller, &party()).await.unwrap();
    let answer = key.get(&options).to_string();
    // Another session of the same person is no proof for this one.
    let other = session_of(&world, &robin).await;
    world.advance_seconds(600 - 300 + 1);
    let options = sign_ins::start_proof(app, &caller, &party()).await.unwrap();
    is_refused(sign_ins::prove_by_passkey(app, &caller, &party(), &answer).await);
    assert!(is_stale().await);
    let answer = key.get(&options).to_string();
    sign_ins::prove_by_passkey(app, &caller, &party(), &answer).await.unwrap();
    passkeys::start_registration(app, &caller, &party()).await.unwrap();
    sessions::revoke(app, &caller, session_id(&other)).await.unwrap();
    for _ in 0..10 {
        let wrong = sign_ins::prove_by_password(app, &caller, "wrong password").await;
        assert_eq!(param(wrong), "password");
    }
    let locked = sign_ins::prove_by_password(app, &caller, PASSWORD).await;
    assert!(matches!(locked, Err(Error::Limited { .. })));
}

fn session_id(caller: &service::Caller) -> base::SessionId {
    match caller.credential {
        service::Credential::Session { id, .. } => id,
        _ => panic!("no session"),
    }
}

#[tokio::test]
async fn the_first_person_needs_the_setup_code_and_becomes_admin() {
    let world = World::new().await;
    let app = &world.app;
    assert!(sign_ins::is_first_run(app).await.unwrap());
    let code = sign_ins::setup_code(app);
    assert_eq!(
        code,
        sign_ins::setup_code(&world.other_process().await),
        "the same in every process"
    );
    assert_eq!(code.len(), 14);
    let register = async |code: &str| {
        sign_ins::create_first(app, code, with_password("robin@example.com"), visit_from("::1"))
            .await
    };
    for wrong in ["", "k7wq-3m2x-9d4h", &code[..13]] {
        assert_eq!(param(register(wrong).await), "code");
    }
    assert!(sign_ins::is_first_run(app).await.unwrap());
    let session = register(&code.to_uppercase().replace('-', " ")).await.unwrap();
    let (found, caller) = sessions::find(app, &session, None).await.unwrap().unwrap();
    assert_eq!(found.method.as_str(), "setup_code");
    assert_eq!(users::get(app, &caller).await.unwrap().role, Role::Admin);
    // From now on the code is refused.
    assert!(!sign_ins::is_first_run(app).await.unwrap());
    let again =
        sign_ins::create_first(app, &code, with_password("kim@example.com"), visit_from("::1"));
    assert_eq!(param(again.await), "code");
    assert_eq!(users::list(app, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn of_concurrent_first_registrations_one_succeeds() {
    let world = World::new().await;
    let processes = [world.app.clone(), world.other_process().await, world.other_process().await];
    let code = sign_ins::setup_code(&world.app);
    // Several rounds: after the only person is deleted, the next one is first again.
    for round in 0..5 {
        let mut people = tokio::task::JoinSet::new();
        for number in 0..6 {
            let (app, code) = (processes[number % 3].clone(), code.clone());
            let new = with_password(&format!("person{number}@example.com"));
            people.spawn(async move {
                sign_ins::create_first(&app, &code, new, Visit::default()).await
            });
        }
        let outcomes = people.join_all().await;
        assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 1, "{round}: {outcomes:?}");
        let here = users::list(&world.app, 10).await.unwrap();
        assert_eq!((here.len(), here[0].role), (1, Role::Admin));
        users::delete(&world.app, here[0].id).await.unwrap();
    }
}

#[tokio::test]
async fn guesses_of_the_setup_code_are_limited() {
    let world = World::new().await;
    let code = sign_ins::setup_code(&world.app);
    let register = async |code: &str, address: &str| {
        let new = with_password("robin@example.com");
        sign_ins::create_first(&world.app, code, new, visit_from(address)).await
    };
    for _ in 0..50 {
        assert_eq!(param(register("k7wq-3m2x-9d4h", "192.0.2.1").await), "code");
    }
    assert!(matches!(register(&code, "192.0.2.1").await, Err(Error::Limited { .. })));
    register(&code, "192.0.2.2").await.unwrap();
}

#[tokio::test]
async fn anyone_can_sign_up_as_a_member() {
    let world = World::new().await;
    world.person("robin@example.com").await;
    let app = &world.app;
    let register = async |email: &str| {
        sign_ins::sign_up(app, with_password(email), visit_from("192.0.2.1")).await
    };
    register("kim@example.com").await.unwrap();
    let kim = users::find_by_email(app, "kim@example.com").await.unwrap().unwrap();
    assert_eq!(kim.role, Role::Member);
    register("robin@example.com").await.unwrap();
    let short = service::access::users::NewUser {
        password: Some("short".to_owned()),
        ..new_user("alex@example.com")
    };
    assert_eq!(param(sign_ins::sign_up(app, short, visit_from("192.0.2.1")).await), "password");
    // The number of sign-ups from one address is limited.
    for _ in 0..47 {
        assert_eq!(param(register("robin").await), "email");
    }
    assert!(matches!(register("alex@example.com").await, Err(Error::Limited { .. })));
}

#[tokio::test]
async fn signing_up_does_the_same_work_whether_or_not_the_address_has_an_account() {
    let world = World::new().await;
    let robin = users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let app = &world.app;
    let entries = async || {
        let stored = world.stored().await;
        (stored["audit"].len(), stored["sessions"].len())
    };
    for email in ["kim@example.com", "Robin@Example.com", "kim@example.com"] {
        let (audit, _) = entries().await;
        let new = service::access::users::NewUser {
            password: Some("another password".to_owned()),
            ..with_password(email)
        };
        sign_ins::sign_up(app, new, visit_from("192.0.2.1")).await.unwrap();
        assert_eq!(entries().await, (audit + 1, 0), "{email}");
    }
    let check = async |email, password| users::check_password(app, email, password).await.unwrap();
    assert!(check("robin@example.com", PASSWORD).await.is_some());
    assert!(check("robin@example.com", "another password").await.is_none());
    assert!(check("kim@example.com", "another password").await.is_some());
    let owner = robin.owner();
    assert_eq!(crate::trail(&world, &owner).await, ["sign_up.repeat"]);
}

#[tokio::test]
async fn when_the_only_admin_leaves_the_next_person_becomes_admin() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    let kim = world.person("kim@example.com").await;
    let alex = world.person("alex@example.com").await;
    let role = async |it: &testkit::Person| users::get(&world.app, &it.caller).await.unwrap().role;
    users::delete(&world.app, alex.user.id).await.unwrap();
    assert_eq!((role(&robin).await, role(&kim).await), (Role::Admin, Role::Member));
    users::delete(&world.app, robin.user.id).await.unwrap();
    assert_eq!(role(&kim).await, Role::Admin);
}
