//! Investments: the holdings of all accounts, by asset class, with their gains.

use std::collections::{BTreeMap, BTreeSet};

use base::draft::{AccountKind, AssetClass, SecurityKind};
use base::{AccountId, Currency, Fixed9, Money, SecurityId, UserId};
use calc::investments::{AccountBalance, Portfolio, Position, Price, Scope as Sums};
pub use calc::investments::{Holding, SortBy, View};
use db::params;
use wire::json::{Moment, Number};
use wire::v1::{self, Scope};

use crate::access::users;
use crate::ledger::instruments::{self, InstrumentKey};
use crate::ledger::net_worth::ExcludedBalance;
use crate::ledger::rates::UsedRate;
use crate::ledger::trades::Trades;
use crate::ledger::{accounts, quotes, rates};
use crate::{App, Caller, Error, Result};

/// The portfolio, sorted and filtered as requested, and the currency of its total.
pub struct Investments {
    pub portfolio: Portfolio,
    pub base_currency: Currency,
    /// Holdings in currencies without an exchange rate, which are in no total.
    pub excluded: Vec<ExcludedBalance>,
    /// The exchange rates of the totals.
    pub rates: Vec<UsedRate>,
}

impl From<&Investments> for v1::Investments {
    fn from(investments: &Investments) -> v1::Investments {
        let total = &investments.portfolio.account_total;
        let money =
            |minor: Option<i64>| minor.map(|it| Money::new(it, investments.base_currency).into());
        v1::Investments {
            groups: investments
                .portfolio
                .groups
                .iter()
                .map(|group| v1::HoldingGroup {
                    asset_class: group.asset_class.as_str(),
                    holdings: group.holdings.iter().map(holding).collect(),
                })
                .collect(),
            account_total: v1::AccountTotal {
                currency: investments.base_currency.to_string(),
                current_value: money(total.current_value_minor),
                day_change: money(total.day_change_minor),
                day_change_percent: total.day_change_percent.map(Number::from),
                total_gain_loss: money(total.total_gain_loss_minor),
                total_gain_loss_percent: total.total_gain_loss_percent.map(Number::from),
                cost_basis_total: money(total.cost_basis_total_minor),
                excluded: investments.excluded.iter().map(Into::into).collect(),
            },
            exchange_rates: investments.rates.iter().map(Into::into).collect(),
        }
    }
}

fn holding(holding: &Holding) -> v1::Holding {
    let money = |minor: Option<i64>| minor.map(|it| Money::new(it, holding.currency).into());
    v1::Holding {
        security_id: holding.security_id.to_string(),
        symbol: holding.symbol.clone(),
        name: holding.name.clone(),
        security_type: holding.kind.as_str(),
        asset_class: holding.asset_class.as_str(),
        category: category(holding.kind),
        currency: holding.currency.to_string(),
        quantity: holding.quantity.into(),
        last_price: holding.last_price.map(Number::from),
        last_price_at: holding.last_price_at.map(Moment),
        current_value: money(holding.current_value_minor),
        day_change: money(holding.day_change_minor),
        day_change_percent: holding.day_change_percent.map(Number::from),
        cost_basis_total: money(holding.cost_basis_total_minor),
        average_cost_basis: holding.average_cost_basis.map(Number::from),
        total_gain_loss: money(holding.total_gain_loss_minor),
        total_gain_loss_percent: holding.total_gain_loss_percent.map(Number::from),
        percent_of_account: holding.percent_of_account.map(Number::from),
    }
}

fn category(kind: SecurityKind) -> &'static str {
    match kind {
        SecurityKind::Cash => "Cash",
        SecurityKind::Cryptocurrency => "Cryptocurrency",
        SecurityKind::Derivative => "Derivative",
        SecurityKind::Equity => "Stock",
        SecurityKind::Etf => "ETF",
        SecurityKind::FixedIncome => "Bond",
        SecurityKind::MutualFund => "Mutual fund",
        SecurityKind::Other => "Other",
    }
}

/// All open, visible investment accounts together, or one of them.
pub async fn list(
    app: &App,
    caller: &Caller,
    account: Option<AccountId>,
    view: View,
) -> Result<Investments> {
    caller.require(Scope::InvestmentsRead)?;
    let base_currency = users::base_currency(app, caller).await?;
    let in_scope: Vec<accounts::Account> = match account {
        Some(id) => vec![accounts::get_visible(app, caller, id).await?],
        None => {
            let mut all = accounts::list_all(app, caller).await?;
            all.retain(|it| {
                let investment = it.kind == AccountKind::Investment;
                investment && it.hidden_at.is_none() && it.closed_on.is_none()
            });
            all
        }
    };
    let stored = app.db.all(POSITIONS, params![caller.user], read).await?;
    let mut positions = with_cost(app, caller.user, stored).await?;
    // The price does not depend on the accounts in scope.
    let prices = identify(app, caller.user, &mut positions).await?;
    positions.retain(|it| in_scope.iter().any(|account| account.id == it.account_id));
    let balance = |it: &accounts::Account| {
        let balance_minor = it.balance_current_minor?;
        Some(AccountBalance { account_id: it.id, currency: it.currency, balance_minor })
    };
    let investment = |it: &&accounts::Account| it.kind == AccountKind::Investment;
    let balances: Vec<AccountBalance> =
        in_scope.iter().filter(investment).filter_map(balance).collect();
    let rates = rates::latest(app, caller, base_currency).await?;
    let today = app.today(caller);
    let sums =
        Sums { positions: &positions, accounts: &balances, prices: &prices, rates: &rates, today };
    let portfolio = calc::investments::portfolio(&sums, &view);
    let excluded = portfolio.excluded.iter().map(|(currency, minor)| {
        let positions = positions.iter().filter(|it| it.currency == *currency);
        let balances = balances.iter().filter(|it| it.currency == *currency);
        let accounts: BTreeSet<AccountId> =
            positions.map(|it| it.account_id).chain(balances.map(|it| it.account_id)).collect();
        ExcludedBalance { currency: *currency, minor: *minor, accounts: accounts.len() }
    });
    let currencies = positions.iter().map(|it| it.currency);
    let currencies = currencies.chain(balances.iter().map(|it| it.currency));
    let used = rates::used(&rates, currencies);
    Ok(Investments { excluded: excluded.collect(), portfolio, base_currency, rates: used })
}

