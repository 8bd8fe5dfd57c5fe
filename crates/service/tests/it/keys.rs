//! API keys: shown once, stored as a hash, and revoked immediately.

use service::access::keys::{self, NewKey};
use service::platform::audit;
use service::{Credential, Error, Scopes};
use sha2::{Digest as _, Sha256};
use testkit::draft::{checking, statement};
use testkit::{World, at, hex, new_key};
use wire::v1::Scope;

use crate::{is_not_found, param};

fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> &'static str {
    match outcome {
        Err(Error::Unauthenticated(reason)) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_key_identifies_its_person_and_scopes() {
    let world = World::new().await;
    let robin = world.someone().await;
    let scopes: Scopes = [Scope::AccountsRead, Scope::PaperTrade].into_iter().collect();
    let key = robin.key(NewKey { scopes, ..new_key() }).await;
    assert_eq!(key.caller.user, robin.user.id);
    for scope in Scope::ALL {
        let may = [Scope::AccountsRead, Scope::PaperTrade].contains(&scope);
        assert_eq!(key.caller.require(scope).is_ok(), may, "{scope}");
    }
    assert!(matches!(key.caller.credential, Credential::Key { id, .. } if id == key.id));
    let read_only = robin.key(NewKey { scopes: Scopes::read_only(), ..new_key() }).await;
    for scope in Scope::ALL {
        let may = scope.as_str().ends_with(":read");
        assert_eq!(read_only.caller.require(scope).is_ok(), may, "{scope}");
    }
}

#[tokio::test]
async fn only_the_hash_of_a_secret_is_stored() {
    let world = World::new().await;
    let key = world.someone().await.key(new_key()).await;
    let stored = format!("{:?}", world.stored().await);
    assert!(stored.contains(&hex(&Sha256::digest(&key.secret))));
    let (random, checksum) = key.secret.split_at(35);
    // Neither the whole secret nor a part that would help to guess it is stored; the last characters are the hint.
    for part in [&key.secret, &key.secret[3..], &random[3..20], &random[20..], &checksum[..4]] {
        assert!(!stored.contains(part) && !stored.contains(&hex(part.as_bytes())), "{part}");
    }
    assert!(stored.contains(&format!("hint={} ", &key.secret[37..])));
}

#[tokio::test]
async fn a_token_with_a_bad_checksum_is_malformed() {
    let world = World::new().await;
    let key = world.someone().await.key(new_key()).await;
    let mut wrong = key.secret.clone();
    let last = wrong.pop();
    wrong.push(if last == Some('0') { '1' } else { '0' });
    let unknown = "ek_00000000000000000000000000000000";
    for bad in ["", "Bearer", &wrong, &key.secret[..40], unknown, &key.secret.to_lowercase()] {
        let reason = refusal(keys::authenticate(&world.app, bad, None).await);
        assert_eq!(reason, "the token is malformed", "{bad}");
    }
}

#[tokio::test]
async fn a_well_formed_key_of_another_installation_is_unknown() {
    let (world, other) = (World::new().await, World::new().await);
    let _ = other.app.entropy.bytes::<1>();
    let foreign = other.someone().await.key(new_key()).await;
    let reason = refusal(keys::authenticate(&world.app, &foreign.secret, None).await);
    assert_eq!(reason, "the token is unknown or was revoked");
}

#[tokio::test]
async fn a_key_expires_on_time_even_while_it_is_cached() {
    let world = World::new().await;
    let robin = world.someone().await;
    let expires_at = Some(at("2026-03-10T12:00:00.2Z"));
    let key = robin.key(NewKey { expires_at, ..new_key() }).await;
    world.clock.advance(std::time::Duration::from_micros(199_999));
    keys::authenticate(&world.app, &key.secret, None).await.unwrap();
    world.clock.advance(std::time::Duration::from_micros(1));
    let reason = refusal(keys::authenticate(&world.app, &key.secret, None).await);
    assert_eq!(reason, "the token has expired");
    let late = NewKey { expires_at: Some(world.clock.now()), ..new_key() };
    assert_eq!(param(keys::create(&world.app, &robin.caller, late).await), "expires_at");
}

#[tokio::test]
async fn a_revoked_key_is_refused_immediately_and_within_a_second_in_other_processes() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (key, other) = (robin.key(new_key()).await, robin.key(new_key()).await);
    let other_process = world.other_process().await;
    keys::authenticate(&other_process, &key.secret, None).await.unwrap();
    keys::revoke(&world.app, &robin.caller, key.id).await.unwrap();
    let reason = refusal(keys::authenticate(&world.app, &key.secret, None).await);
    assert_eq!(reason, "the token is unknown or was revoked");
    world.advance_seconds(1);
    refusal(keys::authenticate(&other_process, &key.secret, None).await);
    for app in [&world.app, &other_process] {
        keys::authenticate(app, &other.secret, None).await.unwrap();
    }
    is_not_found(keys::revoke(&world.app, &robin.caller, key.id).await);
}

