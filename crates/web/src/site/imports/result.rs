//! The progress of an import, and its result.

use axum::response::Response;
use base::FileId;
use maud::{Markup, html};
use service::ingest::imports::files::{self, StagedFile};
use service::ingest::imports::{self, Import};
use service::ledger::accounts::{self, Account, Filter, Status};

use super::{HOME, history, new_page, url_of};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields;
use crate::site::format::{count_text, plural};
use crate::site::person::Person;

/// The query that marks a page that is waiting for an import.
pub(super) const WAITED: &str = "waited";
pub(super) const FAILED: &str =
    "The import failed and nothing was changed. Try again. The log has details.";

pub(super) fn under_way(person: &Person, file: &StagedFile) -> Response {
    let is_here = files::progress(person.app(), file.id).is_some();
    let again = format!("{}/commit", url_of(file.id));
    let main = html! {
        div.lead-in {
            p.trail { a href=(HOME) { "Import" } }
            h1 { (file.name) }
        }
        section.card aria-labelledby="under-way" data-commit {
            h2 id="under-way" { "Importing" }
            (bar(person, file.id))
            p.soft { "You can leave this page. The import continues." }
        }
        @if !is_here {
            details {
                summary { "Not making progress?" }
                p.soft { "If the server was restarted, nothing was changed. You can import the file again after \
                          ten minutes." }
                (fields::button(&again, &person.form_token, "Import again", ""))
            }
        }
    };
    let title = format!("Importing {}", file.name);
    let mut page = new_page(&title);
    page.waits = true;
    page.page(person, main)
}

/// The progress bar: rows written of all rows. It has no value while the file is being read.
pub(super) fn bar(person: &Person, id: FileId) -> Markup {
    let label = "Rows imported";
    html! {
        @match files::progress(person.app(), id) {
            Some((done, total)) if total > 0 => {
                progress max=(total) value=(done) aria-label=(label) {}
                p.soft { (count_text(done as i64)) " of " (plural(total as i64, "row", "rows")) }
            },
            _ => { progress aria-label=(label) {} p.soft { "Reading file" } },
        }
    }
}

pub(super) async fn done(person: &Person, file: &StagedFile) -> PageResult {
    let import = file.import.ok_or_else(PageError::not_found)?;
    let (app, caller) = (person.app(), &person.caller);
    let imported = imports::get(app, caller, import).await?;
    let changed = imports::list_accounts(app, caller, import).await?;
    let all = Filter { status: Status::All, include_hidden: true };
    let mut accounts = accounts::list(app, caller, all).await?;
    accounts.retain(|it| changed.contains(&it.id));
    let waiting = files::list(app, caller).await?;
    let next = waiting.iter().find(|it| it.state == files::State::Open);
    let main = html! {
        div.lead-in {
            p.trail { a href=(HOME) { "Import" } }
            h1 { (file.name) }
            p.soft { "Imported " (person.view.time_ago(imported.imported_at, app.clock.now())) }
        }
        @if imported.undone_at.is_some() {
            p.notice { "This import was undone. Upload the file again to restore it." }
        } @else {
            (summary(&imported))
            (places(&accounts))
        }
        div.actions {
            @match next {
                Some(next) => a.button href=(url_of(next.id)) { "Next: " (next.name) },
                None => a.button href=(HOME) { "Import more files" },
            }
        }
        @if imported.can_be_undone(app.clock.now()) { (history::ending(person, &imported, history::name(&imported))) }
    };
    Ok(new_page(&file.name).page(person, main))
}

fn summary(it: &Import) -> Markup {
    let sum = it.summary;
    let [new, changed, seen] = [sum.new, sum.changed, sum.seen].map(|it| it as i64);
    html! {
        @if new == 0 && changed == 0 {
            p.notice { strong { "Nothing new in this file." } " All transactions were already imported." }
        } @else {
            p.notice {
                (plural(new, "new transaction", "new transactions")) " imported. Categories, recurring payments \
                    and totals will update in a moment."
            }
        }
        dl.tiles.sums {
            div.tile { dt { "New" } dd { (count_text(new)) } }
            div.tile { dt { "Updated" } dd { (count_text(changed)) } }
            div.tile { dt { "Already imported" } dd { (count_text(seen)) } }
            div.tile { dt { "Skipped" } dd { (count_text(it.rejected as i64)) } }
        }
    }
}

fn places(accounts: &[Account]) -> Markup {
    html! {
        @if !accounts.is_empty() {
            section.card aria-labelledby="places" {
                h2 id="places" { "Updated accounts" }
                ul.rows {
                    @for it in accounts {
                        li {
                            a href={ "/accounts/" (it.id) } { (it.name) }
                            a href={ "/transactions?account=" (it.id) } {
                                "Transactions" span.hush { " of " (it.name) }
                            }
                        }
                    }
                }
            }
        }
    }
}
