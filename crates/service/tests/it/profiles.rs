//! Changes of one's own profile, and the proof that each requires.

use base::{Currency, TimeZone};
use service::access::profiles::{self, Profile};
use service::access::sessions::{self, Method, Visit};
use service::access::users;
use service::{Error, insights};
use testkit::{Kind, World};

use crate::{
    PASSWORD, is_conflict, is_not_found, param, register_passkey, session_of, signed_in, trail,
    with_password,
};

#[tokio::test]
async fn changing_the_password_requires_the_old_one_and_ends_other_sessions() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    let elsewhere = sessions::create(app, &robin, Method::Password, Visit::default());
    let elsewhere = elsewhere.await.unwrap();
    let (_, kim) = signed_in(&world, "kim@example.com").await;
    let new = "another one entirely";
    let wrong = profiles::change_password(app, &caller, "wrong password", new).await;
    assert_eq!(param(wrong), "password");
    let short = profiles::change_password(app, &caller, PASSWORD, "short").await;
    assert_eq!(param(short), "password");
    assert!(sessions::find(app, &elsewhere, None).await.unwrap().is_some());
    profiles::change_password(app, &caller, PASSWORD, new).await.unwrap();
    assert!(sessions::find(app, &elsewhere, None).await.unwrap().is_none());
    assert_eq!(sessions::list(app, &caller).await.unwrap().len(), 1, "the current session stays");
    assert_eq!(sessions::list(app, &kim).await.unwrap().len(), 1);
    assert!(users::check_password(app, &robin.email, new).await.unwrap().is_some());
    assert!(users::check_password(app, &robin.email, PASSWORD).await.unwrap().is_none());
    assert_eq!(trail(&world, &caller).await[0], "password.change");
}

#[tokio::test]
async fn guesses_of_the_password_by_a_signed_in_session_are_limited() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    for _ in 0..10 {
        let wrong = profiles::delete(&world.app, &caller, "wrong password").await;
        assert_eq!(param(wrong), "password");
    }
    let closed = profiles::delete(&world.app, &caller, PASSWORD).await;
    assert!(matches!(closed, Err(Error::Limited { .. })));
}

#[tokio::test]
async fn changing_the_email_requires_the_password_and_an_unused_address() {
    let world = World::new().await;
    let (robin, caller) = signed_in(&world, "robin@example.com").await;
    users::create(&world.app, with_password("kim@example.com")).await.unwrap();
    let change = async |password: &str, email: &str| {
        profiles::change_email(&world.app, &caller, password, email).await
    };
    assert_eq!(param(change("wrong password", "new@example.com").await), "password");
    assert_eq!(param(change(PASSWORD, "Kim@example.com").await), "email");
    assert_eq!(param(change(PASSWORD, "new").await), "email");
    change(PASSWORD, &robin.email).await.unwrap();
    change(PASSWORD, "New@Example.com").await.unwrap();
    assert_eq!(users::get(&world.app, &caller).await.unwrap().email, "new@example.com");
    let actions = trail(&world, &caller).await;
    assert_eq!(actions.iter().filter(|it| *it == "email.change").count(), 1);
}

#[tokio::test]
async fn email_changes_are_limited_so_that_addresses_cannot_be_probed() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    users::create(&world.app, with_password("kim@example.com")).await.unwrap();
    let change =
        async |email: &str| profiles::change_email(&world.app, &caller, PASSWORD, email).await;
    for _ in 0..4 {
        assert_eq!(param(change("kim@example.com").await), "email");
    }
    change("new@example.com").await.unwrap();
    assert!(matches!(change("kim@example.com").await, Err(Error::Limited { .. })));
    assert!(matches!(change("free@example.com").await, Err(Error::Limited { .. })));
    world.advance_seconds(15 * 60);
    change("free@example.com").await.unwrap();
}

#[tokio::test]
async fn a_clock_set_back_does_not_extend_a_proof() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let earlier = world.other_process_at(base::Clock::frozen_at("2026-03-10T11:00:00Z")).await;
    assert_eq!(param(service::access::recovery::create(&earlier, &caller).await), "proof");
    service::access::recovery::create(&world.app, &caller).await.unwrap();
}

#[tokio::test]
async fn the_second_step_needs_a_passkey_and_a_fresh_proof() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    let is_on = async || users::get(app, &caller).await.unwrap().second_step;
    is_conflict(profiles::set_second_step(app, &caller, true).await);
    assert!(!is_on().await);
    register_passkey(&world, &caller, Kind::EdDsa, "Phone").await;
    profiles::set_second_step(app, &caller, true).await.unwrap();
    assert!(is_on().await);
    world.advance_seconds(600);
    assert_eq!(param(profiles::set_second_step(app, &caller, false).await), "proof");
    assert!(is_on().await);
    service::access::sign_ins::prove_by_password(app, &caller, PASSWORD).await.unwrap();
    profiles::set_second_step(app, &caller, false).await.unwrap();
    assert!(!is_on().await);
}

#[tokio::test]
async fn deleting_the_account_requires_the_password_or_a_fresh_proof_if_there_is_none() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    assert_eq!(param(profiles::delete(app, &caller, "").await), "password");
    profiles::delete(app, &caller, PASSWORD).await.unwrap();
    is_not_found(users::get(app, &caller).await);
    let bare = world.person("bare@example.com").await;
    let caller = session_of(&world, &bare.user).await;
    world.advance_seconds(600);
    assert_eq!(param(profiles::delete(app, &caller, "").await), "proof");
    let fresh = session_of(&world, &bare.user).await;
    profiles::delete(app, &fresh, "").await.unwrap();
    assert!(users::list(app, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn changing_the_base_currency_or_the_time_zone_queues_a_recompute() {
    let world = World::new().await;
    let (_, caller) = signed_in(&world, "robin@example.com").await;
    let app = &world.app;
    insights::pipeline::run_all(app).await.unwrap();
    let update_in = async |name: &str, currency: Currency, timezone: &str| {
        let preferred_name = Some(name.to_owned());
        let timezone = TimeZone::parse(timezone).unwrap();
        let profile = Profile { preferred_name, base_currency: currency, timezone };
        profiles::update(app, &caller, profile).await
    };
    let update = async |name: &str, currency: Currency| update_in(name, currency, "UTC").await;
    update(" Robin ", Currency::USD).await.unwrap();
    assert!(world.stored().await["insight_work"].is_empty());
    update("", Currency::EUR).await.unwrap();
    assert_eq!(world.stored().await["insight_work"].len(), 1);
    let user = users::get(app, &caller).await.unwrap();
    assert_eq!((user.preferred_name, user.base_currency), (None, Currency::EUR));
    insights::pipeline::run_all(app).await.unwrap();
    update_in("", Currency::EUR, "Asia/Tokyo").await.unwrap();
    assert_eq!(world.stored().await["insight_work"].len(), 1);
    let user = users::get(app, &caller).await.unwrap();
    assert_eq!(user.timezone.name(), "Asia/Tokyo");
    for bad in ["a\nb", &"x".repeat(81)] {
        assert_eq!(param(update(bad, Currency::EUR).await), "preferred_name");
    }
    assert_eq!(trail(&world, &caller).await[0], "profile.update");
}
