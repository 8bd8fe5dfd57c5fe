//! Saved filters of the transaction list: links above the list, a form to save the present one, and a page to delete them.

use axum::extract::Path;
use base::FilterId;
use maud::{Markup, html};
use service::ledger::accounts::Account;
use service::ledger::saved_filters::{self, NAME_LENGTH_MAX, SavedFilter};

use super::all_accounts;
use super::search::Search;
use crate::site::app_page::{AppPage, see_other};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::navigation::NavItem;
use crate::site::person::Person;

/// Saves the filters of the list under a name.
pub(in crate::site) async fn save(person: Person, form: Form) -> PageResult {
    let accounts = all_accounts(&person).await?;
    let query = form.text("query").trim_start_matches('?');
    // Only filters that the list understands are stored.
    let query = Search::read(query, &accounts, person.view.today).href("", None);
    let name = form.text("name");
    let saved = saved_filters::save(person.app(), &person.caller, name, &query).await;
    let message = match saved.map_err(FormError::from_error) {
        Ok(_) => format!("Filter “{name}” saved."),
        Err(Ok(wrong)) => wrong.message,
        Err(Err(error)) => return Err(PageError::from(error)),
    };
    Ok(see_other(&person, &format!("/transactions{query}"), &message))
}

pub(in crate::site) async fn delete(
    person: Person,
    Path(id): Path<String>,
    _form: Form,
) -> PageResult {
    let id = FilterId::parse(&id).map_err(|_| PageError::not_found())?;
    saved_filters::delete(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, "/transactions/filters", "Filter deleted."))
}

/// The page of the saved filters.
pub(in crate::site) async fn list(person: Person) -> PageResult {
    let filters = saved_filters::list(person.app(), &person.caller).await?;
    let accounts = all_accounts(&person).await?;
    let main = html! {
        p.trail { a href="/transactions" { "Back to transactions" } }
        h1 { "Saved filters" }
        @if filters.is_empty() {
            div.empty {
                h2 { "No saved filters yet" }
                p { "Filter your transactions, then save the filter to use it again." }
                a.button href="/transactions" { "Filter transactions" }
            }
        } @else {
            section.card aria-label="Saved filters" {
                ul.rows { @for filter in &filters { (row(&person, &accounts, filter)) } }
            }
        }
    };
    Ok(AppPage::new(NavItem::Transactions, "Saved filters").page(&person, main))
}

/// A filter by its name, and the conditions that it consists of.
fn row(person: &Person, accounts: &[Account], filter: &SavedFilter) -> Markup {
    let search = Search::read(filter.query.trim_start_matches('?'), accounts, person.view.today);
    let conditions: Vec<String> =
        search.chips(accounts, person.view).into_iter().map(|(words, _)| words).collect();
    let delete = format!("/transactions/filters/{}/delete", filter.id);
    let body = html! {
        button.outlined type="submit" aria-label={ "Delete " (filter.name) } { "Delete" }
    };
    html! {
        li {
            div.what {
                a href={ "/transactions" (filter.query) } { (filter.name) }
                span.soft { (conditions.join(" · ")) }
            }
            (fields::form(&delete, &person.form_token, body))
        }
    }
}

/// Links to the saved filters, the present one marked.
pub(super) fn links(filters: &[SavedFilter], search: &Search) -> Markup {
    let present = search.href("", None);
    html! {
        @if !filters.is_empty() {
            nav.saved aria-label="Saved filters" {
                ul.chips {
                    @for filter in filters {
                        li {
                            a href={ "/transactions" (filter.query) }
                                aria-current=[(filter.query == present).then_some("page")] { (filter.name) }
                        }
                    }
                    li { a href="/transactions/filters" { "Manage filters" } }
                }
            }
        }
    }
}

/// The form that saves the filters of the list, if there are any that are not saved.
pub(super) fn save_form(person: &Person, filters: &[SavedFilter], search: &Search) -> Markup {
    let present = search.href("", None);
    let is_saved = filters.iter().any(|it| it.query == present);
    let body = html! {
        input type="hidden" name="query" value=(present);
        div.ask {
            div.field {
                label for="f-filter-name" { "Name of this filter" }
                input id="f-filter-name" name="name" type="text" maxlength=(NAME_LENGTH_MAX) autocomplete="off" required;
            }
            button.outlined type="submit" { "Save filter" }
        }
    };
    html! {
        @if search.is_narrowed() && !is_saved && search.problems.is_empty() {
            details.save-filter {
                summary { "Save this filter" }
                (fields::form("/transactions/filters", &person.form_token, body))
            }
        }
    }
}
