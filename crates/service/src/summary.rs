//! The summary of a household: net worth, cash flow, and the key figures of every other part.

use std::collections::BTreeMap;

use base::{Currency, Date, Money, Percent, Timestamp, date_from_days, days_from_date};
use calc::rates::Rates;
use calc::recurring::Status;
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Scope};

use crate::access::users;
use crate::insights::recurring::{Filter, StreamList};
use crate::insights::scores::Latest;
use crate::insights::spending::{self, Period};
use crate::insights::{recurring, scores};
use crate::ledger::accounts::{Account, ConnectionStatus};
use crate::ledger::net_worth::ExcludedBalance;
use crate::ledger::{Direction, accounts, goals, investments, net_worth, rates};
use crate::{App, Caller, Result};

/// The days that the cash flow covers.
const WINDOW_DAYS: i64 = 30;

/// A summary shows every part, so it requires the scope of each.
pub const SCOPES: [Scope; 6] = [
    Scope::AccountsRead,
    Scope::TransactionsRead,
    Scope::InvestmentsRead,
    Scope::GoalsRead,
    Scope::RecurringRead,
    Scope::ScoresRead,
];

pub async fn get(app: &App, caller: &Caller) -> Result<v1::Summary> {
    caller.require_all(&SCOPES)?;
    let currency = users::base_currency(app, caller).await?;
    let rates = rates::latest(app, caller, currency).await?;
    let accounts = accounts::list_all(app, caller).await?;
    let summary = Builder { app, caller, rates, today: app.today(caller), currency };
    let (worth, cash_flow, investments, goals, recurring, scores) = tokio::try_join!(
        net_worth::get(app, caller),
        summary.cash_flow(),
        summary.investments(),
        summary.goals(),
        summary.recurring(),
        scores::latest(app, caller),
    )?;
    Ok(v1::Summary {
        as_of: Moment(app.clock.now()),
        currency: currency.to_string(),
        net_worth: worth.minor().map(|it| summary.money(it)),
        total_assets: worth.minor().map(|_| summary.money(worth.assets_minor)),
        total_liabilities: worth.minor().map(|_| summary.money(worth.debts_minor)),
        net_worth_change: worth.change.map(|it| summary.change(&it)),
        breakdown: worth.parts.iter().map(|it| summary.part(it)).collect(),
        excluded: worth.excluded.iter().map(Into::into).collect(),
        exchange_rates: worth.rates.iter().map(Into::into).collect(),
        accounts: counts(&accounts),
        cash_flow,
        investments,
        goals,
        recurring,
        scores: match scores {
            Latest::Observed(it) => Some(v1::Scores::from(&it)),
            Latest::NotReady(_) => None,
        },
        pending_actions: pending_actions(app, caller).await?,
    })
}

/// The number of actions that wait for the person's approval.
pub async fn pending_actions(app: &App, caller: &Caller) -> Result<i64> {
    crate::actions::count_pending(app, caller).await
}

/// Computes the parts of the summary in the person's base currency.
struct Builder<'a> {
    app: &'a App,
    caller: &'a Caller,
    rates: Rates,
    today: Date,
    currency: Currency,
}

