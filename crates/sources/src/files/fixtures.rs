//! Golden-file tests: each fixture has its expected result beside it as `NAME.expected`. Set `EVENKEEL_BLESS=1` when
//! building to write the expectations anew, and review the difference before committing it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use base::draft::{AccountDraft, HoldingDraft, TransactionDraft};
use base::{Currency, Date, Money};

use super::{FileContents, FileError, FileQuestion, Limits, Note, ParseOptions};

pub(super) fn options() -> ParseOptions {
    ParseOptions {
        today: Date::constant(2026, 11, 15),
        currency: Currency::USD,
        chosen_currency: None,
        dates: None,
        charges: None,
        limits: Limits::DEFAULT,
    }
}

/// The paths of all fixtures in a folder, sorted.
pub(super) fn paths(folder: &str) -> Vec<PathBuf> {
    load(folder).into_iter().map(|it| it.0).collect()
}

/// The paths and contents of all fixtures in a folder, sorted by name.
pub(super) fn load(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|it| it.unwrap().path())
        .filter(|it| it.extension().is_some_and(|it| it != "expected"))
        .collect();
    paths.sort();
    paths.into_iter().map(|it| (it.clone(), std::fs::read(it).unwrap())).collect()
}

/// Compares every fixture of a folder with its expectation.
pub(super) fn check_folder(
    folder: &str,
    read: fn(&[u8], &ParseOptions) -> Result<FileContents, FileError>,
) {
    let bless = option_env!("EVENKEEL_BLESS").is_some();
    let mut wrong = Vec::new();
    for (path, bytes) in load(folder) {
        let shown = show(&read(&bytes, &options()));
        let mut beside = path.clone().into_os_string();
        beside.push(".expected");
        if bless {
            std::fs::write(&beside, &shown).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if shown != expected {
            wrong.push(format!("{}\n{shown}instead of\n{expected}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The file with some bytes changed, removed, repeated or moved, as the numbers say.
pub(super) fn damaged(bytes: &[u8], damages: &[(u8, usize, usize)]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for (kind, one, other) in damages {
        if out.is_empty() {
            break;
        }
        let (from, to) = (one % out.len(), other % out.len());
        let (from, to) = (from.min(to), from.max(to));
        let to = to.min(from + 200);
        match kind % 5 {
            0 => out[from] = (*other % 256) as u8,
            1 => drop(out.drain(from..to)),
            2 => {
                let piece = out[from..to].to_vec();
                out.splice(to..to, piece);
            }
            3 => {
                let piece = out[from..to].to_vec();
                let at = other.wrapping_mul(31) % out.len();
                out.splice(at..at, piece);
            }
            _ => out.truncate(to),
        }
    }
    out
}

/// Checks that the result is the same with other line endings.
pub(super) fn check_other_line_endings(
    folder: &str,
    read: fn(&[u8], &ParseOptions) -> Result<FileContents, FileError>,
) {
    for (path, bytes) in load(folder) {
        for end in ["\r\n", "\r"] {
            let Some(other) = with_lines_ended(&bytes, end) else { continue };
            let [shown, expected] = [&other, &bytes].map(|it| show(&read(it, &options())));
            assert_eq!(shown, expected, "{} with {end:?}", path.display());
        }
    }
}

/// The same text with other line endings; none if it is not UTF-8 or has carriage returns.
pub(super) fn with_lines_ended(bytes: &[u8], end: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok().filter(|it| !it.contains('\r'))?;
    Some(text.replace('\n', end).into_bytes())
}

/// One line for each account, transaction, holding, rejected row and question.
pub(super) fn show(read: &Result<FileContents, FileError>) -> String {
    let mut out = String::new();
    match read {
        Err(FileError::Unknown) => out.push_str("unknown\n"),
        Err(FileError::Broken { format, reason }) => {
            writeln!(out, "broken {}: {reason}", format.as_str()).unwrap();
        }
        Err(other) => writeln!(out, "refused: {other}").unwrap(),
        Ok(reading) => show_reading(&mut out, reading),
    }
    out
}

fn show_reading(out: &mut String, reading: &FileContents) {
    writeln!(out, "{}", reading.format.as_str()).unwrap();
    for account in &reading.accounts {
        let bank = account.bank.as_deref().unwrap_or("-");
        show_account(out, bank, &account.draft);
    }
    for row in &reading.rejected.rows {
        writeln!(out, "rejected {}: {}", row.line, row.reason).unwrap();
    }
    if reading.rejected.count > reading.rejected.rows.len() {
        writeln!(out, "rejected in all: {}", reading.rejected.count).unwrap();
    }
    for Note { kind, line, text } in &reading.notes.all {
        let line = line.map_or_else(String::new, |it| format!(" {it}"));
        let label = if kind.is_warning() { kind.as_str() } else { "note" };
        writeln!(out, "{label}{line}: {text}").unwrap();
    }
    for doubt in &reading.questions {
        match doubt {
            FileQuestion::Dates { read_as } => writeln!(out, "doubt: dates {}", read_as.as_str()),
            FileQuestion::ChargeSign { read_as } => {
                writeln!(out, "doubt: charges {}", read_as.as_str())
            }
            FileQuestion::CardBalance { account } => {
                writeln!(out, "doubt: card balance of {account}")
            }
            FileQuestion::AccountKind { account, read_as } => {
                writeln!(out, "doubt: kind of {account} {}", read_as.as_str())
            }
        }
        .unwrap();
    }
}

fn show_account(out: &mut String, bank: &str, account: &AccountDraft) {
    let money = |minor: i64| Money::new(minor, account.currency).to_string();
    let subtype = account.subtype.as_deref().unwrap_or("-");
    write!(out, "account {bank} {:?} {:?}", account.external_id, account.name).unwrap();
    write!(out, " mask={}", account.mask.as_deref().unwrap_or("-")).unwrap();
    write!(out, " {}/{subtype} {}", account.kind.as_str(), account.currency).unwrap();
    if let Some(name) = &account.institution_name {
        write!(out, " at {name:?}").unwrap();
    }
    if let Some(rate) = account.interest_rate {
        write!(out, " rate={rate}").unwrap();
    }
    out.push('\n');
    if let Some(balance) = account.balance {
        write!(out, "  balance {}", money(balance.current_minor)).unwrap();
        for (name, minor) in
            [("available", balance.available_minor), ("limit", balance.limit_minor)]
        {
            if let Some(minor) = minor {
                write!(out, " {name} {}", money(minor)).unwrap();
            }
        }
        writeln!(out, " at {}", balance.as_of).unwrap();
    }
    for past in &account.past_balances {
        writeln!(out, "  balance {} on {}", money(past.current_minor), past.on).unwrap();
    }
    for row in &account.transactions {
        show_row(out, row);
    }
    for id in &account.removed {
        writeln!(out, "  removed {id}").unwrap();
    }
    match account.holdings.as_deref() {
        Some([]) => out.push_str("  no holdings\n"),
        holdings => holdings.unwrap_or_default().iter().for_each(|it| show_holding(out, it)),
    }
}

fn show_row(out: &mut String, row: &TransactionDraft) {
    let id = row.external_id.as_deref().unwrap_or("-");
    write!(out, "  {} {} [{id}] {:?}", row.posted_on, row.amount, row.description).unwrap();
    if row.pending {
        out.push_str(" pending");
    }
    if let Some(on) = row.authorized_on.filter(|it| *it != row.posted_on) {
        write!(out, " authorized={on}").unwrap();
    }
    if let Some(name) = &row.counterparty {
        write!(out, " counterparty={name:?}").unwrap();
    }
    if let Some(category) = row.category {
        write!(out, " category={category:?}").unwrap();
    }
    out.push('\n');
}

fn show_holding(out: &mut String, holding: &HoldingDraft) {
    let security = &holding.security;
    let money = |minor: i64| Money::new(minor, security.currency).to_string();
    let symbol = security.symbol.as_deref().unwrap_or("-");
    write!(out, "  holds {} of {symbol} [{}]", holding.quantity, security.external_id).unwrap();
    write!(out, " \"{}\" {}", security.name, security.kind.as_str()).unwrap();
    write!(out, "/{}", security.asset_class.as_str()).unwrap();
    if let Some(price) = security.price {
        write!(out, " price {price} {}", security.currency).unwrap();
    }
    if let Some(at) = security.priced_at {
        write!(out, " at {at}").unwrap();
    }
    if let Some(cost) = holding.cost_basis_minor {
        write!(out, " cost {}", money(cost)).unwrap();
    }
    if let Some(value) = holding.institution_value_minor {
        write!(out, " worth {}", money(value)).unwrap();
    }
    out.push('\n');
}