#[tokio::test]
async fn a_key_of_a_deleted_person_is_refused() {
    let world = World::new().await;
    let robin = world.someone().await;
    let key = robin.key(new_key()).await;
    service::access::users::delete(&world.app, robin.user.id).await.unwrap();
    refusal(keys::authenticate(&world.app, &key.secret, None).await);
}

#[tokio::test]
async fn a_key_can_be_limited_only_to_accounts_of_its_person() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    robin.import(statement([checking("A"), checking("B")])).await;
    kim.import(statement([checking("A")])).await;
    let (a, b) = (robin.account("A").await, robin.account("B").await);
    let limited = NewKey { accounts: Some(vec![a, a]), ..new_key() };
    let key = robin.key(limited).await;
    assert!(key.caller.may_see(a) && !key.caller.may_see(b));
    let listed = keys::list(&world.app, &robin.caller).await.unwrap();
    assert!(listed[0].limited);
    assert_eq!(listed[0].accounts, [a]);
    for theirs in [kim.account("A").await, base::AccountId::from_bytes([1; 16])] {
        let wrong = NewKey { accounts: Some(vec![a, theirs]), ..new_key() };
        assert_eq!(param(keys::create(&world.app, &robin.caller, wrong).await), "accounts");
    }
    assert_eq!(keys::list(&world.app, &robin.caller).await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_last_use_is_saved_once_a_minute() {
    let world = World::new().await;
    let robin = world.someone().await;
    let key = robin.key(new_key()).await;
    let last_used = async || {
        let listed = keys::list(&world.app, &robin.caller).await.unwrap();
        (listed[0].last_used_at, listed[0].last_used_address.clone())
    };
    assert_eq!(keys::save_usage_once(&world.app).await.unwrap(), 1);
    assert_eq!(last_used().await, (Some(world.clock.now()), None));
    let first = world.clock.now();
    world.advance_seconds(30);
    keys::authenticate(&world.app, &key.secret, Some("192.0.2.7")).await.unwrap();
    assert_eq!(keys::save_usage_once(&world.app).await.unwrap(), 0, "a minute has not passed");
    assert_eq!(last_used().await.0, Some(first));
    world.advance_seconds(30);
    keys::authenticate(&world.app, &key.secret, Some("192.0.2.8")).await.unwrap();
    assert_eq!(keys::save_usage_once(&world.app).await.unwrap(), 1);
    assert_eq!(last_used().await, (Some(world.clock.now()), Some("192.0.2.8".to_owned())));
    assert_eq!(keys::save_usage_once(&world.app).await.unwrap(), 0);
}

#[tokio::test]
async fn an_older_use_in_another_process_does_not_overwrite_the_last_one() {
    let world = World::new().await;
    let robin = world.someone().await;
    let other_process = world.other_process().await;
    let key = robin.key(new_key()).await;
    keys::authenticate(&other_process, &key.secret, Some("192.0.2.1")).await.unwrap();
    world.advance_seconds(120);
    keys::authenticate(&world.app, &key.secret, Some("192.0.2.2")).await.unwrap();
    keys::save_usage_once(&world.app).await.unwrap();
    keys::save_usage_once(&other_process).await.unwrap();
    let listed = keys::list(&world.app, &robin.caller).await.unwrap();
    assert_eq!(listed[0].last_used_at, Some(world.clock.now()));
    assert_eq!(listed[0].last_used_address.as_deref(), Some("192.0.2.2"));
}

#[tokio::test]
async fn requests_of_the_day_are_summed_over_processes_and_reset_at_midnight() {
    let world = World::new().await;
    let robin = world.someone().await;
    let other_process = world.other_process().await;
    let key = robin.key(new_key()).await;
    let today = async || keys::list(&world.app, &robin.caller).await.unwrap()[0].requests_today;
    assert_eq!(today().await, 1, "requests that are not saved yet count as well");
    for app in [&world.app, &world.app, &other_process] {
        keys::authenticate(app, &key.secret, None).await.unwrap();
    }
    for app in [&world.app, &other_process] {
        keys::save_usage_once(app).await.unwrap();
    }
    assert_eq!(today().await, 4);
    world.advance_seconds(60);
    keys::authenticate(&other_process, &key.secret, None).await.unwrap();
    keys::save_usage_once(&other_process).await.unwrap();
    assert_eq!(today().await, 5);
    // A process whose clock is behind does not undo the new day.
    let late = world.other_process_at(base::Clock::frozen_at("2026-03-10T23:59:59Z")).await;
    world.advance_seconds(13 * 3_600);
    assert_eq!(today().await, 0);
    keys::authenticate(&world.app, &key.secret, None).await.unwrap();
    keys::save_usage_once(&world.app).await.unwrap();
    keys::authenticate(&late, &key.secret, None).await.unwrap();
    keys::save_usage_once(&late).await.unwrap();
    assert_eq!(today().await, 1);
}

#[tokio::test]
async fn processes_that_save_the_same_keys_at_once_do_not_deadlock() {
    const KEYS: usize = 20;
    const ROUNDS: i64 = 5;
    let world = World::new().await;
    let robin = world.someone().await;
    let other_process = world.other_process().await;
    let mut secrets = Vec::new();
    for _ in 0..KEYS {
        secrets.push(robin.key(new_key()).await.secret);
    }
    for _ in 0..ROUNDS {
        world.advance_seconds(60);
        for app in [&world.app, &other_process] {
            for secret in &secrets {
                keys::authenticate(app, secret, None).await.unwrap();
            }
        }
        let (here, there) =
            tokio::join!(keys::save_usage_once(&world.app), keys::save_usage_once(&other_process));
        assert_eq!((here.unwrap(), there.unwrap()), (KEYS, KEYS));
    }
    let listed = keys::list(&world.app, &robin.caller).await.unwrap();
    // Creating a key in these tests uses it once.
    assert!(listed.iter().all(|it| it.requests_today == 1 + 2 * ROUNDS), "{listed:?}");
}

#[tokio::test]
async fn uses_that_could_not_be_saved_are_counted_by_the_next_save() {
    let world = World::new().await;
    let robin = world.someone().await;
    let key = robin.key(new_key()).await;
    let run = async |statement: &'static str| {
        let run = move |tx: &mut db::Tx<'_>| Ok::<_, service::Error>(tx.execute(statement, &[])?);
        world.app.db.write(run).await.unwrap();
    };
    run("alter table api_keys rename column used_on_count to hidden_count").await;
    keys::save_usage_once(&world.app).await.unwrap_err();
    run("alter table api_keys rename column hidden_count to used_on_count").await;
    keys::authenticate(&world.app, &key.secret, None).await.unwrap();
    assert_eq!(keys::save_usage_once(&world.app).await.unwrap(), 1);
    let listed = keys::list(&world.app, &robin.caller).await.unwrap();
    assert_eq!(listed[0].requests_today, 2);
}

