//! Anchors: entries of the audit trail or of a paper ledger that are cut off, added or rolled back in the database are
//! detected.

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

use crate::actions::ActionsFixture;
use crate::{PASSWORD, signed_in};

/// Changes the database directly.
async fn tamper(world: &World, sql: &'static str) {
    let work = move |tx: &mut db::Tx<'_>| Ok::<_, Error>(tx.execute(sql, &[])?);
    assert!(world.app.db.write(work).await.unwrap() > 0, "{sql} changed nothing");
}

/// A person whose audit trail has that many entries.
async fn with_trail(world: &World, entries: usize) -> Caller {
    let (user, caller) = signed_in(world, "robin@example.com").await;
    for _ in 1..entries {
        profiles::reset_password(&world.app, user.id, PASSWORD).await.unwrap();
    }
    Caller::owner(caller.user, base::TimeZone::utc())
}

async fn verdict(world: &World, caller: &Caller) -> Verdict {
    audit::verify(&world.app, caller).await.unwrap()
}

const TRUNCATE: &str = "delete from audit where number > 10";

#[tokio::test]
async fn an_audit_trail_without_its_last_entries_is_truncated() {
    let world = World::new().await;
    let robin = with_trail(&world, 20).await;
    let intact = verdict(&world, &robin).await;
    let is_intact = matches!(intact, Verdict::Intact { entries: 20, unanchored: 0, .. });
    assert!(is_intact, "{intact:?}");
    tamper(&world, TRUNCATE).await;
    let truncated =
        Verdict::AnchorMismatch(AnchorMismatch::Truncated { entries: 10, anchored: 20 });
    assert_eq!(verdict(&world, &robin).await, truncated);
    // Later entries do not hide it, however many there are.
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
async fn a_deleted_audit_trail_is_detected() {
    let world = World::new().await;
    let robin = with_trail(&world, 5).await;
    chains::anchor_missing(&world.app).await.unwrap();
    tamper(&world, "delete from audit where number > 0").await;
    let truncated = Verdict::AnchorMismatch(AnchorMismatch::Truncated { entries: 0, anchored: 5 });
    assert_eq!(verdict(&world, &robin).await, truncated);
    tamper(&world, "delete from anchors where chain = 'audit'").await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Missing));
    // The next start does not anchor it again.
    chains::anchor_missing(&world.app).await.unwrap();
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Missing));
    let kim = world.person("kim@example.com").await;
    assert!(matches!(verdict(&world, &kim.caller).await, Verdict::Intact { entries: 0, .. }));
}

#[tokio::test]
async fn a_forged_or_copied_anchor_is_detected() {
    let world = World::new().await;
    let robin = with_trail(&world, 20).await;
    tamper(&world, TRUNCATE).await;
    let fitting = "update anchors set number = 10, hash =
        (select hash from audit where number = 10) where chain = 'audit'";
    tamper(&world, fitting).await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Forged));
    // The anchor of another person.
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
    // A seal that was made for another purpose.
    let seal = "update anchors set seal = since_seal where chain = 'audit'";
    tamper(&world, seal).await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Forged));
}

#[tokio::test]
async fn an_outdated_anchor_is_detected() {
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
async fn a_database_without_anchors_is_anchored_once_and_reports_since_when() {
    let world = World::new().await;
    let robin = with_trail(&world, 7).await;
    tamper(&world, "delete from anchors where chain = 'audit'").await;
    world.advance_seconds(60);
    chains::anchor_missing(&world.app).await.unwrap();
    let anchored_at = world.clock.now();
    let intact = Verdict::Intact { entries: 7, unanchored: 7, anchored_at };
    assert_eq!(verdict(&world, &robin).await, intact);
    profiles::reset_password(&world.app, robin.user, PASSWORD).await.unwrap();
    let intact = Verdict::Intact { entries: 8, unanchored: 7, anchored_at };
    assert_eq!(verdict(&world, &robin).await, intact);
    tamper(&world, "delete from audit where number = 8").await;
    let truncated = Verdict::AnchorMismatch(AnchorMismatch::Truncated { entries: 7, anchored: 8 });
    assert_eq!(verdict(&world, &robin).await, truncated);
    // A changed start of the anchored range is detected as well.
    tamper(&world, "update anchors set since_number = 0 where chain = 'audit'").await;
    assert_eq!(verdict(&world, &robin).await, Verdict::AnchorMismatch(AnchorMismatch::Forged));
}

#[tokio::test]
async fn concurrent_entries_leave_an_intact_audit_trail() {
    let world = World::new().await;
    let robin = with_trail(&world, 1).await;
    let other_process = world.other_process().await;
    let write = |app: service::App| {
        let caller = robin.clone();
        async move {
            for _ in 0..10 {
                service::access::keys::create(&app, &caller, testkit::new_key()).await.unwrap();
            }
        }
    };
    let reads = async {
        for _ in 0..20 {
            let found = verdict(&world, &robin).await;
            assert!(matches!(found, Verdict::Intact { .. }), "{found:?}");
        }
    };
    tokio::join!(write(world.app.clone()), write(other_process), reads);
    assert!(matches!(verdict(&world, &robin).await, Verdict::Intact { entries: 21, .. }));
}

/// A fixture whose ledger ends with three buys.
async fn with_ledger() -> ActionsFixture {
    let fixture = ActionsFixture::new().await;
    for _ in 0..3 {
        fixture.trade(Side::Buy, "AAPL", Size::Shares(Fixed9::parse("1").unwrap())).await;
    }
    fixture.verify_integrity().await;
    fixture
}

async fn faults(fixture: &ActionsFixture) -> String {
    paper::verify(fixture.app(), &fixture.session).await.unwrap().faults.join("; ")
}

#[tokio::test]
async fn a_truncated_ledger_with_adjusted_figures_is_detected() {
    let fixture = with_ledger().await;
    let world = &fixture.world;
    // An attacker who knows the sums deletes the last entry, and adjusts everything that follows from it.
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
    let found = faults(&fixture).await;
    assert!(found.contains("it has 3 entries, but its anchor says 4"), "{found}");
    assert!(!found.contains("follow"), "the sums alone do not show it: {found}");
}

#[tokio::test]
async fn a_deleted_or_changed_ledger_entry_is_detected() {
    let fixture = with_ledger().await;
    tamper(&fixture.world, "delete from paper_entries where number = 3").await;
    assert!(faults(&fixture).await.contains("entry 3 is missing"));
    let fixture = with_ledger().await;
    tamper(&fixture.world, "update paper_entries set price = '1' where number = 2").await;
    assert!(faults(&fixture).await.contains("entry 4 is not the one that was anchored"));
    let fixture = with_ledger().await;
    for sql in [
        "delete from paper_legs",
        "delete from paper_entries",
        "delete from paper_positions",
        "delete from paper_accounts",
    ] {
        tamper(&fixture.world, sql).await;
    }
    assert!(faults(&fixture).await.contains("is missing together with its ledger"));
}

#[tokio::test]
async fn ledgers_without_anchors_are_anchored() {
    let fixture = with_ledger().await;
    tamper(&fixture.world, "delete from anchors").await;
    assert!(faults(&fixture).await.contains("its anchor is missing"));
    chains::anchor_missing(fixture.app()).await.unwrap();
    fixture.verify_integrity().await;
    fixture.trade(Side::Sell, "AAPL", Size::Shares(Fixed9::parse("1").unwrap())).await;
    fixture.verify_integrity().await;
}
