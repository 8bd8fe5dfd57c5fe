//! The person's policy: how many proposals a key may make in a day, and how long they live.

use std::time::Duration;

use calc::paper::Side;
use service::Error;
use service::actions::{self, LIFE_SECONDS_MAX, LIFE_SECONDS_MIN, NewAction, Policy};
use testkit::new_key;

use super::{Desk, shares};
use crate::{is_not_found, param};

const POLICY: Policy = Policy { life_seconds: 3_600, passkey_from_minor: None, proposals_a_day: 3 };

async fn propose(desk: &Desk, key: &service::Caller) -> service::Result<actions::Action> {
    let order = desk.order(Side::Buy, "VTI", shares("1"));
    actions::propose(desk.app(), key, order).await
}

fn wait_of<T: std::fmt::Debug>(outcome: service::Result<T>) -> i64 {
    match outcome {
        Err(Error::Limited { retry_after_seconds, .. }) => retry_after_seconds,
        other => panic!("not limited: {other:?}"),
    }
}

#[tokio::test]
async fn a_key_proposes_so_many_times_in_any_day_and_each_key_has_its_own_count() {
    let desk = Desk::new().await;
    // The desk's own key has proposed the account already.
    let (one, two) = (desk.person.key(new_key()).await, desk.person.key(new_key()).await);
    actions::set_policy(desk.app(), &desk.session, POLICY).await.unwrap();
    for _ in 0..3 {
        propose(&desk, &one.caller).await.unwrap();
        desk.world.advance_seconds(100);
    }
    assert_eq!(wait_of(propose(&desk, &one.caller).await), 86_400 - 300 + 1);
    propose(&desk, &two.caller).await.unwrap();
    for _ in 0..5 {
        propose(&desk, &desk.session).await.unwrap();
    }
    // Refused ones do not count, and decided ones still do.
    desk.world.clock.advance(Duration::from_micros(86_100_000_000 - 1));
    desk.world.market.set("VTI", "50", None);
    assert_eq!(wait_of(propose(&desk, &one.caller).await), 1);
    desk.world.clock.advance(Duration::from_micros(1));
    propose(&desk, &one.caller).await.unwrap();
    assert_eq!(wait_of(propose(&desk, &one.caller).await), 101);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn proposals_at_once_are_counted_one_by_one() {
    let desk = Desk::new().await;
    let there = desk.world.other_process().await;
    let key = desk.person.key(new_key()).await;
    actions::set_policy(desk.app(), &desk.session, POLICY).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let app = if number % 2 == 0 { desk.app().clone() } else { there.clone() };
        let (caller, order) = (key.caller.clone(), desk.order(Side::Buy, "VTI", shares("1")));
        tasks.spawn(async move { actions::propose(&app, &caller, order).await });
    }
    let (made, refused): (Vec<_>, Vec<_>) =
        tasks.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 3);
    refused.into_iter().for_each(|it| assert!(wait_of(it) > 86_000));
}

#[tokio::test]
async fn a_proposal_lives_as_long_as_the_policy_says_or_shorter_if_it_asks() {
    let desk = Desk::new().await;
    let with = |seconds| NewAction {
        expires_in_seconds: seconds,
        ..desk.order(Side::Buy, "VTI", shares("1"))
    };
    let life = async |seconds| {
        let made = desk.propose(with(seconds)).await?;
        Ok::<_, Error>(made.expires_at.as_second() - made.created_at.as_second())
    };
    assert_eq!(life(None).await.unwrap(), 86_400);
    actions::set_policy(desk.app(), &desk.session, Policy { proposals_a_day: 50, ..POLICY })
        .await
        .unwrap();
    assert_eq!(life(None).await.unwrap(), 3_600);
    assert_eq!(life(Some(1)).await.unwrap(), 1);
    assert_eq!(life(Some(3_600)).await.unwrap(), 3_600);
    for wrong in [0, -1, 3_601, i64::MIN, i64::MAX] {
        assert_eq!(param(life(Some(wrong)).await), "expires_in_seconds", "{wrong}");
    }
}

#[tokio::test]
async fn the_policy_has_bounds_and_is_for_the_person_alone() {
    let desk = Desk::new().await;
    let set = async |wish| actions::set_policy(desk.app(), &desk.session, wish).await;
    for life_seconds in [LIFE_SECONDS_MIN - 1, LIFE_SECONDS_MAX + 1, 0, -1] {
        assert_eq!(param(set(Policy { life_seconds, ..POLICY }).await), "life_seconds");
    }
    for proposals_a_day in [0, -1, 10_001] {
        assert_eq!(param(set(Policy { proposals_a_day, ..POLICY }).await), "proposals_a_day");
    }
    let below = Policy { passkey_from_minor: Some(-1), ..POLICY };
    assert_eq!(param(set(below).await), "passkey_from");
    is_not_found(actions::set_policy(desk.app(), &desk.key.caller, POLICY).await);
    let before = actions::get_policy(desk.app(), &desk.session).await.unwrap();
    assert_eq!((before.life_seconds, before.proposals_a_day), (86_400, 100));
    for life_seconds in [LIFE_SECONDS_MIN, LIFE_SECONDS_MAX] {
        set(Policy { life_seconds, ..POLICY }).await.unwrap();
        let now = actions::get_policy(desk.app(), &desk.session).await.unwrap();
        assert_eq!((now.life_seconds, now.passkey_from_minor), (life_seconds, None));
    }
    assert_eq!(crate::trail(&desk.world, &desk.session).await[0], "policy.update");
}
