//! Transactions and balances of one account, with the deviations of real banks.

use base::{Date, date_from_days, days_from_date};
use serde::Deserialize;
use serde_json::Value;

use super::client::Client;
use super::error::EnableError;
use super::state::AccountState;
use crate::percent::percent_encode;

const PAGES_MAX: usize = 200;
/// What banks accept if they refuse a longer period without saying how long it may be.
const SHORTER_DAYS: [i64; 4] = [365, 89, 60, 30];

#[derive(Deserialize)]
struct Page {
    transactions: Vec<Value>,
    #[serde(default)]
    continuation_key: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Transaction {
    #[serde(default)]
    pub(super) entry_reference: Option<String>,
    #[serde(default)]
    pub(super) transaction_id: Option<String>,
    pub(super) transaction_amount: Amount,
    #[serde(default)]
    pub(super) credit_debit_indicator: Option<String>,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) booking_date: Option<String>,
    #[serde(default)]
    pub(super) value_date: Option<String>,
    #[serde(default)]
    pub(super) transaction_date: Option<String>,
    #[serde(default)]
    pub(super) creditor: Option<Party>,
    #[serde(default)]
    pub(super) debtor: Option<Party>,
    #[serde(default)]
    pub(super) remittance_information: Option<Vec<String>>,
}

impl Transaction {
    pub(super) fn is_pending(&self) -> bool {
        self.status.as_deref() == Some("PDNG")
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Amount {
    pub(super) currency: String,
    pub(super) amount: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Party {
    #[serde(default)]
    pub(super) name: Option<String>,
}

/// The transactions of an account.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) rows: Vec<Transaction>,
    /// How many rows could not be read.
    pub(super) unreadable: usize,
    /// Whether the bank stopped in the middle.
    pub(super) is_incomplete: bool,
}

/// Reads booked and pending transactions from a day on.
pub(super) async fn since(
    client: &Client<'_>,
    uid: &str,
    state: &mut AccountState,
    today: i64,
) -> Result<History, EnableError> {
    let first = date_from_days(state.first_day(today));
    let (mut history, from) = booked_since(client, uid, first, date_from_days(today)).await?;
    if history.rows.iter().any(Transaction::is_pending) {
        state.skip_pending(today);
    }
    if today < state.skips_pending_until {
        return Ok(history);
    }
    match read_pages(client, uid, from, Some("PDNG")).await {
        Ok(pending) => {
            let listed = pending.rows.into_iter().filter(Transaction::is_pending);
            history.rows.extend(listed);
            history.is_incomplete |= pending.is_incomplete;
        }
        // The bank has no list of pending transactions.
        Err(EnableError::Refused { status: 400..=428, .. }) => state.skip_pending(today),
        // The booked ones are kept.
        Err(_) => history.is_incomplete = true,
    }
    Ok(history)
}

/// Reads transactions from a day on, and returns the first day. A bank that refuses the period is asked for the one
/// that it proposes, or for shorter and shorter ones.
async fn booked_since(
    client: &Client<'_>,
    uid: &str,
    from: Date,
    today: Date,
) -> Result<(History, Date), EnableError> {
    let mut from = from;
    let mut shorter = SHORTER_DAYS.iter().map(|it| date_from_days(days_from_date(today) - it));
    let mut took_proposal = false;
    loop {
        let refused = match read_pages(client, uid, from, None).await {
            Ok(history) => return Ok((history, from)),
            Err(error) => error,
        };
        let Some(proposed) = refused.wrong_period() else { return Err(refused) };
        let proposed = proposed.and_then(|it| it.parse::<Date>().ok());
        let proposed = proposed.filter(|it| !took_proposal && *it > from && *it <= today);
        took_proposal |= proposed.is_some();
        from = match proposed.or_else(|| shorter.find(|it| *it > from)) {
            Some(later) => later,
            None => return Err(refused),
        };
    }
}

async fn read_pages(
    client: &Client<'_>,
    uid: &str,
    from: Date,
    status: Option<&str>,
) -> Result<History, EnableError> {
    let mut history = History::default();
    let mut path = format!("/accounts/{}/transactions?date_from={from}", percent_encode(uid));
    if let Some(status) = status {
        path.push_str(&format!("&transaction_status={status}"));
    }
    let mut next: Option<String> = None;
    for page in 0..PAGES_MAX {
        let path = match &next {
            Some(key) => format!("{path}&continuation_key={}", percent_encode(key)),
            None => path.clone(),
        };
        let found: Page = match client.get(&path).await {
            Ok(found) => found,
            // Some banks refuse the key that they just gave; what came before it is kept.
            Err(EnableError::Refused { status: 400..=499, .. }) if page > 0 => {
                history.is_incomplete = true;
                return Ok(history);
            }
            Err(error) => return Err(error),
        };
        for row in found.transactions {
            match serde_json::from_value(row) {
                Ok(row) => history.rows.push(row),
                Err(_) => history.unreadable += 1,
            }
        }
        let key = found.continuation_key.filter(|it| !it.is_empty());
        if key.is_none() || key == next {
            return Ok(history);
        }
        next = key;
    }
    history.is_incomplete = true;
    Ok(history)
}

#[derive(Deserialize)]
struct Balances {
    balances: Vec<Balance>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Balance {
    #[serde(default)]
    balance_type: Option<String>,
    pub(super) balance_amount: Amount,
    #[serde(default)]
    pub(super) credit_debit_indicator: Option<String>,
}

/// Booked before available: an available balance may include an overdraft.
const BALANCE_TYPES: [&str; 11] = [
    "CLBD",
    "closingBooked",
    "ITBD",
    "interimBooked",
    "XPCD",
    "expected",
    "OPBD",
    "CLAV",
    "closingAvailable",
    "ITAV",
    "interimAvailable",
];

/// The balance to show; none if the bank has none or refuses, which does not concern its transactions.
pub(super) async fn balance(client: &Client<'_>, uid: &str) -> Option<Balance> {
    let path = format!("/accounts/{}/balances", percent_encode(uid));
    let found: Balances = client.get(&path).await.ok()?;
    let rank = |it: &Balance| {
        let kind = it.balance_type.as_deref().unwrap_or_default();
        BALANCE_TYPES.iter().position(|known| *known == kind).unwrap_or(BALANCE_TYPES.len())
    };
    found.balances.into_iter().min_by_key(rank)
}
