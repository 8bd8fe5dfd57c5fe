//! Changing many transactions at once: the bar under the list, its form handler, and undoing.

use axum::extract::Path;
use base::category::Category;
use base::{EditId, TransactionId};
use maud::{Markup, html};
use service::Error;
use service::classify::bulk_edits::{self, BulkChange, BulkEdit, TRANSACTIONS_MAX};
use service::classify::overrides::{TransferMark, Visibility};
use service::ledger::annotations::Tags;
use service::ledger::transactions;

use super::search::Search;
use super::{all_accounts, category};
use crate::site::app_page::{AppPage, see_other, see_other_with_undo};
use crate::site::errors::{PageError, PageResult, sentence};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::{count_text, plural};
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::urls;

/// Changes the transactions that are selected on the list.
pub(in crate::site) async fn apply(person: Person, form: Form) -> PageResult {
    let next = urls::local_path(form.text("next"));
    let changing = async {
        let ids = chosen(&person, &form).await?;
        let count = ids.len() as i64;
        let change = read_change(&form)?;
        let message = message(count, &change);
        let edit = bulk_edits::apply(person.app(), &person.caller, ids, change).await?;
        Ok((edit, message))
    };
    match changing.await.map_err(FormError::from_error) {
        Ok((edit, message)) => Ok(see_other_with_undo(&person, next, &message, edit)),
        Err(Ok(wrong)) => Ok(see_other(&person, next, &wrong.message)),
        Err(Err(error)) => Err(PageError::from(error)),
    }
}

/// The transactions that the form is about: those that are ticked, all of the page, or all that match the filters.
async fn chosen(person: &Person, form: &Form) -> service::Result<Vec<TransactionId>> {
    if form.has("all") {
        return matching(person, form).await;
    }
    let name = if form.has("page") { "shown" } else { "id" };
    let ids: Option<Vec<TransactionId>> =
        form.all(name).map(|it| TransactionId::parse(it).ok()).collect();
    match ids {
        Some(ids) if ids.is_empty() => {
            Err(Error::invalid("id", "select at least one transaction first"))
        }
        ids => ids.ok_or(Error::NotFound("transaction")),
    }
}

/// All transactions that match the filters of the list. Their number must be the one that the person saw.
async fn matching(person: &Person, form: &Form) -> service::Result<Vec<TransactionId>> {
    let accounts = all_accounts(person).await?;
    let query = form.text("query").trim_start_matches('?');
    let search = Search::read(query, &accounts, person.view.today);
    if let Some(problem) = search.problems.first() {
        return Err(Error::invalid("query", problem.as_str()));
    }
    let (app, caller) = (person.app(), &person.caller);
    let found = transactions::ids(app, caller, &search.filter, TRANSACTIONS_MAX).await?;
    let most = count_text(TRANSACTIONS_MAX as i64);
    let too_many =
        || format!("you can change up to {most} transactions at once; narrow the filters");
    let ids = found.ok_or_else(|| Error::invalid("query", too_many()))?;
    let shown = form.text("matching");
    if ids.len().to_string() != shown {
        let now = plural(ids.len() as i64, "transaction matches", "transactions match");
        let message = format!("{now} now, not {shown}. Check the list and try again.");
        return Err(Error::invalid("query", message));
    }
    Ok(ids)
}

fn read_change(form: &Form) -> service::Result<BulkChange> {
    let code = form.text("category");
    let category = Category::ALL.into_iter().find(|it| it.detailed() == code);
    if category.is_none() && !code.is_empty() {
        return Err(Error::invalid("category", "choose a category of the list"));
    }
    let note = form.text("note");
    let change = BulkChange {
        category,
        visibility: Visibility::parse(form.text("visibility")),
        transfer: TransferMark::parse(form.text("transfer")).map(Some),
        note: (!note.is_empty()).then(|| note.to_owned()),
        add_tags: Tags::parse(form.text("add_tags"))?,
        remove_tags: Tags::parse(form.text("remove_tags"))?,
    };
    if change == BulkChange::default() {
        return Err(Error::invalid("category", "choose what to change first"));
    }
    Ok(change)
}

