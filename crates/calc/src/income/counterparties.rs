//! Evidence about an inflow from the history with its counterparty: whether it refunds a purchase, and whether its sender
//! pays this person.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use base::category::Category;
use base::days_from_date;

use super::outflow::OutflowPurpose;
use crate::ledger::{Entry, Ledger};

/// A refund follows its purchase within this time, and a sender is judged by this time before and after an inflow. So a
/// past month can be labeled with these days around it alone.
pub const REFUND_DAYS: i64 = 120;
/// A sender without a known schedule pays this person if it sent money on this many days, over at least so many days,
/// and received none.
const PAYMENTS_MIN: usize = 3;
const PAYMENTS_SPAN_DAYS: i64 = 28;

#[derive(Default)]
pub(super) struct Counterparties {
    /// The purchase that an inflow refunds: the latest outflow with the same key that is at least as large. A key that
    /// pays this person around that time gives no refunds.
    pub(super) purchases: BTreeMap<usize, usize>,
    /// Inflows whose sender pays this person, by its schedule or repeatedly.
    pub(super) payers: BTreeSet<usize>,
}

impl Counterparties {
    pub(super) fn of(ledger: &Ledger) -> Counterparties {
        // A hash map for speed; each key is examined independently, so their order does not matter.
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
        let mut found = Counterparties::default();
        for mut indexes in by_key.into_values() {
            indexes.sort_by_key(|it| {
                let entry = &ledger.entries[*it];
                // On one day outflows come first, the largest last.
                let size = entry.comparable_minor.saturating_abs();
                (entry.on, entry.amount_minor > 0, size, entry.id)
            });
            let history = History::of(ledger, &indexes);
            history.match_purchases(&indexes, &mut found.purchases);
            found.payers.extend(indexes.into_iter().filter(|it| history.is_from_payer(*it)));
        }
        found
    }
}

/// The days of one counterparty, in order.
struct History<'a> {
    ledger: &'a Ledger,
    outflows: Vec<i64>,
    /// Days of inflows that can be pay.
    payments: Vec<i64>,
    /// Days of inflows that are certainly pay, whatever else the counterparty does.
    paydays: Vec<i64>,
    /// Days of inflows from a company that pays people for jobs, and also refunds customers.
    jobs: Vec<i64>,
    /// Days of inflows that follow a schedule, not sent by a person.
    scheduled: Vec<i64>,
}

