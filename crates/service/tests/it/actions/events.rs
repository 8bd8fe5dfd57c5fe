//! Events and audit entries of an action: each change of its status once in the outbox, and once in the audit trail
//! with its digest.

use calc::paper::Side;
use service::actions;
use service::platform::audit::ActorKind;

use super::once::cancel;
use super::{ActionsFixture, approve, seen, shares};

/// The audit entries about one action, oldest first: who did what.
async fn trail(fixture: &ActionsFixture, action: &actions::Action) -> Vec<(ActorKind, String)> {
    let mut entries =
        service::platform::audit::list(fixture.app(), &fixture.session, None, 1_000).await.unwrap();
    entries.reverse();
    let about = entries.into_iter().filter(|it| it.subject == Some(action.id.to_string()));
    about
        .map(|it| {
            assert_eq!(it.digest.as_deref(), Some(&action.computed_digest()[..]), "{}", it.action);
            (it.actor.kind, it.action)
        })
        .collect()
}

fn owned(entries: &[(ActorKind, &str)]) -> Vec<(ActorKind, String)> {
    entries.iter().map(|(who, action)| (*who, (*action).to_owned())).collect()
}

#[tokio::test]
async fn every_status_change_has_one_event_and_one_audit_entry_with_the_digest() {
    use ActorKind::{Key, Person, System};
    let fixture = ActionsFixture::new().await;
    let propose =
        async || fixture.propose(fixture.order(Side::Buy, "VTI", shares("100"))).await.unwrap();
    let price = Some(fixture.price("VTI").await);
    let [bought, failed, rejected, canceled, expired] =
        [propose().await, propose().await, propose().await, propose().await, propose().await];
    approve(fixture.app(), &fixture.session, &bought, price).await.unwrap();
    let more = fixture.trade(Side::Buy, "AAPL", shares("20")).await;
    assert_eq!(more.status, actions::Status::Executed);
    approve(fixture.app(), &fixture.session, &failed, price).await.unwrap();
    let reason = Some("  Too dear ".to_owned());
    let it = actions::reject(
        fixture.app(),
        &fixture.session,
        rejected.id,
        seen(&rejected, None),
        reason,
    );
    assert_eq!(it.await.unwrap().rejection_reason.as_deref(), Some("Too dear"));
    cancel(fixture.app(), &fixture.key.caller, canceled.id).await.unwrap();
    fixture.world.advance_seconds(86_400);
    actions::expire_once(fixture.app()).await.unwrap();
    actions::expire_once(fixture.app()).await.unwrap();
    actions::execute_once(fixture.app()).await.unwrap();
    let cases = [
        (
            &bought,
            &["action.decided approved", "action.executed executed"][..],
            &[(Person, "action.approve"), (System, "action.execute")][..],
        ),
        (
            &failed,
            &["action.decided approved", "action.executed failed"],
            &[(Person, "action.approve"), (System, "action.fail")],
        ),
        (&rejected, &["action.decided rejected"], &[(Person, "action.reject")]),
        (&canceled, &["action.decided cancelled"], &[(Key, "action.cancel")]),
        (&expired, &["action.decided expired"], &[(System, "action.expire")]),
    ];
    for (action, events, entries) in cases {
        let sent = fixture.events(action).await;
        assert_eq!(sent[0], "action.created pending_approval");
        assert_eq!(sent[1..], *events);
        let mut expected = owned(&[(Key, "action.create")]);
        expected.extend(owned(entries));
        assert_eq!(trail(&fixture, action).await, expected);
    }
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_queued_trade_is_audited_when_queued_and_sends_its_event_when_filled() {
    let fixture = ActionsFixture::new().await;
    fixture.advance_to(testkit::at("2026-03-10T21:00:00Z"));
    fixture.world.market.set("VTI", "50", None);
    let action = fixture.trade(Side::Buy, "VTI", shares("1")).await;
    let decided = ["action.created pending_approval", "action.decided approved"];
    assert_eq!(fixture.events(&action).await, decided);
    fixture.advance_to(testkit::at("2026-03-11T13:31:00Z"));
    fixture.world.market.set("VTI", "50", None);
    actions::execute_once(fixture.app()).await.unwrap();
    assert_eq!(fixture.events(&action).await.last().unwrap(), "action.executed executed");
    let names: Vec<String> = trail(&fixture, &action).await.into_iter().map(|it| it.1).collect();
    assert_eq!(names, ["action.create", "action.approve", "action.queue", "action.execute"]);
}
