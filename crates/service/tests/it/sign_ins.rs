//! Signing in: the right people get in, guessing is slow, and the first person is one.

use service::access::sessions::{self, Visit};
use service::access::sign_ins::{self, SignInOutcome};
use service::access::users::{self, Role};
use service::access::{passkeys, profiles};
use service::platform::audit;
use service::{App, Error};
use testkit::{Kind, World, new_user};

use crate::{
    PASSWORD, enrol, is_refused, param, party, session_of, signed_in, trail, with_password,
};

fn from(address: &str) -> Visit {
    let (agent, address) = (Some("A browser".to_owned()), Some(address.to_owned()));
    Visit { agent, address, device: None }
}

async fn try_in(
    app: &App,
    email: &str,
    password: &str,
    address: &str,
) -> Result<SignInOutcome, Error> {
    sign_ins::by_password(app, email, password, from(address)).await
}

fn seconds(outcome: Result<SignInOutcome, Error>) -> i64 {
    match outcome {
        Err(Error::Limited { retry_after_seconds, .. }) => retry_after_seconds,
        other => panic!("not limited: {other:?}"),
    }
}

#[tokio::test]
async fn the_right_password_opens_a_new_session_every_time() {
    let world = World::new().await;
    let robin = users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let outcome = try_in(&world.app, " Robin@Example.com", PASSWORD, "192.0.2.1").await;
        let SignInOutcome::SignedIn { session } = outcome.unwrap() else { panic!("a second step") };
        let (found, caller) = sessions::find(&world.app, &session, None).await.unwrap().unwrap();
        assert_eq!((found.user, found.method.as_str()), (robin.id, "password"));
        assert_eq!(found.agent.as_deref(), Some("A browser"));
        assert_eq!(trail(&world, &caller).await[0], "session.create");
        tokens.push(session);
    }
    assert_ne!(tokens[0], tokens[1]);
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_person_are_told_the_same() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    world.person("bare@example.com").await;
    let mut reasons = Vec::new();
    for email in ["robin@example.com", "nobody@example.com", "bare@example.com"] {
        reasons.push(is_refused(try_in(&world.app, email, "wrong password", "192.0.2.1").await));
    }
    assert!(reasons.iter().all(|it| *it == reasons[0]), "{reasons:?}");
    // Each leaves the same marks: one for the account, one for the address.
    assert_eq!(world.stored().await["sign_in_failures"].len(), 6);
    // Only somebody who exists has a trail to write it into.
    let entry = audit::list(&world.app, &caller, None, 1).await.unwrap().remove(0);
    assert_eq!((entry.action.as_str(), entry.actor.kind.as_str()), ("sign_in.fail", "visitor"));
    assert_eq!(entry.actor.address.as_deref(), Some("192.0.2.1"));
    assert_eq!(param(try_in(&world.app, "robin", PASSWORD, "192.0.2.1").await), "email");
}

#[tokio::test]
async fn ten_failures_close_an_account_for_a_quarter_of_an_hour_known_or_not() {
    let world = World::new().await;
    users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let other_process = world.other_process().await;
    for email in ["robin@example.com", "nobody@example.com"] {
        for number in 0..10 {
            let address = format!("192.0.2.{number}");
            is_refused(try_in(&other_process, email, "wrong password", &address).await);
            world.advance_seconds(1);
        }
        let closed = try_in(&world.app, email, PASSWORD, "198.51.100.1").await;
        assert_eq!(seconds(closed), 15 * 60 - 10, "{email}");
    }
    // Refused ones do not keep it closed: it opens when the first failure is old enough.
    world.advance_seconds(15 * 60 - 21);
    seconds(try_in(&world.app, "robin@example.com", PASSWORD, "198.51.100.1").await);
    world.advance_seconds(1);
    try_in(&world.app, "robin@example.com", PASSWORD, "198.51.100.1").await.unwrap();
}

#[tokio::test]
async fn getting_in_clears_neither_the_account_nor_the_address() {
    let world = World::new().await;
    users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    for _ in 0..9 {
        is_refused(try_in(&world.app, "robin@example.com", "wrong password", "::1").await);
    }
    // Whoever guesses gets no more guesses because the owner signs in.
    try_in(&world.app, "robin@example.com", PASSWORD, "192.0.2.9").await.unwrap();
    is_refused(try_in(&world.app, "robin@example.com", "wrong password", "::1").await);
    seconds(try_in(&world.app, "robin@example.com", "wrong password", "::2").await);
    for number in 0..40 {
        let email = format!("person{number}@example.com");
        is_refused(try_in(&world.app, &email, "wrong password", "::3").await);
    }
    // Fifty failures from one network close it to everybody.
    seconds(try_in(&world.app, "kim@example.com", PASSWORD, "::4").await);
    is_refused(try_in(&world.app, "kim@example.com", "wrong password", "192.0.2.9").await);
    world.advance_seconds(900);
    sign_ins::forget_once(&world.app).await.unwrap();
    let left = world.stored().await["sign_in_failures"].len();
    assert_eq!(left, 51, "those by account count for a day");
    world.advance_seconds(86_400 - 900);
    sign_ins::forget_once(&world.app).await.unwrap();
    assert!(world.stored().await["sign_in_failures"].is_empty());
}

