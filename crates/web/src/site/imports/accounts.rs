//! The accounts in an import file: destination, summary and rows.

use base::draft::AccountKind;
use maud::{Markup, html};
use service::ingest::imports::files::{
    AccountPreview, Destination, DestinationChoice, FileQuestion, Preview, RowPreview, RowStatus,
};

use super::history::counts_text;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::{count_text, plural};
use crate::site::person::Person;

/// The number of rows shown for all accounts together.
const ROWS_SHOWN: usize = 200;
/// The minimum number of rows shown for each account.
const ROWS_LEAST: usize = 10;

/// The types of accounts in the form: its value, its label, and what it means.
const KINDS: [(&str, &str, AccountKind, Option<&str>); 6] = [
    ("depository", "Checking", AccountKind::Depository, Some("checking")),
    ("savings", "Savings", AccountKind::Depository, Some("savings")),
    ("credit", "Credit card", AccountKind::Credit, Some("credit card")),
    ("loan", "Loan", AccountKind::Loan, None),
    ("investment", "Investments", AccountKind::Investment, None),
    ("other", "Other", AccountKind::Other, None),
];

/// The kind and subtype that a value of the form means.
pub(super) fn parse_kind(value: &str) -> Option<(AccountKind, Option<&'static str>)> {
    KINDS.iter().find(|(it, ..)| *it == value).map(|(_, _, kind, subtype)| (*kind, *subtype))
}

/// The form's value for the kind of an account.
pub(super) fn kind_value(account: &AccountPreview) -> &'static str {
    let is_subtype = |it: &Option<&str>| it.is_some() && *it == account.subtype.as_deref();
    let exact = KINDS.iter().find(|(_, _, kind, it)| *kind == account.kind && is_subtype(it));
    let found = exact.or_else(|| KINDS.iter().find(|(_, _, kind, _)| *kind == account.kind));
    found.map_or("other", |(value, ..)| *value)
}

/// The number of options in all select boxes together, so that a file with many accounts stays a small page.
const OPTIONS_MAX: usize = 10_000;

pub(super) fn card(person: &Person, preview: &Preview) -> Markup {
    html! {
        @if !preview.accounts.is_empty() {
            section.card aria-labelledby="where" {
                h2 id="where" { "Choose accounts" }
                @for (index, account) in preview.accounts.iter().enumerate() {
                    (one(person, account, (index, preview.accounts.len()), is_open(preview, index)))
                }
            }
        }
    }
}

/// Whether the file does not tell the kind of this account.
pub(super) fn is_open(preview: &Preview, index: usize) -> bool {
    let asks = |it: &FileQuestion| matches!(it, FileQuestion::AccountKind { account, .. } if *account == index);
    preview.doubts.iter().any(asks)
}

/// The form value of a destination.
pub(super) fn landing_text(destination: Destination) -> String {
    match destination {
        Destination::New => DestinationChoice::New.text(),
        Destination::Existing(id) => DestinationChoice::Existing(id).text(),
        Destination::Skip => DestinationChoice::Skip.text(),
        Destination::Unknown => String::new(),
    }
}

fn one(
    person: &Person,
    account: &AccountPreview,
    (index, count): (usize, usize),
    kind_is_open: bool,
) -> Markup {
    let chosen = landing_text(account.destination);
    html! {
        div.destination {
            h3 { (account.name) (masked(account)) }
            (facts(person, account))
            div.filters {
                input type="hidden" name={ "was_" (index) } value=(chosen);
                (goes(account, index, (&chosen, OPTIONS_MAX / count.max(1))))
                (new_account(account, index, count > 1, kind_is_open))
            }
            @if account.destination == Destination::New && !account.candidates.is_empty() {
                p.soft {
                    "If you already have this account, choose it to avoid duplicates."
                }
            }
        }
    }
}

/// The last digits of the account number, unless the name has them.
fn masked(account: &AccountPreview) -> Markup {
    let letters: Vec<char> = account.number.chars().collect();
    let end: String = letters[letters.len().saturating_sub(4)..].iter().collect();
    html! {
        @if !end.is_empty() && !account.name.contains(&end) {
            " " span.soft { "\u{2022}\u{2022}" (end) }
        }
    }
}

/// How many rows are new, updated or already imported; only the total while the account is unknown.
fn news(account: &AccountPreview) -> String {
    let tally = account.tally;
    match account.destination {
        Destination::Unknown => count_text((tally.new + tally.changed + tally.seen) as i64),
        _ => counts_text(&[
            (tally.new, "new"),
            (tally.changed, "updated"),
            (tally.seen, "already imported"),
        ]),
    }
}

fn facts(person: &Person, account: &AccountPreview) -> Markup {
    let view = person.view;
    html! {
        dl.key-facts {
            @if let (Some(first), Some(last)) = (account.first_on, account.last_on) {
                div { dt { "Period" } dd { (view.day(first)) " to " (view.day(last)) } }
            }
            div { dt { "Rows" } dd { (news(account)) } }
            @if let Some(sum) = account.sum { div { dt { "Total" } dd { (view.signed(sum)) } } }
            div {
                dt { (if account.kind.is_debt() { "Amount owed" } else { "Balance" }) }
                dd {
                    @match account.balance {
                        Some(balance) => (view.money(balance)),
                        None => "Not in the file",
                    }
                }
            }
            @if account.positions > 0 {
                div { dt { "Positions" } dd { (count_text(account.positions as i64)) } }
            }
        }
    }
}

