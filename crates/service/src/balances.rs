//! The daily balances of an account: what its institution reported, and what follows from the transactions between.

use base::{AccountId, Currency, Date, Money, days_from_date};
use calc::balances::{Day as DayOf, Gap, History, Snapshot, Source, daily};
use db::params;
use wire::json::{Day, Number};
use wire::v1::{self, Scope};

use crate::{App, Caller, Error, Result, accounts};

pub const DAYS_DEFAULT: i64 = 30;
pub const DAYS_MAX: i64 = 1_830;

#[derive(Debug, Clone)]
pub struct Series {
    pub account_id: AccountId,
    pub currency: Currency,
    pub start_on: Date,
    pub end_on: Date,
    pub days: Vec<DayOf>,
}

impl From<&Series> for v1::Balances {
    fn from(series: &Series) -> v1::Balances {
        let money = |minor| Number::from(Money::new(minor, series.currency));
        let day = |day: &DayOf| v1::DailyBalance {
            date: Day(day.on),
            balance_current: money(day.current_minor),
            balance_available: day.available_minor.map(money),
            balance_limit: day.limit_minor.map(money),
            source: match day.source {
                Source::Reported => "reported",
                Source::Inferred => "inferred",
                Source::Carried => "carried",
            },
            // Drift within rounding is no news to anyone.
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

/// Which days are wanted; the last thirty unless said otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    pub start_on: Option<Date>,
    pub end_on: Option<Date>,
}

/// One row a day, oldest first. There are none for days before the account's first known one, nor after today.
pub async fn list(app: &App, caller: &Caller, id: AccountId, range: Range) -> Result<Series> {
    caller.require(Scope::AccountsRead)?;
    let (start_on, end_on) = bounds(range, app.clock.today())?;
    let account = accounts::get(app, caller, id).await?;
    let mut snapshots = Vec::new();
    app.db
        .each(SNAPSHOTS, params![caller.user, id], |row| {
            snapshots.push(Snapshot {
                on: row.get(0)?,
                current_minor: row.get(1)?,
                available_minor: row.get(2)?,
                limit_minor: row.get(3)?,
            });
            Ok(())
        })
        .await?;
    let net_by_day =
        app.db.all(NETS, params![caller.user, id], |row| Ok((row.get(0)?, row.get(1)?))).await?;
    let history = History {
        kind: account.kind,
        currency: account.currency,
        snapshots,
        net_by_day,
        closed_on: account.closed_on,
    };
    let days = daily(&history, start_on, end_on.min(app.clock.today()));
    Ok(Series { account_id: id, currency: account.currency, start_on, end_on, days })
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

const SNAPSHOTS: &str =
    "select reported_on, current_minor, available_minor, limit_minor from balances
    where user_id = $1 and account_id = $2 order by reported_on";
const NETS: &str = "select posted_on, cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and account_id = $2 and state = 'posted' group by posted_on";

pub(crate) const STATEMENTS: &[&str] = &[SNAPSHOTS, NETS];
