//! Passkeys: asked for by the person's policy, and good for one decision on exactly what was shown.

use base::Fixed9;
use calc::paper::Side;
use service::Caller;
use service::actions::{self, Action, Policy, SeenProposal, Status};
use testkit::{Authenticator, Kind};

use super::{Desk, approve, seen, shares};
use crate::{enrol, is_conflict, is_refused, party};

async fn with_passkey() -> (Desk, Authenticator) {
    let desk = Desk::new().await;
    let key = enrol(&desk.world, &desk.session, Kind::Es256, "phone").await;
    (desk, key)
}

/// Asks, lets the passkey sign, and answers.
async fn signed(
    desk: &Desk,
    key: &Authenticator,
    session: &Caller,
    id: base::ActionId,
    seen: SeenProposal,
) -> String {
    let asked = actions::ask_passkey(desk.app(), session, &party(), id, seen).await.unwrap();
    key.get(&asked).to_string()
}

async fn answer(
    desk: &Desk,
    session: &Caller,
    action: &Action,
    seen: SeenProposal,
    answer: &str,
) -> service::Result<Action> {
    let party = party();
    actions::approve(desk.app(), session, action.id, seen, Some((&party, answer))).await
}

#[tokio::test]
async fn from_the_amount_of_the_policy_on_a_click_is_not_enough() {
    let (desk, key) = with_passkey().await;
    let price = Some(desk.price("VTI").await);
    let small = desk.propose(desk.order(Side::Buy, "VTI", shares("19.99"))).await.unwrap();
    let large = desk.propose(desk.order(Side::Buy, "VTI", shares("20"))).await.unwrap();
    assert!(!small.needs_passkey && large.needs_passkey, "a thousand dollars by default");
    approve(desk.app(), &desk.session, &small, price).await.unwrap();
    let clicked = approve(desk.app(), &desk.session, &large, price).await;
    assert_eq!(is_refused(clicked), "this decision requires your passkey");
    assert_eq!(desk.get(large.id).await.status, Status::PendingApproval);
    let shown = seen(&large, price);
    let given = signed(&desk, &key, &desk.session, large.id, shown).await;
    let done = answer(&desk, &desk.session, &large, shown, &given).await.unwrap();
    assert_eq!(
        (done.status, done.decision_method.map(|it| it.as_str())),
        (Status::Executed, Some("passkey"))
    );
    let trail = service::platform::audit::list(desk.app(), &desk.session, None, 100).await.unwrap();
    let entry = trail.iter().find(|it| it.action == "action.approve").unwrap();
    assert_eq!(entry.method.as_deref(), Some("passkey"));
    desk.is_sound().await;
}

#[tokio::test]
async fn the_policy_of_the_moment_of_deciding_counts_and_without_a_passkey_there_is_none_to_ask() {
    let desk = Desk::new().await;
    let wish =
        |from| Policy { life_seconds: 3_600, passkey_from_minor: from, proposals_a_day: 100 };
    let set = async |from| {
        actions::set_policy(desk.app(), &desk.session, wish(from)).await.unwrap();
    };
    let price = Some(desk.price("VTI").await);
    set(Some(0)).await;
    let first = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
    assert!(!first.needs_passkey, "there is no passkey");
    enrol(&desk.world, &desk.session, Kind::EdDsa, "phone").await;
    assert!(desk.get(first.id).await.needs_passkey);
    is_refused(approve(desk.app(), &desk.session, &first, price).await);
    set(Some(5_001)).await;
    approve(desk.app(), &desk.session, &first, price).await.unwrap();
    let second = desk.propose(desk.order(Side::Buy, "VTI", shares("100"))).await.unwrap();
    is_refused(approve(desk.app(), &desk.session, &second, price).await);
    set(None).await;
    approve(desk.app(), &desk.session, &second, price).await.unwrap();
}

#[tokio::test]
async fn a_signature_is_for_one_action_at_one_price_in_one_session_once() {
    let (desk, key) = with_passkey().await;
    let price = Some(desk.price("VTI").await);
    let order = || desk.order(Side::Buy, "VTI", shares("20"));
    let (one, two) = (desk.propose(order()).await.unwrap(), desk.propose(order()).await.unwrap());
    let other_session = desk.person.session().await;
    let (shown, shown_two) = (seen(&one, price), seen(&two, price));
    // For the other action, though both are waiting for an answer.
    let given = signed(&desk, &key, &desk.session, one.id, shown).await;
    signed(&desk, &key, &desk.session, two.id, shown_two).await;
    is_refused(answer(&desk, &desk.session, &two, shown_two, &given).await);
    // At another price.
    let dearer = SeenProposal { price: Some(Fixed9::parse("50.01").unwrap()), ..shown };
    let given = signed(&desk, &key, &desk.session, one.id, shown).await;
    is_refused(answer(&desk, &desk.session, &one, dearer, &given).await);
    let given = signed(&desk, &key, &desk.session, one.id, shown).await;
    is_refused(
        answer(&desk, &desk.session, &one, SeenProposal { price: None, ..shown }, &given).await,
    );
    // In another browser.
    let given = signed(&desk, &key, &desk.session, one.id, shown).await;
    is_refused(answer(&desk, &other_session, &one, shown, &given).await);
    // By another key, and by none.
    let stranger = Authenticator::new(Kind::Es256, crate::ORIGIN, b"stranger");
    let given = signed(&desk, &stranger, &desk.session, one.id, shown).await;
    is_refused(answer(&desk, &desk.session, &one, shown, &given).await);
    is_refused(answer(&desk, &desk.session, &one, shown, "{}").await);
    assert_eq!(desk.entries("buy").await, 0);
    // As it should be, and then once more.
    let given = signed(&desk, &key, &desk.session, one.id, shown).await;
    answer(&desk, &desk.session, &one, shown, &given).await.unwrap();
    is_refused(answer(&desk, &desk.session, &one, shown, &given).await);
    is_refused(answer(&desk, &desk.session, &two, shown_two, &given).await);
    let asked = actions::ask_passkey(desk.app(), &desk.session, &party(), one.id, shown).await;
    assert_eq!(is_conflict(asked), "this proposal was already executed");
    assert_eq!(desk.entries("buy").await, 1);
    desk.is_sound().await;
}

#[tokio::test]
async fn an_answer_that_comes_after_five_minutes_is_too_old() {
    let (desk, key) = with_passkey().await;
    let action = desk.propose(desk.order(Side::Buy, "VTI", shares("20"))).await.unwrap();
    let shown = seen(&action, Some(desk.price("VTI").await));
    let given = signed(&desk, &key, &desk.session, action.id, shown).await;
    desk.world.advance_seconds(300);
    is_refused(answer(&desk, &desk.session, &action, shown, &given).await);
    assert_eq!(desk.get(action.id).await.status, Status::PendingApproval);
}
