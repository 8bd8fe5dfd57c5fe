//! Idempotency keys: a request sent twice has one effect, and both get the same response.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Waker};

use base::{Currency, Money};
use service::ledger::goals::{self, Kind, NewGoal, Status};
use service::platform::idempotency::{self, IdempotentOutcome, Request, StoredResponse, parse_key};
use service::{App, Caller, Error, Result};
use testkit::{World, new_key};
use wire::v1::Code;

use crate::param;

pub(crate) fn request(key: &str) -> Request {
    let (key, scope) = (key.to_owned(), "POST /v1/goals".to_owned());
    Request { key, scope, fingerprint: [1; 32] }
}

fn goal(name: &str) -> NewGoal {
    NewGoal {
        name: name.to_owned(),
        kind: Kind::Savings,
        status: Status::Active,
        target: Money::new(100_000, Currency::USD),
        saved_minor: 0,
        target_on: None,
        accounts: Vec::new(),
    }
}

/// The response to store for an error: conflicts are stored, invalid requests and internal errors are not.
fn response_for_error(error: &Error) -> Option<StoredResponse> {
    match error {
        Error::Conflict { code, message } => {
            Some(StoredResponse { status: code.status(), body: message.clone() })
        }
        _ => None,
    }
}

pub(crate) async fn make(
    app: &App,
    caller: &Caller,
    request: Request,
    name: &str,
) -> Result<IdempotentOutcome> {
    let (within, by, new) = (app.clone(), caller.clone(), goal(name));
    let work = move |tx: &mut db::Tx<'_>| {
        let id = goals::create_in(&within, tx, &by, &new)?;
        Ok(StoredResponse { status: 201, body: format!("{{\"id\":\"{id}\"}}") })
    };
    idempotency::run(app, caller, request, work, response_for_error).await
}

async fn names(app: &App, caller: &Caller) -> Vec<String> {
    let found = goals::list(app, caller, None).await.unwrap();
    found.into_iter().map(|it| it.name).collect()
}

fn code(outcome: Result<IdempotentOutcome>) -> Code {
    match outcome {
        Err(Error::Conflict { code, .. }) => code,
        Err(Error::InProgress { .. }) => Code::IdempotencyInProgress,
        other => panic!("no conflict: {other:?}"),
    }
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_response_and_has_no_effect() {
    let world = World::new().await;
    let robin = world.someone().await;
    let first = make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap();
    assert!(!first.replayed);
    let events = world.stored().await["events"].len();
    for _ in 0..2 {
        let again = make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap();
        assert_eq!((again.replayed, again.response), (true, first.response.clone()));
    }
    assert_eq!(names(&world.app, &robin.caller).await, ["Boat"]);
    assert_eq!(world.stored().await["events"].len(), events);
}

#[tokio::test]
async fn the_same_key_for_another_request_is_refused() {
    let world = World::new().await;
    let robin = world.someone().await;
    make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap();
    let other = Request { fingerprint: [2; 32], ..request("a") };
    let refused = make(&world.app, &robin.caller, other, "House").await;
    assert_eq!(code(refused), Code::IdempotencyKeyReused);
    assert_eq!(names(&world.app, &robin.caller).await, ["Boat"]);
}

#[tokio::test]
async fn keys_are_separate_for_each_scope_and_credential() {
    let world = World::new().await;
    let (robin, kim) = (world.someone().await, world.someone().await);
    let (one, two) = (robin.key(new_key()).await, robin.key(new_key()).await);
    let elsewhere = Request { scope: "PUT /v1/goals".to_owned(), ..request("a") };
    for (caller, request) in [
        (&robin.caller, request("a")),
        (&robin.caller, request("A")),
        (&robin.caller, elsewhere),
        (&one.caller, request("a")),
        (&two.caller, request("a")),
        (&kim.caller, request("a")),
    ] {
        assert!(!make(&world.app, caller, request, "Boat").await.unwrap().replayed);
    }
    assert_eq!(names(&world.app, &robin.caller).await.len(), 5);
    assert_eq!(names(&world.app, &kim.caller).await.len(), 1);
}

/// Starts a request, and pauses it right after its claim is written.
pub(crate) async fn claimed<'f>(
    world: &World,
    app: &App,
    key: &str,
    running: impl Future<Output = Result<IdempotentOutcome>> + 'f,
) -> Pin<Box<dyn Future<Output = Result<IdempotentOutcome>> + 'f>> {
    // Makes sure that a connection is idle: opening one would take more than the single poll below.
    app.db.write(|_| Ok::<_, Error>(())).await.unwrap();
    let mut running = Box::pin(running);
    let mut context = Context::from_waker(Waker::noop());
    // The only writer of SQLite is kept busy meanwhile: a thread that is preempted between sending the claim and
    // polling it would otherwise find it written, and go on.
    let (release, released) = std::sync::mpsc::channel::<()>();
    let mut busy = Box::pin(app.db.write(move |_| {
        let _ = released.recv();
        Ok::<_, Error>(())
    }));
    if app.db.engine() == db::Engine::Sqlite {
        assert!(busy.as_mut().poll(&mut context).is_pending());
    }
    assert!(running.as_mut().poll(&mut context).is_pending());
    drop(release);
    busy.await.unwrap();
    let lease = world.clock.now().as_microsecond() + 60_000_000;
    let sql = "select leased_until from idempotency_keys
        where idempotency_key = $1 and leased_until = $2 and status is null";
    loop {
        let found = app.db.first(sql, db::params![key, lease], |_| Ok(())).await.unwrap();
        if found.is_some() {
            return running;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_repeated_request_is_refused_while_the_first_is_running() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (started, begun) = tokio::sync::oneshot::channel();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let work = move |_: &mut db::Tx<'_>| {
        started.send(()).unwrap();
        wait.recv().unwrap();
        Ok(StoredResponse { status: 201, body: "done".to_owned() })
    };
    // On SQLite a second transaction waits for the first, so there the second request gets the stored response.
    let first = idempotency::run(&world.app, &robin.caller, request("a"), work, response_for_error);
    let second = async {
        begun.await.unwrap();
        let second = make(&world.app, &robin.caller, request("a"), "Boat");
        if world.app.db.engine() == db::Engine::Postgres {
            assert_eq!(code(second.await), Code::IdempotencyInProgress);
            go.send(()).unwrap();
        } else {
            go.send(()).unwrap();
            assert!(second.await.unwrap().replayed);
        }
    };
    let (first, ()) = tokio::join!(first, second);
    assert!(!first.unwrap().replayed);
    assert_eq!(names(&world.app, &robin.caller).await, [""; 0]);
}

