//! Income by payer and month. Scheduled pay is converted to an average month, so that a month with three paydays does
//! not count more than one with two.

use std::collections::{BTreeMap, BTreeSet};

use base::{Date, TransactionId, date_from_days, days_from_date, divide_half_even};

use super::labels::InflowLabel;
use super::narrow;
use super::window::{Window, month_of};
use crate::ledger::{Frequency, Ledger, PayStream};

/// How many days a payment may be late before it counts as missed.
const LATE_DAYS: i64 = 5;

/// One payer: a stream, or all other income with the same key and label.
pub(super) struct Payer {
    pub(super) payer: String,
    pub(super) label: InflowLabel,
    pub(super) frequency: Option<Frequency>,
    pub(super) last_on: Date,
    pub(super) last_minor: i64,
    pub(super) monthly: Vec<i64>,
    /// Oldest first.
    pub(super) payments: Vec<TransactionId>,
}

/// All payers of income in the window. Only a mature stream has a reliable schedule.
pub(super) fn payers(
    ledger: &Ledger,
    labels: &[Option<InflowLabel>],
    window: &Window,
) -> Vec<Payer> {
    let mut streams: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut others: BTreeMap<(&str, InflowLabel), Vec<usize>> = BTreeMap::new();
    for (index, entry) in ledger.seen() {
        let Some(label) = labels[index].filter(|it| it.is_income()) else { continue };
        match entry.pay.filter(|it| ledger.pays[it.stream].mature) {
            Some(pay) => streams.entry(pay.stream).or_default().push(index),
            None => others.entry((&entry.key, label)).or_default().push(index),
        }
    }
    let scheduled = streams.into_iter().filter_map(|(stream, indexes)| {
        let stream = &ledger.pays[stream];
        let (monthly, used) = Schedule::of(ledger, stream, &indexes).monthly(window);
        let named = (stream.payer.clone(), Some(stream.frequency));
        payer(ledger, labels, named, (monthly, used))
    });
    let unscheduled = others.into_iter().filter_map(|((key, _), indexes)| {
        let (monthly, used) = by_posting(ledger, window, &indexes);
        payer(ledger, labels, (key.to_owned(), None), (monthly, used))
    });
    scheduled.chain(unscheduled).collect()
}

fn payer(
    ledger: &Ledger,
    labels: &[Option<InflowLabel>],
    (payer, frequency): (String, Option<Frequency>),
    (monthly, mut used): (Vec<i64>, Vec<usize>),
) -> Option<Payer> {
    used.sort_by_key(|it| (ledger.entries[*it].on, ledger.entries[*it].id));
    let last = *used.last()?;
    Some(Payer {
        payer,
        label: labels[last]?,
        frequency,
        last_on: ledger.entries[last].on,
        last_minor: ledger.entries[last].amount_minor,
        monthly,
        payments: used.iter().map(|it| ledger.entries[*it].id).collect(),
    })
}

fn by_posting(ledger: &Ledger, window: &Window, indexes: &[usize]) -> (Vec<i64>, Vec<usize>) {
    let mut sums = vec![0_i128; window.months as usize];
    let mut used = Vec::new();
    for index in indexes.iter().copied() {
        let entry = &ledger.entries[index];
        if let Some(month) = window.month_index(entry.on) {
            sums[month] += i128::from(entry.amount_minor);
            used.push(index);
        }
    }
    (sums.into_iter().map(narrow).collect(), used)
}

/// The numbered slots of one stream, and the entries of each.
struct Schedule<'a> {
    ledger: &'a Ledger,
    frequency: Frequency,
    slots: BTreeMap<i64, Vec<usize>>,
}

impl<'a> Schedule<'a> {
    fn of(ledger: &'a Ledger, stream: &PayStream, indexes: &[usize]) -> Schedule<'a> {
        let mut slots: BTreeMap<i64, Vec<usize>> =
            stream.slots.iter().map(|it| (days_from_date(*it), Vec::new())).collect();
        for index in indexes.iter().copied() {
            if let Some(pay) = ledger.entries[index].pay {
                slots.entry(days_from_date(pay.slot_on)).or_default().push(index);
            }
        }
        Schedule { ledger, frequency: stream.frequency, slots }
    }

    /// For each month the received amount per due slot, times the payments of an average month; and the entries used.
    fn monthly(&self, window: &Window) -> (Vec<i64>, Vec<usize>) {
        let (payments, months) = self.frequency.payments_a_month();
        let mut used: BTreeSet<i64> = BTreeSet::new();
        let mut monthly = Vec::new();
        for (start, end) in window.spans() {
            let deciding = self.deciding(start, end);
            let received: i128 = deciding.iter().map(|it| self.received(*it)).sum();
            let due = deciding.len().max(1) as i128;
            monthly.push(narrow(divide_half_even(received * payments, due * months)));
            used.extend(deciding);
        }
        (monthly, used.into_iter().flat_map(|it| self.slots[&it].iter().copied()).collect())
    }

    /// The slots that determine a month: those due in it. Pay that is less frequent than monthly counts until the
    /// next is due, and late pay is replaced by the previous payment.
    fn deciding(&self, start: Date, end: Date) -> Vec<i64> {
        let (first, last) = (days_from_date(start), days_from_date(end));
        let within = || self.slots.range(first..=last).map(|(day, _)| *day);
        let due: Vec<i64> = within().filter(|it| self.is_due(*it)).collect();
        if !due.is_empty() {
            return due;
        }
        let (payments, months) = self.frequency.payments_a_month();
        let lasts = i64::try_from(months / payments).unwrap_or(1).max(1);
        let before = self.slots.range(..first).map(|(day, _)| *day).rev();
        let latest = before.into_iter().find(|it| self.is_due(*it));
        let still_counts = |day: &i64| {
            let passed = month_of(end) - month_of(date_from_days(*day));
            passed < lasts || within().next().is_some()
        };
        latest.filter(still_counts).into_iter().collect()
    }

    fn is_due(&self, slot: i64) -> bool {
        !self.slots[&slot].is_empty() || slot <= days_from_date(self.ledger.as_of) - LATE_DAYS
    }

    fn received(&self, slot: i64) -> i128 {
        let amount = |it: &usize| i128::from(self.ledger.entries[*it].amount_minor);
        self.slots[&slot].iter().map(amount).sum()
    }
}
