//! The balance of an account at the end of every day, computed from recorded snapshots and posted transactions.

#[cfg(test)]
mod tests;

use base::draft::AccountKind;
use base::{Currency, Date, date_from_days, days_from_date};

/// The input for one account. Pending transactions are not part of it, so they cannot change past balances.
#[derive(Debug, Clone)]
pub struct History {
    pub kind: AccountKind,
    pub currency: Currency,
    /// In any order. If several are on one day, the last listed counts.
    pub snapshots: Vec<Snapshot>,
    /// Net posted amounts by day, in any order; a day may repeat. Positive is money into the account.
    pub net_by_day: Vec<(Date, i64)>,
    pub closed_on: Option<Date>,
}

/// A recorded balance, taken as the end of its day. A debt is a positive amount owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    pub on: Date,
    pub current_minor: i64,
    pub available_minor: Option<i64>,
    pub limit_minor: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    pub on: Date,
    pub current_minor: i64,
    /// Only set on the day of a snapshot that states it: it depends on pending transactions, which are not stored.
    pub available_minor: Option<i64>,
    /// The last stated limit, until another is stated.
    pub limit_minor: Option<i64>,
    pub source: Source,
    pub gap: Option<Gap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Reported,
    /// Computed from a snapshot and the transactions between it and this day.
    Inferred,
    Carried,
}

/// The part of a day's change that no transaction explains, in the sign of the balance. For every day after the
/// first, `current(d) - current(d-1) = net(d) + gap(d)`, where debts reverse the sign of `net`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Small enough to be rounding: at most one unit of the currency, or a thousandth of the balance.
    Drift(i64),
    /// The balance changed without a transaction, and the person should be told.
    Unexplained(i64),
}

impl Gap {
    pub fn minor(self) -> i64 {
        match self {
            Gap::Drift(minor) | Gap::Unexplained(minor) => minor,
        }
    }
}

/// The first day with a known balance: the day before the first transaction, or the first snapshot if it is earlier.
/// None without any snapshot.
pub fn opening(history: &History) -> Option<Date> {
    Series::new(history).map(|it| date_from_days(it.opening))
}

/// One row for each day from `start` to `end`, oldest first. Days before the opening have none.
///
/// Transactions explain deposits and debts: between two snapshots, balances are computed backwards from the later
/// one, and the remaining difference to the earlier one becomes the gap of the day after it; it is not spread over
/// days. Transactions do not explain the value of investments, so those repeat their last snapshot and have no gaps.
pub fn daily(history: &History, start: Date, end: Date) -> Vec<Day> {
    on_days(history, (days_from_date(start)..=days_from_date(end)).map(date_from_days))
}

/// Like `daily`, for the given days only, which must be in order.
pub fn on_days(history: &History, days: impl IntoIterator<Item = Date>) -> Vec<Day> {
    let Some(mut series) = Series::new(history) else { return Vec::new() };
    let (opening, mut rows) = (series.opening, Vec::new());
    let mut last: Option<(i64, Point)> = None;
    for day in days.into_iter().map(days_from_date).filter(|it| *it >= opening) {
        let previous = match last {
            Some((before, point)) if before == day - 1 => Some(point),
            _ => (day > opening).then(|| series.advance(day - 1)),
        };
        let point = series.advance(day);
        rows.push(series.row(day, point, previous));
        last = Some((day, point));
    }
    rows
}

/// Two cursors over sorted snapshots and sorted movements, so that a series costs one pass.
struct Series<'a> {
    history: &'a History,
    explained: bool,
    /// Never empty: without a snapshot there is no series.
    anchors: Vec<Anchor>,
    /// Days with the sum of all movements up to and including each, in the sign of the balance.
    moved: Vec<(i64, i128)>,
    opening: i64,
    closing: Option<i64>,
    /// The number of anchors, and of movements, on or before the current day.
    anchors_passed: usize,
    moved_passed: usize,
    limit_minor: Option<i64>,
}

struct Anchor {
    day: i64,
    snapshot: Snapshot,
    /// The sum of all movements up to and including this day.
    moved: i128,
}

#[derive(Clone, Copy)]
struct Point {
    current: i128,
    moved: i128,
}