impl Builder<'_> {
    fn money(&self, minor: i64) -> Number {
        Number::from(Money::new(minor, self.currency))
    }

    fn part(&self, part: &net_worth::Part) -> v1::BreakdownPart {
        v1::BreakdownPart {
            r#type: part.kind.as_str(),
            amount: part.minor.map(|it| self.money(it)),
            account_count: part.accounts,
        }
    }

    fn change(&self, change: &net_worth::Change) -> v1::NetWorthChange {
        v1::NetWorthChange {
            amount: self.money(change.minor),
            percent: change.percent.map(Number::from),
            since: Day(change.since),
        }
    }

    async fn cash_flow(&self) -> Result<v1::CashFlow> {
        let start = date_from_days(days_from_date(self.today) - WINDOW_DAYS + 1);
        let period = Period { start, end: self.today };
        let (flow, excluded) = spending::totals(self.app, self.caller, period).await?;
        let known = |minor| flow.has_data.then(|| self.money(minor));
        let net = flow.income_minor.saturating_sub(flow.spending_minor);
        let rate = Percent::of(net, flow.income_minor).filter(|_| flow.income_minor > 0);
        Ok(v1::CashFlow {
            window: v1::Window { start: Day(start), end: Day(self.today) },
            income: known(flow.income_minor),
            expenses: known(flow.spending_minor),
            unclassified: known(flow.unclassified_minor),
            net: known(net),
            savings_rate_percent: rate.map(Number::from),
            excluded,
        })
    }

    async fn investments(&self) -> Result<v1::SummaryInvestments> {
        let all =
            investments::list(self.app, self.caller, None, investments::View::default()).await?;
        let total = &all.portfolio.account_total;
        let money = |minor: Option<i64>| minor.map(|it| self.money(it));
        Ok(v1::SummaryInvestments {
            current_value: money(total.current_value_minor),
            day_change: money(total.day_change_minor),
            day_change_percent: total.day_change_percent.map(Number::from),
            total_gain_loss: money(total.total_gain_loss_minor),
            total_gain_loss_percent: total.total_gain_loss_percent.map(Number::from),
            excluded: all.excluded.iter().map(Into::into).collect(),
        })
    }

    async fn goals(&self) -> Result<v1::SummaryGoals> {
        let active = goals::list(self.app, self.caller, Some(goals::Status::Active)).await?;
        let sum = |minor: fn(&goals::Goal) -> Option<i64>| {
            let worth = |it: &goals::Goal| self.rates.to_base(minor(it)?, it.currency);
            active.iter().filter_map(worth).reduce(i64::saturating_add).map(|it| self.money(it))
        };
        Ok(v1::SummaryGoals {
            active: active.len(),
            target_amount: sum(|it| Some(it.target_minor)),
            current_value: sum(|it| it.current_minor),
            excluded: self.excluded_goals(&active),
        })
    }

    /// The targets of goals in currencies without an exchange rate.
    fn excluded_goals(&self, goals: &[goals::Goal]) -> Vec<v1::Excluded> {
        let mut excluded = BTreeMap::<Currency, ExcludedBalance>::new();
        for goal in goals.iter().filter(|it| self.rates.to_base(0, it.currency).is_none()) {
            let currency = goal.currency;
            let none = ExcludedBalance { currency, minor: 0, accounts: 0 };
            let of = excluded.entry(currency).or_insert(none);
            of.minor = of.minor.saturating_add(goal.target_minor);
            of.accounts += goal.account_count;
        }
        excluded.values().map(Into::into).collect()
    }

    async fn recurring(&self) -> Result<v1::SummaryRecurring> {
        let filter = Filter { status: Some(Status::Active), account_id: None, direction: None };
        let listed = recurring::list(self.app, self.caller, filter).await?;
        Ok(v1::SummaryRecurring {
            monthly_inflow: self.money(listed.monthly_inflow_minor),
            monthly_outflow: self.money(listed.monthly_outflow_minor),
            next_outflow: self.next_outflow(&listed),
            excluded: listed.excluded.iter().map(Into::into).collect(),
        })
    }

    fn next_outflow(&self, listed: &StreamList) -> Option<v1::NextOutflow> {
        let streams = listed.streams.iter().map(|(it, _)| it);
        let due = streams.filter(|it| it.direction == Direction::Outflow).filter_map(|it| {
            let on = it.next_expected_on.filter(|on| *on >= self.today)?;
            Some((on, it))
        });
        let (on, stream) = due.min_by_key(|(on, it)| (*on, it.id))?;
        Some(v1::NextOutflow {
            name: stream.name.clone(),
            date: Day(on),
            amount: self.money(self.rates.to_base(stream.expected_minor(), stream.currency)?),
        })
    }
}

fn counts(accounts: &[Account]) -> v1::AccountCounts {
    let hidden = accounts.iter().filter(|it| it.hidden_at.is_some()).count();
    let shown = || accounts.iter().filter(|it| it.hidden_at.is_none());
    let open = || shown().filter(|it| it.closed_on.is_none());
    let oldest: Option<Timestamp> = open().filter_map(|it| it.balance_as_of).min();
    v1::AccountCounts {
        open: open().count(),
        closed: shown().filter(|it| it.closed_on.is_some()).count(),
        hidden,
        needs_attention: open()
            .filter(|it| it.connection_status == ConnectionStatus::NeedsAttention)
            .count(),
        oldest_as_of: oldest.map(Moment),
    }
}
