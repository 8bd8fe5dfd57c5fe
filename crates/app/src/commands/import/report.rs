//! The output of `evenkeel import --dry-run` for a file, as text or as a line of JSON.

use std::path::Path;

use anyhow::Result;
use base::Money;
use base::draft::AccountDraft;
use serde_json::json;
use serde_json::value::RawValue;
use service::ingest::imports::files::{
    self, FileContents, FileQuestion, NoteKind, Notes, Rejections,
};

use crate::progress::counted;

const SHOWN_CHARS: usize = 200;
/// Skipped lines printed one by one on a terminal; the others are counted. `--json` lists up to a thousand.
const REJECTED_SHOWN: usize = 100;

#[derive(serde::Serialize)]
struct FileJson<'a> {
    file: String,
    format: &'static str,
    accounts: Vec<AccountJson<'a>>,
    rejected: Vec<serde_json::Value>,
    rejected_count: usize,
    notes: Vec<serde_json::Value>,
    /// Called `doubts` in the output, on which scripts rely.
    #[serde(rename = "doubts")]
    questions: Vec<serde_json::Value>,
}

pub(super) fn json_line(path: &Path, reading: &FileContents) -> Result<String> {
    let accounts = reading.accounts.iter().map(|it| account_json(&it.draft));
    let line = FileJson {
        file: path.display().to_string(),
        format: reading.format.as_str(),
        accounts: accounts.collect::<Result<_>>()?,
        rejected: rejected_json(&reading.rejected),
        rejected_count: reading.rejected.count,
        notes: notes_json(&reading.notes),
        questions: reading.questions.iter().map(question_json).collect(),
    };
    Ok(format!("{}\n", serde_json::to_string(&line)?))
}

/// Formats an amount as the API does.
#[derive(serde::Serialize)]
struct AccountJson<'a> {
    source_account_id: &'a str,
    name: &'a str,
    r#type: &'static str,
    subtype: Option<&'a str>,
    currency: &'a str,
    transactions: usize,
    sum: Option<Box<RawValue>>,
    first_date: Option<String>,
    last_date: Option<String>,
    balance: Option<Box<RawValue>>,
    positions: usize,
}

fn account_json(draft: &AccountDraft) -> Result<AccountJson<'_>> {
    let amount = |minor: i64| {
        let mut text = Vec::new();
        Money::new(minor, draft.currency).write(&mut text);
        RawValue::from_string(String::from_utf8(text).unwrap_or_default())
    };
    let days = || draft.transactions.iter().map(|it| it.posted_on);
    Ok(AccountJson {
        source_account_id: shown(&draft.external_id),
        name: shown(&draft.name),
        r#type: draft.kind.as_str(),
        subtype: draft.subtype.as_deref(),
        currency: draft.currency.code(),
        transactions: draft.transactions.len(),
        sum: sum(draft).map(|it| amount(it.minor())).transpose()?,
        first_date: days().min().map(|it| it.to_string()),
        last_date: days().max().map(|it| it.to_string()),
        balance: draft.balance.map(|it| amount(it.current_minor)).transpose()?,
        positions: draft.holdings.as_ref().map_or(0, Vec::len),
    })
}

/// Text of a file for one line of output, cut if it is long.
fn shown(text: &str) -> &str {
    text.char_indices().nth(SHOWN_CHARS).map_or(text, |(end, _)| &text[..end])
}

fn sum(draft: &AccountDraft) -> Option<Money> {
    let all: i128 = draft.transactions.iter().map(|it| i128::from(it.amount.minor())).sum();
    i64::try_from(all).ok().map(|it| Money::new(it, draft.currency))
}

fn rejected_json(rejected: &Rejections) -> Vec<serde_json::Value> {
    let one = |it: &files::RejectedRow| json!({ "line": it.line, "reason": it.reason });
    rejected.rows.iter().map(one).collect()
}

