//! One transaction with everything that is known about it: its transfer, its recurring stream, the rule that hides it.

use base::category::Category;
use base::draft::id_source;
use base::{AccountId, Date, Money, RuleId, Timestamp, TransactionId};
use calc::enrich::{CategorySource, RuleSubject, UNKNOWN, guess_confidence};
use calc::matching::MANUAL;
use calc::transfers::TransferKind;
use db::params;
use wire::v1::Scope;

use super::recurring::{self, Stream};
use crate::classify::merchants::merchant_name;
use crate::classify::overrides::{TransferMark, Visibility};
use crate::classify::refunds::{self, RefundLinks};
use crate::classify::rule_matches;
use crate::classify::transfers::PairState;
use crate::ledger::accounts::{self, Account};
use crate::ledger::annotations::Tags;
use crate::ledger::attachments::{self, Attachment};
use crate::ledger::splits::Split;
use crate::ledger::transactions::TransactionState;
use crate::ledger::transactions::row::{StoredTransaction, transaction_columns};
use crate::{App, Caller, Error, Result};

/// How many days apart the legs of a transfer that the person confirms are looked for.
const CANDIDATE_DAYS: i64 = 10;
const CANDIDATES_MAX: i64 = 5;
/// The most pairs of one transaction that are read.
const PAIRS_MAX: i64 = 20;

#[derive(Debug, Clone)]
pub struct TransactionDetail {
    pub id: TransactionId,
    pub account: Account,
    pub amount: Money,
    pub posted_on: Date,
    pub authorized_on: Option<Date>,
    pub pending: bool,
    pub description: String,
    pub counterparty: Option<String>,
    pub category: Option<Category>,
    /// The stage of classifying that decided the category. None before it was classified.
    pub stage: Option<CategorySource>,
    /// How likely a guessed category is right, in percent. None if it is not a guess.
    pub guess_confidence: Option<u8>,
    /// The merchant that a rule would match. None where the bank's description names no merchant.
    pub merchant: Option<String>,
    /// The counterparty that the source gave.
    pub source_counterparty: Option<String>,
    /// The category that the source gave.
    pub source_category: Option<Category>,
    /// When the person corrected it, if they did.
    pub corrected_at: Option<Timestamp>,
    pub transfer: Option<TransferKind>,
    /// The other leg of the transfer that it is part of.
    pub other_leg: Option<TransferLeg>,
    /// Transactions that could be the other leg, if it is part of no transfer.
    pub candidates: Vec<TransferLeg>,
    pub stream: Option<Stream>,
    /// Whether the person entered it by hand, and so can change it.
    pub by_hand: bool,
    pub hidden: bool,
    /// The rule that hides it, if the person did not hide it themselves.
    pub hidden_by: Option<RuleId>,
    /// The person's own choice whether lists show it.
    pub visibility: Option<Visibility>,
    /// The person's own choice whether it is a transfer.
    pub transfer_mark: Option<TransferMark>,
    /// The purchase that it refunds, and the refunds of it.
    pub refund_links: RefundLinks,
    /// The person's files, such as a receipt.
    pub attachments: Vec<Attachment>,
    /// The person's own note.
    pub note: Option<String>,
    pub tags: Tags,
    /// The parts that the person split it into, whether or not they still count.
    pub split: Option<Split>,
    pub updated_at: Timestamp,
}

/// The transaction at the other end of a transfer between own accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferLeg {
    pub id: TransactionId,
    pub account_name: String,
    pub amount: Money,
    pub posted_on: Date,
    pub description: String,
    /// Reasons for pairing the two, one a line. Empty where only the amounts match.
    pub evidence: String,
}

/// A transaction of the person's own, on a hidden account too.
pub async fn get(app: &App, caller: &Caller, id: TransactionId) -> Result<TransactionDetail> {
    caller.require(Scope::TransactionsRead)?;
    caller.require_owner("transaction")?;
    let accounts = accounts::list_all(app, caller).await?;
    let found = app.db.first(GET, params![caller.user, id], |row| read(row, &accounts)).await?;
    let (mut detail, merchant_key) = found.flatten().ok_or(Error::NotFound("transaction"))?;
    let pairs = legs(app, caller, &accounts, (PAIRS, params![caller.user, id, PAIRS_MAX])).await?;
    if detail.transfer.is_some() {
        detail.other_leg = pairs.into_iter().find(|(paired, _)| *paired).map(|(_, leg)| leg);
    } else if !detail.pending {
        detail.candidates = pairs.into_iter().map(|(_, leg)| leg).collect();
        let possible = candidates(app, caller, &accounts, &detail).await?;
        let known: Vec<TransactionId> = detail.candidates.iter().map(|it| it.id).collect();
        detail.candidates.extend(possible.into_iter().filter(|it| !known.contains(&it.id)));
    }
    detail.attachments = attachments::list(app, caller, id).await?;
    detail.refund_links = refunds::links_of(app, caller, id).await?;
    if detail.hidden && detail.visibility.is_none() {
        let subject = RuleSubject {
            key: merchant_key.as_deref().unwrap_or_default(),
            text: "",
            account: detail.account.id,
            amount: detail.amount,
        };
        let about = (subject, detail.description.as_str());
        detail.hidden_by = rule_matches::find_hiding_rule(app, caller.user, id, about).await?;
    }
    if let Some(key) = merchant_key {
        let merchant = (detail.account.id, key.as_str());
        detail.stream = recurring::find_of_transaction(app, caller, merchant, id).await?;
    }
    Ok(detail)
}

