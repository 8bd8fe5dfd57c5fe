//! The review page of an import file: its accounts, columns, questions and rows.

use axum::extract::{Path, RawQuery};
use base::FileId;
use http::StatusCode;
use maud::{Markup, html};
use service::Error;
use service::ingest::imports::files::{
    self, Destination, FileQuestion, NoteKind, Notes, Preview, Rejections, StagedFile, State,
};

use super::{
    HOME, accounts, columns, new_page, parse, preview_form, questions, result, size, url_of,
};
use crate::site::app_page::see_other;
use crate::site::currencies;
use crate::site::errors::{PageResult, sentence};
use crate::site::fields::{self, FormError};
use crate::site::form::{Form, TOKEN_FIELD};
use crate::site::format::{count_text, plural};
use crate::site::person::Person;

/// How many rejected lines are listed; the others are counted.
const REJECTED_SHOWN: usize = 200;
/// How many notes are listed; the others are counted.
const NOTES_SHOWN: usize = 20;
/// How long reading a large file may take, beyond the usual deadline of a page.
const READING_SECONDS: u64 = 105;

pub(super) async fn get(
    mut person: Person,
    path: Path<String>,
    RawQuery(query): RawQuery,
) -> PageResult {
    let id = parse(path)?;
    let file = files::get(person.app(), &person.caller, id).await?;
    match file.state {
        State::Open => {
            // The import failed if the page was waiting for it and the file is open again.
            let failed = query.as_deref() == Some(result::WAITED);
            let message = if failed { result::FAILED.to_owned() } else { String::new() };
            person.wait_for(READING_SECONDS);
            let preview = files::preview(person.app(), &person.caller, id).await?;
            Ok(page(&person, StatusCode::OK, &preview, &FormError::general(message)))
        }
        State::Committing => Ok(result::under_way(&person, &file)),
        State::Done => result::done(&person, &file).await,
    }
}

