//! What is told of an action: each change of its state once in the outbox, and once in the trail with its digest.

use calc::paper::Side;
use service::actions;
use service::platform::audit::ActorKind;

use super::once::cancel;
use super::{Desk, approve, seen, shares};

/// The entries of the trail about one action, the oldest first: who did what.
async fn trail(desk: &Desk, action: &actions::Action) -> Vec<(ActorKind, String)> {
    let mut entries =
        service::platform::audit::list(desk.app(), &desk.session, None, 1_000).await.unwrap();
    entries.reverse();
    let about = entries.into_iter().filter(|it| it.subject == Some(action.id.to_string()));
    about
        .map(|it| {
            assert_eq!(it.digest.as_deref(), Some(&action.computed_digest()[..]), "{}", it.action);
            (it.actor.kind, it.action)
        })
        .collect()
}

fn said(entries: &[(ActorKind, &str)]) -> Vec<(ActorKind, String)> {
    entries.iter().map(|(who, what)| (*who, (*what).to_owned())).collect()
}

#[tokio::test]
async fn every_way_through_is_told_once_and_stands_in_the_trail_with_the_digest() {
    use ActorKind::{Key, Person, System};
    let desk = Desk::new().await;
    let propose = async || desk.propose(desk.order(Side::Buy, "VTI", shares("100"))).await.unwrap();
    let price = Some(desk.price("VTI").await);
    let [bought, failed, rejected, withdrawn, expired] =
        [propose().await, propose().await, propose().await, propose().await, propose().await];
    approve(desk.app(), &desk.session, &bought, price).await.unwrap();
    let more = desk.trade(Side::Buy, "AAPL", shares("20")).await;
    assert_eq!(more.status, actions::Status::Executed);
    approve(desk.app(), &desk.session, &failed, price).await.unwrap();
    let reason = Some("  Too dear ".to_owned());
    let it = actions::reject(desk.app(), &desk.session, rejected.id, seen(&rejected, None), reason);
    assert_eq!(it.await.unwrap().rejection_reason.as_deref(), Some("Too dear"));
    cancel(desk.app(), &desk.key.caller, withdrawn.id).await.unwrap();
    desk.world.advance_seconds(86_400);
    actions::expire_once(desk.app()).await.unwrap();
    actions::expire_once(desk.app()).await.unwrap();
    actions::execute_once(desk.app()).await.unwrap();
    let ways = [
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
        (&withdrawn, &["action.decided cancelled"], &[(Key, "action.cancel")]),
        (&expired, &["action.decided expired"], &[(System, "action.expire")]),
    ];
    for (action, events, entries) in ways {
        let told = desk.events(action).await;
        assert_eq!(told[0], "action.created pending_approval");
        assert_eq!(told[1..], *events);
        let mut expected = said(&[(Key, "action.create")]);
        expected.extend(said(entries));
        assert_eq!(trail(&desk, action).await, expected);
    }
    desk.is_sound().await;
}

#[tokio::test]
async fn a_trade_that_waits_is_in_the_trail_as_waiting_and_is_told_when_it_is_filled() {
    let desk = Desk::new().await;
    desk.wait_until(testkit::at("2026-03-10T21:00:00Z"));
    desk.world.market.set("VTI", "50", None);
    let action = desk.trade(Side::Buy, "VTI", shares("1")).await;
    let decided = ["action.created pending_approval", "action.decided approved"];
    assert_eq!(desk.events(&action).await, decided);
    desk.wait_until(testkit::at("2026-03-11T13:31:00Z"));
    desk.world.market.set("VTI", "50", None);
    actions::execute_once(desk.app()).await.unwrap();
    assert_eq!(desk.events(&action).await.last().unwrap(), "action.executed executed");
    let names: Vec<String> = trail(&desk, &action).await.into_iter().map(|it| it.1).collect();
    assert_eq!(names, ["action.create", "action.approve", "action.queue", "action.execute"]);
}
