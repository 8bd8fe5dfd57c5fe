//! Known devices: a browser in which the person signed in before is not locked out by guesses from elsewhere.

use std::time::Duration;

use service::access::sessions::{self, Method, Visit};
use service::access::sign_ins::{self, SignInOutcome};
use service::access::users::{self, User};
use service::access::{devices, profiles, recovery};
use service::{App, Caller, Error};
use testkit::{Kind, World, hex};

use crate::{PASSWORD, is_refused, party, register_passkey, signed_in, with_password};

const EMAIL: &str = "robin@example.com";

fn visit_from(address: &str, device: Option<&str>) -> Visit {
    let (address, device) = (Some(address.to_owned()), device.map(str::to_owned));
    Visit { agent: None, address, device }
}

async fn sign_in(app: &App, password: &str, visit: Visit) -> Result<SignInOutcome, Error> {
    sign_ins::by_password(app, EMAIL, password, visit).await
}

fn is_limited<T: std::fmt::Debug>(outcome: Result<T, Error>) -> i64 {
    match outcome {
        Err(Error::Limited { retry_after_seconds, .. }) => retry_after_seconds,
        other => panic!("not limited: {other:?}"),
    }
}

/// Signs in by password, and returns the session and the token of the browser.
async fn browser(world: &World, email: &str, before: Option<&str>) -> (String, String) {
    let visit = visit_from("192.0.2.1", before);
    let outcome = sign_ins::by_password(&world.app, email, PASSWORD, visit).await.unwrap();
    let SignInOutcome::SignedIn { session } = outcome else {
        panic!("the sign-in asked for a second step")
    };
    let device = sign_ins::remember_device(&world.app, &session, before).await.unwrap().unwrap();
    (session, device)
}

/// Locks the account by ten wrong passwords from ten unknown addresses.
async fn lock_account(world: &World) {
    for number in 0..10 {
        let visit = visit_from(&format!("198.51.100.{number}"), None);
        is_refused(sign_in(&world.app, "wrong password", visit).await);
    }
    is_limited(sign_in(&world.app, PASSWORD, visit_from("203.0.113.1", None)).await);
}

async fn caller(app: &App, session: &str) -> Caller {
    sessions::find(app, session, None).await.unwrap().unwrap().1
}

async fn robin(world: &World) -> User {
    users::create(&world.app, with_password(EMAIL)).await.unwrap()
}

#[tokio::test]
async fn guesses_from_elsewhere_do_not_lock_a_browser_that_signed_in_before() {
    let world = World::new().await;
    robin(&world).await;
    let (_, device) = browser(&world, EMAIL, None).await;
    lock_account(&world).await;
    let other_process = world.other_process().await;
    for app in [&world.app, &other_process] {
        sign_in(app, PASSWORD, visit_from("192.0.2.1", Some(&device))).await.unwrap();
        // Its address does not matter, even if others guess from it.
        sign_in(app, PASSWORD, visit_from("198.51.100.1", Some(&device))).await.unwrap();
    }
    let stored = format!("{:?}", world.stored().await);
    assert!(!stored.contains(&device) && !stored.contains(&hex(device.as_bytes())));
}

#[tokio::test]
async fn a_known_browser_has_its_own_limits_of_ten_wrong_passwords_and_a_hundred_a_day() {
    let world = World::new().await;
    robin(&world).await;
    let (_, device) = browser(&world, EMAIL, None).await;
    let (_, other) = browser(&world, EMAIL, None).await;
    let mine = || visit_from("192.0.2.1", Some(&device));
    for _ in 0..10 {
        is_refused(sign_in(&world.app, "wrong password", mine()).await);
    }
    assert_eq!(is_limited(sign_in(&world.app, PASSWORD, mine()).await), 900);
    // Other browsers, known or unknown, are not affected.
    sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(&other))).await.unwrap();
    sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", None)).await.unwrap();
    for _ in 1..10 {
        world.advance_seconds(900);
        for _ in 0..10 {
            is_refused(sign_in(&world.app, "wrong password", mine()).await);
        }
    }
    world.advance_seconds(900);
    let wait = is_limited(sign_in(&world.app, PASSWORD, mine()).await);
    assert_eq!(wait, 86_400 - 10 * 900);
    world.advance_seconds(wait as u64);
    sign_in(&world.app, PASSWORD, mine()).await.unwrap();
}

