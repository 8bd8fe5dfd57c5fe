//! What must hold for every reader, whatever bytes it is given. Each function is one target.

mod laws;
mod mapping;

use std::collections::BTreeMap;

use base::draft::AccountKind;
use base::{Currency, Date, Timestamp};
use sources::files::{self, FileContents, FileError, Format, Limits, ParseOptions, csv as table};
use sources::simplefin::{self, AccountChoice};

/// Telling everything twice is slow; what depends on chance does so in short files too.
const COMPARED_BYTES: usize = 4_096;

fn options() -> ParseOptions {
    ParseOptions {
        today: Date::constant(2026, 11, 15),
        currency: Currency::USD,
        dates: None,
        charges: None,
        limits: Limits::DEFAULT,
    }
}

/// Whatever the bytes look like.
pub fn any(bytes: &[u8]) {
    held(bytes, |bytes| files::read(bytes, &options()), None);
}

pub fn camt(bytes: &[u8]) {
    held(bytes, |bytes| files::read_as(Format::Camt053, bytes, &options()), None);
}

pub fn evenkeel(bytes: &[u8]) {
    held(bytes, |bytes| files::read_as(Format::Evenkeel, bytes, &options()), None);
}

pub fn mt940(bytes: &[u8]) {
    held(bytes, |bytes| files::read_as(Format::Mt940, bytes, &options()), None);
}

pub fn ofx(bytes: &[u8]) {
    held(bytes, |bytes| files::read_as(Format::Ofx, bytes, &options()), None);
}

pub fn qif(bytes: &[u8]) {
    held(bytes, |bytes| files::read_as(Format::Qif, bytes, &options()), None);
}

/// By the mapping that is found, and by one that the last bytes bend.
pub fn csv(bytes: &[u8]) {
    let options = options();
    let Ok(found) = table::detect(bytes, &options) else { return };
    assert!(found.confidence <= 100);
    laws::sheet(&found.sheet);
    let detected = files::read_as(Format::Csv, bytes, &options);
    held(bytes, |bytes| table::read_with(bytes, &found.mapping, &options), Some(detected));
    let mut bent = found.mapping.clone();
    mapping::bend(&mut bent, bytes);
    mapping::is_kept_as_json(&bent);
    let Ok(sheet) = table::sheet(bytes, &bent) else { return };
    laws::sheet(&sheet);
    held(bytes, |bytes| table::read_with(bytes, &bent, &options), None);
}

pub fn simplefin(bytes: &[u8]) {
    let Ok(set) = simplefin::read(bytes) else { return };
    let kinds = AccountKind::ALL.iter().cycle();
    let choices: BTreeMap<String, AccountChoice> = set
        .accounts
        .iter()
        .zip(kinds)
        .map(|(account, kind)| {
            // Positions are looked at only where there may be some.
            let kind = if account.holdings.is_some() { AccountKind::Investment } else { *kind };
            let owed = simplefin::suggest_owed(kind, account.balance);
            (account.external_id.clone(), AccountChoice { kind, subtype: None, owed })
        })
        .collect();
    let at = Timestamp::constant(1_794_700_800, 0);
    let drafts = simplefin::drafts(&set, &choices, at);
    drafts.iter().for_each(laws::account);
    if bytes.len() <= COMPARED_BYTES {
        let again = simplefin::read(bytes).map(|it| simplefin::drafts(&it, &choices, at));
        assert_eq!(format!("{:?}", Ok::<_, ()>(drafts)), format!("{again:?}"));
    }
}

type Read = Result<FileContents, FileError>;

/// What is read keeps the laws, and comes out the same `again`: in another way, or a second time.
fn held(bytes: &[u8], read: impl Fn(&[u8]) -> Read, again: Option<Read>) {
    let first = read(bytes);
    match &first {
        Ok(reading) => laws::reading(reading),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if bytes.len() <= COMPARED_BYTES {
        let again = again.unwrap_or_else(|| read(bytes));
        assert_eq!(format!("{first:?}"), format!("{again:?}"), "read twice");
    }
}
