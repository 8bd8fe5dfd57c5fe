//! Recent imports, and undoing one.

use axum::extract::Path;
use base::ImportId;
use base::draft::Source;
use maud::{Markup, html};
use service::ingest::connections::{self, Connection};
use service::ingest::imports::{self, Import, UndoSummary};

use super::{HOME, staged};
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields;
use crate::site::form::Form;
use crate::site::format::{count_text, plural};
use crate::site::person::Person;

const SHOWN: usize = 100;

pub(super) async fn card(person: &Person) -> Result<Markup, PageError> {
    let last = imports::list(person.app(), &person.caller, None, SHOWN).await?;
    // Without a file, the bank tells imports apart.
    let banks = match last.iter().any(|it| it.name.is_none()) {
        true => connections::list(person.app(), &person.caller).await?,
        false => Vec::new(),
    };
    Ok(html! {
        section.card aria-labelledby="last" {
            h2 id="last" { "Recent imports" }
            @if last.is_empty() {
                p.soft { "Your imports will appear here. You can undo each one." }
            } @else {
                ul.rows.imports {
                    @for it in &last {
                        @let bank = banks.iter().find(|bank| it.name.is_none() && bank.id == it.connection);
                        (row(person, it, bank))
                    }
                }
            }
        }
    })
}

/// The imports of one connection, which the page names.
pub(in crate::site) fn rows(person: &Person, batches: &[Import]) -> Markup {
    html! { ul.rows.imports { @for it in batches { (row(person, it, None)) } } }
}

fn row(person: &Person, it: &Import, bank: Option<&Connection>) -> Markup {
    let now = person.app().clock.now();
    let title = bank.map_or(name(it), |bank| &bank.name);
    html! {
        li {
            span.what {
                (title)
                @if it.undone_at.is_some() { " " span.badge { "Undone" } }
                span.soft {
                    @if bank.is_some() { (name(it)) ", " }
                    (found(it)) ", " (person.view.time_ago(it.imported_at, now))
                }
            }
            @if it.can_be_undone(now) { (ending(person, it, title)) }
        }
    }
}

/// The file name, or the source.
pub(super) fn name(it: &Import) -> &str {
    it.name.as_deref().unwrap_or(match it.source {
        Source::Demo => "Demo",
        Source::File => "File",
        Source::Manual => "Manual",
        Source::EnableBanking => "Enable Banking",
        Source::Plaid => "Plaid",
        Source::Simplefin => "SimpleFIN",
    })
}

fn found(it: &Import) -> String {
    let sum = it.summary;
    counts_text(&[
        (sum.new, "new"),
        (sum.changed, "updated"),
        (sum.seen, "already imported"),
        (it.rejected, "skipped"),
    ])
}

/// The counts that are not zero, such as "12 new, 3 already imported".
pub(super) fn counts_text(counts: &[(usize, &str)]) -> String {
    let shown = counts.iter().filter(|it| it.0 > 0);
    let shown: Vec<String> =
        shown.map(|(count, what)| format!("{} {what}", count_text(*count as i64))).collect();
    if shown.is_empty() { "nothing new".to_owned() } else { shown.join(", ") }
}

/// The undo button with an explanation.
pub(super) fn ending(person: &Person, it: &Import, title: &str) -> Markup {
    let action = format!("/imports/{}/undo", it.id);
    html! {
        details.confirm {
            summary { "Undo" span.hush { " the import of " (title) } }
            p {
                "This removes the imported transactions and restores what the import changed. Other imports are \
                 not affected."
            }
            (fields::button(&action, &person.form_token, "Undo import", "danger"))
        }
    }
}

pub(super) async fn undo(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    let id = ImportId::parse(&id).map_err(|_| PageError::not_found())?;
    let undone = imports::undo(person.app(), &person.caller, id).await?;
    staged::refresh(person.app(), &person.caller).await;
    Ok(see_other(&person, HOME, &undo_message(undone)))
}

fn undo_message(undone: UndoSummary) -> String {
    let count = |it: usize| plural(it as i64, "transaction", "transactions");
    let accounts = match undone.accounts_removed {
        0 => String::new(),
        many => {
            format!(" {} also removed.", plural(many as i64, "account was", "accounts were"))
        }
    };
    format!(
        "Import undone: {} removed, {} restored.{accounts}",
        count(undone.removed),
        count(undone.restored)
    )
}