/// Saves the person's choices and shows the new preview.
pub(super) async fn update(person: Person, path: Path<String>, form: Form) -> PageResult {
    let id = parse(path)?;
    if is_open(&person, id).await? {
        let preview = files::preview(person.app(), &person.caller, id).await?;
        let submitted = preview_form::read(&person, &preview, &form).await?;
        if submitted.choices != preview.choices {
            match files::choose(person.app(), &person.caller, id, submitted.choices).await {
                // It is being imported meanwhile; its page shows that.
                Ok(()) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(see_other(&person, &url_of(id), ""))
}

pub(super) async fn is_open(person: &Person, id: FileId) -> service::Result<bool> {
    Ok(files::get(person.app(), &person.caller, id).await?.state == State::Open)
}

pub(super) fn page(
    person: &Person,
    status: StatusCode,
    preview: &Preview,
    wrong: &FormError,
) -> axum::response::Response {
    let file = &preview.file;
    let main = html! {
        (heading(person, file, preview))
        (wrong.summary())
        @match &preview.error {
            Some(error) => (unreadable(error)),
            None => (self::preview(person, preview)),
        }
        form id="discard" method="post" action={ (url_of(file.id)) "/discard" } {
            input type="hidden" name=(TOKEN_FIELD) value=(person.form_token);
            @if preview.error.is_some() { button type="submit" { "Discard file" } }
        }
    };
    new_page(&file.name).page_with(status, person, main)
}

fn heading(person: &Person, file: &StagedFile, preview: &Preview) -> Markup {
    let now = person.app().clock.now();
    html! {
        div.lead-in {
            p.trail { a href=(HOME) { "Import" } }
            h1 { (file.name) }
            p.soft {
                @if let Some(format) = preview.format { (format.label()) ", " }
                (size(file.size)) ", uploaded " (person.view.time_ago(file.created_at, now)) ". "
                (format_text(preview))
            }
        }
    }
}

/// How the columns were recognized.
fn format_text(preview: &Preview) -> String {
    let Some(table) = &preview.table else { return String::new() };
    if preview.choices.mapping.is_some() {
        return "Using your column settings below.".to_owned();
    }
    if preview.remembered {
        return "Using your column settings from an earlier file.".to_owned();
    }
    match table.preset {
        Some(name) => format!("Recognized as {name} ({}% match).", table.confidence),
        None => "We don't recognize this bank's format. Check the columns below.".to_owned(),
    }
}

fn unreadable(error: &str) -> Markup {
    html! {
        div.empty {
            h2 { "We can't read this file" }
            p { (sentence(error)) }
            a.button href=(HOME) { "Import another file" }
        }
    }
}

fn preview(person: &Person, preview: &Preview) -> Markup {
    let here = url_of(preview.file.id);
    html! {
        form method="post" action=(here) data-preview {
            input type="hidden" name=(TOKEN_FIELD) value=(person.form_token);
            (answer(preview))
            (notes(person, &preview.notes))
            (questions::card(person, preview))
            (currency(preview))
            (accounts::card(person, preview))
            (columns::card(person, preview))
            (buttons(preview, &here))
            output.hush role="status" {}
            (accounts::rows(person, preview))
            (rejected(person, &preview.rejected))
        }
    }
}

/// The choice of a currency for a file that names none.
fn currency(preview: &Preview) -> Markup {
    let options = currencies::options();
    let options: Vec<(&str, &str)> =
        options.iter().map(|(code, name)| (code.as_str(), name.as_str())).collect();
    html! {
        @if let Some(assumed) = preview.assumed_currency {
            section.card {
                div.filters {
                    (fields::select("file_currency", "Currency of this file", &options, assumed.code()))
                }
            }
        }
    }
}

/// The main result: errors, nothing new, or the counts.
fn answer(preview: &Preview) -> Markup {
    let tally = preview.tally();
    let [new, changed, seen] = [tally.new, tally.changed, tally.seen].map(|it| it as i64);
    html! {
        @if !preview.complaints.is_empty() {
            div.warning role="alert" {
                p { strong { "We can't read the file with these columns." } }
                ul.plain { @for it in &preview.complaints { li { (it.text) } } }
            }
        } @else if preview.is_nothing_new() {
            div.notice {
                p { strong { "Nothing new in this file" } }
                p {
                    (plural(seen, "transaction is", "transactions are"))
                    " already imported. You can discard the file."
                }
            }
        } @else if preview.accounts.iter().any(|it| it.destination == Destination::Unknown) {
            p.warning { "Choose an account for this file to see what is new." }
        } @else {
            dl.tiles.sums {
                div.tile { dt { "New" } dd { (count_text(new)) } }
                div.tile { dt { "Updated" } dd { (count_text(changed)) } }
                div.tile { dt { "Already imported" } dd { (count_text(seen)) } }
                div.tile { dt { "Can't be read" } dd { (count_text(preview.rejected.count as i64)) } }
            }
        }
    }
}

fn buttons(preview: &Preview, here: &str) -> Markup {
    let new = preview.tally().new as i64;
    let (old, is_ready) = (preview.is_nothing_new(), preview.is_ready());
    let label = match (old, is_ready) {
        (true, _) => "Import anyway".to_owned(),
        (false, true) if new > 0 => {
            format!("Import {}", plural(new, "new transaction", "new transactions"))
        }
        _ => "Import".to_owned(),
    };
    html! {
        div.actions {
            // The Enter key in a field presses the first button, so it must be the harmless one.
            button type="submit" class=(if is_ready || old { "" } else { "primary" }) formnovalidate { "Update preview" }
            button type="submit" class=(if is_ready && !old { "primary" } else { "" })
                formaction={ (here) "/commit" } { (label) }
            button type="submit" class=(if old { "primary" } else { "" }) form="discard" { "Discard file" }
        }
    }
}

/// The message if the import button is pressed before the file is ready.
pub(super) fn missing(preview: &Preview) -> String {
    let destinations = || preview.accounts.iter().map(|it| it.destination);
    match preview {
        Preview { error: Some(error), .. } => sentence(error),
        _ if !preview.complaints.is_empty() => "Fix the column settings below first.".to_owned(),
        _ if preview.doubts.iter().any(|it| !matches!(it, FileQuestion::AccountKind { .. })) => {
            "Answer the questions below first.".to_owned()
        }
        _ if !preview.doubts.is_empty() => "Choose the type of the new account first.".to_owned(),
        _ if preview.accounts.is_empty() => "There is nothing in this file to import.".to_owned(),
        _ if destinations().any(|it| it == Destination::Unknown) => {
            "Choose an account for this file first.".to_owned()
        }
        _ => "Choose where to import at least one account.".to_owned(),
    }
}

/// What the person should know before importing, although the rows are kept.
fn notes(person: &Person, notes: &Notes) -> Markup {
    let more = notes.count.saturating_sub(NOTES_SHOWN.min(notes.all.len()));
    let heading = match notes.warnings().next() {
        Some(_) => "This file may be incomplete",
        None => "Check this before you import",
    };
    html! {
        @if notes.count > 0 {
            div.warning id="notes" {
                p { strong { (heading) } }
                ul.plain {
                    @for it in notes.all.iter().take(NOTES_SHOWN) {
                        li {
                            @if let Some(line) = it.line { "Line " (count_text(line as i64)) ": " }
                            (person.view.mask_amounts(&sentence(&it.text)))
                            @if it.kind == NoteKind::AssumedCurrency {
                                " If they are in another currency, choose it below."
                            }
                        }
                    }
                }
                @if more > 0 { p.soft { "And " (count_text(more as i64)) " more." } }
            }
        }
    }
}

fn rejected(person: &Person, rejected: &Rejections) -> Markup {
    let more = rejected.count.saturating_sub(REJECTED_SHOWN.min(rejected.rows.len()));
    html! {
        @if rejected.count > 0 {
            details.card.folded id="rejected" {
                summary {
                    (plural(rejected.count as i64, "line", "lines")) " can't be read and will be skipped"
                }
                ul.rows {
                    @for it in rejected.rows.iter().take(REJECTED_SHOWN) {
                        li { span.what { "Line " (count_text(it.line as i64)) } span { (person.view.mask_amounts(&it.reason)) } }
                    }
                }
                @if more > 0 { p.soft { "And " (count_text(more as i64)) " more." } }
            }
        }
    }
}
