//! The cash that is left until the next income, after the bills that are expected before it.

use std::collections::HashMap;

use base::draft::AccountKind;
use base::{AccountId, Currency, Date};
use calc::rates::Rates;
use wire::v1::Scope;

use super::recurring::{self, Filter, Kind, Status, Stream, expected_days};
use crate::access::users;
use crate::ledger::accounts::Account;
use crate::ledger::{Direction, accounts, rates};
use crate::{App, Caller, Result};

/// Accounts for saving. Their money is not meant to be spent before the next income.
const SAVINGS: [&str; 4] = ["savings", "cd", "money market", "hsa"];
/// An income counts if it is at least this part of the monthly income, so that a cent of interest is no payday.
const LEAST_PART: i64 = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CashLeft {
    pub currency: Currency,
    /// The money in the accounts for spending, in minor units.
    pub cash_minor: i64,
    /// The bills that are late, or expected from these accounts before the next income.
    pub bills_minor: i64,
    pub bill_count: usize,
    pub income_on: Date,
    pub income_name: String,
}

impl CashLeft {
    pub fn left_minor(&self) -> i64 {
        self.cash_minor.saturating_sub(self.bills_minor)
    }
}

/// None if no income is expected or no balance is known.
pub async fn get(app: &App, caller: &Caller) -> Result<Option<CashLeft>> {
    caller.require(Scope::AccountsRead)?;
    let active = Filter { status: Some(Status::Active), account_id: None, direction: None };
    let currency = users::base_currency(app, caller).await?;
    let (accounts, streams, rates) = tokio::try_join!(
        accounts::list_all(app, caller),
        recurring::list(app, caller, active),
        rates::latest(app, caller, currency),
    )?;
    let streams: Vec<Stream> = streams.streams.into_iter().map(|(it, _)| it).collect();
    Ok(compute(&accounts, &streams, &rates, app.today(caller)))
}

fn compute(
    accounts: &[Account],
    streams: &[Stream],
    rates: &Rates,
    today: Date,
) -> Option<CashLeft> {
    let income = next_income(streams, rates, today)?;
    let income_on = income.next_expected_on?;
    let cash = spending_balances(accounts, rates);
    if cash.is_empty() {
        return None;
    }
    let bills = streams
        .iter()
        .filter(|it| it.direction == Direction::Outflow && cash.contains_key(&it.account_id));
    let mut left = CashLeft {
        currency: rates.base(),
        cash_minor: cash.values().fold(0, |sum, it| sum.saturating_add(*it)),
        bills_minor: 0,
        bill_count: 0,
        income_on,
        income_name: income.name.clone(),
    };
    for bill in bills {
        let Some(minor) = rates.to_base(bill.expected_minor(), bill.currency) else { continue };
        // A late bill is still to be paid.
        let first = bill.next_expected_on.map_or(today, |next| next.min(today));
        for _ in expected_days(bill, first, income_on) {
            left.bills_minor = left.bills_minor.saturating_add(minor.saturating_abs());
            left.bill_count += 1;
        }
    }
    Some(left)
}

/// The next of the incomes that matter.
fn next_income<'a>(streams: &'a [Stream], rates: &Rates, today: Date) -> Option<&'a Stream> {
    let monthly =
        |it: &Stream| rates.to_base(it.monthly_minor, it.currency).map(i64::saturating_abs);
    let incomes: Vec<(&Stream, i64)> = streams
        .iter()
        .filter(|it| it.kind == Kind::Income && it.direction == Direction::Inflow)
        .filter_map(|it| Some((it, monthly(it)?)))
        .collect();
    let all = incomes.iter().fold(0_i64, |sum, (_, minor)| sum.saturating_add(*minor));
    let matters = incomes.iter().filter(|(_, minor)| *minor >= all / LEAST_PART);
    let coming = matters.filter(|(it, _)| it.next_expected_on.is_some_and(|on| on >= today));
    coming.map(|(it, _)| *it).min_by_key(|it| (it.next_expected_on, it.id))
}

/// The balances of the accounts for spending, in the base currency. Savings count only if there is nothing else.
fn spending_balances(accounts: &[Account], rates: &Rates) -> HashMap<AccountId, i64> {
    let is_savings = |it: &Account| {
        it.subtype
            .as_deref()
            .is_some_and(|subtype| SAVINGS.contains(&subtype.to_lowercase().as_str()))
    };
    let open: Vec<&Account> = accounts
        .iter()
        .filter(|it| it.kind == AccountKind::Depository && it.hidden_at.is_none())
        .filter(|it| it.closed_on.is_none())
        .collect();
    let has_other = open.iter().any(|it| !is_savings(it));
    let counted = open.into_iter().filter(|it| !has_other || !is_savings(it));
    let balance = |it: &Account| {
        let minor = it.balance_available_minor.or(it.balance_current_minor)?;
        Some((it.id, rates.to_base(minor, it.currency)?))
    };
    counted.filter_map(balance).collect()
}
