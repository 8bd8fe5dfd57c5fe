//! The household at a glance: worth, flow, and the headline of every other part.

use std::collections::BTreeMap;

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, Date, Money, Percent, Timestamp, date_from_days, days_from_date};
use calc::rates::Rates;
use calc::recurring::Status;
use db::params;
use wire::json::{Day, Moment, Number};
use wire::v1::{self, Scope};

use crate::accounts::Account;
use crate::recurring::{Direction, Filter, Listed};
use crate::{
    App, Caller, Result, accounts, balances, goals, investments, rates, recurring, scores, users,
};

/// What the changes and the flow look back on.
const WINDOW_DAYS: i64 = 30;

/// A summary speaks of everything, so it asks for the right to read each part.
pub const SCOPES: [Scope; 6] = [
    Scope::AccountsRead,
    Scope::TransactionsRead,
    Scope::InvestmentsRead,
    Scope::GoalsRead,
    Scope::RecurringRead,
    Scope::ScoresRead,
];

pub async fn get(app: &App, caller: &Caller) -> Result<v1::Summary> {
    SCOPES.into_iter().try_for_each(|it| caller.require(it))?;
    let currency = users::base_currency(app, caller).await?;
    let rates = rates::latest(app, caller, currency).await?;
    let accounts = accounts::all(app, caller).await?;
    let sheet = Sheet { app, caller, rates, today: app.clock.today(), currency };
    let shown: Vec<&Account> = accounts.iter().filter(|it| it.hidden_at.is_none()).collect();
    let open: Vec<&Account> = shown.iter().copied().filter(|it| it.closed_on.is_none()).collect();
    let worth = |it: &&Account| sheet.worth(it, it.balance_current_minor.unwrap_or(0));
    let (assets, debts): (Vec<&Account>, Vec<&Account>) =
        open.iter().copied().partition(|it| !it.kind.is_debt());
    let total = |of: &[&Account]| of.iter().map(worth).fold(0, i64::saturating_add);
    let total_assets = total(&assets);
    let total_liabilities = total(&debts).saturating_neg();
    let net_worth = total_assets.saturating_sub(total_liabilities);
    Ok(v1::Summary {
        as_of: Moment(app.clock.now()),
        currency: currency.to_string(),
        net_worth: sheet.money(net_worth),
        total_assets: sheet.money(total_assets),
        total_liabilities: sheet.money(total_liabilities),
        net_worth_change: sheet.change(&shown, net_worth).await?,
        breakdown: sheet.breakdown(&open),
        accounts: counts(&accounts),
        cash_flow: sheet.cash_flow(&shown).await?,
        investments: sheet.investments().await?,
        goals: sheet.goals().await?,
        recurring: sheet.recurring().await?,
        scores: scores::latest(app, caller).await?.ok().map(|it| v1::Scores::from(&it)),
        // Nothing can be proposed yet.
        pending_actions: 0,
    })
}

/// What every part of the summary is reckoned with.
struct Sheet<'a> {
    app: &'a App,
    caller: &'a Caller,
    rates: Rates,
    today: Date,
    currency: Currency,
}

impl Sheet<'_> {
    fn money(&self, minor: i64) -> Number {
        Number::from(Money::new(minor, self.currency))
    }

    /// A balance in the base currency, debts negative. Without a rate it counts nothing, as in every total.
    fn worth(&self, account: &Account, balance_minor: i64) -> i64 {
        let worth = self.rates.to_base(balance_minor, account.currency).unwrap_or(0);
        if account.kind.is_debt() { worth.saturating_neg() } else { worth }
    }

    fn breakdown(&self, open: &[&Account]) -> Vec<v1::BreakdownPart> {
        let mut parts: BTreeMap<AccountKind, (i64, usize)> = BTreeMap::new();
        for account in open {
            let part = parts.entry(account.kind).or_default();
            let worth = self.worth(account, account.balance_current_minor.unwrap_or(0));
            part.0 = part.0.saturating_add(worth);
            part.1 += 1;
        }
        let part = |(kind, (minor, account_count)): (AccountKind, _)| v1::BreakdownPart {
            r#type: kind.as_str(),
            amount: self.money(minor),
            account_count,
        };
        parts.into_iter().map(part).collect()
    }

    async fn change(
        &self,
        shown: &[&Account],
        net_worth: i64,
    ) -> Result<Option<v1::NetWorthChange>> {
        let since = date_from_days(days_from_date(self.today) - WINDOW_DAYS);
        let mut before = None;
        for account in shown {
            if let Some(balance) = balances::on_day(self.app, self.caller, account, since).await? {
                let sum: &mut i64 = before.get_or_insert(0);
                *sum = sum.saturating_add(self.worth(account, balance));
            }
        }
        let Some(before) = before else { return Ok(None) };
        let amount = net_worth.saturating_sub(before);
        Ok(Some(v1::NetWorthChange {
            amount: self.money(amount),
            // Of its size: going from a debt of 100 to one of 50 is half the way up.
            percent: Percent::of(amount, before.saturating_abs()).map(Number::from),
            since: Day(since),
        }))
    }

    /// Wages against all the rest of the last thirty days, moves between own accounts aside; paying off a loan counts.
    async fn cash_flow(&self, shown: &[&Account]) -> Result<v1::CashFlow> {
        let start = date_from_days(days_from_date(self.today) - WINDOW_DAYS + 1);
        let (mut income, mut expenses) = (0_i64, 0_i64);
        let read = |row: &db::Row<'_>| {
            let category: Option<&str> = row.get(1)?;
            let category = category.and_then(Category::parse);
            Ok((row.get::<AccountId>(0)?, category, row.get::<i64>(2)?))
        };
        let window = params![self.caller.user, start, self.today];
        for (account, category, minor) in self.app.db.all(FLOWS, window, read).await? {
            let Some(account) = shown.iter().find(|it| it.id == account) else { continue };
            if !matches!(account.kind, AccountKind::Depository | AccountKind::Credit) {
                continue;
            }
            let minor = self.rates.to_base(minor, account.currency).unwrap_or(0);
            match category.map_or("", Category::primary) {
                "INCOME" => income = income.saturating_add(minor),
                "TRANSFER_IN" | "TRANSFER_OUT" => {}
                _ => expenses = expenses.saturating_sub(minor),
            }
        }
        let net = income.saturating_sub(expenses);
        Ok(v1::CashFlow {
            window: v1::Window { start: Day(start), end: Day(self.today) },
            income: self.money(income),
            expenses: self.money(expenses),
            net: self.money(net),
            savings_rate_percent: Percent::of(net, income).filter(|_| income > 0).map(Number::from),
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
            goals::listed(self.app, self.caller, Some(goals::Status::Active), false).await?;
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

    fn next_outflow(&self, listed: &Listed) -> Option<v1::NextOutflow> {
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
        needs_attention: open().filter(|it| it.connection_status == "needs_attention").count(),
        oldest_as_of: oldest.map(Moment),
    }
}

const FLOWS: &str =
    "select account_id, category, cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and posted_on between $2 and $3 and state = 'posted'
    and (transfer_id is null or (amount_minor < 0 and category like 'LOAN_PAYMENTS_%'
        and category <> 'LOAN_PAYMENTS_CREDIT_CARD_PAYMENT'))
    group by account_id, category";

pub(crate) const STATEMENTS: &[&str] = &[FLOWS];
