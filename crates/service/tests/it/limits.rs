//! The request limit: exact, shared by all processes, and without counting refused requests.

use std::time::Duration;

use base::{AddressGroup, Clock};
use db::Engine;
use proptest::prelude::*;
use service::platform::limits::{self, Policy, RateLimitStatus};
use service::{App, Error};
use testkit::World;

use crate::check_property;

const FIVE_IN_TEN: Policy = Policy { requests: 5, window_seconds: 10 };

async fn count_request(app: &App, credential: u8) -> RateLimitStatus {
    limits::count_request(app, [credential; 16]).await.unwrap()
}

#[tokio::test]
async fn a_full_window_refuses_until_the_oldest_request_leaves_it() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    for used in 1..=5 {
        let rate_limit = count_request(&world.app, 1).await;
        assert!(rate_limit.accepted);
        assert_eq!((rate_limit.remaining, rate_limit.policy), (5 - used, FIVE_IN_TEN));
        assert_eq!(rate_limit.reset_seconds, 10 - (used - 1));
        world.advance_seconds(1);
    }
    let refused = count_request(&world.app, 1).await;
    assert_eq!((refused.accepted, refused.remaining, refused.reset_seconds), (false, 0, 5));
    assert!(
        count_request(&world.app, 2).await.accepted,
        "another credential has a window of its own"
    );
    world.clock.advance(Duration::from_micros(4_999_999));
    let refused = count_request(&world.app, 1).await;
    assert_eq!((refused.accepted, refused.reset_seconds), (false, 1));
    world.clock.advance(Duration::from_micros(1));
    let rate_limit = count_request(&world.app, 1).await;
    assert_eq!((rate_limit.accepted, rate_limit.remaining), (true, 0));
}

#[tokio::test]
async fn refused_requests_do_not_count() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    for _ in 0..50 {
        count_request(&world.app, 1).await;
    }
    world.advance_seconds(10);
    assert_eq!(count_request(&world.app, 1).await.remaining, 4);
}

#[tokio::test]
async fn a_request_is_accepted_after_the_reported_wait() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    for _ in 0..40 {
        world.clock.advance(Duration::from_micros(777_777));
        let rate_limit = count_request(&world.app, 1).await;
        if !rate_limit.accepted {
            world.advance_seconds(rate_limit.reset_seconds as u64);
            assert!(count_request(&world.app, 1).await.accepted);
        }
    }
}