fn goes(account: &AccountPreview, index: usize, (chosen, most): (&str, usize)) -> Markup {
    let id = format!("f-goes_{index}");
    let is_unclear = account.destination == Destination::Unknown;
    let suggested = account.suggested.filter(|_| is_unclear);
    let suggested = suggested.map(|it| DestinationChoice::Existing(it).text());
    html! {
        div.field {
            label for=(id) { "Account" span.hush { " for " (account.name) } }
            select id=(id) name={ "goes_" (index) } required[is_unclear] {
                @if is_unclear { option value="" selected[suggested.is_none()] { "Choose an account" } }
                option value="new" selected[chosen == "new"] { "New account" }
                @for (at, (candidate, name)) in account.candidates.iter().enumerate() {
                    @let value = DestinationChoice::Existing(*candidate).text();
                    @let is_chosen = value == chosen || suggested.as_deref() == Some(value.as_str());
                    // The chosen account is always listed.
                    @if at < most || is_chosen { option value=(value) selected[is_chosen] { (name) } }
                }
                option value="none" selected[chosen == "none"] { "Don't import" }
            }
            @if is_unclear { p.wrong { (unclear(account)) } }
        }
    }
}

/// Why the person has to choose the account.
fn unclear(account: &AccountPreview) -> &'static str {
    match (account.suggested, account.number.is_empty()) {
        (Some(_), true) => {
            "The file doesn't name its account. A file like it went into this account before. Check that it is the \
             right one."
        }
        (Some(_), false) => {
            "The file may belong to this account, but it doesn't give the full account number that we know. Check \
             that it is the right one."
        }
        (None, true) => "The file doesn't name its account. Choose it.",
        (None, false) => "Several of your accounts may be the one in the file. Choose it.",
    }
}

/// The name and type of a new account. The style sheet hides these fields if an existing account is chosen.
fn new_account(
    account: &AccountPreview,
    index: usize,
    is_one_of_many: bool,
    kind_is_open: bool,
) -> Markup {
    let label = |word: &str| match is_one_of_many {
        true => format!("{word} of {}", account.name),
        false => word.to_owned(),
    };
    let (name, kind) = (format!("name_{index}"), format!("kind_{index}"));
    let kinds = KINDS.map(|(value, label, ..)| (value, label));
    let open: Vec<(&str, &str)> = std::iter::once(("", "Choose a type")).chain(kinds).collect();
    html! {
        div.only-new {
            (Field::text(&name, &label("Name"), &account.name).optional().show(&FormError::default()))
        }
        div.only-new {
            @if kind_is_open {
                (fields::select(&kind, &label("Type"), &open, ""))
                p.wrong { "The file doesn't say what type of account this is." }
            } @else {
                (fields::select(&kind, &label("Type"), &kinds, kind_value(account)))
            }
        }
    }
}

pub(super) fn rows(person: &Person, preview: &Preview) -> Markup {
    let most = (ROWS_SHOWN / preview.accounts.len().max(1)).max(ROWS_LEAST);
    let named = preview.accounts.len() > 1;
    html! {
        @for account in preview.accounts.iter().filter(|it| !it.rows.is_empty()) {
            section.card {
                h2 { "Rows" @if named { " of " (account.name) } }
                (table(person, account, most))
            }
        }
    }
}

fn table(person: &Person, account: &AccountPreview, most: usize) -> Markup {
    let tally = account.tally;
    let count = tally.new + tally.changed + tally.seen;
    let shown = account.rows.len().min(most);
    html! {
        table.found {
            thead { tr {
                th scope="col" { "Date" }
                th scope="col" { "Description" }
                th scope="col" { "Status" }
                th.figure scope="col" { "Amount" }
            } }
            tbody { @for it in &account.rows[..shown] { (row(person, account.destination, it)) } }
        }
        @if count > shown {
            p.soft {
                "Showing the newest " (shown) " of " (plural(count as i64, "row", "rows")) "."
            }
        }
    }
}

fn row(person: &Person, destination: Destination, it: &RowPreview) -> Markup {
    let (class, label) = match it.status {
        RowStatus::New => ("good", "New"),
        RowStatus::Changed => ("warn", "Updated"),
        RowStatus::Known => ("", "Already imported"),
    };
    let classes = if it.status == RowStatus::Known { "transfer" } else { "" };
    html! {
        tr class=(classes) {
            td.day { (person.view.day(it.on)) }
            td.what {
                (it.description)
                @if it.pending { " " span.badge.dotted { "Pending" } }
            }
            td.status {
                @if destination != Destination::Unknown { span.badge.(class) { (label) } }
            }
            td.figure { (person.view.signed(it.amount)) }
        }
    }
}
