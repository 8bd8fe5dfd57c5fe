//! The transactions pages: list, search, one transaction, corrections and downloads.

mod amount_words;
pub(super) mod attachments;
pub(super) mod bulk;
pub(super) mod category;
pub(super) mod corrections;
mod date_words;
pub(super) mod detail;
pub(super) mod download;
pub(super) mod entry;
pub(super) mod filters;
mod list;
pub(super) mod manual;
mod note_fields;
pub(super) mod notes;
pub(super) mod recent;
pub(super) mod refund;
mod search;
pub(super) mod split;

use axum::extract::RawQuery;
use base::category::Category;
use base::{Date, Money, TransactionId, date_from_days};
use http::StatusCode;
use service::ledger::accounts::{self, Account, Status};
use service::ledger::transactions::{self, Filter, PageEnd, Sort};
use service::ledger::{annotations, saved_filters};
use service::platform::cursors::Page;

use super::app_page::AppPage;
use super::assets::Asset;
use super::errors::PageResult;
use super::navigation::NavItem;
use super::person::Person;
use super::urls;
use list::List;
use search::Search;

const ROWS: usize = 50;

/// The URL of a transaction's page, with the URL to go back to.
fn address_of(id: TransactionId, back: &str) -> String {
    format!("/transactions/{id}{}", urls::query_string(&[("back", back)]))
}

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let accounts = all_accounts(&person).await?;
    let mut search =
        Search::read(query.as_deref().unwrap_or_default(), &accounts, person.view.today);
    search.limit_to_month(person.view.today);
    let mut found =
        sorted_rows(&person, (&search.filter, search.sort), search.cursor(), ROWS).await;
    if search.is_this_month() && matches!(&found, Ok((rows, _)) if rows.is_empty()) {
        search.show_all_dates();
        found = sorted_rows(&person, (&search.filter, search.sort), search.cursor(), ROWS).await;
    }
    let (rows, end) = match found {
        // Cursors expire after a day; the list starts at the beginning then.
        Err(service::Error::Invalid { param: Some(param), .. }) if param == "cursor" => {
            search.forget_cursor();
            sorted_rows(&person, (&search.filter, search.sort), None, ROWS).await?
        }
        other => other?,
    };
    let totals = transactions::totals(app, caller, &summed(&search, person.view.today)).await?;
    let days = match (rows.first(), rows.last()) {
        (Some(first), Some(last)) if search.is_by_day() => {
            let start_on = Some(first.posted_on.min(last.posted_on));
            let end_on = Some(first.posted_on.max(last.posted_on));
            let shown = Filter { start_on, end_on, ..search.filter.clone() };
            transactions::totals_by_day(app, caller, &shown).await?
        }
        _ => Default::default(),
    };
    let status = match search.problems.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let counted = totals.iter().map(|it| it.count).sum();
    let is_summed = search.is_narrowed() || search.is_this_month();
    let matching = end.total_count.or(is_summed.then_some(counted));
    let next_cursor = end.next_cursor;
    let tags = annotations::list_tags(app, caller).await?;
    let filters = saved_filters::list(app, caller).await?;
    let list = List {
        person: &person,
        accounts,
        search,
        tags,
        filters,
        rows,
        totals,
        days,
        matching,
        next_cursor,
    };
    let page = AppPage::new(NavItem::Transactions, "Transactions");
    let page = AppPage { scripts: &[Asset::Panel], ..page };
    Ok(page.page_with(status, &person, list.show()))
}

/// The transactions that the totals are of: those of the filters, or this month's if there are none.
fn summed(search: &Search, today: Date) -> Filter {
    match search.is_narrowed() {
        true => search.filter.clone(),
        false => Filter { start_on: Some(today.first_of_month()), ..search.filter.clone() },
    }
}

/// All accounts, including hidden ones, whose transactions can be filtered for.
async fn all_accounts(person: &Person) -> service::Result<Vec<Account>> {
    let filter = accounts::Filter { status: Status::All, include_hidden: true };
    accounts::list(person.app(), &person.caller, filter).await
}

/// A transaction in the list.
struct Row {
    id: TransactionId,
    account_name: String,
    amount: Money,
    posted_on: Date,
    authorized_on: Option<Date>,
    pending: bool,
    category: Option<Category>,
    counterparty: Option<String>,
    description: String,
    is_transfer: bool,
    note: Option<String>,
    /// Separated by spaces.
    tags: String,
    /// The parts of a split transaction, as they are stored.
    splits: String,
}

impl Row {
    /// Whom it is with, or the bank's text.
    fn name(&self) -> &str {
        self.counterparty.as_deref().unwrap_or(&self.description)
    }
}

async fn rows(
    person: &Person,
    filter: &Filter,
    cursor: Option<&str>,
    limit: usize,
) -> service::Result<(Vec<Row>, PageEnd)> {
    sorted_rows(person, (filter, Sort::Newest), cursor, limit).await
}

async fn sorted_rows(
    person: &Person,
    sorted: (&Filter, Sort),
    cursor: Option<&str>,
    limit: usize,
) -> service::Result<(Vec<Row>, PageEnd)> {
    let mut rows = Vec::with_capacity(limit);
    let page = Page { cursor, limit };
    let end = transactions::list_sorted(person.app(), &person.caller, sorted, page, |row| {
        rows.push(Row {
            id: row.id,
            account_name: row.account.name().to_owned(),
            amount: row.amount,
            posted_on: date_from_days(row.posted_on_days),
            authorized_on: row.authorized_on_days.map(date_from_days),
            pending: row.pending,
            category: row.category,
            counterparty: row.counterparty.map(str::to_owned),
            description: row.description.to_owned(),
            is_transfer: row.is_internal_transfer,
            note: row.note.map(str::to_owned),
            tags: row.tags.trim().to_owned(),
            splits: row.splits.to_owned(),
        });
    });
    let end = end.await?;
    Ok((rows, end))
}
