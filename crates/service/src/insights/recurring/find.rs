//! Finding streams again, for the merchants that were touched or for all of them.

use std::collections::{BTreeMap, BTreeSet};

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, StreamId, TransactionId, UserId, days_from_date};
use calc::enrich;
use calc::recurring::{Group, Nature, Occurrence, Stream as Found, carry_ids, streams};
use db::{Tx, params};
use wire::v1::Event;

use super::{Kind, LIST, Stream, read};
use crate::Result;
use crate::classify::recompute::{Household, Recompute, RecomputeScope};
use crate::ledger::Direction;
use crate::ledger::transactions::row::{StoredTransaction, transaction_columns};

/// What is paid to, or got from, one merchant on one account.
type Place = (AccountId, String);

/// What went to a place, and what came from there.
#[derive(Default)]
struct Entries {
    outflows: Vec<Occurrence>,
    inflows: Vec<Occurrence>,
}

impl Entries {
    fn add(&mut self, row: &db::Row<'_>) -> db::Result<()> {
        let minor: i64 = row.get(2)?;
        let side = if minor > 0 { &mut self.inflows } else { &mut self.outflows };
        let amount_minor = minor.saturating_abs();
        side.push(Occurrence { id: row.get(0)?, on_days: row.get(1)?, amount_minor });
        Ok(())
    }

    fn of(tx: &mut Tx<'_>, user: UserId, place: &Place) -> Result<Entries> {
        let mut entries = Entries::default();
        tx.each(ENTRIES_OF, params![user, place.0, &place.1], |row| entries.add(row))?;
        Ok(entries)
    }

    fn append(&mut self, mut later: Entries) {
        self.outflows.append(&mut later.outflows);
        self.inflows.append(&mut later.inflows);
    }

    /// What could be a paycheck or a bill: purchases of securities, the interest of a loan and payments onto a card,
    /// however regular, are neither.
    fn repeating(mut self, kind: Option<AccountKind>) -> Entries {
        match kind {
            Some(AccountKind::Investment | AccountKind::Loan) => return Entries::default(),
            Some(AccountKind::Credit) => self.inflows.clear(),
            _ => {}
        }
        self
    }
}

/// What a transaction is called now.
#[derive(Clone, Default)]
struct Named {
    category: Option<Category>,
    counterparty: Option<String>,
    logo: Option<String>,
    description: String,
}

/// Works out the streams of the touched merchants, keeps their ids, and tells of those that changed.
pub(crate) fn find(tx: &mut Tx<'_>, run: &mut Recompute) -> Result<()> {
    let mut told: Vec<StreamId> = Vec::new();
    let mut stored: BTreeMap<Place, Vec<Stream>> = BTreeMap::new();
    let mut places: BTreeMap<Place, Entries> = BTreeMap::new();
    match &run.scope {
        RecomputeScope::Everything => {
            for stream in tx.all(LIST, params![run.user], read)? {
                let place = (stream.account_id, stream.merchant_key.clone());
                stored.entry(place).or_default().push(stream);
            }
            places = all_entries(tx, run)?;
        }
        RecomputeScope::Around(touched) => {
            let touched: BTreeSet<Place> =
                touched.iter().map(|it| (it.account, it.merchant_key.clone())).collect();
            for place in touched {
                let at = params![run.user, place.0, &place.1];
                let streams = tx.all(STREAMS_OF, at, read)?;
                places.insert(place.clone(), Entries::of(tx, run.user, &place)?);
                stored.insert(place, streams);
            }
        }
    }
    for place in stored.keys().filter(|it| !places.contains_key(*it)).cloned().collect::<Vec<_>>() {
        places.insert(place, Entries::default());
    }
    for (place, entries) in places {
        let known = stored.remove(&place).unwrap_or_default();
        let entries = entries.repeating(run.account(place.0).map(|it| it.kind));
        // Most merchants are met once or twice and never made a stream.
        if entries.outflows.len() < 2 && entries.inflows.len() < 2 && known.is_empty() {
            continue;
        }
        renew(tx, run, (&place, entries), known, &mut told)?;
    }
    for chunk in told.chunks(Event::IDS_MAX) {
        run.events.push(Event::RecurringUpdated {
            stream_ids: chunk.iter().map(ToString::to_string).collect(),
            count: chunk.len(),
        });
    }
    Ok(())
}

