//! Actions that the person carries out outside of Evenkeel: approved first, and then confirmed once.

use base::{Currency, Money};
use service::actions::{self, Action, ActionPayload, Status};
use testkit::draft::{checking, statement};

use super::{ActionsFixture, approve, status_and_error};
use crate::is_conflict;

async fn transfer(fixture: &ActionsFixture) -> Action {
    let accounts = [checking("Everyday"), checking("Rainy day")];
    fixture.person.import(statement(accounts)).await;
    let payload = ActionPayload::Transfer {
        from: fixture.person.account("Everyday").await,
        to: fixture.person.account("Rainy day").await,
        amount: Money::new(50_000, Currency::USD),
        on: None,
    };
    fixture.propose(payload.into()).await.unwrap()
}

#[tokio::test]
async fn a_transfer_is_executed_when_the_person_confirms_it_and_only_once() {
    let fixture = ActionsFixture::new().await;
    let action = transfer(&fixture).await;
    assert_eq!(action.details().title(), "Move $500.00 from Everyday to Rainy day");
    let early = actions::confirm(fixture.app(), &fixture.session, action.id, true).await;
    assert_eq!(is_conflict(early), "there is nothing to confirm");
    let approved = approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    assert_eq!((approved.status, approved.due_at), (Status::Approved, None));
    fixture.world.advance_seconds(30 * 86_400);
    actions::execute_once(fixture.app()).await.unwrap();
    actions::expire_once(fixture.app()).await.unwrap();
    assert_eq!(
        fixture.get(action.id).await.status,
        Status::Approved,
        "it is not executed without a confirmation"
    );
    let other_process = fixture.world.other_process().await;
    let (one, two) = tokio::join!(
        actions::confirm(fixture.app(), &fixture.session, action.id, true),
        actions::confirm(&other_process, &fixture.session, action.id, true)
    );
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    let done = fixture.get(action.id).await;
    assert_eq!(
        (done.status, done.result.as_deref()),
        (Status::Executed, Some(r#"{"confirmed":true}"#))
    );
    let expected =
        ["action.created pending_approval", "action.decided approved", "action.executed executed"];
    assert_eq!(fixture.events(&action).await, expected);
    let again = actions::confirm(fixture.app(), &fixture.session, action.id, false).await;
    is_conflict(again);
    is_conflict(actions::undo(fixture.app(), &fixture.session, action.id).await);
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn an_action_confirmed_as_not_done_fails() {
    let fixture = ActionsFixture::new().await;
    let payload = ActionPayload::Custom {
        title: "Call the bank".to_owned(),
        summary: Some("They owe you *ten dollars*".to_owned()),
        facts: Some(serde_json::json!({ "number": 12 }).to_string()),
    };
    let action = fixture.propose(payload.into()).await.unwrap();
    approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    let failed = actions::confirm(fixture.app(), &fixture.session, action.id, false).await.unwrap();
    assert_eq!(status_and_error(&failed), ("failed", Some("NOT_DONE")));
    is_conflict(actions::confirm(fixture.app(), &fixture.session, action.id, true).await);
    let expected =
        ["action.created pending_approval", "action.decided approved", "action.executed failed"];
    assert_eq!(fixture.events(&action).await, expected);
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_trade_cannot_be_confirmed_by_hand() {
    let fixture = ActionsFixture::new().await;
    let order = fixture.order(calc::paper::Side::Buy, "VTI", super::shares("1"));
    let action = fixture.propose(order).await.unwrap();
    is_conflict(actions::confirm(fixture.app(), &fixture.session, action.id, true).await);
    approve(fixture.app(), &fixture.session, &action, None).await.unwrap();
    is_conflict(actions::confirm(fixture.app(), &fixture.session, action.id, false).await);
    is_conflict(actions::undo(fixture.app(), &fixture.session, action.id).await);
    assert_eq!(fixture.get(action.id).await.status, Status::Executed);
}
