//! The calendar of a month: payments of streams that were made, missed, or are expected.

use std::collections::HashMap;

use base::{Currency, Date, Money, StreamId, TransactionId};
use calc::recurring::Schedule;
use db::params;

use super::{Filter, Kind, Status, Stream, StreamList, list};
use crate::ledger::Direction;
use crate::ledger::rates::{self, UsedRate};
use crate::{App, Caller, Result};

base::words!(State {
    Paid => "paid",
    /// Its day has passed, and it is still expected.
    Late => "late",
    /// Its day has passed, and so has the next payment's.
    Missed => "missed",
    Expected => "expected",
});

/// One payment of a stream on its day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    pub on: Date,
    pub state: State,
    pub stream: StreamId,
    pub name: String,
    pub direction: Direction,
    pub kind: Kind,
    /// Without a sign; see `direction`.
    pub amount: Money,
    /// The amount in the person's currency, for totals; in its own without an exchange rate.
    pub worth: Money,
    pub transaction: Option<TransactionId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Month {
    /// The payments by day. Streams of hidden accounts are left out.
    pub due: Vec<Due>,
    /// The currency of the person.
    pub currency: Currency,
    /// The exchange rates of what the payments are worth.
    pub rates: Vec<UsedRate>,
}

/// The payments of one month.
pub async fn month(app: &App, caller: &Caller, of: Date) -> Result<Month> {
    let (first, last) = (of.first_of_month(), of.last_of_month());
    let everything = Filter { status: None, account_id: None, direction: None };
    let StreamList { streams, currency, .. } = list(app, caller, everything).await?;
    let rates = rates::latest(app, caller, currency).await?;
    let mut paid: HashMap<TransactionId, (Date, i64)> = HashMap::new();
    app.db
        .each_slow(POSTED, params![caller.user, first, last], |row| {
            paid.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
            Ok(())
        })
        .await?;
    let mut all = Vec::new();
    for (stream, _) in &streams {
        let due = |on, state, minor, transaction| Due {
            on,
            state,
            stream: stream.id,
            name: stream.name.clone(),
            direction: stream.direction,
            kind: stream.kind,
            amount: Money::new(minor, stream.currency),
            worth: match rates.to_base(minor, stream.currency) {
                Some(worth) => Money::new(worth, currency),
                None => Money::new(minor, stream.currency),
            },
            transaction,
        };
        for id in &stream.transactions {
            if let Some((on, minor)) = paid.get(id) {
                all.push(due(*on, State::Paid, minor.saturating_abs(), Some(*id)));
            }
        }
        let missed = stream.missed_on.iter().filter(|it| (first..=last).contains(*it));
        all.extend(missed.map(|on| due(*on, State::Missed, stream.average_minor, None)));
        let today = app.today(caller);
        for on in expected_days(stream, first, last) {
            let state = if on < today { State::Late } else { State::Expected };
            all.push(due(on, state, stream.expected_minor(), None));
        }
    }
    all.sort_by(|a, b| (a.on, &a.name, a.stream).cmp(&(b.on, &b.name, b.stream)));
    let used = rates::used(&rates, all.iter().map(|it| it.amount.currency()));
    Ok(Month { due: all, currency, rates: used })
}

/// The days on which payments are expected. A late payment stays on its day, and does not move those after it.
pub(in crate::insights) fn expected_days(stream: &Stream, first: Date, last: Date) -> Vec<Date> {
    let Some(next) = stream.next_expected_on else { return Vec::new() };
    if stream.status == Status::Ended || next > last {
        return Vec::new();
    }
    Schedule::going_on(stream.frequency, next).slots(first.max(next), last)
}

const POSTED: &str = "select id, posted_on, amount_minor from transactions
    where user_id = $1 and posted_on between $2 and $3 and state = 'posted'";

pub(super) const STATEMENTS: &[&str] = &[POSTED];
