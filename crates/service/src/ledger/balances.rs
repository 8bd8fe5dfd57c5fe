//! Daily balances of an account: reported by its institution, or inferred from the transactions between reports.

use std::collections::{BTreeSet, HashMap};

use base::{AccountId, Currency, Date, Money, UserId, days_from_date};
use calc::balances::{Day as DailyBalance, Gap, History, Snapshot, Source, daily, opening};
use db::params;
use futures_util::future::try_join_all;
use wire::json::{Day, Number};
use wire::v1::{self, Scope};

use crate::ledger::accounts::{self, Account};
use crate::ledger::daily_nets::{self, Part};
use crate::ledger::spans::{Span, sample_days};
use crate::{App, Caller, Error, Result};

pub const DAYS_DEFAULT: i64 = 30;
pub const DAYS_MAX: i64 = 1_830;

#[derive(Debug, Clone)]
pub struct Series {
    pub account_id: AccountId,
    pub currency: Currency,
    pub start_on: Date,
    pub end_on: Date,
    pub days: Vec<DailyBalance>,
}

impl From<&Series> for v1::Balances {
    fn from(series: &Series) -> v1::Balances {
        let money = |minor| Number::from(Money::new(minor, series.currency));
        let day = |day: &DailyBalance| v1::DailyBalance {
            date: Day(day.on),
            balance_current: money(day.current_minor),
            balance_available: day.available_minor.map(money),
            balance_limit: day.limit_minor.map(money),
            source: match day.source {
                Source::Reported => "reported",
                Source::Inferred => "inferred",
                Source::Carried => "carried",
            },
            // Drift within rounding is not reported.
            unexplained_change: match day.gap {
                Some(Gap::Unexplained(minor)) => Some(money(minor)),
                Some(Gap::Drift(_)) | None => None,
            },
        };
        v1::Balances {
            account_id: series.account_id.to_string(),
            currency: series.currency.to_string(),
            start_date: Day(series.start_on),
            end_date: Day(series.end_on),
            balances: series.days.iter().map(day).collect(),
        }
    }
}

/// The requested days; by default the last thirty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    pub start_on: Option<Date>,
    pub end_on: Option<Date>,
}

/// One balance a day, oldest first, from the first known balance to today at the latest.
pub async fn list(app: &App, caller: &Caller, id: AccountId, range: Range) -> Result<Series> {
    caller.require(Scope::AccountsRead)?;
    let (start_on, end_on) = bounds(range, app.today(caller))?;
    let account = accounts::get_visible(app, caller, id).await?;
    let history = read_history(app, caller, &account, None).await?;
    let days = daily(&history, start_on, end_on.min(app.today(caller)));
    Ok(Series { account_id: id, currency: account.currency, start_on, end_on, days })
}

/// An amount at the end of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub on: Date,
    pub minor: i64,
    /// Whether it is the last reported amount, with nothing inferred from transactions.
    pub reported: bool,
}

/// The points of a balance chart, and every change in the balance that no transaction explains.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Oldest first.
    pub points: Vec<Point>,
    /// Newest first, in the sign of the balance.
    pub unexplained: Vec<(Date, i64)>,
}

pub async fn chart(app: &App, caller: &Caller, account: &Account, span: Span) -> Result<Chart> {
    caller.require(Scope::AccountsRead)?;
    let today = app.today(caller);
    let history = read_history(app, caller, account, span.start(today)).await?;
    let Some(opening) = opening(&history) else {
        return Ok(Chart { points: Vec::new(), unexplained: Vec::new() });
    };
    let start = span.start(today).map_or(opening, |it| it.max(opening));
    let days = daily(&history, start, today);
    let unexplained = days.iter().rev().filter_map(|it| match it.gap {
        Some(Gap::Unexplained(minor)) => Some((it.on, minor)),
        Some(Gap::Drift(_)) | None => None,
    });
    let sampled: BTreeSet<Date> = sample_days(start, today).into_iter().collect();
    let shown = days.iter().filter(|it| sampled.contains(&it.on));
    let point = |it: &DailyBalance| Point {
        on: it.on,
        minor: it.current_minor,
        reported: it.source != Source::Inferred,
    };
    Ok(Chart { points: shown.map(point).collect(), unexplained: unexplained.collect() })
}

/// The balance of an account at the end of a day. None if it is not known.
pub(crate) async fn on_day(
    app: &App,
    caller: &Caller,
    id: AccountId,
    on: Date,
) -> Result<Option<i64>> {
    let account = accounts::get_visible(app, caller, id).await?;
    let history = read_history(app, caller, &account, Some(on)).await?;
    Ok(daily(&history, on, on).first().map(|it| it.current_minor))
}

/// The reports and transactions that determine an account's balances from a day on, or of all time.
async fn read_history(
    app: &App,
    caller: &Caller,
    account: &Account,
    since: Option<Date>,
) -> Result<History> {
    let (user, id) = (caller.user, account.id);
    let stamp = daily_nets::stamp(app, user).await?;
    let from = match since {
        Some(on) => {
            let known = app.db.first(KNOWN_FROM, params![user, id, on], read_known_from).await?;
            days_from_date(known.flatten().unwrap_or(on))
        }
        None => i64::MIN,
    };
    let snapshots =
        async { Ok(app.db.all(SNAPSHOTS_SINCE, params![user, id, from], read_snapshot).await?) };
    let posted = daily_nets::since(app, (user, id, Part::Posted), from, stamp);
    let (snapshots, nets) = tokio::try_join!(snapshots, posted)?;
    Ok(history(account, snapshots, nets))
}

