//! Reads the inputs of the scores from a ledger, or lists the missing ones.

use std::collections::BTreeSet;
use std::fmt;

use base::category::Category;
use base::draft::AccountKind;
use base::{Fixed9, TransactionId, date_from_days, days_from_date};

use super::method::{DISTRESS_MONTHS, HISTORY_DAYS_MIN, LIQUID_DAYS, LOW_DAYS, PURCHASE_DAYS};
use crate::income::window::month_of;
use crate::income::{Income, InflowLabel, narrow};
use crate::ledger::{Account, Ledger};

/// The inputs of the scores. Flows are amounts per month. No amount is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inputs {
    pub income_minor: i64,
    /// Including rent.
    pub expenses_minor: i64,
    pub debt_minor: i64,
    pub rent_minor: i64,
    /// The median liquid balance of the last thirty days, so that payday hardly moves it.
    pub liquid_minor: i64,
    pub card_balance_minor: i64,
    /// Card purchases of the last thirty days.
    pub card_purchases_minor: i64,
    /// The total balance and limit of the cards with a limit; none if no card has one.
    pub credit: Option<Credit>,
    /// Days on which liquid money was below a week's needs.
    pub low_days: Ratio,
    /// Months of the last twelve with an overdraft, a late fee or similar.
    pub distress_months: u32,
    pub cv: Option<Fixed9>,
    /// Months in which income covered everything; none before the first complete month.
    pub surplus_months: Option<Ratio>,
    pub shock_floor_minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    pub used_minor: i64,
    pub limit_minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    pub part: u32,
    pub whole: u32,
}

/// A missing input. Displayed after "Missing: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Account,
    History { days: i64 },
    Spending,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Account => f.write_str("a checking or savings account"),
            Missing::History { days } => {
                write!(f, "at least {HISTORY_DAYS_MIN} days of history; there are {days}")
            }
            Missing::Spending => f.write_str("any spending in the months looked at"),
        }
    }
}

/// How much of the person's finances the numbers cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    pub accounts: usize,
    pub months: i64,
    /// The share of all inflows that is labeled, in tenths of a percent.
    pub explained_percent_tenths: i64,
    /// Monthly payments to cards whose purchases are unknown. Linking the cards would show the purchases; until then
    /// they count nowhere.
    pub unseen_card_payments_minor: i64,
}

