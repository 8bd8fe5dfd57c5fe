//! The datasets of an export, and where the rows of each come from.

use base::AccountId;
use calc::investments::{SortBy, View};
use serde::Serialize;
use wire::json::Moment;
use wire::v1;

use super::tables::{self, Key, Table};
use crate::access::users;
use crate::insights::{benefits, income, recurring};
use crate::ledger::accounts::Account;
use crate::ledger::{goals, investments, transactions};
use crate::platform::cursors::Page;
use crate::{App, Caller, Error, Result};

/// One resource, exported as two files.
pub(super) struct Dataset {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) rows: Rows,
}

pub(super) enum Rows {
    /// A single object.
    Profile,
    Income,
    Table(&'static Table),
    Accounts,
    Goals,
    Benefits,
    /// Account by account, so that hidden accounts are included.
    Transactions,
    Holdings,
    Streams,
}

pub(super) const DATASETS: &[Dataset] = &[
    dataset("profile", "Your profile.", Rows::Profile),
    dataset("accounts", "Your accounts, including closed and hidden ones.", Rows::Accounts),
    dataset(
        "balances",
        "Balances that your institutions reported, one row per account and day.",
        Rows::Table(&tables::BALANCES),
    ),
    dataset(
        "transactions",
        "All transactions by account, newest first. Money out is negative.",
        Rows::Transactions,
    ),
    dataset("investments", "Holdings of each account.", Rows::Holdings),
    dataset("goals", "Your goals and their progress.", Rows::Goals),
    dataset("recurring", "Recurring bills, subscriptions and income.", Rows::Streams),
    dataset("income", "The current analysis of your income.", Rows::Income),
    dataset("scores", "Your scores, one row per day.", Rows::Table(&tables::SCORES)),
    dataset("benefits", "Card benefits in their current cycle.", Rows::Benefits),
    dataset(
        "actions",
        "Proposals to you, with your decisions and their results.",
        Rows::Table(&tables::ACTIONS),
    ),
    dataset("paper_accounts", "Your paper accounts.", Rows::Table(&tables::PAPER_ACCOUNTS)),
    dataset(
        "paper_trades",
        "All ledger entries of your paper accounts, oldest first.",
        Rows::Table(&tables::PAPER_TRADES),
    ),
    dataset("rules", "Your rules for names and categories.", Rows::Table(&tables::RULES)),
    dataset(
        "corrections",
        "Transactions that you renamed, recategorized, hid or marked as a transfer.",
        Rows::Table(&tables::CORRECTIONS),
    ),
    dataset(
        "attachments",
        "Files that you attached to transactions. Each is here as attachment_ and its id.",
        Rows::Table(&tables::ATTACHMENTS),
    ),
    dataset(
        "refund_links",
        "Refunds that you linked to their purchase.",
        Rows::Table(&tables::REFUND_LINKS),
    ),
    dataset(
        "transfer_decisions",
        "Your decisions about transfers between your accounts.",
        Rows::Table(&tables::TRANSFER_DECISIONS),
    ),
    dataset(
        "api_keys",
        "Your API keys, without the secret keys, which are not stored.",
        Rows::Table(&tables::KEYS),
    ),
    dataset("connected_apps", "Apps that you connected.", Rows::Table(&tables::APPS)),
    dataset("audit_trail", "The audit log of your account.", Rows::Table(&tables::AUDIT)),
];

const fn dataset(name: &'static str, about: &'static str, rows: Rows) -> Dataset {
    Dataset { name, about, rows }
}

/// Prefix of a cursor into hidden transactions; no other cursor begins with it.
const HIDDEN: &str = "hidden ";

/// The position of the next page in a dataset.
#[derive(Clone)]
pub(super) enum Position {
    Start,
    After(Vec<Key>),
    /// The index of an account, and a cursor within it.
    Account(usize, Option<String>),
}

pub(super) enum Content {
    Single(Vec<u8>),
    /// Rows as JSON objects, and the position of the next page.
    Rows(Vec<Vec<u8>>, Option<Position>),
}

/// Reads the datasets of one person.
pub(super) struct Reader {
    pub(super) app: App,
    pub(super) caller: Caller,
    pub(super) accounts: Vec<Account>,
}

impl Reader {
    pub(super) async fn read(&self, rows: &Rows, position: Position) -> Result<Content> {
        let (app, caller) = (&self.app, &self.caller);
        Ok(match rows {
            Rows::Profile => Content::Single(self.profile().await?),
            Rows::Income => Content::Single(json(&income::get(app, caller).await?)?),
            Rows::Table(table) => {
                let after = match position {
                    Position::After(key) => Some(key),
                    Position::Start | Position::Account(..) => None,
                };
                let (rows, next) = table.page(app, caller, after).await?;
                Content::Rows(rows, next.map(Position::After))
            }
            Rows::Accounts => all(self.accounts.iter().map(v1::Account::from))?,
            Rows::Goals => all(goals::list(app, caller, None).await?.iter().map(v1::Goal::from))?,
            Rows::Benefits => {
                let cards = benefits::summary(app, caller).await?.cards;
                all(cards.into_iter().flat_map(|it| it.benefits))?
            }
            Rows::Transactions | Rows::Holdings | Rows::Streams => {
                let (index, cursor) = match position {
                    Position::Account(index, cursor) => (index, cursor),
                    Position::Start | Position::After(_) => (0, None),
                };
                let Some(account) = self.accounts.get(index) else {
                    return Ok(Content::Rows(Vec::new(), None));
                };
                let (found, cursor) = self.of_account(rows, account, cursor).await?;
                let next = if cursor.is_some() { index } else { index + 1 };
                let next = (next < self.accounts.len()).then_some(Position::Account(next, cursor));
                Content::Rows(found, next)
            }
        })
    }

