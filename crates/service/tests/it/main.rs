//! Tests of the product by capability, on the configured database engine.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test and shows where")]

mod account_types;
mod accounts;
mod actions;
mod anchors;
mod backup_stores;
mod backups;
mod balances;
mod clocks;
mod connections;
mod devices;
mod enable_banking;
mod exchange_rates;
mod exports;
mod goals;
mod idempotency;
mod images;
mod imports;
mod insights;
mod installation;
mod investments;
mod invitations;
mod keys;
mod limits;
mod listed;
mod mail;
mod manual;
mod metrics;
mod net_worth;
mod oauth;
mod oidc;
mod passkeys;
mod placement;
mod plaid;
mod processes;
mod profiles;
mod random_history;
mod recovery;
mod restores;
mod retention;
mod securities;
mod sharded;
mod sign_ins;
mod skew;
mod spending;
mod spending_kept;
mod spending_lists;
mod splits;
mod statements;
mod timezones;
mod transactions;
mod users;
mod views;
mod webhooks;

use db::Engine;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use service::access::passkeys::RelyingParty;
use service::access::sessions::{self, Method, Visit};
use service::access::users::{NewUser, User};
use service::{Caller, Error};
use testkit::{Authenticator, Kind, World, new_user};

/// Checks a property on random cases, all in one world. Cases do not interfere because each has its own people.
fn check_property<S: Strategy>(cases: u32, strategy: S, check: impl AsyncFn(&World, S::Value)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(World::new());
    let cases = cases_on(&world, cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&strategy, |case| {
        runtime.block_on(check(&world, case));
        Ok(())
    });
    // The world's connections belong to the runtime, so they are closed inside it.
    runtime.block_on(async { drop(world) });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

/// How many random cases a law gets: all of them on SQLite, and a third on PostgreSQL, where each takes three times as
/// long.
fn cases_on(world: &World, all: u32) -> u32 {
    match world.app.db.engine() {
        Engine::Sqlite => all,
        Engine::Postgres => all.div_ceil(3),
    }
}

/// The parameter that an error reports as invalid.
fn param<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Invalid { param: Some(param), .. }) => param,
        other => panic!("not a refusal of one parameter: {other:?}"),
    }
}

fn is_not_found<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    assert!(matches!(outcome, Err(Error::NotFound(_))), "{outcome:?}");
}

const PASSWORD: &str = "correct horse battery staple";
const ORIGIN: &str = "https://money.example.com";

fn party() -> RelyingParty {
    RelyingParty::from_url(ORIGIN).unwrap()
}

fn with_password(email: &str) -> NewUser {
    NewUser { password: Some(PASSWORD.to_owned()), ..new_user(email) }
}

/// A new person with a password, and a session that was just started.
async fn signed_in(world: &World, email: &str) -> (User, Caller) {
    let user = service::access::users::create(&world.app, with_password(email)).await.unwrap();
    let caller = session_of(world, &user).await;
    (user, caller)
}

/// Starts another session of a person.
async fn session_of(world: &World, user: &User) -> Caller {
    let token = sessions::create(&world.app, user, Method::Password, Visit::default());
    let token = token.await.unwrap();
    sessions::find(&world.app, &token, None).await.unwrap().unwrap().1
}

/// Registers a passkey for a person.
async fn register_passkey(world: &World, caller: &Caller, kind: Kind, id: &str) -> Authenticator {
    let mut key = Authenticator::new(kind, ORIGIN, id.as_bytes());
    let party = party();
    let options = service::access::passkeys::start_registration(&world.app, caller, &party);
    let options = options.await.unwrap();
    let answer = key.create(&options).to_string();
    let made =
        service::access::passkeys::finish_registration(&world.app, caller, &party, &answer, id);
    made.await.unwrap();
    key
}

/// The actions in a person's audit trail, newest first.
async fn trail(world: &World, caller: &Caller) -> Vec<String> {
    let entries = service::platform::audit::list(&world.app, caller, None, 100).await.unwrap();
    entries.into_iter().map(|it| it.action).collect()
}

fn is_refused<T: std::fmt::Debug>(outcome: Result<T, Error>) -> &'static str {
    match outcome {
        Err(Error::Unauthenticated(reason)) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

fn is_conflict<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Conflict { message, .. }) => message,
        other => panic!("no conflict: {other:?}"),
    }
}