#[tokio::test]
async fn twenty_concurrent_requests_have_one_effect() {
    let world = World::new().await;
    let robin = world.someone().await;
    let other_process = world.other_process().await;
    let running: Vec<_> = (0..20)
        .map(|it| {
            let app = if it % 2 == 0 { world.app.clone() } else { other_process.clone() };
            let caller = robin.caller.clone();
            tokio::spawn(async move { make(&app, &caller, request("a"), "Boat").await })
        })
        .collect();
    let (mut first, mut replayed) = (Vec::new(), Vec::new());
    for run in running {
        match run.await.unwrap() {
            Ok(IdempotentOutcome { replayed: false, response }) => first.push(response),
            Ok(IdempotentOutcome { response, .. }) => replayed.push(response),
            refused => assert_eq!(code(refused), Code::IdempotencyInProgress),
        }
    }
    assert_eq!(first.len(), 1);
    assert!(replayed.iter().all(|it| *it == first[0]));
    assert_eq!(names(&world.app, &robin.caller).await, ["Boat"]);
}

#[tokio::test]
async fn a_claim_of_a_process_that_died_ends_with_its_lease() {
    let world = World::new().await;
    let robin = world.someone().await;
    let dying = make(&world.app, &robin.caller, request("a"), "Boat");
    drop(claimed(&world, &world.app, "a", dying).await);
    world.advance_seconds(59);
    let waiting = make(&world.app, &robin.caller, request("a"), "Boat").await;
    assert_eq!(code(waiting), Code::IdempotencyInProgress);
    let other = Request { fingerprint: [2; 32], ..request("a") };
    let reused = make(&world.app, &robin.caller, other, "House").await;
    assert_eq!(code(reused), Code::IdempotencyKeyReused);
    world.advance_seconds(1);
    assert!(!make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap().replayed);
    assert!(make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap().replayed);
    assert_eq!(names(&world.app, &robin.caller).await, ["Boat"]);
}

/// As when the client gives up, or the answer of the database is lost.
#[tokio::test]
async fn a_claim_whose_request_ended_without_an_outcome_is_released() {
    let world = World::new().await;
    let robin = world.someone().await;
    let make = || make(&world.app, &robin.caller, request("a"), "Boat");
    drop(claimed(&world, &world.app, "a", make()).await);
    assert_eq!(code(make().await), Code::IdempotencyInProgress);
    assert_eq!(idempotency::release_abandoned_once(&world.app).await.unwrap(), 1);
    assert!(!make().await.unwrap().replayed);
    assert!(make().await.unwrap().replayed);
    assert_eq!(idempotency::release_abandoned_once(&world.app).await.unwrap(), 0);
    assert_eq!(names(&world.app, &robin.caller).await, ["Boat"]);
}

