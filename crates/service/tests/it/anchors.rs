//! The end of the audit trail and of paper ledgers: what is cut off, added or rolled back in the database is noticed.

use base::Fixed9;
use calc::paper::{Side, Size};
use db::params;
use service::access::profiles;
use service::chains;
use service::platform::anchors::AnchorMismatch;
use service::platform::audit::{self, Verdict};
use service::trading::paper;
use service::{Caller, Error};
use testkit::World;

use crate::actions::Desk;
use crate::{PASSWORD, signed_in};

/// Changes the database behind everybody's back.
async fn tamper(world: &World, sql: &'static str) {
    let work = move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(sql, &[])?);
    assert!(world.app.db.write(work).await.unwrap() > 0, "{sql} changed nothing");
}

/// Somebody with a trail of that many entries.
async fn with_trail(world: &World, entries: usize) -> Caller {
    let (user, caller) = signed_in(world, "robin@example.com").await;
    for _ in 1..entries {
        profiles::reset_password(&world.app, user.id, PASSWORD).await.unwrap();
    }
    Caller::owner(caller.user)
}

async fn verdict(world: &World, caller: &Caller) -> Verdict {
    audit::verify(&world.app, caller).await.unwrap()
}

const CUT: &str = "delete from audit where number > 10";

#[tokio::test]
async fn a_trail_whose_last_entries_are_deleted_is_not_whole() {
    let world = World::new().await;
    let robin = with_trail(&world, 20).await;
    let sound = verdict(&world, &robin).await;
    let from_the_start = matches!(sound, Verdict::Intact { entries: 20, unanchored: 0, .. });
    assert!(from_the_start, "{sound:?}");
    tamper(&world, CUT).await;
    let cut = Verdict::AnchorMismatch(AnchorMismatch::Truncated { entries: 10, anchored: 20 });
    assert_eq!(verdict(&world, &robin).await, cut);
    // What is done afterwards does not heal it, however much that is.
    world.advance_seconds(1);
    profiles::reset_password(&world.app, robin.user, PASSWORD).await.unwrap();
    let still = Verdict::AnchorMismatch(AnchorMismatch::Truncated { entries: 11, anchored: 20 });
    assert_eq!(verdict(&world, &robin).await, still);
    for _ in 0..14 {
        profiles::reset_password(&world.app, robin.user, PASSWORD).await.unwrap();
    }
    let replaced = Verdict::AnchorMismatch(AnchorMismatch::Replaced { number: 20 });
    assert_eq!(verdict(&world, &robin).await, replaced);
}

#[tokio::test]
async fn a_trail_that_is_deleted_altogether_is_not_an_empty_one() {
    let world = World::new().await;
    let robin = with_trail(&world, 5).await;
    chains::anchor_missing(&world.app).await.unwrap();
    tamper(&world, "delete from audit where number > 0").await;
    let cut = Verdict::AnchorMismatch(AnchorMismatch::Truncated { entries: 0, anchored: 5 });
    assert_eq!(verdict(&world, &robin).await, cut);
    tamper(&world, "delete from anchors where chain = 'audit'").await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Missing));
    // Nor is it anchored anew by the next start.
    chains::anchor_missing(&world.app).await.unwrap();
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Missing));
    let kim = world.person("kim@example.com").await;
    assert!(matches!(verdict(&world, &kim.caller).await, Verdict::Intact { entries: 0, .. }));
}

#[tokio::test]
async fn an_anchor_cannot_be_made_up_or_borrowed() {
    let world = World::new().await;
    let robin = with_trail(&world, 20).await;
    tamper(&world, CUT).await;
    let fitting = "update anchors set number = 10, hash =
        (select hash from audit where number = 10) where chain = 'audit'";
    tamper(&world, fitting).await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Forged));
    // One of somebody else, whose trail ends at the same number.
    let kim = world.person("kim@example.com").await;
    let borrowed = "update anchors set
        number = (select number from anchors where user_id = $2 and chain = 'audit'),
        hash = (select hash from anchors where user_id = $2 and chain = 'audit'),
        seal = (select seal from anchors where user_id = $2 and chain = 'audit')
        where user_id = $1 and chain = 'audit'";
    let (one, other) = (robin.user, kim.user.id);
    let borrow =
        move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(borrowed, params![one, other])?);
    world.app.db.write(borrow).await.unwrap();
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Forged));
    // Nor by another key.
    let seal = "update anchors set seal = since_seal where chain = 'audit'";
    tamper(&world, seal).await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Forged));
}

#[tokio::test]
async fn an_older_anchor_and_entries_without_one_are_noticed() {
    let world = World::new().await;
    let robin = with_trail(&world, 3).await;
    let keep = "insert into anchors (user_id, chain, number, hash, seal, since_number, since_at,
        since_seal) select user_id, 'kept', number, hash, seal, since_number, since_at, since_seal
        from anchors where chain = 'audit'";
    tamper(&world, keep).await;
    profiles::reset_password(&world.app, robin.user, PASSWORD).await.unwrap();
    tamper(&world, "delete from anchors where chain = 'audit'").await;
    tamper(&world, "update anchors set chain = 'audit' where chain = 'kept'").await;
    let ahead = Verdict::AnchorMismatch(AnchorMismatch::Ahead { entries: 4, anchored: 3 });
    assert_eq!(verdict(&world, &robin).await, ahead);
}

