//! Invariants that every reader must keep for any bytes. Each function is one fuzz target.

pub mod evidence;
mod invariants;
mod mapping;
pub mod statements;
pub mod truncation;

use std::collections::BTreeMap;

use base::draft::AccountKind;
use base::{Currency, Date, Timestamp};
use serde_json::Value;
use sources::exchange_rates;
use sources::files::{self, FileContents, FileError, Format, Limits, ParseOptions, csv as table};
use sources::jws::{self, PublicKey};
use sources::simplefin::{self, AccountChoice};

/// Files up to this size are read twice and compared. That is slow, and nondeterminism shows in short files too.
const COMPARED_BYTES: usize = 4_096;

fn options() -> ParseOptions {
    ParseOptions {
        today: Date::constant(2026, 11, 15),
        currency: Currency::USD,
        chosen_currency: None,
        dates: None,
        charges: None,
        limits: Limits::DEFAULT,
    }
}

/// Reads the bytes in whatever format they look like.
pub fn any(bytes: &[u8]) {
    check(bytes, |bytes| files::read(bytes, &options()), None);
}

pub fn camt(bytes: &[u8]) {
    check(bytes, |bytes| files::read_as(Format::Camt053, bytes, &options()), None);
}

pub fn evenkeel(bytes: &[u8]) {
    check(bytes, |bytes| files::read_as(Format::Evenkeel, bytes, &options()), None);
}

pub fn mt940(bytes: &[u8]) {
    check(bytes, |bytes| files::read_as(Format::Mt940, bytes, &options()), None);
}

pub fn ofx(bytes: &[u8]) {
    check(bytes, |bytes| files::read_as(Format::Ofx, bytes, &options()), None);
}

pub fn qif(bytes: &[u8]) {
    check(bytes, |bytes| files::read_as(Format::Qif, bytes, &options()), None);
}

/// Reads with the detected mapping, and with one that the last bytes of the file mutate.
pub fn csv(bytes: &[u8]) {
    let options = options();
    let Ok(found) = table::detect(bytes, &options) else { return };
    assert!(found.confidence <= 100);
    invariants::sheet(&found.sheet);
    let detected = files::read_as(Format::Csv, bytes, &options);
    check(bytes, |bytes| table::read_with(bytes, &found.mapping, &options), Some(detected));
    let mut mutated = found.mapping.clone();
    mapping::mutate(&mut mutated, bytes);
    mapping::assert_json_round_trip(&mutated);
    let Ok(sheet) = table::sheet(bytes, &mutated) else { return };
    invariants::sheet(&sheet);
    check(bytes, |bytes| table::read_with(bytes, &mutated, &options), None);
}

/// Reads exchange rates: every rate is positive, and an error is a sentence.
pub fn exchange_rates(bytes: &[u8]) {
    match exchange_rates::parse(bytes) {
        Ok(rates) => assert!(rates.iter().all(|it| it.rate > base::Fixed9::ZERO)),
        Err(error) => assert!(error.ends_with('.')),
    }
}

/// Reads a key and a signed token: what counts as signed has the algorithm of the key, and loses its signature with any
/// change of its text.
pub fn jws(bytes: &[u8]) {
    let Some((key, token)) = key_and_token(bytes) else { return };
    let header = jws::header(token);
    if key.verified::<Value>(token).is_none() {
        return;
    }
    assert_eq!(header.map(|it| it.algorithm), Some(key.algorithm));
    assert_eq!(token.split('.').count(), 3);
    let changed = token.replacen('.', ".A", 1);
    assert!(key.verified::<Value>(&changed).is_none(), "a signature for another text counts");
}

/// The first line is a key as JSON, the rest is a token.
pub fn key_and_token(bytes: &[u8]) -> Option<(PublicKey, &str)> {
    let (key, token) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
    Some((PublicKey::from_jwk(serde_json::from_str(key).ok()?)?, token.trim_end()))
}

pub fn simplefin(bytes: &[u8]) {
    let Ok(set) = simplefin::read(bytes) else { return };
    let kinds = AccountKind::ALL.iter().cycle();
    let choices: BTreeMap<String, AccountChoice> = set
        .accounts
        .iter()
        .zip(kinds)
        .map(|(account, kind)| {
            // Holdings are read only for investment accounts.
            let kind = if account.holdings.is_some() { AccountKind::Investment } else { *kind };
            let owed = simplefin::suggest_owed(kind, account.balance);
            (account.external_id.clone(), AccountChoice { kind, subtype: None, owed })
        })
        .collect();
    let at = Timestamp::constant(1_794_700_800, 0);
    let drafts = simplefin::drafts(&set, &choices, at);
    drafts.iter().for_each(invariants::account);
    if bytes.len() <= COMPARED_BYTES {
        let again = simplefin::read(bytes).map(|it| simplefin::drafts(&it, &choices, at));
        assert_eq!(format!("{:?}", Ok::<_, ()>(drafts)), format!("{again:?}"));
    }
}

type Read = Result<FileContents, FileError>;

/// Reads the bytes, checks the invariants, and compares the result with `again`, or with a second read.
fn check(bytes: &[u8], read: impl Fn(&[u8]) -> Read, again: Option<Read>) {
    let first = read(bytes);
    match &first {
        Ok(contents) => invariants::contents(contents),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if bytes.len() <= COMPARED_BYTES {
        let again = again.unwrap_or_else(|| read(bytes));
        assert_eq!(format!("{first:?}"), format!("{again:?}"), "two reads differ");
    }
}
