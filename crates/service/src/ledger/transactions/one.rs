//! One transaction with everything that is known of it, for the person themselves.

use base::category::Category;
use base::draft::giver_of;
use base::{AccountId, Date, Money, RuleId, Timestamp, TransactionId};
use calc::enrich::{Stage, Subject, UNKNOWN};
use calc::matching::HAND;
use calc::transfers::Kind;
use db::params;
use wire::v1::Scope;

use crate::classify::enrichment;
use crate::insights::recurring;
use crate::insights::recurring::Stream;
use crate::ledger::accounts;
use crate::ledger::accounts::Account;
use crate::{App, Caller, Error, Result};

/// How many days apart two transactions may lie for the person to call them one move.
const CANDIDATE_DAYS: i64 = 10;
const CANDIDATES_MAX: i64 = 5;
/// Of the pairs that a transaction may be part of.
const PAIRS_MAX: i64 = 20;

#[derive(Debug, Clone)]
pub struct Transaction {
    pub id: TransactionId,
    pub account: Account,
    pub amount: Money,
    pub posted_on: Date,
    pub authorized_on: Option<Date>,
    pub pending: bool,
    pub description: String,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    /// By whose word the category is what it is; none before anything was worked out.
    pub stage: Option<Stage>,
    /// Whom a rule would be about; nobody where the bank's text names nobody.
    pub merchant: Option<String>,
    pub told_counterparty: Option<String>,
    pub told_category: Option<Category>,
    /// What the person said of it, if they did.
    pub fixed_at: Option<Timestamp>,
    pub transfer: Option<Kind>,
    /// The other leg of the move it is part of.
    pub other_leg: Option<Leg>,
    /// Legs that would fit, where it is part of none.
    pub candidates: Vec<Leg>,
    pub stream: Option<Stream>,
    /// Whether the person wrote it down, and so may change it.
    pub by_hand: bool,
    /// Whether a rule hides it, and which.
    pub hidden: bool,
    pub hidden_by: Option<RuleId>,
    pub updated_at: Timestamp,
}

/// A transaction at the other end of a move between own accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leg {
    pub id: TransactionId,
    pub account_name: String,
    pub amount: Money,
    pub posted_on: Date,
    pub description: String,
    /// Why the two belong together, one reason a line; empty where only the amount fits.
    pub evidence: String,
}

/// A transaction of the caller's, of a hidden account too.
pub async fn get(app: &App, caller: &Caller, id: TransactionId) -> Result<Transaction> {
    caller.require(Scope::TransactionsRead)?;
    caller.require_owner("transaction")?;
    let accounts = accounts::all(app, caller).await?;
    let found = app.db.first(GET, params![caller.user, id], |row| read(row, id, &accounts)).await?;
    let (mut found, merchant_key) = found.flatten().ok_or(Error::NotFound("transaction"))?;
    let pairs = legs(app, caller, &accounts, (PAIRS, params![caller.user, id, PAIRS_MAX])).await?;
    if found.transfer.is_some() {
        found.other_leg = pairs.into_iter().find(|(paired, _)| *paired).map(|(_, leg)| leg);
    } else if !found.pending {
        found.candidates = pairs.into_iter().map(|(_, leg)| leg).collect();
        let around = candidates(app, caller, &accounts, &found).await?;
        let known: Vec<TransactionId> = found.candidates.iter().map(|it| it.id).collect();
        found.candidates.extend(around.into_iter().filter(|it| !known.contains(&it.id)));
    }
    if found.hidden {
        let subject = Subject {
            key: merchant_key.as_deref().unwrap_or_default(),
            text: "",
            account: found.account.id,
            inflow: found.amount.minor() > 0,
        };
        let about = (subject, found.description.as_str());
        found.hidden_by = enrichment::hiding_rule(app, caller.user, id, about).await?;
    }
    if let Some(key) = merchant_key {
        found.stream = recurring::of_transaction(app, caller, (found.account.id, &key), id).await?;
    }
    Ok(found)
}

type Found = Option<(Transaction, Option<String>)>;