#[tokio::test]
async fn a_database_from_before_is_anchored_once_and_says_from_where() {
    let world = World::new().await;
    let robin = with_trail(&world, 7).await;
    tamper(&world, "delete from anchors where chain = 'audit'").await;
    world.advance_seconds(60);
    chains::anchor_missing(&world.app).await.unwrap();
    let anchored_at = world.clock.now();
    let sound = Verdict::Intact { entries: 7, unanchored: 7, anchored_at };
    assert_eq!(verdict(&world, &robin).await, sound);
    profiles::reset_password(&world.app, robin.user, PASSWORD).await.unwrap();
    let sound = Verdict::Intact { entries: 8, unanchored: 7, anchored_at };
    assert_eq!(verdict(&world, &robin).await, sound);
    tamper(&world, "delete from audit where number = 8").await;
    let cut = Verdict::AnchorMismatch(AnchorMismatch::Truncated { entries: 7, anchored: 8 });
    assert_eq!(verdict(&world, &robin).await, cut);
    // That it is said to be anchored since later, or earlier, is noticed as well.
    tamper(&world, "update anchors set since_number = 0 where chain = 'audit'").await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Forged));
}

#[tokio::test]
async fn entries_from_many_hands_at_once_leave_a_trail_that_is_whole() {
    let world = World::new().await;
    let robin = with_trail(&world, 1).await;
    let there = world.other_process().await;
    let write = |app: service::App| {
        let caller = robin.clone();
        async move {
            for _ in 0..10 {
                service::access::keys::create(&app, &caller, testkit::new_key()).await.unwrap();
            }
        }
    };
    let look = async {
        for _ in 0..20 {
            let found = verdict(&world, &robin).await;
            assert!(matches!(found, Verdict::Intact { .. }), "{found:?}");
        }
    };
    tokio::join!(write(world.app.clone()), write(there), look);
    assert!(matches!(verdict(&world, &robin).await, Verdict::Intact { entries: 21, .. }));
}

/// A desk whose ledger ends with two entries that cancel each other out.
async fn with_ledger() -> Desk {
    let desk = Desk::new().await;
    for _ in 0..3 {
        desk.trade(Side::Buy, "AAPL", Size::Shares(Fixed9::parse("1").unwrap())).await;
    }
    desk.is_sound().await;
    desk
}

async fn faults(desk: &Desk) -> String {
    paper::verify(desk.app(), &desk.session).await.unwrap().faults.join("; ")
}

#[tokio::test]
async fn a_ledger_that_is_cut_together_with_its_figures_is_noticed() {
    let desk = with_ledger().await;
    let world = &desk.world;
    // As somebody would who knows the sums: the last entry goes, and everything that follows from it.
    for sql in [
        "update paper_accounts set entry_count = entry_count - 1, trade_count = trade_count - 1,
            cash_minor = cash_minor - (select e.amount_minor from paper_entries e
                where e.account_id = paper_accounts.id and e.number = paper_accounts.entry_count)",
        "update paper_positions set quantity = '2', basis_minor = (select cast(sum(-e.amount_minor)
            as bigint) from paper_entries e where e.kind = 'buy' and e.number < 4)",
        "delete from paper_legs where number = 4",
        "delete from paper_entries where number = 4",
    ] {
        tamper(world, sql).await;
    }
    let said = faults(&desk).await;
    assert!(said.contains("it has 3 entries, but its anchor says 4"), "{said}");
    assert!(!said.contains("follow"), "the sums alone do not tell: {said}");
}

#[tokio::test]
async fn an_entry_that_is_taken_out_or_changed_without_a_change_of_sums_is_noticed() {
    let desk = with_ledger().await;
    tamper(&desk.world, "delete from paper_entries where number = 3").await;
    assert!(faults(&desk).await.contains("entry 3 is missing"));
    let desk = with_ledger().await;
    tamper(&desk.world, "update paper_entries set price = '1' where number = 2").await;
    assert!(faults(&desk).await.contains("entry 4 is not the one that was anchored"));
    let desk = with_ledger().await;
    for sql in [
        "delete from paper_legs",
        "delete from paper_entries",
        "delete from paper_positions",
        "delete from paper_accounts",
    ] {
        tamper(&desk.world, sql).await;
    }
    assert!(faults(&desk).await.contains("is missing together with its ledger"));
}

#[tokio::test]
async fn ledgers_from_before_are_anchored_with_their_person() {
    let desk = with_ledger().await;
    tamper(&desk.world, "delete from anchors").await;
    assert!(faults(&desk).await.contains("its anchor is missing"));
    chains::anchor_missing(desk.app()).await.unwrap();
    desk.is_sound().await;
    desk.trade(Side::Sell, "AAPL", Size::Shares(Fixed9::parse("1").unwrap())).await;
    desk.is_sound().await;
}
