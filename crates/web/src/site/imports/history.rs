//! What came in last, and how it is taken back.

use axum::extract::Path;
use base::ImportId;
use base::draft::Source;
use maud::{Markup, html};
use service::ingest::imports::{self, Import, UndoSummary};

use super::{HOME, start};
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields;
use crate::site::form::Form;
use crate::site::format::{count_text, plural, time_ago};
use crate::site::person::Person;

const SHOWN: usize = 20;

pub(super) async fn card(person: &Person) -> Result<Markup, PageError> {
    let last = imports::list(person.app(), &person.caller, None, SHOWN).await?;
    Ok(html! {
        section.card aria-labelledby="last" {
            h2 id="last" { "Last imports" }
            @if last.is_empty() {
                p.soft { "What you bring in is listed here, and can be undone." }
            } @else {
                (rows(person, &last))
            }
        }
    })
}

pub(in crate::site) fn rows(person: &Person, batches: &[Import]) -> Markup {
    html! { ul.rows.imports { @for it in batches { (row(person, it)) } } }
}

fn row(person: &Person, it: &Import) -> Markup {
    let now = person.app().clock.now();
    html! {
        li {
            span.what {
                (name(it))
                @if it.undone_at.is_some() { " " span.badge { "Undone" } }
                span.soft { (found(it)) ", " (time_ago(it.imported_at, now)) }
            }
            @if it.undone_at.is_none() { (ending(person, it)) }
        }
    }
}

/// The file's name, or where else it came from.
pub(super) fn name(it: &Import) -> &str {
    it.name.as_deref().unwrap_or(match it.source {
        Source::Demo => "The demo",
        Source::File => "A file",
        Source::Manual => "By hand",
        Source::Plaid => "Plaid",
        Source::Simplefin => "SimpleFIN",
    })
}

fn found(it: &Import) -> String {
    let sum = it.summary;
    let [new, changed, seen] = [sum.new, sum.changed, sum.seen].map(|it| count_text(it as i64));
    let mut text = format!("{new} new, {changed} updated, {seen} already there");
    if it.rejected > 0 {
        text.push_str(&format!(", {} left out", count_text(it.rejected as i64)));
    }
    text
}

/// The button behind a second look: what it does is said first.
pub(super) fn ending(person: &Person, it: &Import) -> Markup {
    let action = format!("/imports/{}/undo", it.id);
    html! {
        details.confirm {
            summary { "Undo" span.hush { " the import of " (name(it)) } }
            p {
                "Transactions that it brought are removed, and what it changed is as it was before. \
                 Other imports stay."
            }
            (fields::button(&action, &person.form_token, "Undo this import", "danger"))
        }
    }
}

pub(super) async fn undo(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    let id = ImportId::parse(&id).map_err(|_| PageError::not_found())?;
    let undone = imports::undo(person.app(), &person.caller, id).await?;
    start::refresh(&person).await;
    Ok(see_other(&person, HOME, &told(undone)))
}

fn told(undone: UndoSummary) -> String {
    let count = |it: usize| plural(it as i64, "transaction", "transactions");
    let accounts = match undone.accounts_removed {
        0 => String::new(),
        many => {
            format!(" {} removed with them.", plural(many as i64, "account was", "accounts were"))
        }
    };
    format!(
        "The import is undone: {} removed, {} as before.{accounts}",
        count(undone.removed),
        count(undone.restored)
    )
}