/// Compares with plain counting: a request is refused exactly when the window is full.
#[test]
fn the_limit_matches_plain_counting_for_any_request_times() {
    let policy = (1_i64..6, 1_i64..6)
        .prop_map(|(requests, window_seconds)| Policy { requests, window_seconds });
    let pauses = proptest::collection::vec(
        prop_oneof![Just(0_u64), 1_u64..5, 1_u64..2_000_000, Just(1_000_000), Just(999_999)],
        1..60,
    );
    check_property(40, (policy, pauses), async |world, (policy, pauses)| {
        let app = world.with_limit(policy);
        let credential: [u8; 16] = app.entropy.bytes();
        let mut accepted: Vec<i64> = Vec::new();
        for pause in pauses {
            world.clock.advance(Duration::from_micros(pause));
            let now = world.clock.now().as_microsecond();
            let window = policy.window_seconds * 1_000_000;
            accepted.retain(|it| it + window > now);
            let is_allowed = (accepted.len() as i64) < policy.requests;
            if is_allowed {
                accepted.push(now);
            }
            let rate_limit = limits::count_request(&app, credential).await.unwrap();
            let reset_seconds = (accepted[0] + window - now + 999_999) / 1_000_000;
            let remaining = policy.requests - accepted.len() as i64;
            assert_eq!(
                rate_limit,
                RateLimitStatus { accepted: is_allowed, policy, remaining, reset_seconds }
            );
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_hundred_concurrent_requests_all_processes_together_accept_a_hundred() {
    let world = World::new().await;
    // With SQLite there is one process, which counts in memory; with PostgreSQL there may be many.
    let other_process = match world.app.db.engine() {
        Engine::Sqlite => world.app.clone(),
        Engine::Postgres => world.other_process().await,
    };
    let running: Vec<_> = (0..200)
        .map(|it| {
            let app = if it % 2 == 0 { world.app.clone() } else { other_process.clone() };
            tokio::spawn(async move { count_request(&app, 1).await })
        })
        .collect();
    let mut remaining = Vec::new();
    let mut refused = 0;
    for request in running {
        let rate_limit = request.await.unwrap();
        if rate_limit.accepted {
            remaining.push(rate_limit.remaining);
        } else {
            refused += 1;
            assert_eq!((rate_limit.remaining, rate_limit.reset_seconds), (0, 60));
        }
    }
    remaining.sort_unstable();
    assert_eq!(refused, 100);
    assert_eq!(remaining, (0..100).collect::<Vec<i64>>(), "each slot was used once");
    world.advance_seconds(60);
    assert_eq!(count_request(&other_process, 1).await.remaining, 99);
}

#[tokio::test]
async fn processes_with_different_clocks_share_a_limit_without_errors() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    if world.app.db.engine() == Engine::Sqlite {
        return;
    }
    let ahead = world.other_process_at(Clock::frozen_at("2026-03-10T12:00:00.3Z")).await;
    for _ in 0..300 {
        world.clock.advance(Duration::from_micros(150_000));
        ahead.clock.advance(Duration::from_micros(150_000));
        // An error would be reported as an error of the server.
        limits::count_request(&world.app, [1; 16]).await.unwrap();
        limits::count_request(&ahead, [1; 16]).await.unwrap();
    }
}

/// Marks are numbered. A process that was paused between reading its clock and writing has an older time under a newer
/// number; counting from that mark would forget the ones before it.
#[tokio::test]
async fn a_slow_process_does_not_make_the_others_forget_requests() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    if world.app.db.engine() == Engine::Sqlite {
        return;
    }
    let behind = world.other_process_at(Clock::frozen_at("2026-03-10T11:59:57Z")).await;
    let mut accepted = 0;
    for app in
        [&world.app, &world.app, &behind, &world.app, &behind, &world.app, &behind, &world.app]
    {
        accepted += i64::from(count_request(app, 1).await.accepted);
    }
    assert_eq!(accepted, 5);
}

#[tokio::test]
async fn all_processes_follow_the_policy_of_the_last_one_that_started() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    if world.app.db.engine() == Engine::Sqlite {
        return;
    }
    let started_later = world.with_limit(Policy { requests: 3, window_seconds: 60 });
    limits::store_policy(&started_later).await.unwrap();
    for _ in 0..3 {
        assert!(count_request(&world.app, 1).await.accepted);
    }
    let refused = count_request(&world.app, 1).await;
    assert_eq!((refused.accepted, refused.reset_seconds, refused.policy.requests), (false, 60, 3));
    // A process with a shorter window does not delete what the others still count.
    world.advance_seconds(30);
    assert_eq!(limits::forget_once(&world.app).await.unwrap(), 0);
    assert!(!count_request(&started_later, 1).await.accepted);
}

#[tokio::test]
async fn failures_at_several_processes_count_together() {
    let world = World::new().await;
    if world.app.db.engine() == Engine::Sqlite {
        return;
    }
    let others = [world.other_process().await, world.other_process().await];
    let group = AddressGroup::parse(Some("192.0.2.1"));
    let mut refused = 0;
    for round in 0..90 {
        let app = [&world.app, &others[0], &others[1]][round % 3];
        refused += usize::from(limits::count_failure(app, group).await.is_err());
    }
    assert_eq!(refused, 30);
}

#[tokio::test]
async fn requests_outside_every_window_are_deleted() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    for credential in 0..3 {
        count_request(&world.app, credential).await;
    }
    assert_eq!(limits::forget_once(&world.app).await.unwrap(), 0);
    // The window of failed authentications, a minute, is the longest.
    world.advance_seconds(55);
    count_request(&world.app, 1).await;
    world.advance_seconds(5);
    let forgotten = limits::forget_once(&world.app).await.unwrap();
    let shared = world.app.db.engine() == Engine::Postgres;
    assert_eq!(forgotten, if shared { 3 } else { 0 });
    // The request that is still in the window counts.
    assert_eq!(count_request(&world.app, 1).await.remaining, 3);
    assert_eq!(count_request(&world.app, 2).await.remaining, 4);
}

