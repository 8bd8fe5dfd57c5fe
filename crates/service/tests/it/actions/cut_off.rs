//! A process that is cut off from its database at every single message: what it was doing is done once or not at all.

use calc::paper::{Side, Size};
use db::{Db, Target};
use service::App;
use service::actions::{self, Status};
use testkit::{Proxy, at};

use super::{Desk, approve, ended, seen, shares};

/// More messages than any of this takes.
const MESSAGES_MAX: i64 = 400;

/// Each time, at most one more transaction of the two that a connection may have had under way is through.
const ASKED_MAX: usize = 5;

/// Trades that were filled, reserves that were given back, and billionths of shares held.
async fn figures(desk: &Desk) -> (i64, i64, i128) {
    let held = base::Fixed9::parse(&desk.holds("VTI").await.1).unwrap();
    (desk.entries("buy").await, desk.entries("release").await, held.billionths())
}

/// A process whose wire to the database can be cut. SQLite has no wire: there, processes are killed instead.
async fn over_a_wire(desk: &Desk) -> Option<(Proxy, App)> {
    let (proxy, url) = Proxy::to(desk.world.database.url()?).await;
    let db = Db::open(&Target::postgres(&url).unwrap()).await.unwrap();
    Some((proxy, desk.world.other_process_on(db)))
}

#[tokio::test]
async fn an_approval_that_is_cut_off_at_any_message_is_carried_out_once_or_not_given() {
    let desk = Desk::with_cash("1000000.00").await;
    let Some((proxy, there)) = over_a_wire(&desk).await else { return };
    let price = Some(desk.price("VTI").await);
    let (mut undecided, mut finished_here, mut bought) = (0, 0, 0);
    for messages in 0..MESSAGES_MAX {
        let action = desk.propose(desk.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
        proxy.restore();
        proxy.cut_after(messages);
        let said = actions::approve(&there, &desk.session, action.id, seen(&action, price), None);
        let said = said.await;
        let is_whole = proxy.messages_left() > 0;
        match desk.get(action.id).await.status {
            Status::PendingApproval => {
                assert!(said.is_err(), "{said:?}");
                // It can still be decided, by a process that is not cut off; unless the word was on its way all along.
                match approve(desk.app(), &desk.session, &action, price).await {
                    Ok(_) => undecided += 1,
                    Err(error) => {
                        assert_eq!(error.to_string(), "this proposal was already approved");
                        finished_here += 1;
                    }
                }
            }
            Status::Approved => finished_here += 1,
            other => assert_eq!(other, Status::Executed),
        }
        actions::execute_once(desk.app()).await.unwrap();
        bought += 1;
        assert_eq!(ended(&desk.get(action.id).await), ("executed", None), "at {messages}");
        assert_eq!(desk.entries("buy").await, bought, "at {messages}");
        assert_eq!(desk.events(&action).await.len(), 3, "at {messages}");
        if is_whole {
            said.unwrap();
            break;
        }
    }
    assert!(undecided > 5 && finished_here > 5, "{undecided} {finished_here}");
    assert!(proxy.messages_left() > 0, "it never came through");
    assert_eq!(desk.cash().await, (100_000_000 - bought * 5_000, 0));
    desk.is_sound().await;
}

#[tokio::test]
async fn a_queued_trade_whose_filling_is_cut_off_at_any_message_is_filled_once() {
    let desk = Desk::with_cash("1000000.00").await;
    let Some((proxy, there)) = over_a_wire(&desk).await else { return };
    desk.wait_until(at("2026-03-10T21:00:00Z"));
    desk.world.market.set("VTI", "50", None);
    let mut queued = Vec::new();
    for _ in 0..60 {
        let waiting = desk.trade(Side::Buy, "VTI", Size::Cash(10_000)).await;
        assert_eq!(waiting.status, Status::Approved);
        queued.push(waiting.id);
    }
    desk.wait_until(at("2026-03-11T13:31:00Z"));
    desk.world.market.set("VTI", "50", None);
    let (mut messages, mut failures) = (0, 0);
    while desk.entries("buy").await < 60 {
        proxy.restore();
        proxy.cut_after(messages);
        // Whether it failed as a whole or went on to the next, the ledger must be whole.
        failures += usize::from(actions::execute_once(&there).await.is_err());
        // A commit whose answer was cut off may arrive between two questions, so they are asked again, and then agree.
        let mut answers = figures(&desk).await;
        for _ in 0..ASKED_MAX {
            if answers.0 == answers.1 && answers.2 == i128::from(answers.0) * 2_000_000_000 {
                break;
            }
            answers = figures(&desk).await;
        }
        let (bought, released, held) = answers;
        assert_eq!((released, held), (bought, i128::from(bought) * 2_000_000_000), "at {messages}");
        messages += 1;
        assert!(messages < MESSAGES_MAX, "it never came to an end");
    }
    assert!(failures > 0);
    for id in queued {
        assert_eq!(ended(&desk.get(id).await), ("executed", None));
    }
    assert_eq!(desk.cash().await, (100_000_000 - 60 * 10_000, 0));
    desk.is_sound().await;
}
