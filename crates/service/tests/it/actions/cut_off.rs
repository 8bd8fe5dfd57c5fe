//! The database connection is cut after each message in turn: an operation is completed once or not at all.

use calc::paper::{Side, Size};
use db::{Db, Target};
use service::App;
use service::actions::{self, Status};
use testkit::{Proxy, at};

use super::{ActionsFixture, approve, seen, shares, status_and_error};

/// More messages than any operation here takes.
const MESSAGES_MAX: i64 = 400;

/// How often the figures are read again. Each time, at most one more of the two transactions that a connection may have
/// had in flight has been committed.
const READS_MAX: usize = 5;

/// The number of filled trades, the number of released reserves, and the billionths of shares held.
async fn figures(fixture: &ActionsFixture) -> (i64, i64, i128) {
    let held = base::Fixed9::parse(&fixture.cash_and_shares("VTI").await.1).unwrap();
    (fixture.count_entries("buy").await, fixture.count_entries("release").await, held.billionths())
}

/// A process whose connection to the database can be cut. `None` on SQLite, which has no connection: there, processes
/// are killed instead.
async fn behind_proxy(fixture: &ActionsFixture) -> Option<(Proxy, App)> {
    let (proxy, url) = Proxy::to(fixture.world.database.url()?).await;
    let db = Db::open(&Target::postgres(&url).unwrap()).await.unwrap();
    Some((proxy, fixture.world.other_process_on(db)))
}

#[tokio::test]
async fn an_approval_cut_off_at_any_message_is_executed_once_or_can_be_repeated() {
    let fixture = ActionsFixture::with_cash("1000000.00").await;
    let Some((proxy, other_process)) = behind_proxy(&fixture).await else { return };
    let price = Some(fixture.price("VTI").await);
    let (mut undecided, mut finished_here, mut bought) = (0, 0, 0);
    for messages in 0..MESSAGES_MAX {
        let action = fixture.propose(fixture.order(Side::Buy, "VTI", shares("1"))).await.unwrap();
        proxy.restore();
        proxy.cut_after(messages);
        let approved = actions::approve(
            &other_process,
            &fixture.session,
            action.id,
            seen(&action, price),
            None,
        );
        let approved = approved.await;
        let is_uncut = proxy.messages_left() > 0;
        match fixture.get(action.id).await.status {
            Status::PendingApproval => {
                assert!(approved.is_err(), "{approved:?}");
                // Another process can still decide, unless the approval was committed after all.
                match approve(fixture.app(), &fixture.session, &action, price).await {
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
        actions::execute_once(fixture.app()).await.unwrap();
        bought += 1;
        assert_eq!(
            status_and_error(&fixture.get(action.id).await),
            ("executed", None),
            "at {messages}"
        );
        assert_eq!(fixture.count_entries("buy").await, bought, "at {messages}");
        assert_eq!(fixture.events(&action).await.len(), 3, "at {messages}");
        if is_uncut {
            approved.unwrap();
            break;
        }
    }
    assert!(undecided > 5 && finished_here > 5, "{undecided} {finished_here}");
    assert!(proxy.messages_left() > 0, "no approval got through without a cut");
    assert_eq!(fixture.cash().await, (100_000_000 - bought * 5_000, 0));
    fixture.verify_integrity().await;
}

#[tokio::test]
async fn a_queued_trade_cut_off_at_any_message_while_it_is_filled_is_filled_once() {
    let fixture = ActionsFixture::with_cash("1000000.00").await;
    let Some((proxy, other_process)) = behind_proxy(&fixture).await else { return };
    fixture.advance_to(at("2026-03-10T21:00:00Z"));
    fixture.world.market.set("VTI", "50", None);
    let mut queued = Vec::new();
    for _ in 0..60 {
        let waiting = fixture.trade(Side::Buy, "VTI", Size::Cash(10_000)).await;
        assert_eq!(waiting.status, Status::Approved);
        queued.push(waiting.id);
    }
    fixture.advance_to(at("2026-03-11T13:31:00Z"));
    fixture.world.market.set("VTI", "50", None);
    let (mut messages, mut failures) = (0, 0);
    while fixture.count_entries("buy").await < 60 {
        proxy.restore();
        proxy.cut_after(messages);
        // Whether the step failed or went on to the next trade, the ledger must be consistent.
        failures += usize::from(actions::execute_once(&other_process).await.is_err());
        // A commit whose response was cut off may land between two queries, so the figures are read again until they
        // agree.
        let mut read = figures(&fixture).await;
        for _ in 0..READS_MAX {
            if read.0 == read.1 && read.2 == i128::from(read.0) * 2_000_000_000 {
                break;
            }
            read = figures(&fixture).await;
        }
        let (bought, released, held) = read;
        assert_eq!((released, held), (bought, i128::from(bought) * 2_000_000_000), "at {messages}");
        messages += 1;
        assert!(
            messages < MESSAGES_MAX,
            "it did not finish within the expected number of messages"
        );
    }
    assert!(failures > 0);
    for id in queued {
        assert_eq!(status_and_error(&fixture.get(id).await), ("executed", None));
    }
    assert_eq!(fixture.cash().await, (100_000_000 - 60 * 10_000, 0));
    fixture.verify_integrity().await;
}