fn all_entries(tx: &mut Tx<'_>, run: &Recompute) -> Result<BTreeMap<Place, Entries>> {
    let mut places: BTreeMap<Place, Entries> = BTreeMap::new();
    // Read from the index, the entries of a place mostly follow each other, so that it is looked up once for all of them.
    let (mut place, mut entries): (Option<Place>, Entries) = (None, Entries::default());
    tx.each(ENTRIES, params![run.user], |row| {
        let (account, merchant_key): (AccountId, &str) = (row.get(3)?, row.get(4)?);
        if place.as_ref().is_none_or(|it| it.0 != account || it.1 != merchant_key)
            && let Some(before) = place.replace((account, merchant_key.to_owned()))
        {
            places.entry(before).or_default().append(std::mem::take(&mut entries));
        }
        entries.add(row)
    })?;
    if let Some(last) = place {
        places.entry(last).or_default().append(entries);
    }
    Ok(places)
}

/// A payer's stream with what it is drawn from.
pub(crate) struct Inflow {
    pub(crate) payer: String,
    /// The bank's words on the newest payment.
    pub(crate) description: String,
    pub(crate) stream: Found,
}

/// What comes in on an account by a schedule, with the schedule itself, which is not stored.
pub(crate) fn inflows(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    account: AccountId,
) -> Result<Vec<Inflow>> {
    let keys = tx.all(INFLOW_KEYS, params![household.user, account], |row| row.get(0))?;
    let mut inflows = Vec::new();
    for key in keys {
        let place: Place = (account, key);
        let inflows_of = Entries::of(tx, household.user, &place)?.inflows;
        let group = group(tx, household.user, &place, true, inflows_of)?;
        for stream in streams(&group, household.today) {
            let named = named(tx, household.user, stream.members.last().map(|it| it.id))?;
            inflows.push(Inflow {
                payer: named.counterparty.unwrap_or_else(|| enrich::readable(&place.1)),
                description: named.description,
                stream,
            });
        }
    }
    Ok(inflows)
}

fn renew(
    tx: &mut Tx<'_>,
    run: &Recompute,
    (place, entries): (&Place, Entries),
    known: Vec<Stream>,
    told: &mut Vec<StreamId>,
) -> Result<()> {
    let mut gone: BTreeSet<StreamId> = known.iter().map(|it| it.id).collect();
    for found in found(tx, run, place, entries)? {
        let earlier: Vec<_> = known.iter().map(|it| (it.id, it.transactions.clone())).collect();
        let members: Vec<Vec<TransactionId>> =
            found.iter().map(|it| it.transactions.clone()).collect();
        for (id, mut stream) in carry_ids(&earlier, &members).into_iter().zip(found) {
            stream.id = id.filter(|it| gone.remove(it)).unwrap_or_else(|| run.app.ids.make());
            let before = known.iter().find(|it| it.id == stream.id);
            let same = before.is_some_and(|it| {
                stream.updated_at = it.updated_at;
                *it == stream
            });
            if !same {
                stream.updated_at = run.now;
                save(tx, run, &stream)?;
                told.push(stream.id);
            }
        }
    }
    for id in gone {
        tx.execute(DELETE, params![run.user, id])?;
        told.push(id);
    }
    Ok(())
}

/// The streams of one place, by direction, with an id still to be given.
fn found(
    tx: &mut Tx<'_>,
    run: &Recompute,
    place: &Place,
    entries: Entries,
) -> Result<Vec<Vec<Stream>>> {
    let Entries { outflows, inflows } = entries;
    let currency = run.account(place.0).map_or(run.currency, |it| it.currency);
    let mut all = Vec::new();
    for (direction, entries) in [(Direction::Outflow, outflows), (Direction::Inflow, inflows)] {
        // One payment makes no stream, and most merchants are met once.
        if entries.len() < 2 {
            continue;
        }
        let group = group(tx, run.user, place, direction == Direction::Inflow, entries)?;
        let mut streams_of = Vec::new();
        for stream in streams(&group, run.today) {
            let named = named(tx, run.user, stream.members.last().map(|it| it.id))?;
            streams_of.push(described(stream, place, direction, currency, named));
        }
        all.push(streams_of);
    }
    Ok(all)
}

fn named(tx: &mut Tx<'_>, user: UserId, id: Option<TransactionId>) -> Result<Named> {
    let found = tx.first(NAMED, params![user, id], |row| {
        let row = StoredTransaction(row);
        Ok(Named {
            category: row.category()?,
            counterparty: row.counterparty()?.map(str::to_owned),
            logo: row.counterparty_logo_url()?.map(str::to_owned),
            description: row.description()?.to_owned(),
        })
    })?;
    Ok(found.unwrap_or_default())
}

