//! What each inflow is, so that only what was earned counts as income.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use base::category::Category;
use base::draft::AccountKind;
use base::{days_from_date, words};

use super::outlay::{Outlay, is_investment, is_own};
use crate::ledger::{Entry, Ledger};

/// A refund follows its purchase within this time.
const REFUND_DAYS: i64 = 120;

words!(
    /// Every inflow on a depository or card account is exactly one of these.
    Label {
        InternalTransfer => "internal_transfer",
        Refund => "refund",
        /// Borrowed, or pay that was advanced.
        LoanProceeds => "loan_proceeds",
        /// Own money returned, once a year.
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

impl Label {
    pub fn is_income(self) -> bool {
        matches!(
            self,
            Label::Passive | Label::Earned | Label::Benefits | Label::Gig | Label::OtherIncome
        )
    }
}

/// The label of each entry, in the order of the ledger; none for what is no inflow, lies on another
/// kind of account or after the day. A refund also tells what it takes back, as far as is known.
pub(super) struct Labels {
    pub(super) labels: Vec<Option<Label>>,
    pub(super) refunded: BTreeMap<usize, Outlay>,
}

impl Labels {
    pub(super) fn of(ledger: &Ledger) -> Labels {
        let purchases = matched_purchases(ledger);
        let mut labels = vec![None; ledger.entries.len()];
        let mut refunded = BTreeMap::new();
        for (place, entry) in ledger.seen().filter(|(_, it)| it.amount_minor > 0) {
            let kind = ledger.account(entry).kind;
            let purchase = purchases.get(&place).map(|it| &ledger.entries[*it]);
            labels[place] = match kind {
                AccountKind::Depository => Some(on_deposit(ledger, entry, purchase.is_some())),
                AccountKind::Credit => Some(on_card(entry, purchase.is_some())),
                AccountKind::Loan | AccountKind::Investment | AccountKind::Other => None,
            };
            if labels[place] == Some(Label::Refund) {
                let taken_back = purchase.unwrap_or(entry);
                refunded.insert(place, Outlay::of(ledger, taken_back));
            }
        }
        Labels { labels, refunded }
    }
}

/// The first rule that fits decides.
fn on_deposit(ledger: &Ledger, entry: &Entry, has_purchase: bool) -> Label {
    let signs = entry.signs;
    let code = entry.category.map_or("", Category::detailed);
    if is_investment(entry) && ledger.mature_pay(entry).is_some() {
        // Regular withdrawals of one's own retirement money are what a retired person lives on.
        return Label::Benefits;
    }
    if entry.transfer.is_some() || is_own(entry) && !signs.payroll {
        return Label::InternalTransfer;
    }
    // Its words say refund as well, but it takes back no purchase.
    if code == "INCOME_TAX_REFUND" {
        return Label::TaxRefund;
    }
    if signs.refund || has_purchase {
        return Label::Refund;
    }
    let by_category = match code {
        "TRANSFER_IN_CASH_ADVANCES_AND_LOANS" => Some(Label::LoanProceeds),
        _ if code.starts_with("LOAN_DISBURSEMENTS") => Some(Label::LoanProceeds),
        "INCOME_DIVIDENDS" | "INCOME_INTEREST_EARNED" | "INCOME_RENTAL" => Some(Label::Passive),
        "INCOME_SALARY" | "INCOME_WAGES" | "INCOME_MILITARY" => Some(Label::Earned),
        "INCOME_CHILD_SUPPORT"
        | "INCOME_LONG_TERM_DISABILITY"
        | "INCOME_RETIREMENT_PENSION"
        | "INCOME_UNEMPLOYMENT" => Some(Label::Benefits),
        "INCOME_GIG_ECONOMY" => Some(Label::Gig),
        "INCOME_OTHER" | "INCOME_OTHER_INCOME" => Some(Label::OtherIncome),
        _ => None,
    };
    let recurs = ledger.mature_pay(entry).is_some_and(|it| !it.person) && !signs.person;
    match by_category {
        Some(label @ (Label::LoanProceeds | Label::Passive)) => label,
        _ if signs.payroll => Label::Earned,
        Some(label @ (Label::Earned | Label::Benefits)) => label,
        _ if signs.benefit => Label::Benefits,
        _ if signs.gig => Label::Gig,
        Some(label) => label,
        None if recurs => Label::OtherIncome,
        None => Label::Unclassified,
    }
}

/// What comes in on a card is never income: it pays the card, or takes a purchase back.
fn on_card(entry: &Entry, has_purchase: bool) -> Label {
    let code = entry.category.map_or("", Category::detailed);
    let spent = match entry.category.map_or("", Category::primary) {
        "" | "INCOME" | "TRANSFER_IN" | "TRANSFER_OUT" | "LOAN_PAYMENTS" => false,
        "LOAN_DISBURSEMENTS" => return Label::LoanProceeds,
        _ => true,
    };
    let pays = code == "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT" && !entry.signs.refund;
    if entry.transfer.is_some() || is_own(entry) || pays {
        Label::InternalTransfer
    } else if entry.signs.refund || has_purchase || spent {
        Label::Refund
    } else {
        Label::Unclassified
    }
}

/// For each inflow the latest outflow of the same key that it may take back: at least as large, at
/// most so many days before. Keys that pay this person by themselves take nothing back.
fn matched_purchases(ledger: &Ledger) -> BTreeMap<usize, usize> {
    // Asked for every entry; each key is matched for itself, so that their order does not matter.
    let mut by_key: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut payers: BTreeSet<&str> = BTreeSet::new();
    let (inflows, others): (Vec<_>, Vec<_>) = ledger
        .seen()
        .filter(|(_, it)| ledger.account(it).is_spent_from() && it.transfer.is_none())
        .filter(|(_, it)| !it.key.is_empty())
        .partition(|(_, it)| it.amount_minor > 0);
    for (place, entry) in inflows {
        by_key.entry(&entry.key).or_default().push(place);
        if is_payer(ledger, entry) {
            payers.insert(&entry.key);
        }
    }
    // Most keys never pay anything back.
    for (place, entry) in others {
        if let Some(places) = by_key.get_mut(entry.key.as_str()) {
            places.push(place);
        }
    }
    let mut matched = BTreeMap::new();
    for (_, mut places) in by_key.into_iter().filter(|(key, _)| !payers.contains(key)) {
        places.sort_by_key(|it| {
            let entry = &ledger.entries[*it];
            // Of one day the outflows go first, the largest last.
            (entry.on, entry.amount_minor > 0, entry.amount_minor.saturating_abs(), entry.id)
        });
        match_key(ledger, &places, &mut matched);
    }
    matched
}

fn is_payer(ledger: &Ledger, entry: &Entry) -> bool {
    let signs = entry.signs;
    let says_income = entry.category.is_some_and(|it| it.primary() == "INCOME");
    let pays_often = ledger.mature_pay(entry).is_some();
    says_income || pays_often || signs.payroll || signs.gig || signs.benefit
}

/// One pass over the entries of one key in the order of their days. `open` keeps the outflows that
/// no later and larger one hides, so that amounts fall from front to back.
fn match_key(ledger: &Ledger, places: &[usize], matched: &mut BTreeMap<usize, usize>) {
    let mut open: VecDeque<usize> = VecDeque::new();
    let size = |place: usize| ledger.entries[place].amount_minor.unsigned_abs();
    let day = |place: usize| days_from_date(ledger.entries[place].on);
    for place in places.iter().copied() {
        while open.front().is_some_and(|it| day(*it) < day(place) - REFUND_DAYS) {
            open.pop_front();
        }
        if ledger.entries[place].amount_minor > 0 {
            let enough = open.partition_point(|it| size(*it) >= size(place));
            if let Some(last) = enough.checked_sub(1) {
                matched.insert(place, open[last]);
            }
        } else if Outlay::of(ledger, &ledger.entries[place]).is_spending() {
            while open.back().is_some_and(|it| size(*it) <= size(place)) {
                open.pop_back();
            }
            open.push_back(place);
        }
    }
}
