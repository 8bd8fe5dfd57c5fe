//! What waits to be imported is bounded, for each person and for all, and long text is kept short.

use service::ingest::imports::files::{self, Limits, PreviewOutcome, ReadingLimits};
use service::{App, Caller, Error, Result};
use testkit::{Person, World};

const MIB: usize = 1_024 * 1_024;

async fn hold(app: &App, caller: &Caller, bytes: usize) -> Result<base::FileId> {
    files::stage(app, caller, "large.csv", vec![b'x'; bytes]).await
}

fn message(refused: Result<base::FileId>) -> String {
    match refused.unwrap_err() {
        Error::Invalid { message, .. } => message,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn staged_files_are_bounded_for_each_person_and_for_all() {
    let world = World::new().await;
    let limits = Limits {
        staged_bytes_per_person: 3 * MIB as i64,
        staged_bytes: 5 * MIB as i64,
        ..Limits::default()
    };
    let app = world.with_imports(limits);
    let (robin, kim) = (world.someone().await, world.someone().await);
    hold(&app, &robin.caller, 2 * MIB).await.unwrap();
    let one = hold(&app, &robin.caller, MIB).await.unwrap();
    let refused = message(hold(&app, &robin.caller, 1).await);
    assert!(refused.contains("can have 3 MiB together. Import or discard"), "{refused}");
    hold(&app, &kim.caller, 2 * MIB).await.unwrap();
    let refused = message(hold(&app, &kim.caller, 1).await);
    assert!(refused.contains("imports.staged_mib"), "{refused}");
    // What is discarded or imported makes room.
    files::discard(&app, &robin.caller, one).await.unwrap();
    hold(&app, &kim.caller, MIB).await.unwrap();
}

#[tokio::test]
async fn a_file_larger_than_a_part_comes_back_as_it_was() {
    let world = World::new().await;
    let robin = world.someone().await;
    let rows: String = (0..60_000).map(|it| format!("2026-03-02,Lunch {it},-1.00\n")).collect();
    let text = format!("Date,Description,Amount\n{rows}");
    assert!(text.len() > MIB + MIB / 4);
    let id = files::stage(&world.app, &robin.caller, "lunch.csv", text).await.unwrap();
    let look = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!((look.tally().new, look.rejected.count), (60_000, 0));
    assert_eq!(look.accounts[0].rows.len(), 200);
    let held = files::get(&world.app, &robin.caller, id).await.unwrap();
    let found = held.preview.unwrap();
    assert_eq!((found.outcome, found.new), (PreviewOutcome::NeedsAnswer, 60_000));
    files::discard(&world.app, &robin.caller, id).await.unwrap();
    let left = world.stored().await;
    assert!(left["import_file_parts"].is_empty(), "the bytes of a discarded file stayed");
}

#[tokio::test]
async fn a_file_with_too_many_rows_is_refused_and_says_what_to_do() {
    let world = World::new().await;
    let limits = Limits {
        reading: ReadingLimits { rows: 3, ..ReadingLimits::DEFAULT },
        ..Limits::default()
    };
    let app = world.with_imports(limits);
    let robin = world.someone().await;
    let text = format!("Date,Description,Amount\n{}", "2026-03-02,Lunch,-1.00\n".repeat(4));
    let id = files::stage(&app, &robin.caller, "lunch.csv", text).await.unwrap();
    let look = files::preview(&app, &robin.caller, id).await.unwrap();
    let said = look.error.clone().unwrap();
    assert!(said.contains("more than 3 rows") && said.contains("imports.rows"), "{said}");
    assert!(!look.is_ready());
    let refused = files::commit(&app, &robin.caller, id).await.unwrap_err();
    assert!(refused.to_string().contains("more than 3 rows"), "{refused}");
    let held = files::get(&app, &robin.caller, id).await.unwrap();
    assert_eq!(held.preview.unwrap().error, Some(said));
}

/// Ids must fit into an index, and a description into an answer of the API.
#[tokio::test]
async fn long_text_is_cut_and_known_again() {
    let world = World::new().await;
    let robin = world.someone().await;
    let (words, id) = ("Ä".repeat(200_000), "9".repeat(200_000));
    let ofx = format!(
        "OFXHEADER:100\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD<BANKACCTFROM>\
         <BANKID>1<ACCTID>{id}<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST><STMTTRN>\
         <TRNTYPE>DEBIT<DTPOSTED>20260302<TRNAMT>-4.50<FITID>A1<NAME>{words}</STMTTRN>\
         </BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
    );
    let csv = format!(
        "Date,Transaction ID,Description,Amount,Balance\n2026-03-02,{id}1,{words},-1.00,9.00\n\
         2026-03-03,{id}2,{words},-1.00,8.00\n"
    );
    for (text, rows) in [(ofx, 1), (csv, 2)] {
        for new in [rows, 0] {
            let file = files::stage(&world.app, &robin.caller, "long", text.clone()).await.unwrap();
            into_first(&world, &robin, file).await;
            let look = files::preview(&world.app, &robin.caller, file).await.unwrap();
            assert_eq!(look.tally().new, new, "the preview");
            assert!(look.accounts[0].name.len() <= 400 && look.accounts[0].number.len() <= 500);
            let taken = files::commit(&world.app, &robin.caller, file).await.unwrap();
            assert_eq!(taken.summary.new, new, "the import");
        }
    }
    let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    assert!(listed.iter().all(|it| it.description.chars().count() <= 2_000));
}

/// Where the person is asked, the first of their accounts.
async fn into_first(world: &World, robin: &Person, id: base::FileId) {
    let look = files::preview(&world.app, &robin.caller, id).await.unwrap();
    if look.accounts[0].destination == files::Destination::Unknown {
        let destination =
            Some(files::DestinationChoice::Existing(look.accounts[0].candidates[0].0));
        let choice = files::AccountChoice { destination, ..Default::default() };
        let choices = files::Choices { accounts: [(0, choice)].into(), ..look.choices };
        files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    }
}
