//! Labels each inflow, so that only earned money counts as income.

use std::collections::{BTreeMap, HashMap, VecDeque};

use base::category::Category;
use base::draft::AccountKind;
use base::{days_from_date, words};

use super::outflow::{OutflowPurpose, is_investment, is_own};
use crate::ledger::{Entry, Ledger};

/// A refund follows its purchase within this time.
pub const REFUND_DAYS: i64 = 120;

words!(
    /// The label of an inflow. Every inflow on a depository or card account has exactly one.
    InflowLabel {
        InternalTransfer => "internal_transfer",
        Refund => "refund",
        /// Borrowed money, or advanced pay.
        LoanProceeds => "loan_proceeds",
        /// A tax refund: own money returned, once a year.
        TaxRefund => "tax_refund",
        /// Interest, dividends and rent.
        Passive => "passive",
        Earned => "earned",
        Benefits => "benefits",
        Gig => "gig",
        OtherIncome => "other_income",
        Unclassified => "unclassified",
    }
);

impl InflowLabel {
    pub fn is_income(self) -> bool {
        matches!(
            self,
            InflowLabel::Passive
                | InflowLabel::Earned
                | InflowLabel::Benefits
                | InflowLabel::Gig
                | InflowLabel::OtherIncome
        )
    }
}

/// The label of each entry, in ledger order; none for outflows, other kinds of accounts, and entries after the day.
/// For a refund, also the purchase it refunds, if known.
pub(super) struct Labels {
    pub(super) labels: Vec<Option<InflowLabel>>,
    pub(super) refunded: BTreeMap<usize, OutflowPurpose>,
    purchases: BTreeMap<usize, usize>,
}

impl Labels {
    pub(super) fn of(ledger: &Ledger) -> Labels {
        let purchases = matched_purchases(ledger);
        let mut labels = vec![None; ledger.entries.len()];
        let mut refunded = BTreeMap::new();
        for (index, entry) in ledger.seen().filter(|(_, it)| it.amount_minor > 0) {
            let kind = ledger.account(entry).kind;
            let purchase = purchases.get(&index).map(|it| &ledger.entries[*it]);
            labels[index] = match kind {
                AccountKind::Depository => Some(on_deposit(ledger, entry, purchase.is_some())),
                AccountKind::Credit => Some(on_card(entry, purchase.is_some())),
                AccountKind::Loan | AccountKind::Investment | AccountKind::Other => None,
            };
            if labels[index] == Some(InflowLabel::Refund) {
                let refunded_entry = purchase.unwrap_or(entry);
                refunded.insert(index, OutflowPurpose::of(ledger, refunded_entry));
            }
        }
        Labels { labels, refunded, purchases }
    }

    /// The purchase that an inflow refunds, or the refund itself if its purchase is not known.
    pub(super) fn purchase<'l>(&self, ledger: &'l Ledger, refund: usize) -> &'l Entry {
        &ledger.entries[self.purchases.get(&refund).copied().unwrap_or(refund)]
    }
}

/// The first matching rule decides.
fn on_deposit(ledger: &Ledger, entry: &Entry, has_purchase: bool) -> InflowLabel {
    let flags = entry.flags;
    let code = entry.category.map_or("", Category::detailed);
    if is_investment(entry) && ledger.mature_pay(entry).is_some() {
        // Regular withdrawals from a retirement account are a retired person's income.
        return InflowLabel::Benefits;
    }
    if entry.transfer.is_some() || is_own(entry) && !flags.payroll {
        return InflowLabel::InternalTransfer;
    }
    // The text also says refund, but it refunds no purchase.
    if code == "INCOME_TAX_REFUND" {
        return InflowLabel::TaxRefund;
    }
    if flags.refund || has_purchase {
        return InflowLabel::Refund;
    }
    let by_category = match code {
        "TRANSFER_IN_CASH_ADVANCES_AND_LOANS" => Some(InflowLabel::LoanProceeds),
        _ if code.starts_with("LOAN_DISBURSEMENTS") => Some(InflowLabel::LoanProceeds),
        "INCOME_DIVIDENDS" | "INCOME_INTEREST_EARNED" | "INCOME_RENTAL" => {
            Some(InflowLabel::Passive)
        }
        "INCOME_SALARY" | "INCOME_WAGES" | "INCOME_MILITARY" => Some(InflowLabel::Earned),
        "INCOME_CHILD_SUPPORT"
        | "INCOME_LONG_TERM_DISABILITY"
        | "INCOME_RETIREMENT_PENSION"
        | "INCOME_UNEMPLOYMENT" => Some(InflowLabel::Benefits),
        "INCOME_GIG_ECONOMY" => Some(InflowLabel::Gig),
        "INCOME_OTHER" | "INCOME_OTHER_INCOME" => Some(InflowLabel::OtherIncome),
        _ => None,
    };
    let recurs = ledger.mature_pay(entry).is_some_and(|it| !it.person) && !flags.person;
    match by_category {
        Some(label @ (InflowLabel::LoanProceeds | InflowLabel::Passive)) => label,
        _ if flags.payroll => InflowLabel::Earned,
        Some(label @ (InflowLabel::Earned | InflowLabel::Benefits)) => label,
        _ if flags.benefit => InflowLabel::Benefits,
        _ if flags.gig => InflowLabel::Gig,
        Some(label) => label,
        None if recurs => InflowLabel::OtherIncome,
        None => InflowLabel::Unclassified,
    }
}

