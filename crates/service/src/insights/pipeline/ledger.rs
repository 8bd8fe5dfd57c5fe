//! Filling the ledger that income and scores are worked out from: the last year and a half, in the base currency.

use std::collections::HashMap;

use base::draft::AccountKind;
use base::{AccountId, Date, TransactionId, UserId, date_from_days, days_from_date};
use calc::enrich;
use calc::ledger::{Account, Entry, Ledger, Pay, PayStream, Signs};
use db::Tx;

use super::lines::{self, Line};
use super::pages;
use crate::Result;
use crate::classify::recompute::Household;
use crate::insights::recurring;
use crate::ledger::accounts::Account as Known;
use crate::ledger::balances;

/// Twelve whole months before this one, and what a refund looks back on.
const WINDOW_DAYS: i64 = 396 + 130;
const DAILY_DAYS: i64 = 366;
/// The least sudden bill worth being ready for, in US dollars.
const SHOCK_FLOOR_MINOR: i64 = 200_000;

/// The first day that is looked at.
pub(super) fn window_start(today: Date) -> Date {
    date_from_days(days_from_date(today) - WINDOW_DAYS)
}

/// From the transactions as they are at this moment.
pub(crate) fn ledger(tx: &mut Tx<'_>, household: &Household<'_>) -> Result<Ledger> {
    filled_by(tx, household, lines::each)
}

/// The same from the packed months, which a turn has just renewed.
pub(super) fn ledger_of_pages(tx: &mut Tx<'_>, household: &Household<'_>) -> Result<Ledger> {
    filled_by(tx, household, pages::each)
}

type Each = fn(&mut Tx<'_>, UserId, Date, &mut (dyn FnMut(&Line<'_>) + Send)) -> Result<()>;

fn filled_by(tx: &mut Tx<'_>, household: &Household<'_>, each: Each) -> Result<Ledger> {
    let open: Vec<&Known> =
        household.accounts.iter().copied().filter(|it| it.closed_on.is_none()).collect();
    let places: Vec<AccountId> = open.iter().map(|it| it.id).collect();
    let (pays, slots) = pays(tx, household, &open)?;
    let from = window_start(household.today);
    let mut entries = Vec::new();
    let mut posted: Vec<Vec<(Date, i64)>> = vec![Vec::new(); open.len()];
    each(tx, household.user, from, &mut |line| {
        let Some(place) = places.iter().position(|it| *it == line.account) else { return };
        let (known, on) = (open[place], date_from_days(line.on_days));
        let is_deposit = known.kind == AccountKind::Depository;
        if is_deposit {
            posted[place].push((on, line.amount_minor));
        }
        let in_base = household.rates.to_base(line.amount_minor, known.currency);
        let Some(amount_minor) = in_base.filter(|_| on <= household.today) else { return };
        let inflow = line.amount_minor > 0;
        entries.push(Entry {
            id: line.id,
            account: place,
            on,
            amount_minor,
            category: line.category,
            key: line.key.to_owned(),
            // On other accounts nothing is judged by its text.
            signs: if is_deposit { line.signs } else { Signs::default() },
            transfer: line.transfer,
            pay: if inflow { slots.get(&line.id).copied() } else { None },
        });
    })?;
    let mut accounts = Vec::with_capacity(open.len());
    for (account, posted) in open.iter().zip(posted) {
        accounts.push(filled(tx, household, account, (from, posted))?);
    }
    let floor = household.rates.convert(SHOCK_FLOOR_MINOR, base::Currency::USD, household.currency);
    Ok(Ledger {
        as_of: household.today,
        accounts,
        entries,
        pays,
        shock_floor_minor: floor.unwrap_or(SHOCK_FLOOR_MINOR),
    })
}

fn filled(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    known: &Known,
    posted: (Date, Vec<(Date, i64)>),
) -> Result<Account> {
    let to_base = |minor: i64| household.rates.to_base(minor, known.currency);
    let daily = if known.kind == AccountKind::Depository {
        let first = date_from_days(days_from_date(household.today) - DAILY_DAYS + 1);
        balances::daily_in(tx, household.user, known, (first, household.today), posted)?
    } else {
        Vec::new()
    };
    Ok(Account {
        id: known.id,
        kind: known.kind,
        subtype: known.subtype.clone(),
        balance_minor: known.balance_current_minor.and_then(to_base).unwrap_or(0),
        limit_minor: known.balance_limit_minor.and_then(to_base),
        daily: daily.iter().filter_map(|it| to_base(it.current_minor)).collect(),
    })
}

type Slots = HashMap<TransactionId, Pay>;

/// What comes in by a schedule, and which slot each payment fills.
fn pays(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    open: &[&Known],
) -> Result<(Vec<PayStream>, Slots)> {
    let (mut pays, mut slots) = (Vec::new(), Slots::new());
    for account in open.iter().filter(|it| it.kind == AccountKind::Depository) {
        for inflow in recurring::inflows(tx, household, account.id)? {
            let stream = inflow.stream;
            let until: Date = match stream.status {
                calc::recurring::Status::Active => household.today,
                calc::recurring::Status::Ended => stream.last_on,
            };
            let first = stream.members.first().map_or(stream.first_on, |it| it.slot_on);
            let last = stream.members.last().map_or(until, |it| it.slot_on.max(until));
            for member in &stream.members {
                let pay = Pay { stream: pays.len(), slot_on: member.slot_on };
                slots.insert(member.id, pay);
            }
            pays.push(PayStream {
                person: enrich::clean(&inflow.description).person,
                payer: inflow.payer,
                frequency: stream.frequency,
                mature: stream.confidence == calc::recurring::Confidence::Mature,
                slots: stream.schedule.slots(first, last),
            });
        }
    }
    Ok((pays, slots))
}