pub(super) fn notes_json(notes: &Notes) -> Vec<serde_json::Value> {
    let one =
        |it: &files::Note| json!({ "about": it.kind.as_str(), "line": it.line, "text": it.text });
    notes.all.iter().map(one).collect()
}

fn question_json(question: &FileQuestion) -> serde_json::Value {
    match question {
        FileQuestion::Dates { read_as } => json!({ "about": "dates", "read_as": read_as.as_str() }),
        FileQuestion::ChargeSign { read_as } => {
            json!({ "about": "charges", "read_as": read_as.as_str() })
        }
        FileQuestion::CardBalance { account } => {
            json!({ "about": "card_balance", "read_as": "owed", "account": account })
        }
        FileQuestion::AccountKind { account, read_as } => {
            json!({ "about": "account_kind", "read_as": read_as.as_str(), "account": account })
        }
    }
}

pub(super) fn text(path: &Path, reading: &FileContents) -> String {
    let mut text = format!("{}: {}\n", path.display(), reading.format.label());
    for account in &reading.accounts {
        let draft = &account.draft;
        let days = || draft.transactions.iter().map(|it| it.posted_on);
        text += &format!("  {} ({}, {})", shown(&draft.name), draft.kind.as_str(), draft.currency);
        text += &format!(": {}", counted(draft.transactions.len(), "transaction"));
        if let (Some(first), Some(last)) = (days().min(), days().max()) {
            text += &format!(" from {first} to {last}");
        }
        if let Some(sum) = sum(draft) {
            text += &format!(", together {sum}");
        }
        if let Some(balance) = draft.balance {
            text += &format!(", balance {}", Money::new(balance.current_minor, draft.currency));
        }
        if let Some(holdings) = &draft.holdings {
            text += &format!(", {}", counted(holdings.len(), "position"));
        }
        text.push('\n');
    }
    text + &note_lines(&reading.notes) + &skipped_lines(&reading.rejected, &reading.questions)
}

pub(super) fn note_lines(notes: &Notes) -> String {
    let mut text = String::new();
    for note in notes.all.iter().take(REJECTED_SHOWN) {
        let word = if note.kind.is_warning() { "warning" } else { "note" };
        let line = note.line.map_or_else(String::new, |it| format!(" on line {it}"));
        let hint = match note.kind {
            NoteKind::AssumedCurrency => " Use --currency CODE if they are in another currency.",
            _ => "",
        };
        text += &format!("  {word}{line}: {}{hint}\n", note.text);
    }
    let more = notes.count - notes.all.len().min(REJECTED_SHOWN);
    if more > 0 {
        text += &format!("  and {}\n", counted(more, "more note"));
    }
    text
}

fn skipped_lines(rejected: &Rejections, questions: &[FileQuestion]) -> String {
    let mut text = String::new();
    for row in rejected.rows.iter().take(REJECTED_SHOWN) {
        text += &format!("  line {} was skipped: {}\n", row.line, row.reason);
    }
    let more = rejected.count - rejected.rows.len().min(REJECTED_SHOWN);
    if more > 0 {
        text += &format!("  and {} skipped\n", counted(more, "more row"));
    }
    for open in questions {
        text += &format!("  {}\n", question(open));
    }
    text
}

/// An open question about a file, and the flag that answers it.
pub(super) fn question(open: &FileQuestion) -> &'static str {
    match open {
        FileQuestion::Dates { .. } => {
            "Is 03/04 April 3 or March 4? Use --dates day-first or --dates month-first."
        }
        FileQuestion::ChargeSign { .. } => {
            "Are purchases positive or negative amounts? Use --charges positive or --charges \
                negative."
        }
        FileQuestion::CardBalance { .. } => {
            "The card's balance is positive. Use --balance owed if you owe it, or --balance \
                owned if the bank owes you."
        }
        FileQuestion::AccountKind { .. } => {
            "What kind of account is this? Use --kind checking, savings, credit-card, loan or investment."
        }
    }
}