    async fn of_account(
        &self,
        rows: &Rows,
        account: &Account,
        cursor: Option<String>,
    ) -> Result<(Vec<Vec<u8>>, Option<String>)> {
        let (app, caller) = (&self.app, &self.caller);
        match rows {
            Rows::Transactions => self.transactions(account.id, cursor.as_deref()).await,
            Rows::Holdings => {
                let view = View { asset_class: None, sort_by: SortBy::Symbol, descending: false };
                let listed = investments::list(app, caller, Some(account.id), view).await?;
                let groups = v1::Investments::from(&listed).groups;
                let holdings = groups.into_iter().flat_map(|it| it.holdings);
                let row = |holding| HoldingRow {
                    account_id: account.id.to_string(),
                    account_name: &account.name,
                    holding,
                };
                Ok((holdings.map(|it| json(&row(it))).collect::<Result<_>>()?, None))
            }
            _ => {
                let account_id = Some(account.id);
                let filter = recurring::Filter { status: None, account_id, direction: None };
                let listed = recurring::list(app, caller, filter).await?;
                let streams = v1::Recurring::from(&listed).streams;
                Ok((streams.iter().map(json).collect::<Result<_>>()?, None))
            }
        }
    }

    async fn transactions(
        &self,
        account: AccountId,
        cursor: Option<&str>,
    ) -> Result<(Vec<Vec<u8>>, Option<String>)> {
        // Transactions that a rule hides follow the visible ones.
        let hidden = cursor.and_then(|it| it.strip_prefix(HIDDEN));
        let cursor = hidden.or(cursor).filter(|it| !it.is_empty());
        let filter = transactions::Filter {
            account_id: Some(account),
            hidden: hidden.is_some(),
            ..Default::default()
        };
        let page = Page { cursor, limit: tables::PAGE_ROWS as usize };
        let mut rows = Vec::new();
        let end = transactions::list(&self.app, &self.caller, &filter, page, |row| {
            let mut written = Vec::with_capacity(640);
            row.write(&mut written);
            rows.push(written);
        });
        let end = end.await?;
        let next = match (hidden, end.next_cursor) {
            (None, None) => Some(HIDDEN.to_owned()),
            (None, next) => next,
            (Some(_), next) => next.map(|it| format!("{HIDDEN}{it}")),
        };
        Ok((rows, next))
    }

    async fn profile(&self) -> Result<Vec<u8>> {
        let user = users::get(&self.app, &self.caller).await?;
        json(&Profile {
            id: user.id.to_string(),
            email: user.email,
            preferred_name: user.preferred_name,
            base_currency: user.base_currency.to_string(),
            timezone: user.timezone.name(),
            connected_at: user.connected_at.map(Moment),
            created_at: Moment(user.created_at),
        })
    }
}

#[derive(Serialize)]
struct Profile {
    id: String,
    email: String,
    preferred_name: Option<String>,
    base_currency: String,
    timezone: &'static str,
    connected_at: Option<Moment>,
    created_at: Moment,
}

/// A holding with its account.
#[derive(Serialize)]
struct HoldingRow<'a> {
    account_id: String,
    account_name: &'a str,
    #[serde(flatten)]
    holding: v1::Holding,
}

fn all<T: Serialize>(rows: impl Iterator<Item = T>) -> Result<Content> {
    Ok(Content::Rows(rows.map(|it| json(&it)).collect::<Result<_>>()?, None))
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let written = serde_json::to_vec(value);
    written.map_err(|error| {
        Error::internal(format!("a row of an export cannot be serialized: {error}"))
    })
}
