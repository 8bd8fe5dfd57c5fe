//! Positions and securities of OFX investment statements.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base::draft::{AssetClass, HoldingDraft, SecurityDraft, SecurityKind};
use base::{Currency, Fixed9, divide_half_even};

use super::values::moment;
use crate::files::plain_amount::{Comma, plain, quote};
use crate::json_decimal::parse_json_decimal;
use crate::plausibility::is_implausible_amount;

/// A million million, in billionths.
const NUMBER_MAX: u128 = 1_000_000_000_000_000_000_000;

/// Securities by the id that positions and transactions refer to.
pub(super) type Securities<'a> = BTreeMap<Cow<'a, str>, Security<'a>>;

#[derive(Debug, Default)]
pub(super) struct Security<'a> {
    wrapper: &'static str,
    pub(super) id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    ticker: Option<Cow<'a, str>>,
    pub(super) currency: Option<Cow<'a, str>>,
}

impl<'a> Security<'a> {
    pub(super) fn new(wrapper: &'static str) -> Security<'a> {
        Security { wrapper, ..Security::default() }
    }

    pub(super) fn set(&mut self, name: &str, value: Cow<'a, str>) -> Option<Cow<'a, str>> {
        let slot = match name {
            "UNIQUEID" => &mut self.id,
            "SECNAME" => &mut self.name,
            "TICKER" => &mut self.ticker,
            "CURRENCY" => &mut self.currency,
            _ => return Some(value),
        };
        slot.get_or_insert(value);
        None
    }
}

/// The name of a security in a sentence: its symbol, else its name, else its id.
pub(super) fn label<'b>(id: &'b str, securities: &'b Securities<'_>) -> &'b str {
    let known = securities.get(id);
    known.and_then(|it| it.ticker.as_deref().or(it.name.as_deref())).unwrap_or(id)
}

#[derive(Debug, Default)]
pub(super) struct Position<'a> {
    wrapper: &'static str,
    security: Option<Cow<'a, str>>,
    id_kind: Option<Cow<'a, str>>,
    side: Option<Cow<'a, str>>,
    units: Option<Cow<'a, str>>,
    price: Option<Cow<'a, str>>,
    value: Option<Cow<'a, str>>,
    cost: Option<Cow<'a, str>>,
    priced_at: Option<Cow<'a, str>>,
    pub(super) currency: Option<Cow<'a, str>>,
    pub(super) rate: Option<Cow<'a, str>>,
}

/// A parsed position. Prices and values are in its own currency.
#[derive(Debug)]
pub(super) struct ParsedPosition<'a> {
    wrapper: &'static str,
    security: Cow<'a, str>,
    is_ticker: bool,
    units: Fixed9,
    price: Option<Fixed9>,
    value: Option<Fixed9>,
    cost: Option<Fixed9>,
    priced_at: Option<base::Timestamp>,
    currency: Currency,
    rate: Option<Fixed9>,
}

