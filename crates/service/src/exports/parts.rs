//! The files of an export, and where the rows of each come from.

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

/// One resource: two files, and a sentence about them.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) rows: Rows,
}

pub(super) enum Rows {
    /// One object and no list.
    Profile,
    Income,
    Table(&'static Table),
    Accounts,
    Goals,
    Benefits,
    /// Account after account, so that hidden ones are told as well.
    Transactions,
    Holdings,
    Streams,
}

pub(super) const PARTS: &[Part] = &[
    part("profile", "Who you are here.", Rows::Profile),
    part("accounts", "Your accounts, closed and hidden ones too.", Rows::Accounts),
    part(
        "balances",
        "What your institutions reported, a row for each account and day.",
        Rows::Table(&tables::BALANCES),
    ),
    part(
        "transactions",
        "Every transaction, account by account, newest first. Money going out is negative.",
        Rows::Transactions,
    ),
    part("investments", "What each of your accounts holds.", Rows::Holdings),
    part("goals", "Your goals and how far along they are.", Rows::Goals),
    part("recurring", "Bills, subscriptions and pay that come again.", Rows::Streams),
    part("income", "The analysis of your income, as it stands.", Rows::Income),
    part("scores", "Your scores, a row for each day.", Rows::Table(&tables::SCORES)),
    part("benefits", "The benefits of your cards in their present cycle.", Rows::Benefits),
    part(
        "actions",
        "What was proposed to you, and what became of it.",
        Rows::Table(&tables::ACTIONS),
    ),
    part("paper_accounts", "Your paper accounts.", Rows::Table(&tables::PAPER_ACCOUNTS)),
    part(
        "paper_trades",
        "Every entry of the ledgers of your paper accounts, oldest first.",
        Rows::Table(&tables::PAPER_TRADES),
    ),
    part("rules", "The rules you made for names and categories.", Rows::Table(&tables::RULES)),
    part(
        "corrections",
        "The transactions you named or categorised yourself.",
        Rows::Table(&tables::CORRECTIONS),
    ),
    part(
        "transfer_decisions",
        "What you said of moves between your own accounts.",
        Rows::Table(&tables::TRANSFER_DECISIONS),
    ),
    part(
        "api_keys",
        "Your API keys, without the keys themselves: nobody has those but you.",
        Rows::Table(&tables::KEYS),
    ),
    part("connected_apps", "The apps you let in.", Rows::Table(&tables::APPS)),
    part("audit_trail", "What was done with your account.", Rows::Table(&tables::AUDIT)),
];

const fn part(name: &'static str, about: &'static str, rows: Rows) -> Part {
    Part { name, about, rows }
}

/// Before the cursor of a walk over hidden transactions; no cursor begins so.
const HIDDEN: &str = "hidden ";

/// Where a file goes on.
#[derive(Clone)]
pub(super) enum Place {
    Start,
    After(Vec<Key>),
    /// An account, and within it a cursor.
    Account(usize, Option<String>),
}

pub(super) enum Content {
    Single(Vec<u8>),
    /// Rows as JSON objects, and where the next ones are.
    Rows(Vec<Vec<u8>>, Option<Place>),
}

/// Whose data is told; the accounts are read once.
pub(super) struct Source {
    pub(super) app: App,
    pub(super) caller: Caller,
    pub(super) accounts: Vec<Account>,
}

impl Source {
    pub(super) async fn read(&self, rows: &Rows, place: Place) -> Result<Content> {
        let (app, caller) = (&self.app, &self.caller);
        Ok(match rows {
            Rows::Profile => Content::Single(self.profile().await?),
            Rows::Income => Content::Single(json(&income::get(app, caller).await?)?),
            Rows::Table(table) => {
                let after = match place {
                    Place::After(key) => Some(key),
                    Place::Start | Place::Account(..) => None,
                };
                let (rows, next) = table.page(app, caller, after).await?;
                Content::Rows(rows, next.map(Place::After))
            }
            Rows::Accounts => all(self.accounts.iter().map(v1::Account::from))?,
            Rows::Goals => all(goals::list(app, caller, None).await?.iter().map(v1::Goal::from))?,
            Rows::Benefits => {
                let cards = benefits::summary(app, caller).await?.cards;
                all(cards.into_iter().flat_map(|it| it.benefits))?
            }
            Rows::Transactions | Rows::Holdings | Rows::Streams => {
                let (index, cursor) = match place {
                    Place::Account(index, cursor) => (index, cursor),
                    Place::Start | Place::After(_) => (0, None),
                };
                let Some(account) = self.accounts.get(index) else {
                    return Ok(Content::Rows(Vec::new(), None));
                };
                let (found, cursor) = self.of_account(rows, account, cursor).await?;
                let next = if cursor.is_some() { index } else { index + 1 };
                let next = (next < self.accounts.len()).then_some(Place::Account(next, cursor));
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
                let held = investments::list(app, caller, Some(account.id), view).await?;
                let groups = v1::Investments::from(&held).groups;
                let holdings = groups.into_iter().flat_map(|it| it.holdings);
                let row = |holding| Held {
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
        // What a rule hides is told behind what it does not.
        let hidden = cursor.and_then(|it| it.strip_prefix(HIDDEN));
        let cursor = hidden.or(cursor).filter(|it| !it.is_empty());
        let filter = transactions::Filter {
            account_id: Some(account),
            hidden: hidden.is_some(),
            ..Default::default()
        };
        let page = Page { cursor, limit: tables::ROWS as usize };
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
    connected_at: Option<Moment>,
    created_at: Moment,
}

/// A holding does not say by itself which account it lies in.
#[derive(Serialize)]
struct Held<'a> {
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
    written.map_err(|error| Error::internal(format!("a row of an export: {error}")))
}