#[tokio::test]
async fn keys_that_ended_long_ago_are_no_longer_listed() {
    let world = World::new().await;
    let robin = world.someone().await;
    let revoked = robin.key(new_key()).await;
    keys::revoke(&world.app, &robin.caller, revoked.id).await.unwrap();
    robin.key(NewKey { expires_at: Some(at("2026-03-11T12:00:00Z")), ..new_key() }).await;
    let kept = robin.key(new_key()).await;
    let listed = async || -> Vec<base::KeyId> {
        let keys = keys::list(&world.app, &robin.caller).await.unwrap();
        keys.into_iter().map(|it| it.id).collect()
    };
    world.advance_seconds(29 * 86_400);
    assert_eq!(listed().await.len(), 3);
    assert_eq!(listed().await.last(), Some(&revoked.id), "active keys come first");
    world.advance_seconds(3 * 86_400);
    assert_eq!(listed().await, [kept.id]);
}

#[tokio::test]
async fn a_person_has_at_most_a_hundred_keys() {
    let world = World::new().await;
    let robin = world.someone().await;
    let first = robin.key(new_key()).await;
    for _ in 1..100 {
        robin.key(new_key()).await;
    }
    let refused = keys::create(&world.app, &robin.caller, new_key()).await;
    assert!(matches!(refused, Err(Error::Conflict { .. })), "{refused:?}");
    keys::revoke(&world.app, &robin.caller, first.id).await.unwrap();
    robin.key(new_key()).await;
    world.someone().await.key(new_key()).await;
}

