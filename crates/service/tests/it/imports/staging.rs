//! Limits of staged files, for each person and for all, and of the text in them.

use service::ingest::imports::files::{self, Limits, PreviewOutcome, ReadingLimits};
use service::{App, Caller, Error, Result};
use testkit::{Person, World};

const MIB: usize = 1_024 * 1_024;

async fn stage(app: &App, caller: &Caller, bytes: usize) -> Result<base::FileId> {
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
    stage(&app, &robin.caller, 2 * MIB).await.unwrap();
    let one = stage(&app, &robin.caller, MIB).await.unwrap();
    let refused = message(stage(&app, &robin.caller, 1).await);
    assert!(refused.contains("can have 3 MB together. Import or discard"), "{refused}");
    stage(&app, &kim.caller, 2 * MIB).await.unwrap();
    let refused = message(stage(&app, &kim.caller, 1).await);
    assert!(refused.contains("imports.staged_mib"), "{refused}");
    // Discarding or importing a file frees its space.
    files::discard(&app, &robin.caller, one).await.unwrap();
    stage(&app, &kim.caller, MIB).await.unwrap();
}

#[tokio::test]
async fn a_file_larger_than_a_part_is_read_back_unchanged() {
    let world = World::new().await;
    let robin = world.someone().await;
    let rows: String = (0..60_000).map(|it| format!("2026-03-02,Lunch {it},-1.00\n")).collect();
    let text = format!("Date,Description,Amount\n{rows}");
    assert!(text.len() > MIB + MIB / 4);
    let id = files::stage(&world.app, &robin.caller, "lunch.csv", text).await.unwrap();
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    assert_eq!((preview.tally().new, preview.rejected.count), (60_000, 0));
    assert_eq!(preview.accounts[0].rows.len(), 200);
    let file = files::get(&world.app, &robin.caller, id).await.unwrap();
    let found = file.preview.unwrap();
    assert_eq!((found.outcome, found.new), (PreviewOutcome::NeedsAnswer, 60_000));
    files::discard(&world.app, &robin.caller, id).await.unwrap();
    let left = world.stored().await;
    assert!(left["import_file_parts"].is_empty(), "the bytes of a discarded file were kept");
}

#[tokio::test]
async fn a_file_with_too_many_rows_is_refused_with_the_setting_to_change() {
    let world = World::new().await;
    let limits = Limits {
        reading: ReadingLimits { rows: 3, ..ReadingLimits::DEFAULT },
        ..Limits::default()
    };
    let app = world.with_imports(limits);
    let robin = world.someone().await;
    let text = format!("Date,Description,Amount\n{}", "2026-03-02,Lunch,-1.00\n".repeat(4));
    let id = files::stage(&app, &robin.caller, "lunch.csv", text).await.unwrap();
    let preview = files::preview(&app, &robin.caller, id).await.unwrap();
    let error = preview.error.clone().unwrap();
    assert!(error.contains("more than 3 rows") && error.contains("imports.rows"), "{error}");
    assert!(!preview.is_ready());
    let refused = files::commit(&app, &robin.caller, id).await.unwrap_err();
    assert!(refused.to_string().contains("more than 3 rows"), "{refused}");
    let file = files::get(&app, &robin.caller, id).await.unwrap();
    assert_eq!(file.preview.unwrap().error, Some(error));
}

/// Ids must fit into an index, and a description into a response of the API.
#[tokio::test]
async fn long_text_is_truncated_and_still_matched() {
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
            choose_first_account(&world, &robin, file).await;
            let preview = files::preview(&world.app, &robin.caller, file).await.unwrap();
            assert_eq!(preview.tally().new, new, "the preview");
            assert!(
                preview.accounts[0].name.len() <= 400 && preview.accounts[0].number.len() <= 500
            );
            let committed = files::commit(&world.app, &robin.caller, file).await.unwrap();
            assert_eq!(committed.summary.new, new, "the import");
        }
    }
    let listed = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    assert!(listed.iter().all(|it| it.description.chars().count() <= 2_000));
}

/// Chooses the first of the person's accounts if the preview asks for one.
async fn choose_first_account(world: &World, robin: &Person, id: base::FileId) {
    let preview = files::preview(&world.app, &robin.caller, id).await.unwrap();
    if preview.accounts[0].destination == files::Destination::Unknown {
        let destination =
            Some(files::DestinationChoice::Existing(preview.accounts[0].candidates[0].0));
        let choice = files::AccountChoice { destination, ..Default::default() };
        let choices = files::Choices { accounts: [(0, choice)].into(), ..preview.choices };
        files::choose(&world.app, &robin.caller, id, choices).await.unwrap();
    }
}
