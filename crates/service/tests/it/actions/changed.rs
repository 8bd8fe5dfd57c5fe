//! Proposals that were changed in the database after they were shown can be neither decided nor executed.

use calc::paper::Side;
use service::actions::{self, ActionPayload, NewAction, Status};

use super::{ActionsFixture, approve, seen, shares, status_and_error};
use crate::is_conflict;

/// Changes of every column that the person is shown or that says what will be done, as somebody with access to the
/// database would make them.
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

fn order(fixture: &ActionsFixture) -> NewAction {
    NewAction {
        description: Some("Two of the fund".to_owned()),
        reason: Some("It is **cheap**".to_owned()),
        ..fixture.order(Side::Buy, "VTI", shares("2"))
    }
}

#[tokio::test]
async fn a_proposal_changed_in_any_column_after_it_was_shown_cannot_be_decided() {
    let fixture = ActionsFixture::new().await;
    let price = Some(fixture.price("VTI").await);
    for change in CHANGES {
        let action = fixture.propose(order(&fixture)).await.unwrap();
        let shown = seen(&action, price);
        fixture.tamper(action.id, change).await;
        let approved =
            actions::approve(fixture.app(), &fixture.session, action.id, shown, None).await;
        assert!(
            is_conflict(approved).starts_with("this proposal changed after you opened it"),
            "{change}"
        );
        let rejected =
            actions::reject(fixture.app(), &fixture.session, action.id, shown, None).await;
        assert!(
            is_conflict(rejected).starts_with("this proposal changed after you opened it"),
            "{change}"
        );
        assert_eq!(fixture.get(action.id).await.status, Status::PendingApproval, "{change}");
    }
    assert_eq!(fixture.count_entries("buy").await, 0);
    fixture.verify_integrity().await;
}

/// An attacker can also compute the new digest, but it differs from the one on the person's page.
#[tokio::test]
async fn a_change_with_a_matching_digest_is_detected_too() {
    let fixture = ActionsFixture::new().await;
    let action = fixture.propose(order(&fixture)).await.unwrap();
    let shown = seen(&action, None);
    fixture.tamper(action.id, "payload = replace(payload, '\"2\"', '\"20\"')").await;
    let forged = fixture.get(action.id).await.computed_digest();
    assert_ne!(forged, shown.digest);
    let (user, id) = (fixture.session.user, action.id);
    let forge = move |tx: &mut db::Tx<'_>| {
        let sql = "update actions set digest = $3 where user_id = $1 and id = $2";
        Ok::<_, service::Error>(tx.execute(sql, db::params![user, id, &forged[..]])?)
    };
    assert_eq!(fixture.app().db.write(forge).await.unwrap(), 1);
    let approved = actions::approve(fixture.app(), &fixture.session, action.id, shown, None).await;
    assert!(is_conflict(approved).starts_with("this proposal changed after you opened it"));
    let rejected = actions::reject(fixture.app(), &fixture.session, action.id, shown, None).await;
    assert!(is_conflict(rejected).starts_with("this proposal changed after you opened it"));
    // The digest of another proposal is refused too.
    let other = fixture.propose(order(&fixture)).await.unwrap();
    let crossed =
        actions::approve(fixture.app(), &fixture.session, action.id, seen(&other, None), None);
    assert!(is_conflict(crossed.await).starts_with("this proposal changed after you opened it"));
    assert_eq!(fixture.count_entries("buy").await, 0);
}

#[tokio::test]
async fn a_queued_trade_that_was_changed_fails_and_releases_its_cash() {
    let fixture = ActionsFixture::new().await;
    fixture.advance_to(testkit::at("2026-03-10T21:00:00Z"));
    fixture.world.market.set("VTI", "50", None);
    fixture.world.market.set("AAPL", "187.10", None);
    let price = Some(fixture.price("VTI").await);
    let mut queued = Vec::new();
    for change in CHANGES {
        let action = fixture.propose(order(&fixture)).await.unwrap();
        let waiting = approve(fixture.app(), &fixture.session, &action, price).await.unwrap();
        assert_eq!(waiting.status, Status::Approved, "{:?}", waiting.error_message);
        fixture.tamper(action.id, change).await;
        queued.push((action.id, change));
    }
    assert_eq!(fixture.cash().await.1, 14 * 10_200);
    fixture.advance_to(testkit::at("2026-03-11T13:31:00Z"));
    fixture.world.market.set("VTI", "50", None);
    fixture.world.market.set("AAPL", "187.10", None);
    actions::execute_once(fixture.app()).await.unwrap();
    for (id, change) in queued {
        assert_eq!(
            status_and_error(&fixture.get(id).await),
            ("failed", Some("CHANGED")),
            "{change}"
        );
    }
    assert_eq!(fixture.cash().await, (1_000_000, 0));
    assert_eq!(fixture.count_entries("buy").await, 0);
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_changed_manual_action_cannot_be_confirmed_as_done() {
    let fixture = ActionsFixture::new().await;
    let payload =
        ActionPayload::Custom { title: "Call the bank".to_owned(), summary: None, facts: None };
    let action = fixture.propose(payload.into()).await.unwrap();
    approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    fixture.tamper(action.id, "details = replace(details, 'Call', 'Rob')").await;
    let confirmed = actions::confirm(fixture.app(), &fixture.session, action.id, true).await;
    assert!(is_conflict(confirmed).starts_with("this proposal changed after you opened it"));
    let not_done =
        actions::confirm(fixture.app(), &fixture.session, action.id, false).await.unwrap();
    assert_eq!(status_and_error(&not_done), ("failed", Some("NOT_DONE")));
}
