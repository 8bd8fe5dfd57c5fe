//! What was changed after it was shown is not what was shown: it cannot be decided, and is not carried out.

use calc::paper::Side;
use service::actions::{self, ActionPayload, NewAction, Status};

use super::{Desk, approve, ended, seen, shares};
use crate::is_conflict;

/// Every column that the person is shown something of, or that says what will be done, as somebody with a hand on the
/// database would change it.
const CHANGES: [&str; 14] = [
    "payload = replace(payload, '\"VTI\"', '\"AAPL\"')",
    "payload = replace(payload, '\"2\"', '\"20\"')",
    "payload = replace(payload, 'buy', 'sell')",
    "details = replace(details, '100.00', '1.00')",
    "description = 'A harmless thing'",
    "description = null",
    "reason = 'Because I say so'",
    "amount_minor = 1",
    "proposer_label = 'You'",
    "proposer = 'person'",
    "created_at = created_at - 1",
    "expires_at = expires_at + 1",
    "account_id = thread_id",
    "digest = $3",
];

fn order(desk: &Desk) -> NewAction {
    NewAction {
        description: Some("Two of the fund".to_owned()),
        reason: Some("It is **cheap**".to_owned()),
        ..desk.order(Side::Buy, "VTI", shares("2"))
    }
}

#[tokio::test]
async fn whichever_column_is_changed_after_it_was_shown_nothing_can_be_decided() {
    let desk = Desk::new().await;
    let price = Some(desk.price("VTI").await);
    for change in CHANGES {
        let action = desk.propose(order(&desk)).await.unwrap();
        let shown = seen(&action, price);
        desk.tamper(action.id, change).await;
        let approved = actions::approve(desk.app(), &desk.session, action.id, shown, None).await;
        assert!(
            is_conflict(approved).starts_with("this proposal changed after you opened it"),
            "{change}"
        );
        let rejected = actions::reject(desk.app(), &desk.session, action.id, shown, None).await;
        assert!(
            is_conflict(rejected).starts_with("this proposal changed after you opened it"),
            "{change}"
        );
        assert_eq!(desk.get(action.id).await.status, Status::PendingApproval, "{change}");
    }
    assert_eq!(desk.entries("buy").await, 0);
    desk.is_sound().await;
}

/// Somebody who changes a proposal can also work out its new digest; it is not the one on the person's page.
#[tokio::test]
async fn a_change_that_brings_its_own_digest_along_is_seen_all_the_same() {
    let desk = Desk::new().await;
    let action = desk.propose(order(&desk)).await.unwrap();
    let shown = seen(&action, None);
    desk.tamper(action.id, "payload = replace(payload, '\"2\"', '\"20\"')").await;
    let forged = desk.get(action.id).await.computed_digest();
    assert_ne!(forged, shown.digest);
    let (user, id) = (desk.session.user, action.id);
    let forge = move |tx: &mut db::Tx<'_>| {
        let sql = "update actions set digest = $3 where user_id = $1 and id = $2";
        Ok::<_, service::Error>(tx.execute(sql, db::params![user, id, &forged[..]])?)
    };
    assert_eq!(desk.app().db.write(forge).await.unwrap(), 1);
    let approved = actions::approve(desk.app(), &desk.session, action.id, shown, None).await;
    assert!(is_conflict(approved).starts_with("this proposal changed after you opened it"));
    let rejected = actions::reject(desk.app(), &desk.session, action.id, shown, None).await;
    assert!(is_conflict(rejected).starts_with("this proposal changed after you opened it"));
    // The digest of another proposal is none of this one either.
    let other = desk.propose(order(&desk)).await.unwrap();
    let crossed = actions::approve(desk.app(), &desk.session, action.id, seen(&other, None), None);
    assert!(is_conflict(crossed.await).starts_with("this proposal changed after you opened it"));
    assert_eq!(desk.entries("buy").await, 0);
}

#[tokio::test]
async fn a_queued_trade_that_was_changed_fails_and_gives_its_cash_back() {
    let desk = Desk::new().await;
    desk.wait_until(testkit::at("2026-03-10T21:00:00Z"));
    desk.world.market.set("VTI", "50", None);
    desk.world.market.set("AAPL", "187.10", None);
    let price = Some(desk.price("VTI").await);
    let mut queued = Vec::new();
    for change in CHANGES {
        let action = desk.propose(order(&desk)).await.unwrap();
        let waiting = approve(desk.app(), &desk.session, &action, price).await.unwrap();
        assert_eq!(waiting.status, Status::Approved, "{:?}", waiting.error_message);
        desk.tamper(action.id, change).await;
        queued.push((action.id, change));
    }
    assert_eq!(desk.cash().await.1, 14 * 10_200);
    desk.wait_until(testkit::at("2026-03-11T13:31:00Z"));
    desk.world.market.set("VTI", "50", None);
    desk.world.market.set("AAPL", "187.10", None);
    actions::execute_once(desk.app()).await.unwrap();
    for (id, change) in queued {
        assert_eq!(ended(&desk.get(id).await), ("failed", Some("CHANGED")), "{change}");
    }
    assert_eq!(desk.cash().await, (1_000_000, 0));
    assert_eq!(desk.entries("buy").await, 0);
    desk.is_sound().await;
}

#[tokio::test]
async fn what_the_person_does_elsewhere_is_not_confirmed_when_it_says_something_else_by_then() {
    let desk = Desk::new().await;
    let what =
        ActionPayload::Custom { title: "Call the bank".to_owned(), summary: None, facts: None };
    let action = desk.propose(what.into()).await.unwrap();
    approve(desk.app(), &desk.session, &action, None).await.unwrap();
    desk.tamper(action.id, "details = replace(details, 'Call', 'Rob')").await;
    let confirmed = actions::confirm(desk.app(), &desk.session, action.id, true).await;
    assert!(is_conflict(confirmed).starts_with("this proposal changed after you opened it"));
    let given_up = actions::confirm(desk.app(), &desk.session, action.id, false).await.unwrap();
    assert_eq!(ended(&given_up), ("failed", Some("NOT_DONE")));
}
