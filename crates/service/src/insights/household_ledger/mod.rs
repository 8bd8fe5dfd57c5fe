//! The household ledger, from which income and scores are computed: the last year and a half, in the base currency.

mod entries;
mod months;

use std::collections::HashMap;

use base::draft::AccountKind;
use base::{AccountId, Date, TransactionId, UserId, date_from_days, days_from_date};
use calc::enrich;
use calc::ledger::{Account, Entry, EntryFlags, Ledger, Pay, PayStream};
use db::Tx;

use self::entries::{LedgerEntry, window_start};
use super::recurring;
use crate::Result;
use crate::classify::recompute::{Household, Recompute};
use crate::ledger::accounts::Account as StoredAccount;
use crate::ledger::balances;

/// Days of daily balances.
const DAILY_DAYS: i64 = 366;
/// The smallest sudden bill that scores ask to be ready for, in US cents.
const SHOCK_FLOOR_MINOR: i64 = 200_000;

/// Builds the ledger from the stored transactions.
pub(super) fn from_transactions(tx: &mut Tx<'_>, household: &Household<'_>) -> Result<Ledger> {
    build(tx, household, entries::each_since)
}

/// Builds the ledger from the packed months, after packing the months in the scope of the recompute again. This is
/// cheaper than reading every transaction of a year and a half.
pub(super) fn from_packed_months(tx: &mut Tx<'_>, run: &Recompute) -> Result<Ledger> {
    months::repack(tx, run)?;
    build(tx, &run.household(None), months::each_since)
}

type VisitEntries =
    fn(&mut Tx<'_>, UserId, Date, &mut (dyn FnMut(&LedgerEntry<'_>) + Send)) -> Result<()>;

fn build(tx: &mut Tx<'_>, household: &Household<'_>, visit: VisitEntries) -> Result<Ledger> {
    let open: Vec<&StoredAccount> =
        household.accounts.iter().copied().filter(|it| it.closed_on.is_none()).collect();
    let ids: Vec<AccountId> = open.iter().map(|it| it.id).collect();
    let (pays, slots) = pays(tx, household, &open)?;
    let from = window_start(household.today);
    let mut entries = Vec::new();
    let mut posted: Vec<Vec<(Date, i64)>> = vec![Vec::new(); open.len()];
    visit(tx, household.user, from, &mut |entry| {
        let Some(index) = ids.iter().position(|it| *it == entry.account) else { return };
        let (account, on) = (open[index], date_from_days(entry.on_days));
        let is_deposit = account.kind == AccountKind::Depository;
        if is_deposit {
            posted[index].push((on, entry.amount_minor));
        }
        let in_base = household.rates.to_base(entry.amount_minor, account.currency);
        let Some(amount_minor) = in_base.filter(|_| on <= household.today) else { return };
        let inflow = entry.amount_minor > 0;
        entries.push(Entry {
            id: entry.id,
            account: index,
            on,
            amount_minor,
            category: entry.category,
            key: entry.merchant_key.to_owned(),
            // Only deposit accounts receive pay, so the descriptions on others say nothing about income.
            flags: if is_deposit { entry.signs } else { EntryFlags::default() },
            transfer: entry.transfer,
            pay: if inflow { slots.get(&entry.id).copied() } else { None },
        });
    })?;
    let mut accounts = Vec::with_capacity(open.len());
    for (account, posted) in open.iter().zip(posted) {
        accounts.push(ledger_account(tx, household, account, (from, posted))?);
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

fn ledger_account(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    account: &StoredAccount,
    posted: (Date, Vec<(Date, i64)>),
) -> Result<Account> {
    let to_base = |minor: i64| household.rates.to_base(minor, account.currency);
    let daily = if account.kind == AccountKind::Depository {
        let first = date_from_days(days_from_date(household.today) - DAILY_DAYS + 1);
        balances::daily_in(tx, household.user, account, (first, household.today), posted)?
    } else {
        Vec::new()
    };
    Ok(Account {
        id: account.id,
        kind: account.kind,
        subtype: account.subtype.clone(),
        balance_minor: account.balance_current_minor.and_then(to_base).unwrap_or(0),
        limit_minor: account.balance_limit_minor.and_then(to_base),
        daily: daily.iter().filter_map(|it| to_base(it.current_minor)).collect(),
    })
}

type Slots = HashMap<TransactionId, Pay>;

/// The recurring inflows of deposit accounts, and the slot of the schedule that each payment fills.
fn pays(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    open: &[&StoredAccount],
) -> Result<(Vec<PayStream>, Slots)> {
    let (mut pays, mut slots) = (Vec::new(), Slots::new());
    for account in open.iter().filter(|it| it.kind == AccountKind::Depository) {
        for inflow in recurring::recurring_inflows(tx, household, account.id)? {
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

pub(super) fn statements() -> Vec<&'static str> {
    [entries::STATEMENTS, months::STATEMENTS].concat()
}