#[tokio::test]
async fn many_guesses_at_once_are_not_more_than_one_after_another() {
    let world = World::new().await;
    users::create(&world.app, with_password("robin@example.com")).await.unwrap();
    let mut guesses = tokio::task::JoinSet::new();
    for number in 0..30 {
        let app = world.app.clone();
        guesses.spawn(async move {
            try_in(&app, "robin@example.com", "wrong password", &format!("192.0.2.{number}")).await
        });
    }
    let outcomes = guesses.join_all().await;
    let looked_at = outcomes.iter().filter(|it| matches!(it, Err(Error::Unauthenticated(_))));
    assert!(looked_at.count() <= 10, "{outcomes:?}");
}

#[tokio::test]
async fn a_passkey_alone_lets_its_person_in() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let key = enrol(&world, &caller, Kind::Es256, "Phone").await;
    profiles::set_second_step(&world.app, &caller, true).await.unwrap();
    let app = &world.app;
    let asked = sign_ins::start_passkey(app, &party(), &from("::1")).await.unwrap();
    let answer = key.get(&asked).to_string();
    let session = sign_ins::by_passkey(app, &party(), &answer, from("::1")).await.unwrap();
    let (found, _) = sessions::find(app, &session, None).await.unwrap().unwrap();
    assert_eq!((found.user, found.method.as_str()), (robin.id, "passkey"));
    is_refused(sign_ins::by_passkey(app, &party(), &answer, from("::1")).await);
    // An address that keeps us making up questions is told to wait.
    for _ in 0..199 {
        sign_ins::start_passkey(app, &party(), &from("::1")).await.unwrap();
    }
    let more = sign_ins::start_passkey(app, &party(), &from("::1")).await;
    assert!(matches!(more, Err(Error::Limited { .. })));
}

#[tokio::test]
async fn the_second_step_opens_only_with_the_passkey_of_the_same_person() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    let mine = enrol(&world, &caller, Kind::Es256, "robin").await;
    let other = enrol(&world, &kim, Kind::Es256, "kim").await;
    profiles::set_second_step(&world.app, &caller, true).await.unwrap();
    let app = &world.app;
    let password = async || match try_in(app, &robin.email, PASSWORD, "::1").await.unwrap() {
        SignInOutcome::SecondStep { token } => token,
        SignInOutcome::SignedIn { .. } => panic!("the passkey was not asked for"),
    };
    let token = password().await;
    // What stands between the steps is no session.
    assert!(sessions::find(app, &token, None).await.unwrap().is_none());
    assert_eq!(sign_ins::find_second_step(app, &token).await.unwrap().unwrap().id, robin.id);
    let ask = async |token: &str| sign_ins::start_second_step(app, &party(), token).await.unwrap();
    let answer = async |token: &str, given: serde_json::Value| {
        let given = given.to_string();
        sign_ins::second_by_passkey(app, &party(), token, &given, from("::1")).await
    };
    is_refused(answer(&token, other.get(&ask(&token).await)).await);
    // An answer that was given at the front door is none here.
    let front = sign_ins::start_passkey(app, &party(), &Visit::default()).await.unwrap();
    is_refused(answer(&token, mine.get(&front)).await);
    let session = answer(&token, mine.get(&ask(&token).await)).await.unwrap();
    let (found, _) = sessions::find(app, &session, None).await.unwrap().unwrap();
    assert_eq!((found.user, found.method.as_str()), (robin.id, "password_and_passkey"));
    // Once only.
    assert!(sign_ins::find_second_step(app, &token).await.unwrap().is_none());
    is_refused(sign_ins::start_second_step(app, &party(), &token).await);
    // And not for long.
    let token = password().await;
    let asked = ask(&token).await;
    world.advance_seconds(300);
    is_refused(answer(&token, mine.get(&asked)).await);
    assert!(sign_ins::find_second_step(app, "ek2_x").await.unwrap().is_none());
    let fails = trail(&world, &caller).await.into_iter().filter(|it| it == "sign_in.fail");
    assert_eq!(fails.count(), 2);
}

#[tokio::test]
async fn recovery_codes_cannot_be_guessed_on_and_on() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    enrol(&world, &caller, Kind::EdDsa, "Phone").await;
    profiles::set_second_step(&world.app, &caller, true).await.unwrap();
    let app = &world.app;
    let guess = async || {
        let SignInOutcome::SecondStep { token } =
            try_in(app, &robin.email, PASSWORD, "::1").await.unwrap()
        else {
            panic!("the passkey was not asked for")
        };
        sign_ins::second_by_recovery_code(app, &token, "k7wq-3m2x-9d4h", from("::1")).await
    };
    for _ in 0..10 {
        is_refused(guess().await);
    }
    assert!(matches!(guess().await, Err(Error::Limited { .. })));
}