impl<'a> Series<'a> {
    fn new(history: &'a History) -> Option<Series<'a>> {
        let explained = !matches!(history.kind, AccountKind::Investment | AccountKind::Other);
        let moved = if explained { movements(history) } else { Vec::new() };
        let anchors = anchors(history, &moved);
        let reported = anchors.first()?.day;
        let opening = moved.first().map_or(reported, |(day, _)| reported.min(day - 1));
        Some(Series {
            history,
            explained,
            anchors,
            moved,
            opening,
            closing: history.closed_on.map(days_from_date),
            anchors_passed: 0,
            moved_passed: 0,
            limit_minor: None,
        })
    }

    /// The balance at the end of `day`, which must not be before the opening or the day of an earlier call.
    fn advance(&mut self, day: i64) -> Point {
        while let Some(anchor) = self.anchors.get(self.anchors_passed)
            && anchor.day <= day
        {
            self.limit_minor = anchor.snapshot.limit_minor.or(self.limit_minor);
            self.anchors_passed += 1;
        }
        while self.moved.get(self.moved_passed).is_some_and(|(on, _)| *on <= day) {
            self.moved_passed += 1;
        }
        let moved = self.moved_passed.checked_sub(1).map_or(0, |it| self.moved[it].1);
        let anchor = self.deciding(day);
        let current = match self.closing {
            Some(closing) if closing <= day => 0,
            _ => i128::from(anchor.snapshot.current_minor) - anchor.moved + moved,
        };
        Point { current, moved }
    }

    /// The snapshot that determines a day: the next one if transactions lead back from it, else the last one.
    fn deciding(&self, day: i64) -> &Anchor {
        let latest = self.anchors_passed.saturating_sub(1);
        let next = self.anchors_passed.min(self.anchors.len() - 1);
        let is_final = self.anchors[latest].day == day || !self.explained;
        &self.anchors[if is_final { latest } else { next }]
    }

    fn row(&self, day: i64, point: Point, previous: Option<Point>) -> Day {
        let passed = self.anchors_passed.checked_sub(1).map(|it| &self.anchors[it]);
        let today = passed.filter(|it| it.day == day).map(|it| it.snapshot);
        let closed = self.closing.is_some_and(|closing| closing <= day);
        let moves = previous.is_some_and(|it| it.moved != point.moved);
        let is_between = self.anchors_passed < self.anchors.len();
        let source = if today.is_some() || self.closing == Some(day) {
            Source::Reported
        } else if !closed && self.explained && (is_between || moves) {
            Source::Inferred
        } else {
            Source::Carried
        };
        Day {
            on: date_from_days(day),
            current_minor: narrow(point.current),
            available_minor: today.and_then(|it| it.available_minor),
            limit_minor: self.limit_minor.filter(|_| !closed),
            source,
            gap: previous.filter(|_| self.explained).and_then(|it| self.gap(it, point)),
        }
    }

    fn gap(&self, previous: Point, point: Point) -> Option<Gap> {
        let gap = (point.current - previous.current) - (point.moved - previous.moved);
        let unit = 10_i128.pow(self.history.currency.decimals());
        match gap {
            0 => None,
            _ if gap.abs() * 1000 <= (unit * 1000).max(previous.current.abs()) => {
                Some(Gap::Drift(narrow(gap)))
            }
            _ => Some(Gap::Unexplained(narrow(gap))),
        }
    }
}

fn movements(history: &History) -> Vec<(i64, i128)> {
    let mut nets: Vec<(i64, i64)> =
        history.net_by_day.iter().map(|(on, net)| (days_from_date(*on), *net)).collect();
    // Sorting is linear for input that is already in order, as a query returns it.
    nets.sort_by_key(|(day, _)| *day);
    let mut sum: i128 = 0;
    let mut moved: Vec<(i64, i128)> = Vec::with_capacity(nets.len());
    for (day, net) in nets {
        sum += if history.kind.is_debt() { -i128::from(net) } else { i128::from(net) };
        match moved.last_mut() {
            Some(last) if last.0 == day => last.1 = sum,
            _ => moved.push((day, sum)),
        }
    }
    moved
}

/// One snapshot a day, up to the closing date. A closed account without any snapshot had a balance of zero in the
/// end, and can be computed backwards from there.
fn anchors(history: &History, moved: &[(i64, i128)]) -> Vec<Anchor> {
    let is_open = |on: Date| history.closed_on.is_none_or(|closed_on| on < closed_on);
    let mut snapshots: Vec<Snapshot> =
        history.snapshots.iter().copied().filter(|it| is_open(it.on)).collect();
    snapshots.sort_by_key(|it| it.on);
    if snapshots.is_empty() {
        snapshots.extend(history.closed_on.map(|on| Snapshot {
            on,
            current_minor: 0,
            available_minor: None,
            limit_minor: None,
        }));
    }
    let mut anchors: Vec<Anchor> = Vec::with_capacity(snapshots.len());
    let mut passed = moved.iter().peekable();
    let mut sum = 0;
    for snapshot in snapshots {
        let day = days_from_date(snapshot.on);
        while let Some((_, upto)) = passed.next_if(|(on, _)| *on <= day) {
            sum = *upto;
        }
        if anchors.last().is_some_and(|it| it.day == day) {
            anchors.pop();
        }
        anchors.push(Anchor { day, snapshot, moved: sum });
    }
    anchors
}

/// Converts a sum to 64 bits, saturating instead of wrapping.
fn narrow(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}