impl<'a> History<'a> {
    fn of(ledger: &'a Ledger, indexes: &[usize]) -> History<'a> {
        let days = |counts: &dyn Fn(&Entry) -> bool| -> Vec<i64> {
            let entries = indexes.iter().map(|it| &ledger.entries[*it]);
            entries.filter(|it| counts(it)).map(|it| days_from_date(it.on)).collect()
        };
        let is_inflow = |it: &Entry| it.amount_minor > 0;
        let mut payments = days(&|it| is_inflow(it) && can_be_pay(it));
        payments.dedup();
        History {
            ledger,
            outflows: days(&|it| !is_inflow(it)),
            payments,
            paydays: days(&|it| is_inflow(it) && is_pay(ledger, it)),
            jobs: days(&|it| is_inflow(it) && is_gig(it)),
            scheduled: days(&|it| ledger.mature_pay(it).is_some_and(|it| !it.person)),
        }
    }

    /// Matches refunds with purchases in one pass in date order. `open` holds the outflows that no later and larger one
    /// hides, so amounts decrease from front to back.
    fn match_purchases(&self, indexes: &[usize], matched: &mut BTreeMap<usize, usize>) {
        let mut open: VecDeque<usize> = VecDeque::new();
        let mut by_size: HashMap<u64, usize> = HashMap::new();
        // A refund can be larger than each part of a split purchase.
        let size = |index: usize| {
            let entry = &self.ledger.entries[index];
            let whole = entry.whole_minor.filter(|_| entry.amount_minor < 0);
            whole.unwrap_or(entry.comparable_minor).unsigned_abs()
        };
        let day = |index: usize| days_from_date(self.ledger.entries[index].on);
        for index in indexes.iter().copied() {
            let earliest = day(index) - REFUND_DAYS;
            while open.front().is_some_and(|it| day(*it) < earliest) {
                open.pop_front();
            }
            let entry = &self.ledger.entries[index];
            if entry.amount_minor > 0 {
                let equal = by_size.get(&size(index)).copied().filter(|it| day(*it) >= earliest);
                let is_wage = !is_gig(entry) || self.ledger.mature_pay(entry).is_some();
                let enough = open.partition_point(|it| size(*it) >= size(index)).checked_sub(1);
                let purchase = match equal.filter(|_| !is_wage) {
                    Some(equal) => Some(equal),
                    None => enough.filter(|_| !self.is_paid_around(day(index))).map(|it| open[it]),
                };
                matched.extend(purchase.map(|it| (index, self.refunded_part(indexes, it, index))));
            } else if OutflowPurpose::of(self.ledger, entry).is_spending() {
                while open.back().is_some_and(|it| size(*it) <= size(index)) {
                    open.pop_back();
                }
                open.push_back(index);
                by_size.insert(size(index), index);
            }
        }
    }

    /// The part of a split purchase that a refund is about: the one of the same amount, or else the largest. Parts of one
    /// day are sorted by amount, so the largest is the one that was matched.
    fn refunded_part(&self, indexes: &[usize], purchase: usize, refund: usize) -> usize {
        let entries = &self.ledger.entries;
        if !entries[purchase].is_part() {
            return purchase;
        }
        let amount = entries[refund].comparable_minor.saturating_neg();
        let is_same = |it: &&usize| {
            entries[**it].id == entries[purchase].id && entries[**it].comparable_minor == amount
        };
        indexes.iter().find(is_same).copied().unwrap_or(purchase)
    }

    /// Whether the counterparty pays this person around a day. A company that pays for jobs does if it sends money
    /// several times and not less often than it receives some; otherwise the person is a customer.
    fn is_paid_around(&self, day: i64) -> bool {
        let jobs = around(&self.jobs, day).len();
        !around(&self.paydays, day).is_empty()
            || jobs >= PAYMENTS_MIN && jobs >= around(&self.outflows, day).len()
    }

    fn is_from_payer(&self, index: usize) -> bool {
        let entry = &self.ledger.entries[index];
        if entry.amount_minor <= 0 || !can_be_pay(entry) {
            return false;
        }
        let day = days_from_date(entry.on);
        let payments = around(&self.payments, day);
        let span = payments.last().zip(payments.first()).map_or(0, |(last, first)| last - first);
        let repeats = payments.len() >= PAYMENTS_MIN && span >= PAYMENTS_SPAN_DAYS;
        !around(&self.scheduled, day).is_empty()
            || repeats && around(&self.outflows, day).is_empty()
    }
}

/// The days near a day, of a sorted list.
fn around(days: &[i64], day: i64) -> &[i64] {
    let start = days.partition_point(|it| *it < day - REFUND_DAYS);
    let end = days.partition_point(|it| *it <= day + REFUND_DAYS);
    &days[start..end]
}

/// Whether neither the text nor the category says that an inflow is something else than pay.
fn can_be_pay(entry: &Entry) -> bool {
    let is_other = |it: Category| {
        matches!(
            it.primary(),
            "TRANSFER_IN" | "TRANSFER_OUT" | "LOAN_PAYMENTS" | "LOAN_DISBURSEMENTS"
        )
    };
    let is_refund = entry.flags.refund || entry.linked_purchase.is_some();
    !entry.flags.person && !is_refund && !entry.category.is_some_and(is_other)
}

fn is_gig(entry: &Entry) -> bool {
    entry.flags.gig || entry.category.is_some_and(|it| it.detailed() == "INCOME_GIG_ECONOMY")
}

fn is_pay(ledger: &Ledger, entry: &Entry) -> bool {
    let flags = entry.flags;
    let says_income = entry.category.is_some_and(|it| it.primary() == "INCOME") && !is_gig(entry);
    says_income || ledger.mature_pay(entry).is_some() || flags.payroll || flags.benefit
}
