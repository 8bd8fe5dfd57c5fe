//! Holdings of the accounts in scope: value, day change, gain, and totals.

mod cost;
mod holdings;
mod order;
mod prices;
#[cfg(test)]
mod tests;
mod totals;

use std::collections::BTreeMap;

use base::draft::{AssetClass, SecurityKind};
use base::{AccountId, Currency, Date, Fixed9, Percent, SecurityId, Timestamp};

use crate::rates::Rates;

pub use cost::{Cost, Lot, Trade, cost};
pub use prices::{Price, newer};

/// One security in one account. Its price is the institution's.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    pub account_id: AccountId,
    pub security_id: SecurityId,
    pub symbol: Option<String>,
    pub name: String,
    pub kind: SecurityKind,
    pub asset_class: AssetClass,
    pub currency: Currency,
    pub quantity: Fixed9,
    pub price: Option<Fixed9>,
    pub previous_close: Option<Fixed9>,
    pub priced_at: Option<Timestamp>,
    pub institution_value_minor: Option<i64>,
    pub cost_basis_minor: Option<i64>,
}

/// The total value of an account as stated by the institution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountBalance {
    pub account_id: AccountId,
    pub currency: Currency,
    pub balance_minor: i64,
}

/// The input; totals are in the base currency of `rates`.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    pub positions: &'a [Position],
    pub accounts: &'a [AccountBalance],
    /// The newest price of a security. It replaces the prices of its positions.
    pub prices: &'a BTreeMap<SecurityId, Price>,
    pub rates: &'a Rates,
    pub today: Date,
}

/// The requested filters and order. They never change a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub asset_class: Option<AssetClass>,
    pub sort_by: SortBy,
    pub descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    Symbol,
    LastPrice,
    DayChange,
    TotalGainLoss,
    CurrentValue,
    Quantity,
    CostBasisTotal,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Portfolio {
    pub groups: Vec<Group>,
    pub account_total: Total,
    /// The value of holdings in currencies without an exchange rate, in no total.
    pub excluded: BTreeMap<Currency, i64>,
    /// Accounts whose positions are worth more than the institution's balance; the difference is not subtracted.
    pub over_itemized: Vec<AccountId>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub asset_class: AssetClass,
    /// In the base currency, over the holdings with a known value.
    pub value_minor: Option<i64>,
    pub holdings: Vec<Holding>,
}

/// One security over all accounts in scope, in its own currency. Unknown values are none, never zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Holding {
    /// For the unitemized rest of an account, the bytes of that account's id: stable, and different from all
    /// securities.
    pub security_id: SecurityId,
    pub unitemised_in: Option<AccountId>,
    pub symbol: Option<String>,
    pub name: String,
    pub kind: SecurityKind,
    pub asset_class: AssetClass,
    pub currency: Currency,
    pub quantity: Fixed9,
    pub last_price: Option<Fixed9>,
    pub last_price_at: Option<Timestamp>,
    pub current_value_minor: Option<i64>,
    pub day_change_minor: Option<i64>,
    pub day_change_percent: Option<Percent>,
    pub cost_basis_total_minor: Option<i64>,
    pub average_cost_basis: Option<Fixed9>,
    pub total_gain_loss_minor: Option<i64>,
    pub total_gain_loss_percent: Option<Percent>,
    /// The share of the total known value in scope; the shares add up to 100.00.
    pub percent_of_account: Option<Percent>,
}

/// Totals in the base currency. Each sums only the holdings for which it and the value it is compared with are known,
/// so a missing price or basis can hide a gain but never invent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    pub current_value_minor: Option<i64>,
    pub day_change_minor: Option<i64>,
    pub day_change_percent: Option<Percent>,
    pub cost_basis_total_minor: Option<i64>,
    pub total_gain_loss_minor: Option<i64>,
    pub total_gain_loss_percent: Option<Percent>,
}

pub fn portfolio(scope: &Scope<'_>, view: &View) -> Portfolio {
    let mut holdings = holdings::aggregate(scope);
    let (rest, over_itemized) = holdings::unitemized(scope);
    holdings.extend(rest);
    holdings.sort_by_key(|it| it.security_id);
    totals::share(&mut holdings, scope.rates);
    let account_total = totals::total(&holdings, scope.rates);
    let excluded = totals::excluded(&holdings, scope.rates);
    let groups = order::groups(holdings, scope.rates, view);
    Portfolio { groups, account_total, excluded, over_itemized }
}

impl Default for View {
    fn default() -> View {
        View { asset_class: None, sort_by: SortBy::CurrentValue, descending: true }
    }
}
