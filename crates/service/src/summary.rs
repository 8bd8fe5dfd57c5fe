//! The summary of a household: net worth, cash flow, and the key figures of every other part.

use base::{Currency, Date, Money, Percent, Timestamp, date_from_days, days_from_date};
use calc::rates::Rates;
use calc::recurring::Status;
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Scope};

use crate::access::users;
use crate::insights::recurring::{Filter, StreamList};
use crate::insights::scores::Latest;
use crate::insights::{recurring, scores};
use crate::ledger::accounts::{Account, ConnectionStatus};
use crate::ledger::{Direction, accounts, cash_flow, goals, investments, net_worth, rates};
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
    let summary = Builder { app, caller, rates, today: app.clock.today(), currency };
    let shown: Vec<&Account> = accounts.iter().filter(|it| it.hidden_at.is_none()).collect();
    let (worth, cash_flow, investments, goals, recurring, scores) = tokio::try_join!(
        net_worth::get(app, caller),
        summary.cash_flow(&shown),
        summary.investments(),
        summary.goals(),
        summary.recurring(),
        scores::latest(app, caller),
    )?;
    Ok(v1::Summary {
        as_of: Moment(app.clock.now()),
        currency: currency.to_string(),
        net_worth: summary.money(worth.minor()),
        total_assets: summary.money(worth.assets_minor),
        total_liabilities: summary.money(worth.debts_minor),
        net_worth_change: worth.change.map(|it| summary.change(&it)),
        breakdown: worth.parts.iter().map(|it| summary.part(it)).collect(),
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
            amount: self.money(part.minor),
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

    async fn cash_flow(&self, shown: &[&Account]) -> Result<v1::CashFlow> {
        let start = date_from_days(days_from_date(self.today) - WINDOW_DAYS + 1);
        let window = (start, self.today);
        let flow = cash_flow::between(self.app, self.caller, shown, &self.rates, window).await?;
        let net = flow.income_minor.saturating_sub(flow.spent_minor);
        let rate = Percent::of(net, flow.income_minor).filter(|_| flow.income_minor > 0);
        Ok(v1::CashFlow {
            window: v1::Window { start: Day(start), end: Day(self.today) },
            income: self.money(flow.income_minor),
            expenses: self.money(flow.spent_minor),
            net: self.money(net),
            savings_rate_percent: rate.map(Number::from),
        })
    }

    async fn investments(&self) -> Result<v1::SummaryInvestments> {
        let all =
            investments::list(self.app, self.caller, None, investments::View::default()).await?;
        let total = &all.portfolio.account_total;
        let money = |minor: Option<i64>| minor.map(|it| self.money(it));
        Ok(v1::SummaryInvestments {
            current_value: self.money(total.current_value_minor.unwrap_or(0)),
            day_change: money(total.day_change_minor),
            day_change_percent: total.day_change_percent.map(Number::from),
            total_gain_loss: money(total.total_gain_loss_minor),
            total_gain_loss_percent: total.total_gain_loss_percent.map(Number::from),
        })
    }

    async fn goals(&self) -> Result<v1::SummaryGoals> {
        let active =
            goals::list_with(self.app, self.caller, Some(goals::Status::Active), false).await?;
        let sum = |minor: fn(&goals::Goal) -> i64| -> i64 {
            let worth = active.iter().filter_map(|it| self.rates.to_base(minor(it), it.currency));
            worth.fold(0, i64::saturating_add)
        };
        Ok(v1::SummaryGoals {
            active: active.len(),
            target_amount: self.money(sum(|it| it.target_minor)),
            current_value: self.money(sum(|it| it.current_minor)),
        })
    }

    async fn recurring(&self) -> Result<v1::SummaryRecurring> {
        let filter = Filter { status: Some(Status::Active), account_id: None, direction: None };
        let listed = recurring::list(self.app, self.caller, filter).await?;
        Ok(v1::SummaryRecurring {
            monthly_inflow: self.money(listed.monthly_inflow_minor),
            monthly_outflow: self.money(listed.monthly_outflow_minor),
            next_outflow: self.next_outflow(&listed),
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
            amount: self.money(self.rates.to_base(stream.average_minor, stream.currency)?),
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
