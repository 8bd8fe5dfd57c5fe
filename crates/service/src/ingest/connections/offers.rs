//! The accounts that a connection offers, and the person's decision about each.

use base::draft::AccountKind;
use base::{AccountId, ConnectionId, Currency, Money, Timestamp};
use db::{Row, Tx, params};
use sources::provider::{Offer, Response, UnsupportedAccount};

use super::OwedSign;
use super::connection::provider_of;
use super::lease::SyncLease;
use crate::{App, Caller, Error, Result};

/// More accounts than anyone has; a hostile server could send any number.
const OFFERS_MAX: usize = 500;

base::words!(
    /// The person's decision about an offered account.
    OfferStatus {
        Undecided => "open",
        Added => "taken",
        Skipped => "left",
        /// It can't be synced, for example because its currency is not supported.
        Unsupported => "refused",
    }
);
db::word_columns!(OfferStatus);

/// An account that a connection offers. Name and institution come from the server and are plain text.
#[derive(Debug, Clone)]
pub struct OfferedAccount {
    /// Names the account in a `Choice`.
    pub external_id: String,
    pub name: String,
    pub institution_name: Option<String>,
    /// None for an unsupported account.
    pub currency: Option<Currency>,
    /// The balance with the bank's sign.
    pub balance: Option<Money>,
    /// The kind that was chosen, or the one that its name suggests.
    pub kind: AccountKind,
    pub subtype: Option<String>,
    pub owed: OwedSign,
    pub status: OfferStatus,
    /// Why it is unsupported.
    pub reason: Option<String>,
    /// The account it is synced into: set after the first sync, or at once when merged into an existing account.
    pub account: Option<AccountId>,
    pub seen_at: Timestamp,
}

/// Every account that a connection offered so far, by bank and name.
pub async fn list_offers(
    app: &App,
    caller: &Caller,
    connection: ConnectionId,
) -> Result<Vec<OfferedAccount>> {
    caller.require_owner("connection")?;
    let key = params![caller.user, connection];
    let source = app.db.first(KNOWN, key, |row| row.get(0)).await?;
    provider_of(source.ok_or(Error::NotFound("connection"))?)?;
    let mut found = app.db.all(LIST, key, read).await?;
    found.sort_by(|a, b| {
        let order = |it: &OfferedAccount| (it.institution_name.clone(), it.name.clone());
        order(a).cmp(&order(b)).then_with(|| a.external_id.cmp(&b.external_id))
    });
    Ok(found)
}

/// Saves the accounts of a response. The person's decisions stay as they are.
pub(super) fn save(
    tx: &mut Tx<'_>,
    lease: &SyncLease,
    response: &Response,
    now: Timestamp,
) -> Result<()> {
    for account in response.offers.iter().take(OFFERS_MAX) {
        save_offer(tx, lease, account, now)?;
    }
    for account in response.unsupported.iter().take(OFFERS_MAX) {
        save_unsupported(tx, lease, account, now)?;
    }
    Ok(())
}

fn save_offer(tx: &mut Tx<'_>, lease: &SyncLease, offer: &Offer, now: Timestamp) -> Result<()> {
    let [external_id, asked_as, name] =
        [&offer.external_id, &offer.id, &offer.name].map(|it| clean(it));
    let [login, institution, subtype] =
        [&offer.login, &offer.institution, &offer.subtype].map(|it| it.as_deref().map(clean));
    tx.execute(
        SAVE,
        params![
            lease.user,
            lease.id,
            &external_id,
            &login,
            &asked_as,
            &name,
            &institution,
            offer.currency.code(),
            offer.balance.map(Money::minor),
            offer.kind.as_str(),
            &subtype,
            offer.owed.as_str(),
            now
        ],
    )?;
    Ok(())
}

fn save_unsupported(
    tx: &mut Tx<'_>,
    lease: &SyncLease,
    account: &UnsupportedAccount,
    now: Timestamp,
) -> Result<()> {
    let [id, name, reason] = [&account.id, &account.name, &account.reason].map(|it| clean(it));
    tx.execute(SAVE_UNSUPPORTED, params![lease.user, lease.id, &id, &name, &reason, now])?;
    Ok(())
}

/// Removes NUL characters, which PostgreSQL does not store.
fn clean(text: &str) -> String {
    text.replace('\0', "")
}

fn read(row: &Row<'_>) -> db::Result<OfferedAccount> {
    let code: &str = row.get(3)?;
    let currency = Currency::parse(code).ok();
    let minor: Option<i64> = row.get(4)?;
    Ok(OfferedAccount {
        external_id: row.get(0)?,
        name: row.get(1)?,
        institution_name: row.get(2)?,
        currency,
        balance: minor.zip(currency).map(|(minor, currency)| Money::new(minor, currency)),
        kind: row.get(5)?,
        subtype: row.get(6)?,
        owed: row.word(7, "OwedSign", OwedSign::parse)?,
        status: row.get(8)?,
        reason: row.get(9)?,
        account: row.get(10)?,
        seen_at: row.get(11)?,
    })
}

const KNOWN: &str = "select source from connections where user_id = $1 and id = $2";
const LIST: &str = "select external_id, coalesce(own_name, name), institution_name, currency,
    balance_minor, kind, subtype, owed, choice, reason, account_id, seen_at from offered_accounts
    where user_id = $1 and connection_id = $2 limit 1000";
const SAVE: &str = "insert into offered_accounts (user_id, connection_id, external_id, login,
    asked_as, name, institution_name, currency, balance_minor, kind, subtype, owed, choice, seen_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'open', $13)
    on conflict (user_id, connection_id, external_id) do update set login = excluded.login,
        asked_as = excluded.asked_as, name = excluded.name,
        institution_name = excluded.institution_name, currency = excluded.currency,
        balance_minor = excluded.balance_minor, seen_at = excluded.seen_at, reason = null,
        kind = case when offered_accounts.choice = 'taken' then offered_accounts.kind
            else excluded.kind end,
        subtype = case when offered_accounts.choice = 'taken' then offered_accounts.subtype
            else excluded.subtype end,
        owed = case when offered_accounts.choice = 'taken' then offered_accounts.owed
            else excluded.owed end,
        choice = case when offered_accounts.choice = 'refused' then 'open'
            else offered_accounts.choice end";
// An account that is synced stays so even if one response calls it unsupported.
const SAVE_UNSUPPORTED: &str =
    "insert into offered_accounts (user_id, connection_id, external_id, asked_as,
    name, currency, kind, owed, choice, reason, seen_at)
    values ($1, $2, $3, $3, $4, '', 'other', 'negative', 'refused', $5, $6)
    on conflict (user_id, connection_id, external_id) do update set name = excluded.name,
        choice = 'refused', reason = excluded.reason, seen_at = excluded.seen_at
    where offered_accounts.choice in ('open', 'refused')";

pub(super) const STATEMENTS: &[&str] = &[KNOWN, LIST, SAVE, SAVE_UNSUPPORTED];