#[tokio::test]
async fn a_slow_process_does_not_repeat_the_work_after_its_lease() {
    let world = World::new().await;
    let robin = world.someone().await;
    let make = |key, name| make(&world.app, &robin.caller, request(key), name);
    // The slow request is valid or invalid, and continues before or after the other one is done.
    for (key, name, is_done) in [("a", "Boat", true), ("b", "Boat", false), ("c", "", false)] {
        let slow = claimed(&world, &world.app, key, make(key, name)).await;
        world.advance_seconds(60);
        let quick = claimed(&world, &world.app, key, make(key, "Boat")).await;
        let quick = if is_done {
            let done = quick.await.unwrap();
            assert!(slow.await.is_err());
            done
        } else {
            assert!(slow.await.is_err());
            assert_eq!(code(make(key, "Boat").await), Code::IdempotencyInProgress);
            quick.await.unwrap()
        };
        let again = make(key, "Boat").await.unwrap();
        assert_eq!((again.replayed, again.response), (true, quick.response));
    }
    assert_eq!(names(&world.app, &robin.caller).await, ["Boat"; 3]);
}

#[tokio::test]
async fn a_conflict_is_stored_and_its_changes_are_rolled_back() {
    let world = World::new().await;
    let robin = world.someone().await;
    for replayed in [false, true] {
        let (app, caller) = (world.app.clone(), robin.caller.clone());
        let work = move |tx: &mut db::Tx<'_>| {
            goals::create_in(&app, tx, &caller, &goal("Boat"))?;
            let message = "not now".to_owned();
            Err(Error::Conflict { code: Code::Conflict, message })
        };
        let outcome =
            idempotency::run(&world.app, &robin.caller, request("a"), work, response_for_error)
                .await
                .unwrap();
        let answer = StoredResponse { status: 409, body: "not now".to_owned() };
        assert_eq!(outcome, IdempotentOutcome { response: answer, replayed });
    }
    assert_eq!(names(&world.app, &robin.caller).await, [""; 0]);
}

#[tokio::test]
async fn invalid_requests_and_internal_errors_are_not_stored() {
    let world = World::new().await;
    let robin = world.someone().await;
    assert_eq!(param(make(&world.app, &robin.caller, request("a"), "").await), "name");
    let panics =
        |_: &mut db::Tx<'_>| -> Result<StoredResponse> { resume_unwind(Box::new("meant")) };
    let failed =
        idempotency::run(&world.app, &robin.caller, request("a"), panics, response_for_error).await;
    assert!(matches!(failed, Err(Error::Internal(_))), "{failed:?}");
    assert!(world.stored().await["idempotency_keys"].is_empty());
    assert!(!make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap().replayed);
}

#[tokio::test]
async fn responses_are_kept_for_a_day() {
    let world = World::new().await;
    let robin = world.someone().await;
    make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap();
    world.advance_seconds(24 * 3600 - 1);
    assert!(make(&world.app, &robin.caller, request("a"), "Boat").await.unwrap().replayed);
    assert_eq!(idempotency::forget_once(&world.app).await.unwrap(), 0);
    world.advance_seconds(1);
    let other = Request { fingerprint: [2; 32], ..request("a") };
    assert!(!make(&world.app, &robin.caller, other, "House").await.unwrap().replayed);
    make(&world.app, &robin.caller, request("b"), "Car").await.unwrap();
    world.advance_seconds(24 * 3600);
    assert_eq!(idempotency::forget_once(&world.app).await.unwrap(), 2);
    assert!(world.stored().await["idempotency_keys"].is_empty());
}

#[test]
fn a_key_is_visible_ascii_bare_or_in_quotes() {
    for (header, key) in [
        ("a", "a"),
        ("\"a\"", "a"),
        ("\"", "\""),
        ("8e03978e-40d5-43e8-bc93-6894a57f9324", "8e03978e-40d5-43e8-bc93-6894a57f9324"),
        ("a\"b", "a\"b"),
        (&"x".repeat(255), &"x".repeat(255)),
    ] {
        assert_eq!(parse_key(header).unwrap(), key);
    }
    for bad in ["", "\"\"", "a b", "é", "a\n", &"x".repeat(256)] {
        assert_eq!(param(parse_key(bad)), "Idempotency-Key", "{bad}");
    }
}