fn message(count: i64, change: &BulkChange) -> String {
    let many = plural(count, "transaction", "transactions");
    let only_category = BulkChange { category: change.category, ..BulkChange::default() };
    let only_visibility = BulkChange { visibility: change.visibility, ..BulkChange::default() };
    match (change.category, change.visibility) {
        (Some(category), _) if *change == only_category => {
            format!("{many} set to {}.", category.label())
        }
        (_, Some(Visibility::Hidden)) if *change == only_visibility => format!("{many} hidden."),
        (_, Some(Visibility::Shown)) if *change == only_visibility => format!("{many} shown."),
        _ => format!("{many} changed."),
    }
}

/// The part of the list's form below the rows. `matching` is how many transactions match the filters, if that is known.
pub(super) fn bar(search: &Search, shown: usize, matching: Option<i64>) -> Markup {
    let nothing_wrong = FormError::default();
    let add = Field::text("add_tags", "Add tags", "").optional();
    let remove = Field::text("remove_tags", "Remove tags", "").optional();
    let note = Field::text("note", "Replace note with", "").optional();
    let states = [("", "No change"), ("hidden", "Hide"), ("shown", "Show")];
    let transfers = [
        ("", "No change"),
        ("transfer", "Mark as transfer"),
        ("no_transfer", "Mark as no transfer"),
    ];
    let more = matching.filter(|it| *it > shown as i64);
    let most = TRANSACTIONS_MAX as i64;
    html! {
        div.bulk {
            p.chosen aria-live="polite" { strong data-selected {} "Change selected transactions" }
            @if let Some(count) = more.filter(|it| *it <= most) {
                input type="hidden" name="query" value=(search.href("", None));
                input type="hidden" name="matching" value=(count);
                (fields::check("all", "yes", &format!("Select all {} that match", count_text(count)), false))
            } @else if more.is_some() {
                p.soft {
                    "To select more than this page, narrow the filters to at most " (count_text(most)) " transactions."
                }
            }
            div.bulk-fields {
                div.field {
                    label for="f-bulk" { "Set category" }
                    select id="f-bulk" name="category" {
                        option value="" { "No change" }
                        (category::options("", false))
                    }
                }
                button.primary type="submit" { "Apply to selected" }
            }
            details {
                summary { "More changes" }
                div.filters {
                    (add.show(&nothing_wrong))
                    (remove.show(&nothing_wrong))
                    (note.show(&nothing_wrong))
                    (fields::select("transfer", "Transfer between your accounts", &transfers, ""))
                    (fields::select("visibility", "Visibility", &states, ""))
                }
            }
        }
    }
}

/// Undoes an edit.
pub(in crate::site) async fn undo(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = EditId::parse(&id).map_err(|_| PageError::not_found())?;
    let next = match form.text("next") {
        "" => "/transactions/edits",
        next => urls::local_path(next),
    };
    let message = match bulk_edits::undo(person.app(), &person.caller, id).await {
        Ok(count) => format!("Undone. {} restored.", plural(count, "transaction", "transactions")),
        Err(Error::Conflict { message, .. }) => sentence(&message),
        Err(error) => return Err(PageError::from(error)),
    };
    Ok(see_other(&person, next, &message))
}

/// The page of the last edits, each with a button to undo it.
pub(in crate::site) async fn edits(person: Person) -> PageResult {
    let edits = bulk_edits::list(person.app(), &person.caller).await?;
    let main = html! {
        p.trail { a href="/transactions" { "Back to transactions" } }
        h1 { "Recent edits" }
        @if edits.is_empty() {
            div.empty {
                h2 { "No edits yet" }
                p { "Changes that you make to selected transactions appear here, and you can undo them." }
                a.button href="/transactions" { "Select transactions" }
            }
        } @else {
            p.soft {
                "Undo restores the values from before. An edit whose transactions have changed since cannot be undone."
            }
            section.card aria-label="Edits" {
                ul.rows { @for edit in &edits { (row(&person, edit)) } }
            }
        }
    };
    Ok(AppPage::new(NavItem::Transactions, "Recent edits").page(&person, main))
}

fn row(person: &Person, edit: &BulkEdit) -> Markup {
    let path = format!("/transactions/edits/{}/undo", edit.id);
    html! {
        li {
            div.what {
                (sentence(&edit.summary).trim_end_matches('.'))
                span.soft {
                    (plural(edit.row_count, "transaction", "transactions")) " · "
                    (person.view.time_ago(edit.edited_at, person.app().clock.now()))
                }
            }
            @if edit.undone_at.is_some() {
                span.badge { "Undone" }
            } @else {
                (fields::button(&path, &person.form_token, "Undo", "outlined"))
            }
        }
    }
}