#[tokio::test]
async fn unknown_browsers_together_have_a_hundred_guesses_a_day() {
    let world = World::new().await;
    robin(&world).await;
    let mut guesses = 0;
    // A patient attacker with a new address for each guess.
    for number in 0..400 {
        let visit = visit_from(&format!("2001:db8:{number:x}::1"), None);
        match sign_in(&world.app, "wrong password", visit).await {
            Err(Error::Unauthenticated(_)) => guesses += 1,
            Err(Error::Limited { .. }) => world.advance_seconds(200),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(guesses, 100);
    // The operator can help a person who has neither a known browser nor a passkey.
    let user = users::find_by_email(&world.app, EMAIL).await.unwrap().unwrap();
    is_limited(sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", None)).await);
    profiles::reset_password(&world.app, user.id, "another good password").await.unwrap();
    sign_in(&world.app, "another good password", visit_from("192.0.2.1", None)).await.unwrap();
}

#[tokio::test]
async fn a_device_token_is_valid_for_its_person_only_and_until_it_is_replaced() {
    let world = World::new().await;
    robin(&world).await;
    users::create(&world.app, with_password("kim@example.com")).await.unwrap();
    let (_, kims) = browser(&world, "kim@example.com", None).await;
    let (_, first) = browser(&world, EMAIL, None).await;
    let (_, second) = browser(&world, EMAIL, Some(&first)).await;
    assert_ne!(first, second);
    lock_account(&world).await;
    let mut broken = second.clone();
    broken.pop();
    for token in [kims.as_str(), &first, &broken, "", "ekd_x", "é"] {
        is_limited(sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(token))).await);
    }
    sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(&second))).await.unwrap();
    // A token that is unused for half a year is forgotten.
    world.advance_seconds(180 * 86_400);
    assert_eq!(devices::forget_once(&world.app).await.unwrap(), 2);
    lock_account(&world).await;
    is_limited(sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(&second))).await);
}

#[tokio::test]
async fn two_people_can_share_a_known_browser() {
    let world = World::new().await;
    robin(&world).await;
    users::create(&world.app, with_password("kim@example.com")).await.unwrap();
    let (_, robins) = browser(&world, EMAIL, None).await;
    // A sign-in replaces the token of the browser, so that somebody who planted it does not know the new one.
    let (_, shared) = browser(&world, "kim@example.com", Some(&robins)).await;
    lock_account(&world).await;
    is_limited(sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(&robins))).await);
    sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(&shared))).await.unwrap();
    assert_eq!(world.stored().await["known_devices"].len(), 2);
}

#[tokio::test]
async fn only_the_newest_twenty_browsers_are_known() {
    let world = World::new().await;
    robin(&world).await;
    let mut tokens = Vec::new();
    for _ in 0..22 {
        tokens.push(browser(&world, EMAIL, None).await.1);
        world.advance_seconds(1);
    }
    assert_eq!(world.stored().await["known_devices"].len(), 20);
    lock_account(&world).await;
    is_limited(sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(&tokens[1]))).await);
    sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", Some(&tokens[2]))).await.unwrap();
}

#[tokio::test]
async fn a_browser_is_forgotten_with_its_revoked_session_or_the_password_but_not_by_signing_out() {
    let world = World::new().await;
    robin(&world).await;
    let app = &world.app;
    let is_known = async |device: &str| {
        sign_in(app, PASSWORD, visit_from("192.0.2.1", Some(device))).await.is_ok()
    };
    let (mine, my_device) = browser(&world, EMAIL, None).await;
    let (theirs, their_device) = browser(&world, EMAIL, None).await;
    let (_, third_device) = browser(&world, EMAIL, None).await;
    let (me, them) = (caller(app, &mine).await, caller(app, &theirs).await);
    lock_account(&world).await;
    assert!(
        is_known(&my_device).await
            && is_known(&their_device).await
            && is_known(&third_device).await
    );
    // Revoking a session forgets its browser.
    sessions::revoke(app, &me, them.session().unwrap()).await.unwrap();
    assert!(
        is_known(&my_device).await
            && !is_known(&their_device).await
            && is_known(&third_device).await
    );
    // Revoking all other sessions forgets their browsers.
    sessions::revoke_others(app, &me).await.unwrap();
    assert!(is_known(&my_device).await && !is_known(&third_device).await);
    let (_, fourth_device) = browser(&world, EMAIL, Some(&my_device)).await;
    assert!(is_known(&fourth_device).await && !is_known(&my_device).await);
    let (fifth, fifth_device) = browser(&world, EMAIL, Some(&fourth_device)).await;
    let me = caller(app, &fifth).await;
    profiles::change_password(app, &me, PASSWORD, PASSWORD).await.unwrap();
    assert!(is_known(&fifth_device).await, "the browser that changes the password stays known");
    // Signing out leaves the browser known.
    sessions::revoke(app, &me, me.session().unwrap()).await.unwrap();
    assert!(is_known(&fifth_device).await);
    profiles::reset_password(app, me.user, PASSWORD).await.unwrap();
    assert!(world.stored().await["known_devices"].is_empty());
}

