//! The terms of cards and loans that the person enters, and when a loan will be paid off.

use base::{AccountId, Date, Fixed9, Money};
use calc::payoff::{self, Loan};
use db::params;
use jiff::ToSpan as _;
use wire::v1::Scope;

use crate::ledger::accounts::{self, Account, Terms};
use crate::{App, Caller, Error, Result};

pub use calc::payoff::Payoff;

/// The full months before this one whose payments tell the usual payment.
const MONTHS: i32 = 3;
const PERCENT_MAX: &str = "1000";

/// Sets the terms of an account. Those that are none fall back to what its source says.
pub async fn set_terms(app: &App, caller: &Caller, id: AccountId, terms: Terms) -> Result<()> {
    check(&terms)?;
    accounts::change(app, caller, id, move |tx, change| {
        let rate = terms.interest_rate.map(|it| it.to_string());
        let values = params![
            change.user,
            id,
            &rate,
            terms.payment_minor,
            terms.statement_day,
            terms.due_day,
            change.now
        ];
        tx.execute(SET_TERMS, values)?;
        Ok(("account.terms", format!("Set the terms of the account {}", change.account.name)))
    })
    .await
}

fn check(terms: &Terms) -> Result<()> {
    let is_day = |it: Option<i64>| it.is_none_or(|it| (1..=31).contains(&it));
    if !is_day(terms.statement_day) {
        return Err(Error::invalid("statement_day", "enter a day of the month, 1 to 31"));
    }
    if !is_day(terms.due_day) {
        return Err(Error::invalid("due_day", "enter a day of the month, 1 to 31"));
    }
    let most = Fixed9::parse(PERCENT_MAX).unwrap_or(Fixed9::ONE);
    if terms.interest_rate.is_some_and(|it| it < Fixed9::ZERO || it > most) {
        let message = format!("interest_rate must be 0 to {PERCENT_MAX} percent a year");
        return Err(Error::invalid("interest_rate", message));
    }
    if terms.payment_minor.is_some_and(|it| it <= 0) {
        return Err(Error::invalid("payment", "enter a payment of more than zero"));
    }
    Ok(())
}

/// When a loan will be paid off, and what that is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayoffEstimate {
    /// None if the payment is not known to end the loan within a hundred years.
    pub payoff: Option<Payoff>,
    pub interest_rate: Option<Fixed9>,
    /// The monthly payment: the person's own, or else the median of the last three full months.
    pub payment: Option<Money>,
    pub is_own_payment: bool,
}

/// The payoff estimate of a loan or card. What is unknown is none.
pub async fn payoff(app: &App, caller: &Caller, account: &Account) -> Result<PayoffEstimate> {
    caller.require(Scope::AccountsRead)?;
    let today = app.today(caller);
    let own = account.own_terms.payment_minor;
    let payment_minor = match own {
        Some(minor) => Some(minor),
        None => usual_payment(app, caller, account.id, today).await?,
    };
    let loan = || {
        Some(Loan {
            owed_minor: account.balance_current_minor?,
            yearly_percent: account.interest_rate?,
            payment_minor: payment_minor?,
            next_payment_on: account.next_payment_due_on.filter(|it| *it >= today).unwrap_or(today),
        })
    };
    Ok(PayoffEstimate {
        payoff: loan().and_then(payoff::estimate),
        interest_rate: account.interest_rate,
        payment: payment_minor.map(|it| Money::new(it, account.currency)),
        is_own_payment: own.is_some(),
    })
}

/// The median of what came in during each of the last full months. None unless every one of them had a payment.
async fn usual_payment(
    app: &App,
    caller: &Caller,
    account: AccountId,
    today: Date,
) -> Result<Option<i64>> {
    let this_month = today.first_of_month();
    let mut months = Vec::new();
    for before in (1..=MONTHS).rev() {
        let first = this_month.saturating_sub(before.months());
        let key = params![caller.user, account, first, first.last_of_month()];
        let paid = app.db.first(PAID, key, |row| row.get::<Option<i64>>(0)).await?;
        months.extend(paid.flatten().filter(|it| *it > 0));
    }
    months.sort_unstable();
    let is_known = months.len() == MONTHS as usize;
    Ok(is_known.then(|| months[months.len() / 2]))
}

const SET_TERMS: &str =
    "update accounts set own_interest_rate = $3, own_payment_minor = $4, statement_day = $5,
    due_day = $6, updated_at = $7 where user_id = $1 and id = $2";
const PAID: &str = "select cast(sum(amount_minor) as bigint) from transactions
    where user_id = $1 and account_id = $2 and posted_on between $3 and $4 and amount_minor > 0
    and state in ('posted', 'hidden')";

pub(crate) const STATEMENTS: &[&str] = &[SET_TERMS, PAID];