/// As `read_history`, for many of the person's accounts, with two statements for all of them.
pub(crate) async fn read_histories(
    app: &App,
    caller: &Caller,
    accounts: &[Account],
    since: Option<Date>,
) -> Result<Vec<History>> {
    let user = caller.user;
    let stamp = daily_nets::stamp(app, user).await?;
    let on = since.map_or(i64::MIN, days_from_date);
    let key = params![user, on];
    let read_known = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let known = app.db.all(ALL_KNOWN_FROM, key, read_known).await?;
    let read = |row: &db::Row<'_>| Ok((row.get::<AccountId>(4)?, read_snapshot(row)?));
    let snapshots = app.db.all(ALL_SNAPSHOTS_SINCE, key, read).await?;
    let known: HashMap<AccountId, Option<i64>> = known.into_iter().collect();
    let nets = accounts.iter().map(|it| {
        let from = known.get(&it.id).copied().flatten().unwrap_or(on);
        daily_nets::since(app, (user, it.id, Part::Posted), from, stamp)
    });
    let nets = try_join_all(nets).await?;
    let mut of_account: HashMap<AccountId, Vec<Snapshot>> = HashMap::new();
    for (account, snapshot) in snapshots {
        of_account.entry(account).or_default().push(snapshot);
    }
    let all = accounts.iter().zip(nets);
    Ok(all
        .map(|(it, nets)| history(it, of_account.remove(&it.id).unwrap_or_default(), nets))
        .collect())
}

/// The end-of-day balances of one account on some days, inside a transaction. The caller passes the posted amounts that
/// it has already read, with the day since when they are complete.
pub(crate) fn daily_in(
    tx: &mut db::Tx<'_>,
    user: UserId,
    account: &Account,
    (start_on, end_on): (Date, Date),
    (posted_from, mut posted): (Date, Vec<(Date, i64)>),
) -> Result<Vec<DailyBalance>> {
    let known = tx.first(KNOWN_FROM, params![user, account.id, start_on], read_known_from)?;
    let from = known.flatten().unwrap_or(start_on);
    let snapshots = tx.all(SNAPSHOTS_SINCE, params![user, account.id, from], read_snapshot)?;
    if from < posted_from {
        posted = daily_nets::since_in(tx, user, account.id, from)?;
    } else {
        posted.retain(|(on, _)| *on >= from);
    }
    Ok(daily(&history(account, snapshots, posted), start_on, end_on))
}

fn history(account: &Account, snapshots: Vec<Snapshot>, net_by_day: Vec<(Date, i64)>) -> History {
    History {
        kind: account.kind,
        currency: account.currency,
        snapshots,
        net_by_day,
        closed_on: account.closed_on,
    }
}

fn read_snapshot(row: &db::Row<'_>) -> db::Result<Snapshot> {
    Ok(Snapshot {
        on: row.get(0)?,
        current_minor: row.get(1)?,
        available_minor: row.get(2)?,
        limit_minor: row.get(3)?,
    })
}

fn read_known_from(row: &db::Row<'_>) -> db::Result<Option<Date>> {
    let (reported, posted): (Option<Date>, Option<Date>) = (row.get(0)?, row.get(1)?);
    Ok(reported.or(posted))
}

fn bounds(range: Range, today: Date) -> Result<(Date, Date)> {
    let end_on = range.end_on.unwrap_or(today);
    let start_on = range
        .start_on
        .unwrap_or_else(|| base::date_from_days(days_from_date(end_on) - DAYS_DEFAULT + 1));
    let days = days_from_date(end_on) - days_from_date(start_on) + 1;
    if days < 1 {
        return Err(Error::invalid("start_date", "start_date must not be after end_date"));
    }
    if days > DAYS_MAX {
        let message = format!("start_date must be at most {DAYS_MAX} days before end_date");
        return Err(Error::invalid("start_date", message));
    }
    Ok((start_on, end_on))
}

// The last report at or before a day: nothing older matters for it. Without a report, the last transaction, which shows
// that the account existed.
const KNOWN_FROM: &str = "select
    (select max(reported_on) from balances where user_id = $1 and account_id = $2 and reported_on <= $3),
    (select posted_on from transactions where user_id = $1 and account_id = $2 and posted_on <= $3
        and state in ('posted', 'hidden') order by posted_on desc limit 1)";
const SNAPSHOTS_SINCE: &str =
    "select reported_on, current_minor, available_minor, limit_minor from balances
    where user_id = $1 and account_id = $2 and reported_on >= $3 order by reported_on";
const ALL_KNOWN_FROM: &str = "select a.id, coalesce(
    (select max(b.reported_on) from balances b where b.user_id = $1 and b.account_id = a.id and b.reported_on <= $2),
    (select t.posted_on from transactions t where t.user_id = $1 and t.account_id = a.id and t.posted_on <= $2
        and t.state in ('posted', 'hidden') order by t.posted_on desc limit 1))
    from accounts a where a.user_id = $1";
// Without a report at or before the day, the first one is after it.
const ALL_SNAPSHOTS_SINCE: &str =
    "select b.reported_on, b.current_minor, b.available_minor, b.limit_minor, b.account_id
    from accounts a join balances b on b.user_id = $1 and b.account_id = a.id
        and b.reported_on >= coalesce((select max(l.reported_on) from balances l where l.user_id = $1
            and l.account_id = a.id and l.reported_on <= $2), $2)
    where a.user_id = $1 order by b.account_id, b.reported_on";
pub(crate) const STATEMENTS: &[&str] =
    &[KNOWN_FROM, SNAPSHOTS_SINCE, ALL_KNOWN_FROM, ALL_SNAPSHOTS_SINCE];