#[tokio::test]
async fn an_address_that_fails_too_often_is_refused_for_a_while() {
    let world = World::new().await;
    let fail =
        |address: &str| limits::count_failure(&world.app, AddressGroup::parse(Some(address)));
    for _ in 0..60 {
        fail("192.0.2.1").await.unwrap();
    }
    let refused = fail("::ffff:192.0.2.1").await;
    assert!(matches!(refused, Err(Error::Limited { retry_after_seconds: 60, .. })), "{refused:?}");
    fail("192.0.2.2").await.unwrap();
    world.advance_seconds(60);
    fail("192.0.2.1").await.unwrap();
}

#[tokio::test]
async fn an_ipv6_network_counts_as_one_address() {
    let world = World::new().await;
    let fail = |network: u32, host: u32| {
        let address = format!("2001:db8:0:{network:x}::{host:x}");
        let group = AddressGroup::parse(Some(&address));
        limits::count_failure(&world.app, group)
    };
    for host in 1..=60 {
        fail(1, host).await.unwrap();
    }
    assert!(matches!(fail(1, 61).await, Err(Error::Limited { .. })));
    fail(2, 61).await.unwrap();
}

#[tokio::test]
async fn more_address_groups_than_can_be_counted_share_a_window() {
    let world = World::new().await;
    let fail = |network: u32| {
        let address = format!("2001:db8:{:x}:{:x}::1", network >> 16, network & 0xffff);
        let group = AddressGroup::parse(Some(&address));
        limits::count_failure(&world.app, group)
    };
    // In groups, because requests that wait together are counted by one statement.
    for first in (0..65_536).step_by(512) {
        let failed = futures_util::future::join_all((first..first + 512).map(fail)).await;
        assert!(failed.iter().all(Result::is_ok));
    }
    for network in 65_536..65_596 {
        fail(network).await.unwrap();
    }
    assert!(matches!(fail(65_596).await, Err(Error::Limited { .. })));
    fail(0).await.unwrap();
    world.advance_seconds(60);
    // Once the windows are empty, each group is counted separately again.
    fail(65_596).await.unwrap();
    fail(65_597).await.unwrap();
}

#[tokio::test]
async fn a_clock_set_back_by_an_hour_does_not_refuse_requests_for_an_hour() {
    let world = World::with_policy(FIVE_IN_TEN).await;
    for _ in 0..5 {
        assert!(count_request(&world.app, 1).await.accepted);
    }
    assert!(!count_request(&world.app, 1).await.accepted);
    world.clock.set_back(Duration::from_secs(3_600));
    for used in 1..=5 {
        let rate_limit = count_request(&world.app, 1).await;
        assert_eq!((rate_limit.accepted, rate_limit.remaining), (true, 5 - used));
    }
    let refused = count_request(&world.app, 1).await;
    assert_eq!((refused.accepted, refused.reset_seconds), (false, 10));
    // After a difference that two processes' clocks may have, accepted requests still count.
    world.clock.set_back(Duration::from_secs(5));
    assert!(!count_request(&world.app, 1).await.accepted);
    world.advance_seconds(15);
    assert!(count_request(&world.app, 1).await.accepted);
}

#[tokio::test]
async fn a_clock_set_back_clears_failures_dated_in_the_future() {
    let world = World::new().await;
    let from = AddressGroup::parse(Some("192.0.2.1"));
    for _ in 0..60 {
        limits::count_failure(&world.app, from).await.unwrap();
    }
    assert!(limits::count_failure(&world.app, from).await.is_err());
    world.clock.set_back(Duration::from_secs(3_600));
    limits::count_failure(&world.app, from).await.unwrap();
}
