//! Cash flow: income and spending by month, without transfers between own accounts.

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, Date};
use db::params;
use jiff::ToSpan as _;
use wire::v1::Scope;

use crate::access::users;
use crate::ledger::accounts::Account;
use crate::ledger::{accounts, rates};
use crate::{App, Caller, Result};
use calc::rates::Rates;

/// In minor units of the base currency. Spending is positive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flow {
    pub income_minor: i64,
    pub spent_minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Month {
    pub start: Date,
    pub flow: Flow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Months {
    pub currency: Currency,
    /// Whole months before this one, oldest first, beginning with the first that has transactions.
    pub past: Vec<Month>,
    pub this: Month,
}

impl Months {
    /// The average of the whole months. None if there is none yet.
    pub fn average(&self) -> Option<Flow> {
        let count = i64::try_from(self.past.len()).ok().filter(|it| *it > 0)?;
        let mean = |part: fn(&Flow) -> i64| {
            let sum: i128 = self.past.iter().map(|it| i128::from(part(&it.flow))).sum();
            i64::try_from(base::divide_half_even(sum, i128::from(count))).unwrap_or(i64::MAX)
        };
        Some(Flow {
            income_minor: mean(|it| it.income_minor),
            spent_minor: mean(|it| it.spent_minor),
        })
    }
}

/// The cash flow of this month so far, and of up to `count` whole months before it.
pub async fn months(app: &App, caller: &Caller, count: i64) -> Result<Months> {
    caller.require(Scope::TransactionsRead)?;
    let rates = async {
        let currency = users::base_currency(app, caller).await?;
        rates::latest(app, caller, currency).await
    };
    let (rates, accounts) = tokio::try_join!(rates, accounts::list_all(app, caller))?;
    let shown: Vec<&Account> = accounts.iter().filter(|it| it.hidden_at.is_none()).collect();
    let today = app.clock.today();
    let this = today.first_of_month();
    let mut past = Vec::new();
    for back in (1..=count).rev() {
        let start = this.saturating_sub(back.months());
        let flow = between(app, caller, &shown, &rates, (start, start.last_of_month())).await?;
        if !past.is_empty() || flow != Flow::default() {
            past.push(Month { start, flow });
        }
    }
    let flow = between(app, caller, &shown, &rates, (this, today)).await?;
    Ok(Months { currency: rates.base(), past, this: Month { start: this, flow } })
}

/// Income and spending on some days. Paying off a loan counts as spending.
pub(crate) async fn between(
    app: &App,
    caller: &Caller,
    shown: &[&Account],
    rates: &Rates,
    (start, end): (Date, Date),
) -> Result<Flow> {
    let mut flow = Flow::default();
    let read = |row: &db::Row<'_>| {
        let category = row.optional_word(1, "category", Category::parse)?;
        Ok((row.get::<AccountId>(0)?, category, row.get::<i64>(2)?))
    };
    for (account, category, minor) in
        app.db.all(FLOWS, params![caller.user, start, end], read).await?
    {
        let Some(account) = shown.iter().find(|it| it.id == account) else { continue };
        if !matches!(account.kind, AccountKind::Depository | AccountKind::Credit) {
            continue;
        }
        let minor = rates.to_base(minor, account.currency).unwrap_or(0);
        match category.map_or("", Category::primary) {
            "INCOME" => flow.income_minor = flow.income_minor.saturating_add(minor),
            "TRANSFER_IN" => {}
            // Checks, cash and money for friends are spent; money sent to an own account elsewhere is not.
            "TRANSFER_OUT" if !is_spent(category) => {}
            _ => flow.spent_minor = flow.spent_minor.saturating_sub(minor),
        }
    }
    Ok(flow)
}

fn is_spent(category: Option<Category>) -> bool {
    let code = category.map_or("", Category::detailed);
    matches!(code, "TRANSFER_OUT_WITHDRAWAL" | "TRANSFER_OUT_OTHER_TRANSFER_OUT")
}

const FLOWS: &str =
    "select account_id, category, cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and posted_on between $2 and $3 and state = 'posted'
    and (transfer_id is null or (amount_minor < 0 and category like 'LOAN_PAYMENTS_%'
        and category <> 'LOAN_PAYMENTS_CREDIT_CARD_PAYMENT'))
    group by account_id, category";

pub(crate) const STATEMENTS: &[&str] = &[FLOWS];