impl<'a> Position<'a> {
    pub(super) fn new(wrapper: &'static str) -> Position<'a> {
        Position { wrapper, ..Position::default() }
    }

    pub(super) fn set(&mut self, name: &str, value: Cow<'a, str>) -> Option<Cow<'a, str>> {
        let slot = match name {
            "UNIQUEID" => &mut self.security,
            "UNIQUEIDTYPE" => &mut self.id_kind,
            "POSTYPE" => &mut self.side,
            "UNITS" => &mut self.units,
            "UNITPRICE" => &mut self.price,
            "MKTVAL" => &mut self.value,
            "AVGCOSTBASIS" => &mut self.cost,
            "DTPRICEASOF" => &mut self.priced_at,
            "CURRENCY" => &mut self.currency,
            _ => return Some(value),
        };
        slot.get_or_insert(value);
        None
    }

    pub(super) fn read(self, currency: Currency) -> Result<ParsedPosition<'a>, String> {
        let security = self.security.ok_or("the position names no security (UNIQUEID)")?;
        let units = self.units.as_deref().ok_or("the position has no quantity (UNITS)")?;
        let units = number(units)
            .ok_or_else(|| format!("the quantity {} is no number such as 12.5", quote(units)))?;
        let other = match self.currency.as_deref().map(|it| (it, Currency::parse(it))) {
            None => currency,
            Some((_, Ok(other))) => other,
            Some((code, Err(_))) => {
                return Err(format!("the currency {} of the position is unknown", quote(code)));
            }
        };
        let is_short = self.side.as_deref() == Some("SHORT");
        let signed = |it: Fixed9| match is_short {
            true => Fixed9::from_billionths(-it.billionths().abs()),
            false => it,
        };
        let read = |it: Option<Cow<'_, str>>| it.as_deref().and_then(number);
        let id_kind = self.id_kind.as_deref().unwrap_or_default();
        Ok(ParsedPosition {
            wrapper: self.wrapper,
            is_ticker: ["TICKER", "SYMBOL"].iter().any(|it| id_kind.eq_ignore_ascii_case(it)),
            security,
            units: signed(units),
            price: read(self.price),
            value: read(self.value).map(signed),
            cost: read(self.cost).filter(|it| *it != Fixed9::ZERO),
            priced_at: self.priced_at.as_deref().and_then(moment),
            currency: other,
            rate: read(self.rate),
        })
    }
}

/// Parses a quantity or price, rounded to nine decimal places. Absurdly large numbers are rejected, so that products
/// cannot overflow.
fn number(text: &str) -> Option<Fixed9> {
    let plain = plain(text, Comma::Decimal)?;
    Fixed9::parse(&plain).ok().or_else(|| parse_json_decimal(&plain)).filter(is_sensible)
}

fn is_sensible(number: &Fixed9) -> bool {
    number.billionths().unsigned_abs() < NUMBER_MAX
}

impl ParsedPosition<'_> {
    /// The price of one unit, so that quantity times price is the value. Bonds are quoted per hundred, and options
    /// per share of a contract; then the stated value is right, and the price is only a quote.
    fn unit_price(&self) -> Option<Fixed9> {
        match (self.price, self.value) {
            (Some(price), Some(value)) if !self.is_quoted_for_one(price, value) => {
                self.ratio(value)
            }
            (None, Some(value)) => self.ratio(value),
            (price, _) => price,
        }
    }

    fn ratio(&self, value: Fixed9) -> Option<Fixed9> {
        let units = self.units.billionths();
        let scaled = value.billionths().checked_mul(units.signum() * Fixed9::ONE.billionths())?;
        let price = || Fixed9::from_billionths(divide_half_even(scaled, units.abs()));
        (units != 0).then(price).filter(is_sensible)
    }

    fn is_quoted_for_one(&self, price: Fixed9, value: Fixed9) -> bool {
        let Some(product) = self.units.billionths().checked_mul(price.billionths()) else {
            return false;
        };
        let product = product.abs() / Fixed9::ONE.billionths();
        let value = value.billionths().abs();
        value == 0 || product == 0 || (product <= 2 * value && value <= 2 * product)
    }

    /// The value in minor units of the position's currency.
    pub(super) fn value_minor(&self) -> Option<i64> {
        let decimals = self.currency.decimals();
        match (self.value, self.price) {
            (Some(value), _) => value.times_price(Fixed9::ONE, decimals),
            (None, Some(price)) => self.units.times_price(price, decimals),
            (None, None) => None,
        }
    }

    /// The value in minor units of the account's currency; none if the file gives no exchange rate.
    pub(super) fn worth_minor(&self, currency: Currency) -> Option<i64> {
        if self.currency == currency {
            return self.value_minor();
        }
        let value = match (self.value, self.price) {
            (Some(value), _) => value,
            (None, price) => {
                let product = self.units.billionths().checked_mul(price?.billionths())?;
                Fixed9::from_billionths(divide_half_even(product, Fixed9::ONE.billionths()))
            }
        };
        value.times_price(self.rate?, currency.decimals())
    }

    /// How many powers of two lie between the cost and the price of one unit, and between the cost and the total
    /// value.
    fn distances(&self) -> Option<(u32, u32)> {
        let price = self.price.or(self.unit_price())?.billionths().unsigned_abs();
        let product = || price.checked_mul(self.units.billionths().unsigned_abs());
        let value = match self.value {
            Some(value) => value.billionths().unsigned_abs(),
            None => product()? / Fixed9::ONE.billionths().unsigned_abs(),
        };
        let cost = self.cost?.billionths().unsigned_abs();
        if price == 0 || value == 0 || cost == 0 {
            return None;
        }
        let doublings = |one: u128, other: u128| (one.max(other) / one.min(other)).ilog2();
        Some((doublings(cost, price), doublings(cost, value)))
    }