#[tokio::test]
async fn creating_and_revoking_a_key_is_audited() {
    let world = World::new().await;
    let robin = world.someone().await;
    let key = robin.key(new_key()).await;
    keys::revoke(&world.app, &robin.caller, key.id).await.unwrap();
    is_not_found(keys::revoke(&world.app, &robin.caller, key.id).await);
    let entries = audit::list(&world.app, &robin.caller, None, 10).await.unwrap();
    let details: Vec<&str> = entries.iter().map(|it| it.details.as_str()).collect();
    assert_eq!(details, ["Revoked the API key \"A script\"", "Created the API key \"A script\""]);
    assert!(entries.iter().all(|it| it.subject == Some(key.id.to_string())));
    let names = audit::actor_names(&world.app, &robin.caller).await.unwrap();
    assert_eq!(names[&key.id.to_string()], "A script");
}

#[tokio::test]
async fn keys_are_listed_newest_first_and_to_their_owner_only() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    for name in ["one", " two ", "three"] {
        robin.key(NewKey { name: name.to_owned(), ..new_key() }).await;
    }
    let listed = keys::list(&world.app, &robin.caller).await.unwrap();
    assert_eq!(
        listed.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        ["three", "two", "one"]
    );
    assert!(listed.iter().all(|it| it.scopes == Scopes::all() && !it.limited));
    assert!(keys::list(&world.app, &kim.caller).await.unwrap().is_empty());
    is_not_found(keys::revoke(&world.app, &kim.caller, listed[0].id).await);
    for name in ["", "  ", &"x".repeat(81), "a\0b", "two\nlines"] {
        let wrong = NewKey { name: name.to_owned(), ..new_key() };
        assert_eq!(param(keys::create(&world.app, &robin.caller, wrong).await), "name", "{name}");
    }
}

#[tokio::test]
async fn a_key_cannot_create_list_or_revoke_keys() {
    let world = World::new().await;
    let robin = world.someone().await;
    let key = robin.key(new_key()).await;
    is_not_found(keys::create(&world.app, &key.caller, new_key()).await);
    is_not_found(keys::list(&world.app, &key.caller).await);
    is_not_found(keys::revoke(&world.app, &key.caller, key.id).await);
}

#[tokio::test]
async fn scopes_round_trip_through_their_text() {
    for scopes in [Scopes::all(), Scopes::read_only(), Scopes::parse("").unwrap()] {
        assert_eq!(Scopes::parse(&scopes.to_words()).unwrap(), scopes);
    }
    assert_eq!(param(Scopes::parse("accounts:read accounts:write").map_err(Error::from)), "scopes");
}
