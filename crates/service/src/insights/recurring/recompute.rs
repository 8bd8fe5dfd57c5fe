//! The recompute of streams: for the merchants of dirty transactions, or for all merchants.

use std::collections::{BTreeMap, BTreeSet};

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, StreamId, TransactionId, UserId, days_from_date};
use calc::enrich;
use calc::recurring::{
    Group, Occurrence, PaymentKind, Stream as Found, detect_streams, match_stream_ids,
};
use db::{Tx, params};
use wire::v1::Event;

use super::automatic::{automatic_kind, automatic_name, is_service};
use super::choices::Choices;
use super::{Kind, LIST, OF_MERCHANT, Stream, read};
use crate::Result;
use crate::classify::recompute::{Household, Recompute, RecomputeScope};
use crate::ledger::Direction;
use crate::ledger::transactions::row::{StoredTransaction, transaction_columns};

/// One merchant on one account: the account and the merchant key.
type AccountMerchant = (AccountId, String);

/// The posted transactions of one merchant on one account.
#[derive(Default)]
struct Occurrences {
    outflows: Vec<Occurrence>,
    inflows: Vec<Occurrence>,
}

impl Occurrences {
    fn add(&mut self, row: &db::Row<'_>) -> db::Result<()> {
        let minor: i64 = row.get(2)?;
        let side = if minor > 0 { &mut self.inflows } else { &mut self.outflows };
        let amount_minor = minor.saturating_abs();
        side.push(Occurrence { id: row.get(0)?, on_days: row.get(1)?, amount_minor });
        Ok(())
    }

    fn read(tx: &mut Tx<'_>, user: UserId, merchant: &AccountMerchant) -> Result<Occurrences> {
        let mut entries = Occurrences::default();
        tx.each(OCCURRENCES_OF, params![user, merchant.0, &merchant.1], |row| entries.add(row))?;
        Ok(entries)
    }

    fn append(&mut self, mut later: Occurrences) {
        self.outflows.append(&mut later.outflows);
        self.inflows.append(&mut later.inflows);
    }

    /// Keeps the occurrences that can be pay or bills. Trades, the interest of a loan and payments to a card are
    /// neither, however regular.
    fn recurring_on(mut self, kind: Option<AccountKind>) -> Occurrences {
        match kind {
            Some(AccountKind::Investment | AccountKind::Loan) => return Occurrences::default(),
            Some(AccountKind::Credit) => self.inflows.clear(),
            _ => {}
        }
        self
    }
}

/// The present name and category of a transaction.
#[derive(Clone, Default)]
struct Label {
    category: Option<Category>,
    counterparty: Option<String>,
    logo: Option<String>,
    description: String,
}

/// Finds the streams of the merchants in scope again. Streams keep their ids, and changed ones are announced.
pub(crate) fn recompute(tx: &mut Tx<'_>, run: &mut Recompute) -> Result<()> {
    let mut changed: Vec<StreamId> = Vec::new();
    let mut stored: BTreeMap<AccountMerchant, Vec<Stream>> = BTreeMap::new();
    let mut by_merchant: BTreeMap<AccountMerchant, Occurrences> = BTreeMap::new();
    match &run.scope {
        RecomputeScope::Everything => {
            for stream in tx.all(LIST, params![run.user], read)? {
                let merchant = (stream.account_id, stream.merchant_key.clone());
                stored.entry(merchant).or_default().push(stream);
            }
            by_merchant = all_occurrences(tx, run)?;
        }
        RecomputeScope::Around(dirty) => {
            let dirty: BTreeSet<AccountMerchant> =
                dirty.iter().map(|it| (it.account, it.merchant_key.clone())).collect();
            for merchant in dirty {
                let at = params![run.user, merchant.0, &merchant.1];
                let streams = tx.all(OF_MERCHANT, at, read)?;
                by_merchant.insert(merchant.clone(), Occurrences::read(tx, run.user, &merchant)?);
                stored.insert(merchant, streams);
            }
        }
    }
    for merchant in
        stored.keys().filter(|it| !by_merchant.contains_key(*it)).cloned().collect::<Vec<_>>()
    {
        by_merchant.insert(merchant, Occurrences::default());
    }
    let mut choices = Choices::read(tx, run.user)?;
    for (merchant, entries) in by_merchant {
        let known = stored.remove(&merchant).unwrap_or_default();
        let entries = entries.recurring_on(run.account(merchant.0).map(|it| it.kind));
        // Most merchants have only one or two transactions, and never had a stream.
        if entries.outflows.len() < 2 && entries.inflows.len() < 2 && known.is_empty() {
            continue;
        }
        let streams = find_streams(tx, run, &merchant, entries)?;
        save_merchant(tx, run, (streams, known), &mut choices, &mut changed)?;
    }
    // Several streams may be merged into one.
    changed.sort_unstable();
    changed.dedup();
    for chunk in changed.chunks(Event::IDS_MAX) {
        run.events.push(Event::RecurringUpdated {
            stream_ids: chunk.iter().map(ToString::to_string).collect(),
            count: chunk.len(),
        });
    }
    Ok(())
}