/// Of the nature that its newest transaction has.
fn group(
    tx: &mut Tx<'_>,
    user: UserId,
    place: &Place,
    inflow: bool,
    occurrences: Vec<Occurrence>,
) -> Result<Group> {
    let newest = occurrences.iter().max_by_key(|it| (it.on_days, it.id));
    let category = named(tx, user, newest.map(|it| it.id))?.category;
    Ok(Group { inflow, nature: Nature::of(category, is_service(&place.1)), occurrences })
}

fn is_service(merchant_key: &str) -> bool {
    enrich::merchant(merchant_key).is_some_and(|it| it.is(enrich::Flag::Service))
}

/// Named after its newest transaction, which has the present name and category.
fn described(
    found: Found,
    place: &Place,
    direction: Direction,
    currency: Currency,
    named: Named,
) -> Stream {
    let transactions: Vec<TransactionId> = found.members.iter().rev().map(|it| it.id).collect();
    let Named { category, counterparty, logo, .. } = named;
    Stream {
        id: StreamId::from_bytes([0; 16]),
        account_id: place.0,
        direction,
        merchant_key: place.1.clone(),
        currency,
        name: counterparty.clone().unwrap_or_else(|| enrich::readable(&place.1)),
        counterparty,
        counterparty_logo_url: logo,
        category,
        kind: kind(direction, category, is_service(&place.1)),
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
        updated_at: base::Timestamp::UNIX_EPOCH,
    }
}

fn kind(direction: Direction, category: Option<Category>, known_service: bool) -> Kind {
    let primary = category.map_or("", Category::primary);
    match (direction, primary) {
        (_, "TRANSFER_IN" | "TRANSFER_OUT") => Kind::Transfer,
        (Direction::Inflow, "INCOME") => Kind::Income,
        (Direction::Inflow, _) => Kind::Other,
        (_, "RENT_AND_UTILITIES" | "LOAN_PAYMENTS" | "BANK_FEES" | "GOVERNMENT_AND_NON_PROFIT") => {
            Kind::Bill
        }
        _ if category.is_some_and(|it| it.detailed() == "GENERAL_SERVICES_INSURANCE") => Kind::Bill,
        (_, "ENTERTAINMENT") => Kind::Subscription,
        _ if known_service => Kind::Subscription,
        _ => Kind::Other,
    }
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
        stream.updated_at
    ];
    tx.execute(DELETE, params![run.user, stream.id])?;
    tx.execute(INSERT, values)?;
    Ok(())
}

// A payment on one's own loan is a move between accounts and a bill all the same.
const ENTRIES: &str =
    "select id, posted_on, amount_minor, account_id, merchant_key from transactions
    where user_id = $1 and state = 'posted' and merchant_key is not null and amount_minor <> 0
    and (transfer_kind is null or (transfer_kind = 'loan_payment' and amount_minor < 0))";
const ENTRIES_OF: &str = "select id, posted_on, amount_minor from transactions
    where user_id = $1 and account_id = $2 and merchant_key = $3 and state = 'posted' and amount_minor <> 0
    and (transfer_kind is null or (transfer_kind = 'loan_payment' and amount_minor < 0))";
const INFLOW_KEYS: &str = "select distinct merchant_key from streams
    where user_id = $1 and account_id = $2 and direction = 'inflow' order by merchant_key";
const NAMED: &str = concat!(
    "select ",
    transaction_columns!(),
    " from transactions t where user_id = $1 and id = $2"
);
const STREAMS_OF: &str = "select id, account_id, direction, merchant_key, currency, name, counterparty,
    counterparty_logo_url, category, stream_type, frequency, status, confidence, amount_class, average_minor,
    last_minor, min_minor, max_minor, monthly_minor, first_on, last_on, next_expected_on, transaction_ids,
    price_changes, missed_on, updated_at from streams
    where user_id = $1 and account_id = $2 and merchant_key = $3";
const DELETE: &str = "delete from streams where user_id = $1 and id = $2";
const INSERT: &str =
    "insert into streams (user_id, id, account_id, direction, merchant_key, currency, name,
    counterparty, counterparty_logo_url, category, stream_type, frequency, status, confidence, amount_class,
    average_minor, last_minor, min_minor, max_minor, monthly_minor, first_on, last_on, next_expected_on,
    transaction_ids, price_changes, missed_on, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
    $23, $24, $25, $26, $27)";

pub(super) const STATEMENTS: &[&str] =
    &[ENTRIES, ENTRIES_OF, INFLOW_KEYS, NAMED, STREAMS_OF, DELETE, INSERT];