#[tokio::test]
async fn signing_in_with_a_passkey_is_never_locked() {
    let world = World::new().await;
    let (robin, me) = signed_in(&world, EMAIL).await;
    let key = register_passkey(&world, &me, Kind::Es256, "Phone").await;
    let app = &world.app;
    let here = visit_from("198.51.100.1", None);
    lock_account(&world).await;
    // The person's own address has fifty failures as well.
    for number in 0..60 {
        let email = format!("person{number}@example.com");
        let _ = sign_ins::by_password(app, &email, "wrong password", here.clone()).await;
    }
    is_limited(sign_ins::by_password(app, "kim@example.com", PASSWORD, here.clone()).await);
    let options = sign_ins::start_passkey(app, &party(), &here).await.unwrap();
    let answer = key.get(&options).to_string();
    sign_ins::by_passkey(app, &party(), &answer, here.clone()).await.unwrap();

    // After the password, wrong passkey answers never lock the second step.
    profiles::set_second_step(app, &me, true).await.unwrap();
    let (_, device) = (robin, new_device(app, &me).await);
    let known = visit_from("192.0.2.1", Some(&device));
    let SignInOutcome::SecondStep { token } = sign_in(app, PASSWORD, known).await.unwrap() else {
        panic!("the passkey was not asked for")
    };
    for _ in 0..30 {
        let wrong = sign_ins::second_by_passkey(app, &party(), &token, "{}", here.clone()).await;
        assert!(matches!(wrong, Err(Error::Unauthenticated(_) | Error::Invalid { .. })));
    }
    let fails = crate::trail(&world, &me).await;
    let wrong = fails.iter().filter(|it| *it == "sign_in.fail").count();
    assert!(wrong <= 10 + 10, "the audit trail records only the first failures: {wrong}");
    let options = sign_ins::start_second_step(app, &party(), &token).await.unwrap();
    let answer = key.get(&options).to_string();
    sign_ins::second_by_passkey(app, &party(), &token, &answer, here).await.unwrap();
}

/// Starts another session of the person, and returns the device token of its browser.
async fn new_device(app: &App, caller: &Caller) -> String {
    let user = users::get(app, caller).await.unwrap();
    let session = sessions::create(app, &user, Method::Password, Visit::default()).await.unwrap();
    sign_ins::remember_device(app, &session, None).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_known_browser_gets_challenges_after_its_address_used_up_the_limit() {
    let world = World::new().await;
    robin(&world).await;
    let (_, device) = browser(&world, EMAIL, None).await;
    let app = &world.app;
    for _ in 0..200 {
        sign_ins::start_passkey(app, &party(), &visit_from("192.0.2.1", None)).await.unwrap();
    }
    is_limited(sign_ins::start_passkey(app, &party(), &visit_from("192.0.2.1", None)).await);
    sign_ins::start_passkey(app, &party(), &visit_from("192.0.2.1", Some(&device))).await.unwrap();
}

#[tokio::test]
async fn recovery_codes_are_limited_per_browser_too() {
    let world = World::new().await;
    let (_, me) = signed_in(&world, EMAIL).await;
    register_passkey(&world, &me, Kind::EdDsa, "Phone").await;
    profiles::set_second_step(&world.app, &me, true).await.unwrap();
    let codes = recovery::create(&world.app, &me).await.unwrap();
    let device = new_device(&world.app, &me).await;
    let app = &world.app;
    let answer = async |code: &str, visit: Visit| {
        let outcome = sign_in(app, PASSWORD, visit.clone()).await.unwrap();
        let SignInOutcome::SecondStep { token } = outcome else { panic!("no second step") };
        sign_ins::second_by_recovery_code(app, &token, code, visit).await
    };
    // An attacker who knows the password guesses from other addresses.
    for number in 0..10 {
        let visit = visit_from(&format!("198.51.100.{number}"), None);
        is_refused(answer("k7wq-3m2x-9d4h", visit).await);
    }
    is_limited(answer(&codes[0], visit_from("192.0.2.1", None)).await);
    answer(&codes[0], visit_from("192.0.2.1", Some(&device))).await.unwrap();
    for _ in 0..10 {
        is_refused(answer("k7wq-3m2x-9d4h", visit_from("192.0.2.1", Some(&device))).await);
    }
    is_limited(answer(&codes[1], visit_from("192.0.2.1", Some(&device))).await);
}

#[tokio::test]
async fn failed_sign_ins_do_not_keep_a_signed_in_person_from_confirming_their_identity() {
    let world = World::new().await;
    let (_, me) = signed_in(&world, EMAIL).await;
    lock_account(&world).await;
    sign_ins::prove_by_password(&world.app, &me, PASSWORD).await.unwrap();
    profiles::change_password(&world.app, &me, PASSWORD, PASSWORD).await.unwrap();
}

#[tokio::test]
async fn a_clock_set_back_locks_nobody_out() {
    let world = World::new().await;
    robin(&world).await;
    lock_account(&world).await;
    world.clock.set_back(Duration::from_secs(3_600));
    sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", None)).await.unwrap();
    assert!(sign_ins::forget_once(&world.app).await.unwrap() > 0);
    // After a difference that two clocks may have, failures still count.
    lock_account(&world).await;
    world.clock.set_back(Duration::from_secs(5));
    is_limited(sign_in(&world.app, PASSWORD, visit_from("192.0.2.1", None)).await);
}
