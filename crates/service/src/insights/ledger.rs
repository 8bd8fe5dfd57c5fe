//! Filling the ledger that income and scores are worked out from: the last year and a half, in the base currency.

use std::collections::HashMap;

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Date, TransactionId, date_from_days, days_from_date};
use calc::enrich::{self, Flag};
use calc::ledger::{Account, Entry, Ledger, Pay, PayStream, Signs, TransferKind};
use db::{Tx, params};

use super::Household;
use crate::accounts::Account as Known;
use crate::{Result, balances, recurring};

/// Twelve whole months before this one, and what a refund looks back on.
const WINDOW_DAYS: i64 = 396 + 130;
const DAILY_DAYS: i64 = 366;
/// The least sudden bill worth being ready for, in US dollars.
const SHOCK_FLOOR_MINOR: i64 = 200_000;

pub(crate) fn ledger(tx: &mut Tx<'_>, household: &Household<'_>) -> Result<Ledger> {
    let open: Vec<&Known> =
        household.accounts.iter().copied().filter(|it| it.closed_on.is_none()).collect();
    let places: Vec<AccountId> = open.iter().map(|it| it.id).collect();
    let (pays, slots) = pays(tx, household, &open)?;
    let from = date_from_days(days_from_date(household.today) - WINDOW_DAYS);
    let mut entries = Vec::new();
    let mut posted: Vec<Vec<(Date, i64)>> = vec![Vec::new(); open.len()];
    tx.each(ENTRIES, params![household.user, from], |row| {
        let account: AccountId = row.get(1)?;
        let Some(place) = places.iter().position(|it| *it == account) else { return Ok(()) };
        let known = open[place];
        let (on, minor): (Date, i64) = (row.get(2)?, row.get(3)?);
        if known.kind == AccountKind::Depository {
            posted[place].push((on, minor));
        }
        let in_base = household.rates.to_base(minor, known.currency);
        let Some(amount_minor) = in_base.filter(|_| on <= household.today) else {
            return Ok(());
        };
        let id: TransactionId = row.get(0)?;
        let (category, kind): (Option<&str>, Option<&str>) = (row.get(4)?, row.get(6)?);
        let transfer = kind.and_then(TransferKind::parse);
        let is_judged =
            amount_minor > 0 && known.kind == AccountKind::Depository && transfer.is_none();
        entries.push(Entry {
            id,
            account: place,
            on,
            amount_minor,
            category: category.and_then(Category::parse),
            key: row.get::<Option<String>>(5)?.unwrap_or_default(),
            // Only what comes in from elsewhere is judged by its text, so only that text is read.
            signs: if is_judged { signs(row.get(7)?) } else { Signs::default() },
            transfer,
            pay: if minor > 0 { slots.get(&id).copied() } else { None },
        });
        Ok(())
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

fn signs(description: &str) -> Signs {
    let cleaned = enrich::clean(description);
    let merchant = enrich::merchant(&cleaned.key);
    Signs {
        refund: cleaned.refund_words,
        person: cleaned.person,
        payroll: merchant.is_some_and(|it| it.is(Flag::Payroll)),
        gig: merchant.is_some_and(|it| it.is(Flag::Gig)),
        benefit: merchant.is_some_and(|it| it.is(Flag::Benefit)),
    }
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

const ENTRIES: &str =
    "select id, account_id, posted_on, amount_minor, category, merchant_key, transfer_kind,
    description from transactions
    where user_id = $1 and posted_on >= $2 and state = 'posted'";

pub(super) const STATEMENTS: &[&str] = &[ENTRIES];