/// The occurrences of every merchant of the person.
fn all_occurrences(
    tx: &mut Tx<'_>,
    run: &Recompute,
) -> Result<BTreeMap<AccountMerchant, Occurrences>> {
    let mut by_merchant: BTreeMap<AccountMerchant, Occurrences> = BTreeMap::new();
    // The index yields the rows of a merchant mostly one after another, so that the map is looked up once for all.
    let (mut merchant, mut entries): (Option<AccountMerchant>, Occurrences) =
        (None, Occurrences::default());
    tx.each(OCCURRENCES, params![run.user], |row| {
        let (account, merchant_key): (AccountId, &str) = (row.get(3)?, row.get(4)?);
        if merchant.as_ref().is_none_or(|it| it.0 != account || it.1 != merchant_key)
            && let Some(before) = merchant.replace((account, merchant_key.to_owned()))
        {
            by_merchant.entry(before).or_default().append(std::mem::take(&mut entries));
        }
        entries.add(row)
    })?;
    if let Some(last) = merchant {
        by_merchant.entry(last).or_default().append(entries);
    }
    Ok(by_merchant)
}

/// A stream of pay or other income, with its payer.
pub(crate) struct RecurringInflow {
    pub(crate) payer: String,
    /// The bank's description of the newest payment.
    pub(crate) description: String,
    pub(crate) stream: Found,
}

/// The recurring inflows of an account, with their schedules, which are not stored.
pub(crate) fn recurring_inflows(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    account: AccountId,
) -> Result<Vec<RecurringInflow>> {
    let keys = tx.all(INFLOW_KEYS, params![household.user, account], |row| row.get(0))?;
    let mut inflows = Vec::new();
    for key in keys {
        let merchant: AccountMerchant = (account, key);
        let inflows_of = Occurrences::read(tx, household.user, &merchant)?.inflows;
        let group = group(tx, household.user, &merchant, true, inflows_of)?;
        for stream in detect_streams(&group, household.today) {
            let label = label(tx, household.user, stream.members.last().map(|it| it.id))?;
            inflows.push(RecurringInflow {
                payer: label.counterparty.unwrap_or_else(|| enrich::display_name(&merchant.1)),
                description: label.description,
                stream,
            });
        }
    }
    Ok(inflows)
}