pub fn inputs(ledger: &Ledger, income: &Income) -> Result<Inputs, Vec<Missing>> {
    let day = days_from_date(ledger.as_of);
    let days = ledger.first_on().map_or(0, |it| day - days_from_date(it));
    let expenses_minor = income.expenses.total.amount_minor.max(0);
    let debt_minor = income.debt.total.amount_minor.max(0);
    let need = i128::from(expenses_minor) + i128::from(debt_minor);
    let mut missing = Vec::new();
    if !ledger.accounts.iter().any(|it| it.kind == AccountKind::Depository) {
        missing.push(Missing::Account);
    }
    if days < HISTORY_DAYS_MIN {
        missing.push(Missing::History { days });
    }
    if need == 0 {
        missing.push(Missing::Spending);
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    let totals = totals(ledger);
    Ok(Inputs {
        income_minor: income.monthly_income_minor,
        expenses_minor,
        debt_minor,
        rent_minor: income.rent_minor.clamp(0, expenses_minor),
        liquid_minor: median(&totals[totals.len().saturating_sub(LIQUID_DAYS)..]),
        card_balance_minor: owed(ledger, |_| true),
        card_purchases_minor: purchases(ledger, income),
        credit: credit(ledger),
        low_days: low_days(&totals[totals.len().saturating_sub(LOW_DAYS)..], need),
        distress_months: distress_months(ledger),
        cv: income.cv,
        surplus_months: income.window.complete.then(|| surplus_months(income)),
        shock_floor_minor: ledger.shock_floor_minor.max(0),
    })
}

pub fn coverage(ledger: &Ledger, income: &Income) -> Coverage {
    let (mut explained, mut all, mut unseen) = (0_i128, 0_i128, 0_i128);
    for (_, entry) in ledger.seen().filter(|(_, it)| income.window.contains(it.on)) {
        let amount = i128::from(entry.amount_minor);
        if ledger.account(entry).kind != AccountKind::Depository {
            continue;
        }
        if amount > 0
            && let Some(label) = income.labels.get(&entry.id)
        {
            all += amount;
            explained += if *label == InflowLabel::Unclassified { 0 } else { amount };
        }
        let pays_card = |it: Category| it.detailed() == "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT";
        if amount < 0 && entry.transfer.is_none() && entry.category.is_some_and(pays_card) {
            unseen -= amount;
        }
    }
    Coverage {
        accounts: ledger.accounts.len(),
        months: income.window.months,
        explained_percent_tenths: if all == 0 { 1000 } else { narrow(explained * 1000 / all) },
        unseen_card_payments_minor: narrow(unseen / i128::from(income.window.months)),
    }
}

/// The liquid total at the end of each day, oldest first, at least zero. Without any daily balance, today's is used.
fn totals(ledger: &Ledger) -> Vec<i64> {
    let liquid: Vec<&Account> = ledger.accounts.iter().filter(|it| it.is_liquid()).collect();
    let days = liquid.iter().map(|it| it.daily.len()).max().unwrap_or(0);
    if days == 0 {
        let today = liquid.iter().map(|it| i128::from(it.balance_minor.unwrap_or(0))).sum();
        return vec![narrow(today).max(0)];
    }
    let mut sums = vec![0_i128; days];
    for account in liquid {
        let before = days - account.daily.len();
        for (sum, balance) in sums[before..].iter_mut().zip(&account.daily) {
            *sum += i128::from(*balance);
        }
    }
    sums.into_iter().map(|it| narrow(it).max(0)).collect()
}

/// For an even number of values, the mean of the two middle ones.
fn median(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    match sorted.len() {
        0 => 0,
        count => {
            let sum = i128::from(sorted[(count - 1) / 2]) + i128::from(sorted[count / 2]);
            narrow(sum / 2)
        }
    }
}

/// A month has 30.4375 days on average.
fn low_days(totals: &[i64], need: i128) -> Ratio {
    let is_low = |it: &&i64| i128::from(**it) * 304_375 < need * 70_000;
    Ratio { part: totals.iter().filter(is_low).count() as u32, whole: totals.len() as u32 }
}

fn owed(ledger: &Ledger, counts: impl Fn(&Account) -> bool) -> i64 {
    let cards = ledger.accounts.iter().filter(|it| it.kind == AccountKind::Credit && counts(it));
    narrow(cards.map(|it| i128::from(it.balance_minor.unwrap_or(0)).max(0)).sum())
}

fn credit(ledger: &Ledger) -> Option<Credit> {
    let limit = |it: &Account| it.limit_minor.filter(|it| *it > 0);
    let cards = ledger.accounts.iter().filter(|it| it.kind == AccountKind::Credit);
    let limits: i128 = cards.filter_map(|it| limit(it).map(i128::from)).sum();
    (limits > 0).then(|| Credit {
        used_minor: owed(ledger, |it| limit(it).is_some()),
        limit_minor: narrow(limits),
    })
}

/// Card purchases less refunds.
fn purchases(ledger: &Ledger, income: &Income) -> i64 {
    let since = date_from_days(days_from_date(ledger.as_of) - PURCHASE_DAYS);
    let bought = |id: TransactionId| match income.labels.get(&id) {
        None => true,
        Some(label) => *label == InflowLabel::Refund,
    };
    let recent = ledger.seen().filter(|(_, it)| it.on > since && it.transfer.is_none());
    let on_cards = recent.filter(|(_, it)| ledger.account(it).kind == AccountKind::Credit);
    let amounts = on_cards.filter(|(_, it)| bought(it.id));
    narrow(amounts.map(|(_, it)| -i128::from(it.amount_minor)).sum()).max(0)
}

fn distress_months(ledger: &Ledger) -> u32 {
    let today = days_from_date(ledger.as_of);
    let fees = ledger.seen().filter(|(_, it)| {
        let is_distress = |it: Category| {
            matches!(
                it.detailed(),
                "BANK_FEES_INSUFFICIENT_FUNDS" | "BANK_FEES_LATE_FEES" | "BANK_FEES_OVERDRAFT_FEES"
            )
        };
        it.amount_minor < 0 && it.category.is_some_and(is_distress)
    });
    let mut months: BTreeSet<i64> = fees.map(|(_, it)| month_of(it.on)).collect();
    for account in ledger.accounts.iter().filter(|it| it.kind == AccountKind::Depository) {
        let ago = account.daily.iter().rev().zip(0_i64..);
        let overdrawn = ago.filter(|(balance, _)| **balance < 0);
        months.extend(overdrawn.map(|(_, ago)| month_of(date_from_days(today - ago))));
    }
    let first = month_of(ledger.as_of) - DISTRESS_MONTHS + 1;
    months.range(first..).count() as u32
}

fn surplus_months(income: &Income) -> Ratio {
    let paid_for = income.months.iter().filter(|it| it.spent_minor <= it.income_minor).count();
    Ratio { part: paid_for as u32, whole: income.months.len() as u32 }
}
