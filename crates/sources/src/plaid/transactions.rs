//! `/transactions/sync`: pages of added, modified and removed transactions since a cursor.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::json;

use super::client::Client;
use super::error::PlaidError;
use super::numbers::Number;

const PAGE: u32 = 500;
/// 100,000 transactions, more than two years of anyone's.
const MOST_PAGES: usize = 200;
/// How often reading starts over because the data changed meanwhile.
const MOST_RESTARTS: usize = 3;

#[derive(Debug, Deserialize)]
struct Page {
    added: Vec<Transaction>,
    modified: Vec<Transaction>,
    removed: Vec<Removed>,
    next_cursor: String,
    has_more: bool,
    #[serde(default)]
    transactions_update_status: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Transaction {
    pub(super) transaction_id: String,
    pub(super) account_id: String,
    pub(super) amount: Number,
    pub(super) iso_currency_code: Option<String>,
    pub(super) date: String,
    pub(super) authorized_date: Option<String>,
    pub(super) name: Option<String>,
    pub(super) merchant_name: Option<String>,
    pub(super) original_description: Option<String>,
    pub(super) pending: bool,
    pub(super) pending_transaction_id: Option<String>,
    pub(super) logo_url: Option<String>,
    #[serde(default)]
    pub(super) counterparties: Option<Vec<Counterparty>>,
    #[serde(default)]
    pub(super) personal_finance_category: Option<FinanceCategory>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Counterparty {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) logo_url: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct FinanceCategory {
    pub(super) detailed: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Removed {
    pub(super) transaction_id: String,
    #[serde(default)]
    pub(super) account_id: Option<String>,
}

/// All changes since a cursor.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The last version of each transaction, in Plaid's order.
    pub(super) transactions: Vec<Transaction>,
    pub(super) removed: Vec<Removed>,
    /// None while Plaid has nothing yet.
    pub(super) cursor: Option<String>,
    /// Whether Plaid has fetched the whole history from the bank.
    pub(super) is_complete: bool,
}

/// Reads all pages since the cursor. If the data changes while they are read, reading starts over from the cursor.
pub(super) async fn changes_since(
    client: &Client<'_>,
    access_token: &str,
    cursor: Option<&str>,
) -> Result<Changes, PlaidError> {
    let mut restarts = 0;
    loop {
        match read_pages(client, access_token, cursor).await {
            Err(error) if error.is_mutation() && restarts < MOST_RESTARTS => restarts += 1,
            Err(error) if error.is_not_ready() => {
                let cursor = cursor.map(str::to_owned);
                return Ok(Changes { cursor, ..Changes::default() });
            }
            // A login of investment accounts alone has no transactions of this kind.
            Err(error) if error.is_without_product() => {
                return Ok(Changes { is_complete: true, ..Changes::default() });
            }
            read => return read,
        }
    }
}

async fn read_pages(
    client: &Client<'_>,
    access_token: &str,
    cursor: Option<&str>,
) -> Result<Changes, PlaidError> {
    let mut collected = Collected::default();
    let mut next: Option<String> = cursor.map(str::to_owned);
    for _ in 0..MOST_PAGES {
        let mut body = json!({
            "access_token": access_token,
            "count": PAGE,
            "options": {
                "include_original_description": true,
                "personal_finance_category_version": "v2",
            },
        });
        if let Some(cursor) = &next {
            body["cursor"] = cursor.as_str().into();
        }
        let page: Page = client.post("/transactions/sync", &body).await?;
        // An empty cursor means that nothing is there yet; it must not be sent back.
        next = Some(page.next_cursor.clone()).filter(|it| !it.is_empty()).or(next);
        let (has_more, status) = (page.has_more, page.transactions_update_status.clone());
        collected.add(page);
        if !has_more {
            // Without a status, or with an unknown one, there is nothing to wait for.
            let waits = ["NOT_READY", "INITIAL_UPDATE_COMPLETE"];
            let is_complete = !status.is_some_and(|it| waits.contains(&it.as_str()));
            return Ok(collected.into_changes(next, is_complete));
        }
    }
    Err(PlaidError::Unreadable)
}

/// Transactions of the pages so far, each once.
#[derive(Default)]
struct Collected {
    rows: Vec<Option<Transaction>>,
    positions: HashMap<String, usize>,
    removed: Vec<Removed>,
}

impl Collected {
    fn add(&mut self, page: Page) {
        for row in page.added.into_iter().chain(page.modified) {
            match self.positions.get(&row.transaction_id) {
                Some(at) => self.rows[*at] = Some(row),
                None => {
                    self.positions.insert(row.transaction_id.clone(), self.rows.len());
                    self.rows.push(Some(row));
                }
            }
        }
        for gone in page.removed {
            if let Some(at) = self.positions.remove(&gone.transaction_id) {
                self.rows[at] = None;
            }
            self.removed.push(gone);
        }
    }

    fn into_changes(self, cursor: Option<String>, is_complete: bool) -> Changes {
        let transactions: Vec<Transaction> = self.rows.into_iter().flatten().collect();
        // A transaction that came back after it was removed exists.
        let present: HashSet<&str> =
            transactions.iter().map(|it| it.transaction_id.as_str()).collect();
        let removed: Vec<Removed> = self
            .removed
            .into_iter()
            .filter(|it| !present.contains(it.transaction_id.as_str()))
            .collect();
        Changes { transactions, removed, cursor, is_complete }
    }
}
