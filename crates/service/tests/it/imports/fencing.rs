//! A commit that lost its lease writes nothing: the process that took the file over is the only one that imports it.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use base::FileId;
use db::params;
use service::ingest::imports;
use service::ingest::imports::files::{self, CommitOutcome, State};
use service::{App, Caller, Error};
use testkit::{Person, World};

const OFX: &str = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS>\
    <CURDEF>USD<BANKACCTFROM><BANKID>123456789<ACCTID>000987654321<ACCTTYPE>CHECKING</BANKACCTFROM>\
    <BANKTRANLIST><DTSTART>20260301<DTEND>20260309\
    <STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260302<TRNAMT>-4.50<FITID>A1<NAME>BLUE BOTTLE COFFEE</STMTTRN>\
    <STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260306<TRNAMT>1250.00<FITID>A2<NAME>ACME PAYROLL</STMTTRN>\
    </BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>";
/// Longer than the lease of a commit.
const ELEVEN_MINUTES: u64 = 660;

pub(crate) type Commit = Pin<Box<dyn Future<Output = service::Result<CommitOutcome>>>>;

async fn state(world: &World, id: FileId) -> (String, Option<i64>) {
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let text = "select state, leased_until from import_files where id = $1";
    world.app.db.first(text, params![id], read).await.unwrap().unwrap()
}

/// A commit that holds its lease and is not polled any more: a process that was paused right there.
pub(crate) async fn paused(world: &World, app: &App, caller: &Caller, id: FileId) -> Commit {
    let before = state(world, id).await;
    let (app, caller) = (app.clone(), caller.clone());
    let mut commit: Commit = Box::pin(async move { files::commit(&app, &caller, id).await });
    for _ in 0..10_000 {
        let polled = poll_fn(|context| Poll::Ready(commit.as_mut().poll(context))).await;
        assert!(polled.is_pending(), "it was not paused in time");
        let now = state(world, id).await;
        if now.0 == "committing" && now != before {
            return commit;
        }
        tokio::task::yield_now().await;
    }
    panic!("the file was never leased");
}

pub(crate) async fn staged(world: &World) -> (Person, FileId) {
    let robin = world.person("robin@example.com").await;
    let content = OFX.as_bytes().to_vec();
    let id = files::stage(&world.app, &robin.caller, "march.ofx", content).await.unwrap();
    (robin, id)
}

/// One account, each row once, one batch.
pub(crate) async fn is_imported_once(world: &World, robin: &Person, by: &CommitOutcome) {
    let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    assert_eq!(listed.len(), 2);
    let history = imports::list(&world.app, &robin.caller, None, 10).await.unwrap();
    assert_eq!(history.iter().map(|it| it.id).collect::<Vec<_>>(), [by.import]);
}

#[tokio::test]
async fn a_commit_that_was_paused_past_its_lease_writes_nothing_after_another_one() {
    let world = World::new().await;
    let (robin, id) = staged(&world).await;
    let late = paused(&world, &world.app, &robin.caller, id).await;

    world.clock.advance(Duration::from_secs(ELEVEN_MINUTES));
    let other_process = world.other_process().await;
    let committed = files::commit(&other_process, &robin.caller, id).await.unwrap();

    let refused = late.await.unwrap_err();
    assert!(matches!(refused, Error::Conflict { .. }), "{refused}");
    assert!(refused.to_string().contains("Nothing was changed"), "{refused}");
    is_imported_once(&world, &robin, &committed).await;
    let file = files::get(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!((file.state, file.import), (State::Done, Some(committed.import)));
}

#[tokio::test]
async fn a_commit_that_lost_its_lease_does_not_release_the_lease_of_another_one() {
    let world = World::new().await;
    let (robin, id) = staged(&world).await;
    let first = paused(&world, &world.app, &robin.caller, id).await;
    world.clock.advance(Duration::from_secs(ELEVEN_MINUTES));
    let other_process = world.other_process().await;
    let second = paused(&world, &other_process, &robin.caller, id).await;

    let lease = state(&world, id).await;
    assert!(matches!(first.await.unwrap_err(), Error::Conflict { .. }));
    assert_eq!(state(&world, id).await, lease, "the lease of the second commit was taken away");
    let refused = files::commit(&world.app, &robin.caller, id).await.unwrap_err();
    assert!(refused.to_string().contains("is being imported right now"), "{refused}");

    let committed = second.await.unwrap();
    is_imported_once(&world, &robin, &committed).await;
}

/// The lease is only over for others: as long as nobody took the file, the slow process may finish.
#[tokio::test]
async fn a_slow_commit_whose_lease_nobody_took_still_succeeds() {
    let world = World::new().await;
    let (robin, id) = staged(&world).await;
    let slow = paused(&world, &world.app, &robin.caller, id).await;
    world.clock.advance(Duration::from_secs(ELEVEN_MINUTES));
    let committed = slow.await.unwrap();
    is_imported_once(&world, &robin, &committed).await;
}

#[tokio::test]
async fn a_file_that_was_deleted_while_its_commit_was_paused_is_not_imported() {
    let world = World::new().await;
    let (robin, id) = staged(&world).await;
    let late = paused(&world, &world.app, &robin.caller, id).await;
    world.clock.advance(Duration::from_secs(2 * 86_400));
    assert_eq!(files::forget_once(&world.app).await.unwrap(), 1);
    assert!(late.await.is_err());
    let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    assert!(listed.is_empty());
}

#[tokio::test]
async fn a_lease_from_before_the_clock_was_set_back_blocks_nobody() {
    let world = World::new().await;
    let (robin, id) = staged(&world).await;
    let late = paused(&world, &world.app, &robin.caller, id).await;

    world.clock.set_back(Duration::from_secs(3_600));
    let other_process = world.other_process().await;
    let committed = files::commit(&other_process, &robin.caller, id).await.unwrap();

    let refused = late.await.unwrap_err();
    assert!(matches!(refused, Error::Conflict { .. }), "{refused}");
    is_imported_once(&world, &robin, &committed).await;
}
