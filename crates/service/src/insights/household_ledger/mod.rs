//! The household ledger, from which income and scores are computed: the last year and a half, in the base currency, each
//! amount at the exchange rate of its day.

mod entries;
mod months;

use std::collections::HashMap;

use base::draft::AccountKind;
use base::{AccountId, Date, TransactionId, UserId, date_from_days, days_from_date};
use calc::enrich;
use calc::income::REFUND_DAYS;
use calc::ledger::{Account, Entry, EntryFlags, Ledger, Pay, PayStream};
use calc::rates::DailyRates;
use calc::transfers::Payee;
use db::Tx;
use jiff::ToSpan as _;

use self::entries::{LedgerEntry, window_start};
use super::recurring;
use crate::Result;
use crate::classify::linked_refunds;
use crate::classify::recompute::{Household, Recompute};
use crate::ledger::accounts::Account as StoredAccount;
use crate::ledger::{balances, rates};

/// Days of daily balances.
const DAILY_DAYS: i64 = 366;
/// The smallest sudden bill that scores ask to be ready for, in US cents.
const SHOCK_FLOOR_MINOR: i64 = 200_000;
/// Merchants in whose name several issuers collect payments, so that the name says nothing about the card.
const COLLECTORS: &[&str] = &["Cardmember Services"];

/// The ledger of a household, with what only the cash flows need beside each entry.
pub(super) struct HouseholdLedger {
    pub(super) ledger: Ledger,
    /// In the order of the ledger's entries.
    pub(super) details: Vec<EntryDetail>,
    /// Entries without an exchange rate, which the ledger leaves out.
    pub(super) unconverted: Vec<(Entry, EntryDetail)>,
    /// The distinct counterparties that details refer to.
    pub(super) counterparties: Vec<String>,
}

/// What an entry of the ledger does not say.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryDetail {
    /// In the account's currency.
    pub(super) amount_minor: i64,
    /// An index in `counterparties`.
    pub(super) counterparty: usize,
}

/// Builds the ledger from the stored transactions.
pub(super) fn from_transactions(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
) -> Result<HouseholdLedger> {
    build(tx, household, window_start(household.today), entries::each_since)
}

/// Builds the ledger of some days before the window, without balances, from the stored transactions.
pub(super) fn of_past(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    (first, last): (Date, Date),
) -> Result<HouseholdLedger> {
    let last = days_from_date(last);
    let accounts = household.accounts.iter().map(|it| bare_account(it)).collect();
    let rates = daily_rates(tx, household, first)?;
    collect(tx, household, (accounts, &rates), |tx, visit| {
        entries::each_between(tx, household.user, (days_from_date(first), last), visit)
    })
}

/// Builds the ledger from the packed months, after packing the months in the scope of the recompute again. This is
/// cheaper than reading every transaction of a year and a half.
pub(super) fn from_packed_months(tx: &mut Tx<'_>, run: &Recompute) -> Result<HouseholdLedger> {
    months::repack(tx, run)?;
    build(tx, &run.household(None), window_start(run.today), months::each_since)
}

/// The first day of the oldest month whose cash flows the ledger's window decides: it also has the days before it in
/// which the purchase of a refund can lie.
pub(super) fn first_month_in_window(today: Date) -> Date {
    let first = date_from_days(days_from_date(window_start(today)) + REFUND_DAYS);
    first.first_of_month().saturating_add(1.month())
}

type VisitEntries =
    fn(&mut Tx<'_>, UserId, Date, &mut (dyn FnMut(&LedgerEntry<'_>) + Send)) -> Result<()>;

fn build(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    from: Date,
    visit: VisitEntries,
) -> Result<HouseholdLedger> {
    let accounts = household.accounts.iter().map(|it| bare_account(it)).collect();
    let mut posted: Vec<Vec<(Date, i64)>> = vec![Vec::new(); household.accounts.len()];
    let ids: Vec<AccountId> = household.accounts.iter().map(|it| it.id).collect();
    let rates = daily_rates(tx, household, from)?;
    let mut built = collect(tx, household, (accounts, &rates), |tx, collect| {
        visit(tx, household.user, from, &mut |entry| {
            if let Some(index) = ids.iter().position(|it| *it == entry.account) {
                posted[index].push((date_from_days(entry.on_days), entry.amount_minor));
            }
            collect(entry);
        })
    })?;
    let accounts = household.accounts.iter().zip(posted);
    for ((account, posted), ledger) in accounts.zip(&mut built.ledger.accounts) {
        match account.closed_on {
            None => add_balances(tx, household, (account, &rates), (from, posted), ledger)?,
            Some(_) => ledger.balance_minor = Some(0),
        }
    }
    Ok(built)
}

/// The exchange rates of each day since a day.
fn daily_rates(tx: &mut Tx<'_>, household: &Household<'_>, since: Date) -> Result<DailyRates> {
    let currencies = household.accounts.iter().map(|it| it.currency).collect();
    rates::daily_in(tx, household.user, household.currency, &currencies, Some(since))
}