/// Stores the differences between the streams of one merchant that were found, by direction, and those that are known.
fn save_merchant(
    tx: &mut Tx<'_>,
    run: &Recompute,
    (found, known): (Vec<Vec<Stream>>, Vec<Stream>),
    choices: &mut Choices,
    changed: &mut Vec<StreamId>,
) -> Result<()> {
    let mut gone: BTreeMap<StreamId, &Stream> = known.iter().map(|it| (it.id, it)).collect();
    let earlier: Vec<_> = known.iter().map(|it| (it.id, it.transactions.clone())).collect();
    let mut streams: Vec<Stream> = Vec::new();
    for found in found {
        let members: Vec<Vec<TransactionId>> =
            found.iter().map(|it| it.transactions.clone()).collect();
        for (id, mut stream) in match_stream_ids(&earlier, &members).into_iter().zip(found) {
            let kept = id.filter(|it| gone.remove(it).is_some());
            stream.id = kept.unwrap_or_else(|| run.app.ids.make());
            streams.push(stream);
        }
    }
    choices.apply(tx, run.user, &mut streams)?;
    for mut stream in streams {
        let before = known.iter().find(|it| it.id == stream.id);
        let is_same = before.is_some_and(|it| {
            stream.updated_at = it.updated_at;
            *it == stream
        });
        if !is_same {
            stream.updated_at = run.now;
            save(tx, run, &stream)?;
            // The person does not want to hear of a stream that they dismissed.
            if stream.dismissed_at.is_none() {
                changed.push(stream.merged_into.unwrap_or(stream.id));
            }
        }
    }
    for (id, stream) in gone {
        tx.execute(DELETE, params![run.user, id])?;
        if stream.dismissed_at.is_none() {
            changed.push(id);
        }
    }
    Ok(())
}

/// The streams of one merchant, by direction. They have no id yet.
fn find_streams(
    tx: &mut Tx<'_>,
    run: &Recompute,
    merchant: &AccountMerchant,
    entries: Occurrences,
) -> Result<Vec<Vec<Stream>>> {
    let Occurrences { outflows, inflows } = entries;
    let currency = run.account(merchant.0).map_or(run.currency, |it| it.currency);
    let mut all = Vec::new();
    for (direction, entries) in [(Direction::Outflow, outflows), (Direction::Inflow, inflows)] {
        if entries.len() < 2 {
            continue;
        }
        let group = group(tx, run.user, merchant, direction == Direction::Inflow, entries)?;
        let mut streams_of = Vec::new();
        for stream in detect_streams(&group, run.today) {
            let label = label(tx, run.user, stream.members.last().map(|it| it.id))?;
            streams_of.push(new_stream(stream, merchant, direction, currency, label));
        }
        all.push(streams_of);
    }
    Ok(all)
}

fn label(tx: &mut Tx<'_>, user: UserId, id: Option<TransactionId>) -> Result<Label> {
    let found = tx.first(LABEL, params![user, id], |row| {
        let row = StoredTransaction(row);
        Ok(Label {
            category: row.category()?,
            counterparty: row.counterparty()?.map(str::to_owned),
            logo: row.counterparty_logo_url()?.map(str::to_owned),
            description: row.description()?.to_owned(),
        })
    })?;
    Ok(found.unwrap_or_default())
}

/// Occurrences of one direction. Their nature follows from the category of the newest one.
fn group(
    tx: &mut Tx<'_>,
    user: UserId,
    merchant: &AccountMerchant,
    inflow: bool,
    occurrences: Vec<Occurrence>,
) -> Result<Group> {
    let newest = occurrences.iter().max_by_key(|it| (it.on_days, it.id));
    let Label { category, description, .. } = label(tx, user, newest.map(|it| it.id))?;
    Ok(Group {
        inflow,
        payment_kind: PaymentKind::of(category, is_service(&merchant.1), &description),
        occurrences,
    })
}

/// A stream with the name and category of its newest transaction.
fn new_stream(
    found: Found,
    merchant: &AccountMerchant,
    direction: Direction,
    currency: Currency,
    label: Label,
) -> Stream {
    let transactions: Vec<TransactionId> = found.members.iter().rev().map(|it| it.id).collect();
    let Label { category, counterparty, logo, .. } = label;
    let mut stream = Stream {
        id: StreamId::from_bytes([0; 16]),
        account_id: merchant.0,
        direction,
        merchant_key: merchant.1.clone(),
        currency,
        name: String::new(),
        counterparty,
        counterparty_logo_url: logo,
        category,
        kind: Kind::Other,
        frequency: found.frequency,
        status: found.status,
        confidence: found.confidence,
        amount_class: found.amount_class,
        average_minor: found.average_minor,
        last_minor: found.last_minor,
        min_minor: found.min_minor,
        max_minor: found.max_minor,
        monthly_minor: found.monthly_minor,
        first_on: found.first_on,
        last_on: found.last_on,
        next_expected_on: found.next_expected_on,
        transactions,
        price_changes: found.price_changes,
        missed_on: found.missed_on,
        dismissed_at: None,
        own_amount_minor: None,
        merged_into: None,
        merged: Vec::new(),
        updated_at: base::Timestamp::UNIX_EPOCH,
    };
    stream.name = automatic_name(&stream);
    stream.kind = automatic_kind(&stream);
    stream
}

