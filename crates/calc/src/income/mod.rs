//! Income analysis: the sources of an average month's income, and its uses.

mod cash_flow;
mod counterparties;
#[cfg(test)]
mod counterparty_tests;
mod flows;
#[cfg(test)]
mod label_tests;
mod labels;
#[cfg(test)]
mod laws;
mod outflow;
mod pay;
mod share;
#[cfg(test)]
pub(crate) mod test_ledger;
#[cfg(test)]
mod tests;
pub(crate) mod window;

use std::collections::BTreeMap;

use base::draft::AccountKind;
use base::{Date, Fixed9, TransactionId};

pub use cash_flow::CashFlow;
pub use counterparties::REFUND_DAYS;
pub use labels::InflowLabel;
pub use outflow::{DebtLabel, is_own_transfer};
pub use share::Share;
pub use window::Window;

use crate::ledger::{Account, Frequency, Ledger};
use flows::{Flows, MonthFlows};
use labels::Labels;
use share::{by_month, variation};

/// `monthly_income = expenses + debt + emergency_fund + investments + unallocated`, to the cent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Income {
    pub window: Window,
    /// Whether the ledger has any entry. Without one, every amount is unknown.
    pub has_data: bool,
    pub monthly_income_minor: i64,
    /// Oldest first.
    pub months: Vec<Month>,
    pub variability: Variability,
    /// Coefficient of variation: the standard deviation of the months' income over its mean; none with less than
    /// three months.
    pub cv: Option<Fixed9>,
    pub expenses: Block,
    pub debt: Block,
    pub emergency_fund: EmergencyFund,
    pub investments: Investments,
    pub unallocated: Share,
    /// Inflows that are neither income, transfer nor refund as far as is known, per month.
    pub unclassified_minor: i64,
    /// The part of the expenses that is rent.
    pub rent_minor: i64,
    /// Largest first. Their monthly values add up to the income.
    pub sources: Vec<Source>,
    /// Inflows that do not count as income, newest first.
    pub uncounted: Vec<UncountedInflow>,
    /// The label of each inflow up to the day of the ledger.
    pub labels: BTreeMap<TransactionId, InflowLabel>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Month {
    pub start: Date,
    /// With paychecks spread according to their schedule.
    pub income_minor: i64,
    /// Income by posting date, as `CashFlow` defines it.
    pub received_minor: i64,
    /// Spending, as `CashFlow` defines it.
    pub spent_minor: i64,
    /// Inflows that are neither, as `CashFlow` defines them.
    pub unclassified_minor: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variability {
    pub min_minor: i64,
    pub max_minor: i64,
    pub range_minor: i64,
}

/// A total with its parts by label, which add up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub total: Share,
    pub parts: BTreeMap<String, Share>,
}

/// The change of savings accounts. `net` is deposits less withdrawals, and negative when they shrink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmergencyFund {
    pub net: Share,
    pub deposits: Share,
    pub withdrawals: Share,
    /// None if there are savings accounts and no balance is known.
    pub balance: Option<Share>,
    /// The number of months of expenses and debt payments that the balance covers, in hundredths; none without any, or
    /// if the balance is not known.
    pub months_covered_hundredths: Option<i64>,
}

/// `net` is contributions less withdrawals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Investments {
    pub net: Share,
    pub contributions: Share,
    pub withdrawals: Share,
    /// None if there are investment accounts and no balance is known.
    pub balance: Option<Share>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub payer: String,
    pub label: InflowLabel,
    /// None for income without a schedule.
    pub frequency: Option<Frequency>,
    pub last_on: Date,
    pub last_minor: i64,
    pub monthly_minor: i64,
    /// The payments behind the value, oldest first.
    pub payments: Vec<TransactionId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncountedInflow {
    pub id: TransactionId,
    pub on: Date,
    pub amount_minor: i64,
    pub payer: String,
    /// Why it does not count.
    pub label: InflowLabel,
}

pub fn analyze(ledger: &Ledger) -> Income {
    analyze_with_cash_flows(ledger).0
}

