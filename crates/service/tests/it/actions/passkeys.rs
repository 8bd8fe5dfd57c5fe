//! Passkeys: required by the person's policy, and valid for one decision on exactly what was shown.

use base::Fixed9;
use calc::paper::Side;
use service::Caller;
use service::actions::{self, Action, Policy, SeenProposal, Status};
use testkit::{Authenticator, Kind};

use super::{ActionsFixture, approve, seen, shares};
use crate::{is_conflict, is_refused, party, register_passkey};

async fn with_passkey() -> (ActionsFixture, Authenticator) {
    let fixture = ActionsFixture::new().await;
    let key = register_passkey(&fixture.world, &fixture.session, Kind::Es256, "phone").await;
    (fixture, key)
}

/// Requests a challenge and signs it with the passkey.
async fn signed(
    fixture: &ActionsFixture,
    key: &Authenticator,
    session: &Caller,
    id: base::ActionId,
    seen: SeenProposal,
) -> String {
    let challenge = actions::ask_passkey(fixture.app(), session, &party(), id, seen).await.unwrap();
    key.get(&challenge).to_string()
}

async fn answer(
    fixture: &ActionsFixture,
    session: &Caller,
    action: &Action,
    seen: SeenProposal,
    answer: &str,
) -> service::Result<Action> {
    let party = party();
    actions::approve(fixture.app(), session, action.id, seen, Some((&party, answer))).await
}

#[tokio::test]
async fn amounts_from_the_threshold_of_the_policy_require_a_passkey() {
    let (fixture, key) = with_passkey().await;
    let price = Some(fixture.price("VTI").await);
    let small = fixture.propose(fixture.order(Side::Buy, "VTI", shares("19.99"))).await.unwrap();
    let large = fixture.propose(fixture.order(Side::Buy, "VTI", shares("20"))).await.unwrap();
    assert!(
        !small.needs_passkey && large.needs_passkey,
        "the default threshold is a thousand dollars"
    );
    approve(fixture.app(), &fixture.session, &small, price).await.unwrap();
    let clicked = approve(fixture.app(), &fixture.session, &large, price).await;
    assert_eq!(is_refused(clicked), "this decision requires your passkey");
    assert_eq!(fixture.get(large.id).await.status, Status::PendingApproval);
    let shown = seen(&large, price);
    let assertion = signed(&fixture, &key, &fixture.session, large.id, shown).await;
    let done = answer(&fixture, &fixture.session, &large, shown, &assertion).await.unwrap();
    assert_eq!(
        (done.status, done.decision_method.map(|it| it.as_str())),
        (Status::Executed, Some("passkey"))
    );
    let trail =
        service::platform::audit::list(fixture.app(), &fixture.session, None, 100).await.unwrap();
    let entry = trail.iter().find(|it| it.action == "action.approve").unwrap();
    assert_eq!(entry.method.as_deref(), Some("passkey"));
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn the_passkey_policy_at_the_time_of_the_decision_counts() {
    let fixture = ActionsFixture::new().await;
    let policy =
        |from| Policy { life_seconds: 3_600, passkey_from_minor: from, proposals_a_day: 100 };
    let set = async |from| {
        actions::set_policy(fixture.app(), &fixture.session, policy(from)).await.unwrap();
    };
    let price = Some(fixture.price("VTI").await);
    set(Some(0)).await;
    let first = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    assert!(!first.needs_passkey, "the person has no passkey");
    register_passkey(&fixture.world, &fixture.session, Kind::EdDsa, "phone").await;
    assert!(fixture.get(first.id).await.needs_passkey);
    is_refused(approve(fixture.app(), &fixture.session, &first, price).await);
    set(Some(5_001)).await;
    approve(fixture.app(), &fixture.session, &first, price).await.unwrap();
    let second = fixture.propose(fixture.order(Side::Buy, "VTI", shares("100"))).await.unwrap();
    is_refused(approve(fixture.app(), &fixture.session, &second, price).await);
    set(None).await;
    approve(fixture.app(), &fixture.session, &second, price).await.unwrap();
}

#[tokio::test]
async fn a_signature_is_valid_once_for_one_action_price_and_session() {
    let (fixture, key) = with_passkey().await;
    let price = Some(fixture.price("VTI").await);
    let order = || fixture.order(Side::Buy, "VTI", shares("20"));
    let (one, two) =
        (fixture.propose(order()).await.unwrap(), fixture.propose(order()).await.unwrap());
    let other_session = fixture.person.session().await;
    let (shown, shown_two) = (seen(&one, price), seen(&two, price));
    // For another action, though both have an open challenge.
    let assertion = signed(&fixture, &key, &fixture.session, one.id, shown).await;
    signed(&fixture, &key, &fixture.session, two.id, shown_two).await;
    is_refused(answer(&fixture, &fixture.session, &two, shown_two, &assertion).await);
    // At another price.
    let at_other_price = SeenProposal { price: Some(Fixed9::parse("50.01").unwrap()), ..shown };
    let assertion = signed(&fixture, &key, &fixture.session, one.id, shown).await;
    is_refused(answer(&fixture, &fixture.session, &one, at_other_price, &assertion).await);
    let assertion = signed(&fixture, &key, &fixture.session, one.id, shown).await;
    is_refused(
        answer(&fixture, &fixture.session, &one, SeenProposal { price: None, ..shown }, &assertion)
            .await,
    );
    // In another session.
    let assertion = signed(&fixture, &key, &fixture.session, one.id, shown).await;
    is_refused(answer(&fixture, &other_session, &one, shown, &assertion).await);
    // By another passkey, and without a signature.
    let stranger = Authenticator::new(Kind::Es256, crate::ORIGIN, b"stranger");
    let assertion = signed(&fixture, &stranger, &fixture.session, one.id, shown).await;
    is_refused(answer(&fixture, &fixture.session, &one, shown, &assertion).await);
    is_refused(answer(&fixture, &fixture.session, &one, shown, "{}").await);
    assert_eq!(fixture.count_entries("buy").await, 0);
    // The right signature is accepted once.
    let assertion = signed(&fixture, &key, &fixture.session, one.id, shown).await;
    answer(&fixture, &fixture.session, &one, shown, &assertion).await.unwrap();
    is_refused(answer(&fixture, &fixture.session, &one, shown, &assertion).await);
    is_refused(answer(&fixture, &fixture.session, &two, shown_two, &assertion).await);
    let challenge =
        actions::ask_passkey(fixture.app(), &fixture.session, &party(), one.id, shown).await;
    assert_eq!(is_conflict(challenge), "this proposal was already executed");
    assert_eq!(fixture.count_entries("buy").await, 1);
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_signature_is_refused_after_five_minutes() {
    let (fixture, key) = with_passkey().await;
    let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("20"))).await.unwrap();
    let shown = seen(&action, Some(fixture.price("VTI").await));
    let assertion = signed(&fixture, &key, &fixture.session, action.id, shown).await;
    fixture.world.advance_seconds(300);
    is_refused(answer(&fixture, &fixture.session, &action, shown, &assertion).await);
    assert_eq!(fixture.get(action.id).await.status, Status::PendingApproval);
}
