//! What the product does, capability by capability, on the engine at hand.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod accounts;
mod balances;
mod goals;
mod idempotency;
mod imports;
mod insights;
mod installation;
mod investments;
mod keys;
mod limits;
mod listed;
mod statements;
mod transactions;
mod users;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};
use service::Error;
use testkit::World;

/// Checks a law on random cases, all in one world: the cases keep apart by being about different people.
fn law<S: Strategy>(cases: u32, strategy: S, check: impl AsyncFn(&World, S::Value)) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(World::new());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let held = TestRunner::new(config).run(&strategy, |case| {
        runtime.block_on(check(&world, case));
        Ok(())
    });
    // The world's connections belong to the runtime, which must see them end.
    runtime.block_on(async { drop(world) });
    held.unwrap_or_else(|failure| panic!("{failure}"));
}

/// The parameter that an error puts at fault.
fn param<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(Error::Invalid { param: Some(param), .. }) => param,
        other => panic!("not a refusal of one parameter: {other:?}"),
    }
}

fn is_not_found<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    assert!(matches!(outcome, Err(Error::NotFound(_))), "{outcome:?}");
}