/// The analysis, and the cash flow of each entry in the order of the ledger.
pub fn analyze_with_cash_flows(ledger: &Ledger) -> (Income, Vec<Option<CashFlow>>) {
    let window = Window::of(ledger);
    let labels = Labels::of(ledger);
    let cash_flows = labels.cash_flows(ledger);
    let flows = Flows::of(ledger, &labels, &cash_flows, &window);
    let payers = pay::payers(ledger, &labels.labels, &window);

    let total = |it: &pay::Payer| it.monthly.iter().map(|it| i128::from(*it)).sum();
    let totals: Vec<i128> = payers.iter().map(total).collect();
    let (income, values) = by_month(&totals, window.months);
    let income_of = |month: usize| payers.iter().map(|it| i128::from(it.monthly[month])).sum();
    let incomes: Vec<i64> =
        (0..window.months as usize).map(|month| narrow(income_of(month))).collect();

    let expenses = block(&flows.expenses, window.months, income);
    let debt = block(&flows.debt, window.months, income);
    let need = i128::from(expenses.total.amount_minor) + i128::from(debt.total.amount_minor);
    let saved = flows.saved.shares(window.months, income);
    let invested = flows.invested.shares(window.months, income);
    let savings = balance(ledger, Account::is_savings);
    let invested_balance = balance(ledger, |it| it.kind == AccountKind::Investment);
    let unclassified = flows.months.iter().map(|it| it.unclassified).sum();
    let allocated = need + i128::from(saved[0].amount_minor) + i128::from(invested[0].amount_minor);
    let income = Income {
        months: months(&window, &incomes, &flows.months),
        variability: variability(&incomes),
        cv: variation(&incomes),
        emergency_fund: EmergencyFund {
            net: saved[0],
            deposits: saved[1],
            withdrawals: saved[2],
            balance: savings.map(|it| Share::of(it, income)),
            months_covered_hundredths: savings
                .filter(|_| need > 0)
                .map(|it| narrow(i128::from(it).max(0) * 100 / need)),
        },
        investments: Investments {
            net: invested[0],
            contributions: invested[1],
            withdrawals: invested[2],
            balance: invested_balance.map(|it| Share::of(it, income)),
        },
        unallocated: Share::of(narrow(i128::from(income) - allocated), income),
        unclassified_minor: by_month(&[unclassified], window.months).0,
        rent_minor: by_month(&[flows.rent], window.months).0,
        sources: sources(payers, values),
        uncounted: uncounted(ledger, &labels.labels, &window),
        labels: by_id(ledger, &labels.labels),
        has_data: ledger.first_on().is_some(),
        monthly_income_minor: income,
        expenses,
        debt,
        window,
    };
    (income, cash_flows)
}

fn block(sums: &BTreeMap<&str, i128>, months: i64, income: i64) -> Block {
    let sums: BTreeMap<String, i128> =
        sums.iter().map(|(label, sum)| (label.to_ascii_lowercase(), *sum)).collect();
    let (total, parts) = by_month(&sums.values().copied().collect::<Vec<_>>(), months);
    let shares = parts.into_iter().map(|it| Share::of(it, income));
    Block {
        total: Share::of(total, income),
        // A label whose charges were all refunded is left out.
        parts: sums.into_keys().zip(shares).filter(|(_, it)| it.amount_minor != 0).collect(),
    }
}

fn months(window: &Window, incomes: &[i64], flows: &[MonthFlows]) -> Vec<Month> {
    let spans = window.spans().into_iter().zip(incomes.iter().zip(flows));
    let month = |((start, _), (income, flows)): ((Date, Date), (&i64, &MonthFlows))| Month {
        start,
        income_minor: *income,
        received_minor: narrow(flows.received),
        spent_minor: narrow(flows.spent),
        unclassified_minor: narrow(flows.unclassified),
    };
    spans.map(month).collect()
}

fn variability(incomes: &[i64]) -> Variability {
    let min_minor = incomes.iter().copied().min().unwrap_or(0);
    let max_minor = incomes.iter().copied().max().unwrap_or(0);
    Variability { min_minor, max_minor, range_minor: max_minor - min_minor }
}

fn sources(payers: Vec<pay::Payer>, values: Vec<i64>) -> Vec<Source> {
    let source = |(payer, monthly_minor): (pay::Payer, i64)| Source {
        payer: payer.payer,
        label: payer.label,
        frequency: payer.frequency,
        last_on: payer.last_on,
        last_minor: payer.last_minor,
        monthly_minor,
        payments: payer.payments,
    };
    let mut sources: Vec<Source> = payers.into_iter().zip(values).map(source).collect();
    sources.sort_by(|a, b| {
        let value = b.monthly_minor.cmp(&a.monthly_minor);
        value.then_with(|| a.payer.cmp(&b.payer)).then_with(|| a.payments.cmp(&b.payments))
    });
    sources
}

fn by_id(ledger: &Ledger, labels: &[Option<InflowLabel>]) -> BTreeMap<TransactionId, InflowLabel> {
    let labeled = ledger.entries.iter().zip(labels);
    labeled.filter_map(|(entry, label)| Some((entry.id, (*label)?))).collect()
}

fn uncounted(
    ledger: &Ledger,
    labels: &[Option<InflowLabel>],
    window: &Window,
) -> Vec<UncountedInflow> {
    let mut rows: Vec<UncountedInflow> = ledger
        .seen()
        .filter(|(_, entry)| window.contains(entry.on))
        .filter(|(_, entry)| ledger.account(entry).kind == AccountKind::Depository)
        .filter_map(|(index, entry)| {
            let label = labels[index].filter(|it| !it.is_income())?;
            Some(UncountedInflow {
                id: entry.id,
                on: entry.on,
                amount_minor: entry.amount_minor,
                payer: entry.key.clone(),
                label,
            })
        })
        .collect();
    rows.sort_by_key(|it| std::cmp::Reverse((it.on, it.id)));
    rows
}

/// The sum of the known balances of some accounts. None if there are such accounts and none of their balances is known.
fn balance(ledger: &Ledger, counts: impl Fn(&Account) -> bool) -> Option<i64> {
    let counted: Vec<&Account> = ledger.accounts.iter().filter(|it| counts(it)).collect();
    let known: Vec<i64> = counted.iter().filter_map(|it| it.balance_minor).collect();
    let is_known = counted.is_empty() || !known.is_empty();
    is_known.then(|| narrow(known.into_iter().map(i128::from).sum()))
}

/// Converts a sum to 64 bits, saturating instead of wrapping.
pub(crate) fn narrow(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