    fn cost_minor(&self, is_total: bool) -> Option<i64> {
        let cost = Fixed9::from_billionths(self.cost?.billionths().abs());
        let decimals = self.currency.decimals();
        if is_total {
            let all = cost.times_price(Fixed9::ONE, decimals)?;
            return Some(if self.units < Fixed9::ZERO { -all } else { all });
        }
        let quoted = self.price.zip(self.value).filter(|it| !self.is_quoted_for_one(it.0, it.1));
        match quoted {
            // The cost is quoted like the price: per hundred, or per share of a contract.
            Some((price, value)) => {
                let product = value.billionths().checked_mul(cost.billionths())?;
                let minor = 10_i128.pow(9 - decimals.min(9)).checked_mul(price.billionths())?;
                i64::try_from(divide_half_even(product, minor.abs())).ok()
            }
            None => self.units.times_price(cost, decimals),
        }
    }
}

/// The positions as holdings, with the details from the list of securities.
pub(super) fn holdings(
    held: &[ParsedPosition<'_>],
    securities: &Securities<'_>,
) -> Vec<HoldingDraft> {
    let is_total = costs_are_totals(held);
    held.iter().map(|it| holding(it, is_total, securities)).collect()
}

/// Whether this broker writes total costs. The cost should be per unit, but some brokers write the total for all
/// positions: assumed if totals are within a factor of two of the values, and unit costs are off by a factor of
/// eight.
fn costs_are_totals(held: &[ParsedPosition<'_>]) -> bool {
    let (mut count, mut per_unit, mut total) = (0, 0_u64, 0_u64);
    for (unit, all) in held.iter().filter_map(ParsedPosition::distances) {
        count += 1;
        per_unit += u64::from(unit);
        total += u64::from(all);
    }
    count > 0 && per_unit >= 3 * count && total < 2 * count
}

fn holding(held: &ParsedPosition<'_>, is_total: bool, securities: &Securities<'_>) -> HoldingDraft {
    let known = securities.get(&held.security);
    let ticker = known.and_then(|it| it.ticker.as_deref());
    let symbol = ticker.or(held.is_ticker.then_some(&*held.security));
    let name = known.and_then(|it| it.name.as_deref()).or(symbol).unwrap_or(&held.security);
    let wrapper = known.map_or(held.wrapper, |it| it.wrapper);
    let (kind, asset_class) = kind(wrapper, name);
    HoldingDraft {
        security: SecurityDraft {
            external_id: held.security.to_string(),
            symbol: symbol.map(str::to_owned),
            name: name.to_owned(),
            kind,
            asset_class,
            currency: held.currency,
            price: held.unit_price(),
            previous_close: None,
            priced_at: held.priced_at,
        },
        quantity: held.units,
        cost_basis_minor: held.cost_minor(is_total).filter(|it| !is_implausible_amount(*it)),
        institution_value_minor: held.value_minor().filter(|it| !is_implausible_amount(*it)),
    }
}

/// The kind by the aggregate in which the security is listed. Exchange-traded funds are listed as stock; only their
/// names show it.
fn kind(wrapper: &str, name: &str) -> (SecurityKind, AssetClass) {
    let is_traded_fund = || name.split(|it: char| !it.is_alphanumeric()).any(|it| it == "ETF");
    match wrapper {
        "STOCKINFO" | "POSSTOCK" if is_traded_fund() => (SecurityKind::Etf, AssetClass::Fund),
        "STOCKINFO" | "POSSTOCK" => (SecurityKind::Equity, AssetClass::Equity),
        "MFINFO" | "POSMF" if is_traded_fund() => (SecurityKind::Etf, AssetClass::Fund),
        "MFINFO" | "POSMF" => (SecurityKind::MutualFund, AssetClass::Fund),
        "DEBTINFO" | "POSDEBT" => (SecurityKind::FixedIncome, AssetClass::FixedIncome),
        "OPTINFO" | "POSOPT" => (SecurityKind::Derivative, AssetClass::Derivative),
        _ => (SecurityKind::Other, AssetClass::Other),
    }
}

/// The cash of an investment account, as a holding.
pub(super) fn cash(minor: i64, currency: Currency) -> HoldingDraft {
    let billionths = i128::from(minor) * 10_i128.pow(9 - currency.decimals().min(9));
    HoldingDraft {
        security: SecurityDraft {
            external_id: format!("CASH:{currency}"),
            symbol: None,
            name: format!("Cash ({currency})"),
            kind: SecurityKind::Cash,
            asset_class: AssetClass::Cash,
            currency,
            price: Some(Fixed9::ONE),
            previous_close: None,
            priced_at: None,
        },
        quantity: Fixed9::from_billionths(billionths),
        cost_basis_minor: Some(minor),
        institution_value_minor: Some(minor),
    }
}
