//! The person's policy: how many proposals a key may make in a day, and when they expire.

use std::time::Duration;

use calc::paper::Side;
use service::Error;
use service::actions::{self, LIFE_SECONDS_MAX, LIFE_SECONDS_MIN, NewAction, Policy};
use testkit::new_key;

use super::{ActionsFixture, shares};
use crate::{is_not_found, param};

const POLICY: Policy = Policy { life_seconds: 3_600, passkey_from_minor: None, proposals_a_day: 3 };

async fn propose(
    fixture: &ActionsFixture,
    key: &service::Caller,
) -> service::Result<actions::Action> {
    let order = fixture.order(Side::Buy, "VTI", shares("1"));
    actions::propose(fixture.app(), key, order).await
}

fn retry_after<T: std::fmt::Debug>(outcome: service::Result<T>) -> i64 {
    match outcome {
        Err(Error::ProposalLimit { most: 3, retry_after_seconds }) => retry_after_seconds,
        other => panic!("not limited: {other:?}"),
    }
}

#[tokio::test]
async fn each_key_has_its_own_daily_limit_of_proposals() {
    let fixture = ActionsFixture::new().await;
    // The fixture's own key has already proposed the account.
    let (one, two) = (fixture.person.key(new_key()).await, fixture.person.key(new_key()).await);
    actions::set_policy(fixture.app(), &fixture.session, POLICY).await.unwrap();
    for _ in 0..3 {
        propose(&fixture, &one.caller).await.unwrap();
        fixture.world.advance_seconds(100);
    }
    assert_eq!(retry_after(propose(&fixture, &one.caller).await), 86_400 - 300);
    propose(&fixture, &two.caller).await.unwrap();
    for _ in 0..5 {
        propose(&fixture, &fixture.session).await.unwrap();
    }
    // Refused proposals do not count, and decided ones still do.
    fixture.world.clock.advance(Duration::from_micros(86_100_000_000 - 1));
    fixture.world.market.set("VTI", "50", None);
    assert_eq!(retry_after(propose(&fixture, &one.caller).await), 1);
    fixture.world.clock.advance(Duration::from_micros(1));
    propose(&fixture, &one.caller).await.unwrap();
    assert_eq!(retry_after(propose(&fixture, &one.caller).await), 100);
    // The time is true: a second earlier the proposal is still refused.
    fixture.world.advance_seconds(99);
    assert_eq!(retry_after(propose(&fixture, &one.caller).await), 1);
    fixture.world.advance_seconds(1);
    fixture.world.market.set("VTI", "50", None);
    propose(&fixture, &one.caller).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_proposals_do_not_exceed_the_limit() {
    let fixture = ActionsFixture::new().await;
    let other_process = fixture.world.other_process().await;
    let key = fixture.person.key(new_key()).await;
    actions::set_policy(fixture.app(), &fixture.session, POLICY).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let app = if number % 2 == 0 { fixture.app().clone() } else { other_process.clone() };
        let (caller, order) = (key.caller.clone(), fixture.order(Side::Buy, "VTI", shares("1")));
        tasks.spawn(async move { actions::propose(&app, &caller, order).await });
    }
    let (made, refused): (Vec<_>, Vec<_>) =
        tasks.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!(made.len(), 3);
    refused.into_iter().for_each(|it| assert!(retry_after(it) > 86_000));
}

#[tokio::test]
async fn a_proposal_expires_as_the_policy_says_or_earlier_on_request() {
    let fixture = ActionsFixture::new().await;
    let with = |seconds| NewAction {
        expires_in_seconds: seconds,
        ..fixture.order(Side::Buy, "VTI", shares("1"))
    };
    let lifetime = async |seconds| {
        let made = fixture.propose(with(seconds)).await?;
        Ok::<_, Error>(made.expires_at.as_second() - made.created_at.as_second())
    };
    assert_eq!(lifetime(None).await.unwrap(), 86_400);
    actions::set_policy(fixture.app(), &fixture.session, Policy { proposals_a_day: 50, ..POLICY })
        .await
        .unwrap();
    assert_eq!(lifetime(None).await.unwrap(), 3_600);
    assert_eq!(lifetime(Some(1)).await.unwrap(), 1);
    assert_eq!(lifetime(Some(3_600)).await.unwrap(), 3_600);
    for wrong in [0, -1, 3_601, i64::MIN, i64::MAX] {
        assert_eq!(param(lifetime(Some(wrong)).await), "expires_in_seconds", "{wrong}");
    }
}

#[tokio::test]
async fn the_policy_has_bounds_and_only_the_person_changes_it() {
    let fixture = ActionsFixture::new().await;
    let set = async |policy| actions::set_policy(fixture.app(), &fixture.session, policy).await;
    for life_seconds in [LIFE_SECONDS_MIN - 1, LIFE_SECONDS_MAX + 1, 0, -1] {
        assert_eq!(param(set(Policy { life_seconds, ..POLICY }).await), "life_seconds");
    }
    for proposals_a_day in [0, -1, 10_001] {
        assert_eq!(param(set(Policy { proposals_a_day, ..POLICY }).await), "proposals_a_day");
    }
    let below = Policy { passkey_from_minor: Some(-1), ..POLICY };
    assert_eq!(param(set(below).await), "passkey_from");
    is_not_found(actions::set_policy(fixture.app(), &fixture.key.caller, POLICY).await);
    let before = actions::get_policy(fixture.app(), &fixture.session).await.unwrap();
    assert_eq!((before.life_seconds, before.proposals_a_day), (86_400, 100));
    for life_seconds in [LIFE_SECONDS_MIN, LIFE_SECONDS_MAX] {
        set(Policy { life_seconds, ..POLICY }).await.unwrap();
        let now = actions::get_policy(fixture.app(), &fixture.session).await.unwrap();
        assert_eq!((now.life_seconds, now.passkey_from_minor), (life_seconds, None));
    }
    assert_eq!(crate::trail(&fixture.world, &fixture.session).await[0], "policy.update");
}
