//! What the person carries out elsewhere: approved first, and confirmed once.

use base::{Currency, Money};
use service::actions::{self, Action, ActionPayload, Status};
use testkit::draft::{checking, statement};

use super::{Desk, approve, ended};
use crate::is_conflict;

async fn transfer(desk: &Desk) -> Action {
    let accounts = [checking("Everyday"), checking("Rainy day")];
    desk.person.import(statement(accounts)).await;
    let what = ActionPayload::Transfer {
        from: desk.person.account("Everyday").await,
        to: desk.person.account("Rainy day").await,
        amount: Money::new(50_000, Currency::USD),
        on: None,
    };
    desk.propose(what.into()).await.unwrap()
}

#[tokio::test]
async fn a_transfer_waits_for_the_person_and_is_done_when_they_say_so_once() {
    let desk = Desk::new().await;
    let action = transfer(&desk).await;
    assert_eq!(action.details().title(), "Move $500.00 from Everyday to Rainy day");
    let early = actions::confirm(desk.app(), &desk.session, action.id, true).await;
    assert_eq!(is_conflict(early), "there is nothing to confirm");
    let approved = approve(desk.app(), &desk.session, &action, None).await.unwrap();
    assert_eq!((approved.status, approved.due_at), (Status::Approved, None));
    desk.world.advance_seconds(30 * 86_400);
    actions::execute_once(desk.app()).await.unwrap();
    actions::expire_once(desk.app()).await.unwrap();
    assert_eq!(desk.get(action.id).await.status, Status::Approved, "nobody does it for them");
    let there = desk.world.other_process().await;
    let (one, two) = tokio::join!(
        actions::confirm(desk.app(), &desk.session, action.id, true),
        actions::confirm(&there, &desk.session, action.id, true)
    );
    assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    let done = desk.get(action.id).await;
    assert_eq!(
        (done.status, done.result.as_deref()),
        (Status::Executed, Some(r#"{"confirmed":true}"#))
    );
    let told =
        ["action.created pending_approval", "action.decided approved", "action.executed executed"];
    assert_eq!(desk.events(&action).await, told);
    let again = actions::confirm(desk.app(), &desk.session, action.id, false).await;
    is_conflict(again);
    is_conflict(actions::undo(desk.app(), &desk.session, action.id).await);
    desk.is_sound().await;
}

#[tokio::test]
async fn what_was_not_done_is_told_as_failed() {
    let desk = Desk::new().await;
    let what = ActionPayload::Custom {
        title: "Call the bank".to_owned(),
        summary: Some("They owe you *ten dollars*".to_owned()),
        facts: Some(serde_json::json!({ "number": 12 }).to_string()),
    };
    let action = desk.propose(what.into()).await.unwrap();
    approve(desk.app(), &desk.session, &action, None).await.unwrap();
    let failed = actions::confirm(desk.app(), &desk.session, action.id, false).await.unwrap();
    assert_eq!(ended(&failed), ("failed", Some("NOT_DONE")));
    is_conflict(actions::confirm(desk.app(), &desk.session, action.id, true).await);
    let told =
        ["action.created pending_approval", "action.decided approved", "action.executed failed"];
    assert_eq!(desk.events(&action).await, told);
    desk.is_sound().await;
}

#[tokio::test]
async fn what_is_carried_out_by_us_is_not_confirmed_by_hand() {
    let desk = Desk::new().await;
    let order = desk.order(calc::paper::Side::Buy, "VTI", super::shares("1"));
    let action = desk.propose(order).await.unwrap();
    is_conflict(actions::confirm(desk.app(), &desk.session, action.id, true).await);
    approve(desk.app(), &desk.session, &action, None).await.unwrap();
    is_conflict(actions::confirm(desk.app(), &desk.session, action.id, false).await);
    is_conflict(actions::undo(desk.app(), &desk.session, action.id).await);
    assert_eq!(desk.get(action.id).await.status, Status::Executed);
}