fn read(row: &db::Row<'_>, id: TransactionId, accounts: &[Account]) -> db::Result<Found> {
    let account: AccountId = row.get(0)?;
    let Some(account) = accounts.iter().find(|it| it.id == account) else { return Ok(None) };
    let word = |text: Option<&str>| text.and_then(Category::parse);
    let (state, stage): (&str, Option<&str>) = (row.get(4)?, row.get(8)?);
    let transfer: Option<&str> = row.get(12)?;
    let (key, external_id): (Option<String>, Option<&str>) = (row.get(11)?, row.get(15)?);
    let transaction = Transaction {
        id,
        account: account.clone(),
        amount: Money::new(row.get(1)?, account.currency),
        posted_on: row.get(2)?,
        authorized_on: row.get(3)?,
        pending: state == "pending",
        description: row.get(5)?,
        counterparty: row.get(6)?,
        category: word(row.get(7)?),
        stage: stage.and_then(Stage::parse),
        merchant: key.as_deref().filter(|it| *it != UNKNOWN).map(enrichment::merchant_name),
        told_counterparty: row.get(9)?,
        told_category: word(row.get(10)?),
        transfer: transfer.and_then(Kind::parse),
        fixed_at: row.get(13)?,
        updated_at: row.get(14)?,
        other_leg: None,
        candidates: Vec::new(),
        stream: None,
        by_hand: external_id.is_some_and(|it| giver_of(it) == HAND),
        hidden: state == "hidden",
        hidden_by: None,
    };
    Ok(Some((transaction, key)))
}

async fn candidates(
    app: &App,
    caller: &Caller,
    accounts: &[Account],
    of: &Transaction,
) -> Result<Vec<Leg>> {
    let day = base::days_from_date(of.posted_on);
    let (first, last) = (day - CANDIDATE_DAYS, day + CANDIDATE_DAYS);
    let opposite = of.amount.minor().saturating_neg();
    let currency = of.amount.currency();
    let params = params![
        caller.user,
        first,
        last,
        of.account.id,
        opposite,
        currency.code(),
        day,
        CANDIDATES_MAX
    ];
    let found = legs(app, caller, accounts, (CANDIDATES, params)).await?;
    Ok(found.into_iter().map(|(_, leg)| leg).collect())
}

/// Legs with whether they are paired.
async fn legs(
    app: &App,
    caller: &Caller,
    accounts: &[Account],
    (sql, params): (&str, &[db::Param<'_>]),
) -> Result<Vec<(bool, Leg)>> {
    let mut legs = Vec::new();
    app.db
        .each(sql, params, |row| {
            let account: AccountId = row.get(1)?;
            let account = accounts.iter().find(|it| it.id == account && caller.may_see(it.id));
            let Some(account) = account else { return Ok(()) };
            let (state, evidence): (Option<&str>, Option<String>) = (row.get(5)?, row.get(6)?);
            let leg = Leg {
                id: row.get(0)?,
                account_name: account.name.clone(),
                amount: Money::new(row.get(2)?, account.currency),
                posted_on: row.get(3)?,
                description: row.get(4)?,
                evidence: evidence.unwrap_or_default(),
            };
            legs.push((state == Some("paired"), leg));
            Ok(())
        })
        .await?;
    Ok(legs)
}

const GET: &str = "select t.account_id, t.amount_minor, t.posted_on, t.authorized_on, t.state, t.description,
    t.counterparty, t.category, t.category_stage, t.told_counterparty, t.told_category, t.merchant_key,
    t.transfer_kind, f.fixed_at, t.updated_at, t.external_id from transactions t
    left join transaction_fixes f on f.user_id = t.user_id and f.transaction_id = t.id
    where t.user_id = $1 and t.id = $2 and t.state <> 'removed'";
// The other leg of every pair that this one is in; paired comes before suggested.
const PAIRS: &str =
    "select t.id, t.account_id, t.amount_minor, t.posted_on, t.description, p.state, p.evidence
    from transfers p join transactions t on t.user_id = p.user_id
    and t.id = case when p.outflow_id = $2 then p.inflow_id else p.outflow_id end
    where p.user_id = $1 and (p.outflow_id = $2 or p.inflow_id = $2) and t.state <> 'removed'
    order by p.state, t.posted_on, t.id limit $3";
const CANDIDATES: &str =
    "select id, account_id, amount_minor, posted_on, description, transfer_kind, transfer_kind
    from transactions where user_id = $1 and posted_on between $2 and $3 and account_id <> $4
    and amount_minor = $5 and currency = $6 and state = 'posted' and transfer_kind is null
    order by abs(posted_on - $7), id limit $8";

pub(super) const STATEMENTS: &[&str] = &[GET, PAIRS, CANDIDATES];
