//! Labels each inflow, so that only earned money counts as income.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::category::Category;
use base::draft::AccountKind;
use base::words;

use super::cash_flow::CashFlow;
use super::counterparties::Counterparties;
use super::outflow::{OutflowPurpose, is_investment, is_linked, is_own};
use crate::ledger::{Entry, Ledger, LinkedPurchase};

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
    /// The cash flow of the purchase of each refund, which the refund reduces.
    pub(super) refunded_flows: BTreeMap<usize, Option<CashFlow>>,
}

impl Labels {
    pub(super) fn of(ledger: &Ledger) -> Labels {
        let Counterparties { purchases, payers } = Counterparties::of(ledger);
        let mut labels = vec![None; ledger.entries.len()];
        let (mut refunded, mut refunded_flows) = (BTreeMap::new(), BTreeMap::new());
        for (index, entry) in ledger.seen().filter(|(_, it)| it.amount_minor > 0) {
            let kind = ledger.account(entry).kind;
            let has_purchase = purchases.contains_key(&index);
            labels[index] = match kind {
                AccountKind::Depository | AccountKind::Credit if is_linked(entry) => {
                    Some(InflowLabel::Refund)
                }
                AccountKind::Depository => Some(match on_deposit(ledger, entry, has_purchase) {
                    InflowLabel::Unclassified if payers.contains(&index) => {
                        InflowLabel::OtherIncome
                    }
                    label => label,
                }),
                AccountKind::Credit => Some(on_card(entry, has_purchase)),
                AccountKind::Loan | AccountKind::Investment | AccountKind::Other => None,
            };
            if labels[index] == Some(InflowLabel::Refund) {
                let of = refunded_entry(ledger, &purchases, index);
                let purpose = OutflowPurpose::of(ledger, &of);
                refunded.insert(index, purpose);
                refunded_flows.insert(index, CashFlow::of_outflow(purpose, &of));
            }
        }
        Labels { labels, refunded, refunded_flows }
    }

    /// The cash flow of each entry, in the order of the ledger.
    pub(super) fn cash_flows(&self, ledger: &Ledger) -> Vec<Option<CashFlow>> {
        let mut flows = vec![None; ledger.entries.len()];
        for (index, entry) in ledger.seen().filter(|(_, it)| ledger.account(it).is_spent_from()) {
            flows[index] = match self.labels[index] {
                None => CashFlow::of_outflow(OutflowPurpose::of(ledger, entry), entry),
                Some(InflowLabel::Refund) => self.refunded_flows[&index],
                Some(InflowLabel::Unclassified) => Some(CashFlow::Unclassified),
                Some(label) if label.is_income() => Some(CashFlow::Income),
                Some(_) => None,
            };
        }
        flows
    }
}

/// The purchase that an inflow refunds, or the refund itself if its purchase is not known.
fn refunded_entry<'l>(
    ledger: &'l Ledger,
    purchases: &BTreeMap<usize, usize>,
    refund: usize,
) -> Cow<'l, Entry> {
    let entry = &ledger.entries[refund];
    match entry.linked_purchase {
        _ if entry.is_part() => Cow::Borrowed(entry),
        Some(LinkedPurchase { category }) => Cow::Owned(Entry { category, ..entry.clone() }),
        None => {
            let purchase = purchases.get(&refund).copied().unwrap_or(refund);
            Cow::Borrowed(&ledger.entries[purchase])
        }
    }
}

/// Whether the entry is one part of a split deposit, and the person chose a category of spending for it: such a part is
/// a refund.
fn is_refunding_part(entry: &Entry) -> bool {
    const NO_SPENDING: [&str; 5] =
        ["INCOME", "TRANSFER_IN", "TRANSFER_OUT", "LOAN_DISBURSEMENTS", "LOAN_PAYMENTS"];
    let primary = entry.category.map_or("INCOME", Category::primary);
    entry.is_part() && !NO_SPENDING.contains(&primary)
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
    if flags.refund || has_purchase && !entry.is_part() || is_refunding_part(entry) {
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
        // A company that pays people for jobs pays them into an account, and refunds customers.
        "INCOME" if code == "INCOME_GIG_ECONOMY" => true,
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