fn save(tx: &mut Tx<'_>, run: &Recompute, stream: &Stream) -> Result<()> {
    let ids: Vec<u8> = stream.transactions.iter().flat_map(|it| *it.as_bytes()).collect();
    let numbers = |list: &[i64]| {
        let list: Vec<String> = list.iter().map(ToString::to_string).collect();
        format!("[{}]", list.join(","))
    };
    let changes: Vec<i64> = stream
        .price_changes
        .iter()
        .flat_map(|it| [days_from_date(it.on), it.from_minor, it.to_minor])
        .collect();
    let missed: Vec<i64> = stream.missed_on.iter().map(|it| days_from_date(*it)).collect();
    let (changes, missed) = (numbers(&changes), numbers(&missed));
    let values = params![
        run.user,
        stream.id,
        stream.account_id,
        stream.direction.as_str(),
        &stream.merchant_key,
        stream.currency.code(),
        &stream.name,
        &stream.counterparty,
        &stream.counterparty_logo_url,
        stream.category.map(Category::detailed),
        stream.kind.as_str(),
        stream.frequency.as_str(),
        stream.status.as_str(),
        stream.confidence.as_str(),
        stream.amount_class.as_str(),
        stream.average_minor,
        stream.last_minor,
        stream.min_minor,
        stream.max_minor,
        stream.monthly_minor,
        stream.first_on,
        stream.last_on,
        stream.next_expected_on,
        &ids,
        &changes,
        &missed,
        stream.updated_at,
        stream.dismissed_at,
        stream.own_amount_minor,
        stream.merged_into
    ];
    tx.execute(DELETE, params![run.user, stream.id])?;
    tx.execute(INSERT, values)?;
    Ok(())
}

// A payment on the person's own loan is a transfer, and still a bill.
const OCCURRENCES: &str =
    "select id, posted_on, amount_minor, account_id, merchant_key from transactions
    where user_id = $1 and state = 'posted' and merchant_key is not null and amount_minor <> 0
    and (transfer_kind is null or (transfer_kind = 'loan_payment' and amount_minor < 0))";
const OCCURRENCES_OF: &str = "select id, posted_on, amount_minor from transactions
    where user_id = $1 and account_id = $2 and merchant_key = $3 and state = 'posted' and amount_minor <> 0
    and (transfer_kind is null or (transfer_kind = 'loan_payment' and amount_minor < 0))";
const INFLOW_KEYS: &str = "select distinct merchant_key from streams
    where user_id = $1 and account_id = $2 and direction = 'inflow' order by merchant_key";
const LABEL: &str = concat!(
    "select ",
    transaction_columns!(),
    " from transactions t where user_id = $1 and id = $2"
);
const DELETE: &str = "delete from streams where user_id = $1 and id = $2";
const INSERT: &str =
    "insert into streams (user_id, id, account_id, direction, merchant_key, currency, name,
    counterparty, counterparty_logo_url, category, stream_type, frequency, status, confidence, amount_class,
    average_minor, last_minor, min_minor, max_minor, monthly_minor, first_on, last_on, next_expected_on,
    transaction_ids, price_changes, missed_on, updated_at, dismissed_at, own_amount_minor, merged_into)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
    $23, $24, $25, $26, $27, $28, $29, $30)";

pub(super) const STATEMENTS: &[&str] =
    &[OCCURRENCES, OCCURRENCES_OF, INFLOW_KEYS, LABEL, DELETE, INSERT];