#[tokio::test]
async fn who_one_is_can_be_shown_again_by_password_or_passkey() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let key = enrol(&world, &caller, Kind::EdDsa, "Phone").await;
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
    let asked = sign_ins::start_proof(app, &caller, &party()).await.unwrap();
    let answer = key.get(&asked).to_string();
    // Another session of the same person proves nothing for this one.
    let other = session_of(&world, &robin).await;
    world.advance_seconds(600 - 300 + 1);
    let asked = sign_ins::start_proof(app, &caller, &party()).await.unwrap();
    is_refused(sign_ins::prove_by_passkey(app, &caller, &party(), &answer).await);
    assert!(is_stale().await);
    let answer = key.get(&asked).to_string();
    sign_ins::prove_by_passkey(app, &caller, &party(), &answer).await.unwrap();
    passkeys::start_registration(app, &caller, &party()).await.unwrap();
    sessions::revoke(app, &caller, session_id(&other)).await.unwrap();
    for _ in 0..10 {
        let wrong = sign_ins::prove_by_password(app, &caller, "wrong password").await;
        assert_eq!(param(wrong), "password");
    }
    let closed = sign_ins::prove_by_password(app, &caller, PASSWORD).await;
    assert!(matches!(closed, Err(Error::Limited { .. })));
}

fn session_id(caller: &service::Caller) -> base::SessionId {
    match caller.credential {
        service::Credential::Session { id, .. } => id,
        _ => panic!("no session"),
    }
}

#[tokio::test]
async fn the_first_person_needs_the_code_and_keeps_the_installation() {
    let world = World::new().await;
    let app = &world.app;
    assert!(sign_ins::is_first_run(app).await.unwrap());
    let code = sign_ins::setup_code(app);
    assert_eq!(code, sign_ins::setup_code(&world.other_process().await), "the same everywhere");
    assert_eq!(code.len(), 14);
    let enter = async |code: &str| {
        sign_ins::create_first(app, code, with_password("robin@example.com"), from("::1")).await
    };
    for wrong in ["", "k7wq-3m2x-9d4h", &code[..13]] {
        assert_eq!(param(enter(wrong).await), "code");
    }
    assert!(sign_ins::is_first_run(app).await.unwrap());
    let session = enter(&code.to_uppercase().replace('-', " ")).await.unwrap();
    let (found, caller) = sessions::find(app, &session, None).await.unwrap().unwrap();
    assert_eq!(found.method.as_str(), "setup_code");
    assert_eq!(users::get(app, &caller).await.unwrap().role, Role::Admin);
    // From here on the code opens nothing.
    assert!(!sign_ins::is_first_run(app).await.unwrap());
    let again = sign_ins::create_first(app, &code, with_password("kim@example.com"), from("::1"));
    assert_eq!(param(again.await), "code");
    assert_eq!(users::list(app, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn of_many_first_people_at_once_one_is_first() {
    let world = World::new().await;
    let processes = [world.app.clone(), world.other_process().await, world.other_process().await];
    let code = sign_ins::setup_code(&world.app);
    // Several rounds: after the last person left, the next is first again.
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
async fn the_setup_code_cannot_be_guessed_on_and_on() {
    let world = World::new().await;
    let code = sign_ins::setup_code(&world.app);
    let enter = async |code: &str, address: &str| {
        let new = with_password("robin@example.com");
        sign_ins::create_first(&world.app, code, new, from(address)).await
    };
    for _ in 0..50 {
        assert_eq!(param(enter("k7wq-3m2x-9d4h", "192.0.2.1").await), "code");
    }
    assert!(matches!(enter(&code, "192.0.2.1").await, Err(Error::Limited { .. })));
    enter(&code, "192.0.2.2").await.unwrap();
}

#[tokio::test]
async fn signing_up_lets_anyone_in_as_a_member() {
    let world = World::new().await;
    world.person("robin@example.com").await;
    let app = &world.app;
    let enter =
        async |email: &str| sign_ins::sign_up(app, with_password(email), from("192.0.2.1")).await;
    enter("kim@example.com").await.unwrap();
    let kim = users::find_by_email(app, "kim@example.com").await.unwrap().unwrap();
    assert_eq!(kim.role, Role::Member);
    enter("robin@example.com").await.unwrap();
    let short = service::access::users::NewUser {
        password: Some("short".to_owned()),
        ..new_user("alex@example.com")
    };
    assert_eq!(param(sign_ins::sign_up(app, short, from("192.0.2.1")).await), "password");
    // One address does not fill the place.
    for _ in 0..47 {
        assert_eq!(param(enter("robin").await), "email");
    }
    assert!(matches!(enter("alex@example.com").await, Err(Error::Limited { .. })));
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
        sign_ins::sign_up(app, new, from("192.0.2.1")).await.unwrap();
        assert_eq!(entries().await, (audit + 1, 0), "{email}");
    }
    let check = async |email, password| users::check_password(app, email, password).await.unwrap();
    assert!(check("robin@example.com", PASSWORD).await.is_some());
    assert!(check("robin@example.com", "another password").await.is_none());
    assert!(check("kim@example.com", "another password").await.is_some());
    let owner = service::Caller::owner(robin.id);
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
