//! Transactions as the list returns them, copied out of their pages.

use base::category::Category;
use base::{Date, Timestamp, TransactionId, date_from_days};
use service::ledger::transactions::{self, Filter, PageEnd};
use service::platform::cursors::{LIMIT_MAX, Page};
use service::{App, Caller, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) id: TransactionId,
    pub(crate) posted_on: Date,
    pub(crate) authorized_on: Option<Date>,
    pub(crate) minor: i64,
    pub(crate) pending: bool,
    pub(crate) category: Option<Category>,
    pub(crate) counterparty: Option<String>,
    pub(crate) description: String,
    pub(crate) updated_at: Timestamp,
    /// The whole row as the API writes it.
    pub(crate) json: String,
}

pub(crate) async fn page(
    app: &App,
    caller: &Caller,
    filter: &Filter,
    page: Page<'_>,
) -> Result<(Vec<Listed>, PageEnd)> {
    let mut rows = Vec::new();
    let end = transactions::list(app, caller, filter, page, |row| {
        let mut json = Vec::new();
        row.write(&mut json);
        rows.push(Listed {
            id: row.id,
            posted_on: date_from_days(row.posted_on_days),
            authorized_on: row.authorized_on_days.map(date_from_days),
            minor: row.amount.minor(),
            pending: row.pending,
            category: row.category,
            counterparty: row.counterparty.map(str::to_owned),
            description: row.description.to_owned(),
            updated_at: Timestamp::from_microsecond(row.updated_at_micros).unwrap(),
            json: String::from_utf8(json).unwrap(),
        });
    });
    let end = end.await?;
    assert_eq!(end.count, rows.len());
    Ok((rows, end))
}

pub(crate) async fn first_page(
    app: &App,
    caller: &Caller,
    filter: &Filter,
) -> Result<(Vec<Listed>, PageEnd)> {
    page(app, caller, filter, Page { cursor: None, limit: LIMIT_MAX }).await
}

/// All matching rows, over as many pages as it takes.
pub(crate) async fn all(app: &App, caller: &Caller, filter: &Filter) -> Vec<Listed> {
    let mut cursor: Option<String> = None;
    let mut rows = Vec::new();
    for _ in 0..1_000 {
        let next_page = Page { cursor: cursor.as_deref(), limit: LIMIT_MAX };
        let (more, end) = page(app, caller, filter, next_page).await.unwrap();
        rows.extend(more);
        match end.next_cursor {
            Some(next) => cursor = Some(next),
            None => return rows,
        }
    }
    panic!("the list does not end");
}

pub(crate) fn descriptions(rows: &[Listed]) -> Vec<&str> {
    rows.iter().map(|it| it.description.as_str()).collect()
}