/// Collects the entries of the household's accounts, each at the exchange rate of its day.
fn collect(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    (accounts, rates): (Vec<Account>, &DailyRates),
    visit: impl FnOnce(&mut Tx<'_>, &mut (dyn FnMut(&LedgerEntry<'_>) + Send)) -> Result<()>,
) -> Result<HouseholdLedger> {
    let (pays, slots) = pays(tx, household)?;
    let purchases = linked_refunds::purchases(tx, household.user)?;
    let ids: Vec<AccountId> = accounts.iter().map(|it| it.id).collect();
    let (mut entries, mut details, mut unconverted) = (Vec::new(), Vec::new(), Vec::new());
    let mut counterparties = Counterparties::default();
    visit(tx, &mut |entry| {
        let Some(index) = ids.iter().position(|it| *it == entry.account) else { return };
        let (account, on) = (household.accounts[index], date_from_days(entry.on_days));
        if on > household.today {
            return;
        }
        let is_deposit = account.kind == AccountKind::Depository;
        let convert = |on| rates.to_base_on(entry.amount_minor, account.currency, on);
        let (converted, comparable) = (convert(on), convert(household.today));
        let inflow = entry.amount_minor > 0;
        let collected = Entry {
            id: entry.id,
            account: index,
            on,
            amount_minor: converted.unwrap_or(entry.amount_minor),
            comparable_minor: comparable.unwrap_or(entry.amount_minor),
            category: entry.category,
            key: entry.merchant_key.to_owned(),
            // Only deposit accounts receive pay, so the descriptions on others say nothing about income.
            flags: if is_deposit { entry.signs } else { EntryFlags::default() },
            transfer: entry.transfer,
            pays_linked_debt: pays_linked_debt(household, entry),
            pay: if inflow { slots.get(&entry.id).copied() } else { None },
            linked_purchase: if inflow { purchases.get(&entry.id).copied() } else { None },
            whole_minor: None,
        };
        let counterparty = counterparties.index_of(entry.counterparty);
        let detail = EntryDetail { amount_minor: entry.amount_minor, counterparty };
        if converted.is_some() {
            entries.push(collected);
            details.push(detail);
        } else {
            unconverted.push((collected, detail));
        }
    })?;
    mark_parts(&mut entries);
    let floor = household.rates.convert(SHOCK_FLOOR_MINOR, base::Currency::USD, household.currency);
    let shock_floor_minor = floor.unwrap_or(SHOCK_FLOOR_MINOR);
    let ledger = Ledger { as_of: household.today, accounts, entries, pays, shock_floor_minor };
    Ok(HouseholdLedger { ledger, details, unconverted, counterparties: counterparties.names })
}

/// Marks the entries that are parts of one split transaction: they follow one another and have its id. The person chose
/// their categories, so the text of the transaction says nothing about a part, and only its income can be pay.
fn mark_parts(entries: &mut [Entry]) {
    for parts in entries.chunk_by_mut(|a, b| a.id == b.id).filter(|it| it.len() > 1) {
        let whole = parts.iter().fold(0_i64, |sum, it| sum.saturating_add(it.comparable_minor));
        for part in parts {
            let is_income = part.category.is_some_and(|it| it.primary() == "INCOME");
            part.whole_minor = Some(whole);
            part.flags = EntryFlags::default();
            part.pay = part.pay.filter(|_| is_income);
        }
    }
}

/// Whether an outflow without another leg pays a linked card or loan.
fn pays_linked_debt(household: &Household<'_>, entry: &LedgerEntry<'_>) -> bool {
    let Some(category) = entry.category.filter(|it| it.primary() == "LOAN_PAYMENTS") else {
        return false;
    };
    let is_unpaired = entry.amount_minor < 0 && entry.transfer.is_none();
    let payee = Payee {
        merchant_key: entry.merchant_key,
        counterparty: entry.counterparty,
        is_issuer: enrich::merchant(entry.merchant_key).is_some_and(|it| {
            it.category.primary() == "LOAN_PAYMENTS" && !COLLECTORS.contains(&it.name)
        }),
    };
    is_unpaired && household.debts.is_paid_by(category, payee)
}

/// The distinct counterparties of a ledger.
#[derive(Default)]
struct Counterparties {
    indexes: HashMap<String, usize>,
    names: Vec<String>,
}

impl Counterparties {
    fn index_of(&mut self, name: &str) -> usize {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        self.indexes.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }
}

/// An account without its balances, as a closed account is in the ledger.
fn bare_account(account: &StoredAccount) -> Account {
    Account {
        id: account.id,
        kind: account.kind,
        subtype: account.subtype.clone(),
        balance_minor: None,
        limit_minor: None,
        daily: Vec::new(),
    }
}

fn add_balances(
    tx: &mut Tx<'_>,
    household: &Household<'_>,
    (account, rates): (&StoredAccount, &DailyRates),
    posted: (Date, Vec<(Date, i64)>),
    ledger: &mut Account,
) -> Result<()> {
    let to_base_on = |minor: i64, on: Date| rates.to_base_on(minor, account.currency, on);
    let to_base = |minor: i64| to_base_on(minor, household.today);
    if account.kind == AccountKind::Depository {
        let first = date_from_days(days_from_date(household.today) - DAILY_DAYS + 1);
        let daily =
            balances::daily_in(tx, household.user, account, (first, household.today), posted)?;
        ledger.daily = daily.iter().filter_map(|it| to_base_on(it.current_minor, it.on)).collect();
    }
    ledger.balance_minor = account.balance_current_minor.and_then(to_base);
    ledger.limit_minor = account.balance_limit_minor.and_then(to_base);
    Ok(())
}

type Slots = HashMap<TransactionId, Pay>;

/// The recurring inflows of deposit accounts, and the slot of the schedule that each payment fills.
fn pays(tx: &mut Tx<'_>, household: &Household<'_>) -> Result<(Vec<PayStream>, Slots)> {
    let (mut pays, mut slots) = (Vec::new(), Slots::new());
    let deposits = household.accounts.iter().filter(|it| it.kind == AccountKind::Depository);
    for account in deposits {
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