/// The transaction and its merchant key; none on an account that the caller may not see.
type Found = Option<(TransactionDetail, Option<String>)>;

fn read(row: &db::Row<'_>, accounts: &[Account]) -> db::Result<Found> {
    let stored = StoredTransaction(row);
    let account: AccountId = stored.account_id()?;
    let Some(account) = accounts.iter().find(|it| it.id == account) else { return Ok(None) };
    let (state, key) = (stored.state()?, stored.merchant_key()?);
    let (stage, description) = (stored.category_stage()?, stored.description()?);
    let is_guess = stage == Some(CategorySource::Guess);
    let guess_confidence = is_guess.then(|| guess_confidence(description));
    let detail = TransactionDetail {
        id: stored.id()?,
        account: account.clone(),
        amount: Money::new(stored.amount_minor()?, account.currency),
        posted_on: stored.posted_on()?,
        authorized_on: stored.authorized_on()?,
        pending: state == TransactionState::Pending,
        description: description.to_owned(),
        counterparty: stored.counterparty()?.map(str::to_owned),
        category: stored.category()?,
        stage,
        guess_confidence: guess_confidence.flatten(),
        merchant: key.filter(|it| *it != UNKNOWN).map(merchant_name),
        source_counterparty: stored.source_counterparty()?.map(str::to_owned),
        source_category: stored.source_category()?,
        transfer: stored.transfer_kind()?,
        corrected_at: row.get(StoredTransaction::WIDTH)?,
        updated_at: stored.updated_at()?,
        other_leg: None,
        candidates: Vec::new(),
        stream: None,
        by_hand: stored.external_id()?.is_some_and(|it| id_source(it) == MANUAL),
        hidden: state == TransactionState::Hidden,
        hidden_by: None,
        refund_links: RefundLinks::default(),
        attachments: Vec::new(),
        note: row.get(StoredTransaction::WIDTH + 1)?,
        tags: Tags::read(row.get(StoredTransaction::WIDTH + 2)?),
        split: Split::read(row, StoredTransaction::WIDTH + 3)?,
        visibility: row.get(StoredTransaction::WIDTH + 5)?,
        transfer_mark: row.get(StoredTransaction::WIDTH + 6)?,
    };
    Ok(Some((detail, key.map(str::to_owned))))
}

/// Posted transactions of about the same day with the opposite amount on another account.
async fn candidates(
    app: &App,
    caller: &Caller,
    accounts: &[Account],
    of: &TransactionDetail,
) -> Result<Vec<TransferLeg>> {
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

/// The legs that a statement finds, each with whether it is paired.
async fn legs(
    app: &App,
    caller: &Caller,
    accounts: &[Account],
    (sql, params): (&str, &[db::Param<'_>]),
) -> Result<Vec<(bool, TransferLeg)>> {
    let mut legs = Vec::new();
    app.db
        .each(sql, params, |row| {
            let stored = StoredTransaction(row);
            let account: AccountId = stored.account_id()?;
            let account = accounts.iter().find(|it| it.id == account && caller.may_see(it.id));
            let Some(account) = account else { return Ok(()) };
            let state: Option<PairState> = row.get(StoredTransaction::WIDTH)?;
            let evidence: Option<String> = row.get(StoredTransaction::WIDTH + 1)?;
            let leg = TransferLeg {
                id: stored.id()?,
                account_name: account.name.clone(),
                amount: Money::new(stored.amount_minor()?, account.currency),
                posted_on: stored.posted_on()?,
                description: stored.description()?.to_owned(),
                evidence: evidence.unwrap_or_default(),
            };
            legs.push((state == Some(PairState::Paired), leg));
            Ok(())
        })
        .await?;
    Ok(legs)
}

const GET: &str = concat!(
    "select ",
    transaction_columns!(),
    ", case when f.counterparty is not null or f.category is not null then f.fixed_at end,
    t.note, t.tags, t.split_minor, t.splits, f.visibility, f.transfer from transactions t
    left join transaction_fixes f on f.user_id = t.user_id and f.transaction_id = t.id
    where t.user_id = $1 and t.id = $2 and t.state <> 'removed'"
);
// The other leg of every pair that the transaction is in. In the order of the words, paired comes before suggested.
const PAIRS: &str = concat!(
    "select ",
    transaction_columns!(),
    ", p.state, p.evidence from transfers p join transactions t on t.user_id = p.user_id
    and t.id = case when p.outflow_id = $2 then p.inflow_id else p.outflow_id end
    where p.user_id = $1 and (p.outflow_id = $2 or p.inflow_id = $2) and t.state <> 'removed'
    order by p.state, t.posted_on, t.id limit $3"
);
const CANDIDATES: &str = concat!(
    "select ",
    transaction_columns!(),
    ", t.transfer_kind, t.transfer_kind from transactions t
    where user_id = $1 and posted_on between $2 and $3 and account_id <> $4
    and amount_minor = $5 and currency = $6 and state = 'posted' and transfer_kind is null
    order by abs(posted_on - $7), id limit $8"
);

pub(super) const STATEMENTS: &[&str] = &[GET, PAIRS, CANDIDATES];
