//! People who upload bank files, import them, often in two windows at once, and undo some of the imports.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{FileId, ImportId, TransactionId};
use db::params;

use super::{rest, send_until_answered};
use crate::Storm;
use crate::client::send;
use crate::history::lock;
use crate::random::Random;

/// The rows of each file.
const ROWS: usize = 150;
/// How long an import may take, with the time after which a dead process's claim ends.
const IMPORT_MAX: Duration = Duration::from_secs(180);

/// A file whose import ended: its text in descriptions, and how many rows must be there.
pub(crate) struct Imported {
    pub(crate) person: usize,
    pub(crate) name: String,
    pub(crate) rows: usize,
}

pub(crate) async fn run(storm: Arc<Storm>, person: usize, random: Random) {
    for number in 0.. {
        if storm.are_clients_done() {
            break;
        }
        if import(&storm, person, number, &random).await.is_none() {
            // The file may still be imported later, and would change the rows that the next one is compared with.
            break;
        }
        rest(&random, 3_000).await;
    }
}

/// Imports a file; none if it is unknown whether that has happened.
async fn import(storm: &Storm, person: usize, number: usize, random: &Random) -> Option<()> {
    let owner = &storm.people[person];
    let name = format!("FILE {person}X{number}");
    let before = transactions(storm, person).await;
    let upload = owner.upload("/import", "storm.ofx", &statement(person, number, &name));
    let first = random.index(storm.servers.len());
    let answer = send_until_answered(storm, first, &upload).await?;
    let location = answer.header("location").to_owned();
    let file = location.strip_prefix("/import/").and_then(|it| FileId::parse(it).ok());
    let Some(file) = file else {
        storm.history.violated(format!("a file was refused: {} {location}", answer.status));
        return None;
    };
    let import = commit(storm, person, file, random).await?;
    storm.history.count("file imported");
    let found = count_rows(storm, person, &name).await;
    if found != ROWS {
        storm.history.violated(format!("{name} has {found} rows instead of {ROWS}"));
    }
    let is_undone = random.happens(50) && undo(storm, person, import, random).await;
    let rows = if is_undone { 0 } else { ROWS };
    lock(&storm.imported).push(Imported { person, name: name.clone(), rows });
    if is_undone {
        storm.history.count("import undone");
        if transactions(storm, person).await != before {
            storm.history.violated(format!("the transactions differ after {name} was undone"));
        }
    }
    Some(())
}

/// Imports the file on one or two processes, until the database says that it is done.
async fn commit(storm: &Storm, person: usize, file: FileId, random: &Random) -> Option<ImportId> {
    let began = Instant::now();
    let form = storm.people[person].form(format!("/import/{file}/commit"), &[]);
    while began.elapsed() < IMPORT_MAX {
        let server = random.index(storm.servers.len());
        if random.happens(40) {
            tokio::join!(send(storm, server, &form), send(storm, server + 1, &form));
            storm.history.count("file imported twice at the same time");
        } else {
            send(storm, server, &form).await;
        }
        if let Some(import) = import_of(storm, person, file).await {
            return Some(import);
        }
        rest(random, 1_000).await;
    }
    storm.history.violated(format!("{file} is not imported after {IMPORT_MAX:?}"));
    None
}

async fn undo(storm: &Storm, person: usize, import: ImportId, random: &Random) -> bool {
    let began = Instant::now();
    let form = storm.people[person].form(format!("/imports/{import}/undo"), &[]);
    while began.elapsed() < IMPORT_MAX {
        send(storm, random.index(storm.servers.len()), &form).await;
        if is_undone(storm, person, import).await {
            return true;
        }
        rest(random, 1_000).await;
    }
    storm.history.violated(format!("{import} is not undone after {IMPORT_MAX:?}"));
    false
}

async fn import_of(storm: &Storm, person: usize, file: FileId) -> Option<ImportId> {
    const DONE: &str = "select import_id from import_files where user_id = $1 and id = $2
        and state = 'done'";
    let user = storm.people[person].user;
    let found = storm.app.db.first(DONE, params![user, file], |row| row.get(0)).await;
    found.ok().flatten()
}

async fn is_undone(storm: &Storm, person: usize, import: ImportId) -> bool {
    const UNDONE: &str =
        "select undone_at from imports where user_id = $1 and id = $2 and undone_at is not null";
    let user = storm.people[person].user;
    let found = storm.app.db.first(UNDONE, params![user, import], |row| row.get::<i64>(0)).await;
    found.is_ok_and(|it| it.is_some())
}

pub(crate) async fn count_rows(storm: &Storm, person: usize, name: &str) -> usize {
    const COUNT: &str = "select cast(count(*) as bigint) from transactions where user_id = $1
        and description like $2";
    let (user, pattern) = (storm.people[person].user, format!("{name} %"));
    let found = storm.read(COUNT, params![user, &pattern], |row| row.get::<i64>(0)).await;
    let found = found.ok().and_then(|it| usize::try_from(*it.first()?).ok());
    found.unwrap_or(usize::MAX)
}

/// The ids of all transactions of the person.
async fn transactions(storm: &Storm, person: usize) -> BTreeSet<TransactionId> {
    let text = "select id from transactions where user_id = $1";
    let values = params![storm.people[person].user];
    let found = storm.read(text, values, |row| row.get(0)).await;
    found.map(BTreeSet::from_iter).unwrap_or_default()
}

/// An OFX statement whose descriptions begin with `name`.
fn statement(person: usize, number: usize, name: &str) -> String {
    let mut text = format!(
        "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD\
         <BANKACCTFROM><BANKID>021000021<ACCTID>555000{person}<ACCTTYPE>CHECKING</BANKACCTFROM>\
         <BANKTRANLIST><DTSTART>20260101<DTEND>20260331"
    );
    for row in 0..ROWS {
        let (month, day) = (row % 3 + 1, row % 28 + 1);
        let (cents, id) = (100 + (row * 37 + number * 11) % 9_000, format!("{number}-{row}"));
        let amount = format!("{}.{:02}", cents / 100, cents % 100);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>2026{month:02}{day:02}<TRNAMT>-{amount}<FITID>{id}\
             <NAME>{name} ROW {row}</STMTTRN>"
        );
    }
    text + "</BANKTRANLIST><LEDGERBAL><BALAMT>1234.56<DTASOF>20260331</LEDGERBAL></STMTRS></STMTTRNRS>\
            </BANKMSGSRSV1></OFX>\n"
}