/// An inflow on a card is never income: it pays the card, or refunds a purchase.
fn on_card(entry: &Entry, has_purchase: bool) -> InflowLabel {
    let code = entry.category.map_or("", Category::detailed);
    let spent = match entry.category.map_or("", Category::primary) {
        "" | "INCOME" | "TRANSFER_IN" | "TRANSFER_OUT" | "LOAN_PAYMENTS" => false,
        "LOAN_DISBURSEMENTS" => return InflowLabel::LoanProceeds,
        _ => true,
    };
    let pays = code == "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT" && !entry.flags.refund;
    if entry.transfer.is_some() || is_own(entry) || pays {
        InflowLabel::InternalTransfer
    } else if entry.flags.refund || has_purchase || spent {
        InflowLabel::Refund
    } else {
        InflowLabel::Unclassified
    }
}

/// For each inflow, the latest outflow with the same key that it may refund: at least as large, and at most
/// `REFUND_DAYS` before. A key that pays this person within that time, before or after, gives no refunds.
///
/// A match depends only on the entries of `REFUND_DAYS` before and after it, so that a past month can be labeled alone.
fn matched_purchases(ledger: &Ledger) -> BTreeMap<usize, usize> {
    // A hash map for speed; each key is matched independently, so their order does not matter.
    let mut by_key: HashMap<&str, Vec<usize>> = HashMap::new();
    let (inflows, others): (Vec<_>, Vec<_>) = ledger
        .seen()
        .filter(|(_, it)| ledger.account(it).is_spent_from() && it.transfer.is_none())
        .filter(|(_, it)| !it.key.is_empty())
        .partition(|(_, it)| it.amount_minor > 0);
    for (index, entry) in inflows {
        by_key.entry(&entry.key).or_default().push(index);
    }
    // Most keys never have an inflow.
    for (index, entry) in others {
        if let Some(indexes) = by_key.get_mut(entry.key.as_str()) {
            indexes.push(index);
        }
    }
    let mut matched = BTreeMap::new();
    for mut indexes in by_key.into_values() {
        indexes.sort_by_key(|it| {
            let entry = &ledger.entries[*it];
            // On one day outflows come first, the largest last.
            (entry.on, entry.amount_minor > 0, entry.amount_minor.saturating_abs(), entry.id)
        });
        match_key(ledger, &indexes, &mut matched);
    }
    matched
}

fn is_payer(ledger: &Ledger, entry: &Entry) -> bool {
    let flags = entry.flags;
    let says_income = entry.category.is_some_and(|it| it.primary() == "INCOME");
    let pays_often = ledger.mature_pay(entry).is_some();
    says_income || pays_often || flags.payroll || flags.gig || flags.benefit
}

/// Matches the entries of one key in one pass in date order. `open` holds the outflows that no later and larger one
/// hides, so amounts decrease from front to back.
fn match_key(ledger: &Ledger, indexes: &[usize], matched: &mut BTreeMap<usize, usize>) {
    let mut open: VecDeque<usize> = VecDeque::new();
    let size = |index: usize| ledger.entries[index].amount_minor.unsigned_abs();
    let day = |index: usize| days_from_date(ledger.entries[index].on);
    let pays = |index: &usize| {
        let entry = &ledger.entries[*index];
        entry.amount_minor > 0 && is_payer(ledger, entry)
    };
    let paydays: Vec<i64> = indexes.iter().filter(|it| pays(it)).map(|it| day(*it)).collect();
    let is_paid_around = |on: i64| {
        let next = paydays.partition_point(|it| *it < on - REFUND_DAYS);
        paydays.get(next).is_some_and(|it| *it <= on + REFUND_DAYS)
    };
    for index in indexes.iter().copied() {
        let earliest = day(index) - REFUND_DAYS;
        while open.front().is_some_and(|it| day(*it) < earliest) {
            open.pop_front();
        }
        let entry = &ledger.entries[index];
        if entry.amount_minor > 0 {
            let enough = open.partition_point(|it| size(*it) >= size(index));
            if let Some(last) = enough.checked_sub(1).filter(|_| !is_paid_around(day(index))) {
                matched.insert(index, open[last]);
            }
        } else if OutflowPurpose::of(ledger, entry).is_spending() {
            while open.back().is_some_and(|it| size(*it) <= size(index)) {
                open.pop_back();
            }
            open.push_back(index);
        }
    }
}