/// A position, the currency of its account, and the source's id of its security.
struct StoredPosition {
    position: Position,
    account_currency: Currency,
    security: String,
}

/// Adds the cost that follows from imported trades, where the source gives none. Cash has no trades.
async fn with_cost(
    app: &App,
    user: UserId,
    mut stored: Vec<StoredPosition>,
) -> Result<Vec<Position>> {
    let lacks_cost = |it: &StoredPosition| {
        it.position.cost_basis_minor.is_none() && it.account_currency == it.position.currency
    };
    if stored.iter().any(lacks_cost) {
        let trades = Trades::read(app, user).await?;
        for it in stored.iter_mut().filter(|it| lacks_cost(it)) {
            let Position { account_id, quantity, symbol, name, .. } = &it.position;
            let names: Vec<&str> =
                [&*it.security, &**name].into_iter().chain(symbol.as_deref()).collect();
            it.position.cost_basis_minor = trades.cost(*account_id, &names, *quantity);
        }
    }
    Ok(stored.into_iter().map(|it| it.position).collect())
}

/// Gives positions of the same instrument one id, and returns the newest known price of each instrument.
async fn identify(
    app: &App,
    user: UserId,
    positions: &mut [Position],
) -> Result<BTreeMap<SecurityId, Price>> {
    let key = |it: &Position| InstrumentKey::new(it.symbol.as_deref(), it.currency, it.kind);
    let keys: Vec<Option<InstrumentKey>> = positions.iter().map(key).collect();
    let symbols = keys.iter().flatten().filter_map(|it| it.market_symbol());
    let quotes = quotes::known(app, user, symbols.map(str::to_owned).collect()).await?;
    let given = keys.iter().zip(positions.iter()).filter_map(|(key, it)| {
        let (price, previous_close) = (it.price?, it.previous_close);
        Some((key.clone()?, Price { price, previous_close, at: it.priced_at? }))
    });
    let quoted = quotes.iter().map(|it| (InstrumentKey::listed(&it.symbol), quotes::price(it)));
    let newest = instruments::newest(app.clock.now(), given.chain(quoted));
    let ids =
        if positions.is_empty() { Default::default() } else { instruments::ids(app, user).await? };
    let mut prices = BTreeMap::new();
    for (position, key) in positions.iter_mut().zip(keys) {
        let Some(key) = key else { continue };
        position.security_id = ids.get(&key).copied().unwrap_or(position.security_id);
        prices.extend(newest.get(&key).map(|it| (position.security_id, *it)));
    }
    Ok(prices)
}

fn read(row: &db::Row<'_>) -> db::Result<StoredPosition> {
    let position = read_position(row)?;
    Ok(StoredPosition { position, account_currency: row.get(13)?, security: row.get(14)? })
}

fn read_position(row: &db::Row<'_>) -> db::Result<Position> {
    let bad = |column, reason: String| db::Error::Decode { column, reason };
    let decimal = |column| match row.get::<Option<&str>>(column)? {
        Some(text) => Fixed9::parse(text).map(Some).map_err(|it| bad(column, it.to_string())),
        None => Ok(None),
    };
    Ok(Position {
        account_id: row.get(0)?,
        security_id: row.get(1)?,
        symbol: row.get(2)?,
        name: row.get(3)?,
        kind: row.word(4, "security kind", SecurityKind::parse)?,
        asset_class: row.word(5, "asset class", AssetClass::parse)?,
        currency: row.get(6)?,
        quantity: decimal(7)?.ok_or_else(|| bad(7, "no quantity".to_owned()))?,
        price: decimal(8)?,
        previous_close: decimal(9)?,
        priced_at: row.get(10)?,
        institution_value_minor: row.get(11)?,
        cost_basis_minor: row.get(12)?,
    })
}

/// Parses the query parameter `sort_by`.
pub fn parse_sort(word: &str) -> Result<SortBy> {
    Ok(match word {
        "symbol" => SortBy::Symbol,
        "last_price" => SortBy::LastPrice,
        "day_change" => SortBy::DayChange,
        "total_gain_loss" => SortBy::TotalGainLoss,
        "current_value" => SortBy::CurrentValue,
        "quantity" => SortBy::Quantity,
        "cost_basis_total" => SortBy::CostBasisTotal,
        _ => {
            return Err(Error::invalid(
                "sort_by",
                "sort_by is not a field holdings can be sorted by",
            ));
        }
    })
}

const POSITIONS: &str = "select h.account_id, h.security_id, s.symbol, s.name, s.kind, s.asset_class, s.currency,
    h.quantity, s.price, s.previous_close, s.priced_at, h.institution_value_minor, h.cost_basis_minor,
    a.currency, s.external_id
    from holdings h join securities s on s.user_id = h.user_id and s.id = h.security_id
    join accounts a on a.user_id = h.user_id and a.id = h.account_id
    where h.user_id = $1";

pub(crate) const STATEMENTS: &[&str] = &[POSITIONS];
