//! Positions, which no specification describes: quantity, price, and whether a cost is per share or in total.

use base::draft::{AssetClass, HoldingDraft, SecurityDraft, SecurityKind};
use base::{Currency, Fixed9, Timestamp, divide_half_even};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lenient::{self, RawField};
use crate::market::{InstrumentKind, names};
use crate::plausibility::is_implausible_amount;

/// One position as the server states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    pub id: Option<String>,
    /// In capitals; none for the funds of many retirement plans.
    pub symbol: Option<String>,
    pub name: String,
    pub currency: Currency,
    pub shares: Option<Fixed9>,
    pub market_value: Option<Fixed9>,
    cost: Cost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cost {
    /// The cost basis: per share at some institutions, in total at others.
    basis: Option<Fixed9>,
    /// The purchase price per share.
    purchase_price: Option<Fixed9>,
    /// The total cost, from a field that is always a total.
    total: Option<Fixed9>,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    id: RawField<'a>,
    #[serde(borrow)]
    symbol: RawField<'a>,
    #[serde(borrow)]
    description: RawField<'a>,
    #[serde(borrow)]
    currency: RawField<'a>,
    #[serde(borrow)]
    shares: RawField<'a>,
    #[serde(borrow)]
    market_value: RawField<'a>,
    #[serde(borrow)]
    cost_basis: RawField<'a>,
    #[serde(borrow)]
    purchase_price: RawField<'a>,
    #[serde(borrow)]
    total_cost: RawField<'a>,
    #[serde(borrow)]
    value: RawField<'a>,
}

impl Holding {
    /// None if it has neither a name nor a number.
    pub(super) fn read(raw: &RawValue, account_currency: Currency) -> Option<Holding> {
        let raw: Raw<'_> = lenient::object(Some(raw))?;
        let symbol = lenient::text(raw.symbol).map(|it| it.to_uppercase());
        let id = lenient::text(raw.id);
        let name = lenient::text(raw.description).or_else(|| symbol.clone()).or_else(|| id.clone());
        let currency = lenient::text(raw.currency).unwrap_or_default().to_ascii_uppercase();
        let above_zero = |value| lenient::decimal(value).filter(|it| *it > Fixed9::ZERO);
        let (shares, market_value) =
            (lenient::decimal(raw.shares), lenient::decimal(raw.market_value));
        if shares.is_none() && market_value.is_none() {
            return None;
        }
        Some(Holding {
            id,
            symbol,
            name: name?,
            currency: Currency::parse(&currency).unwrap_or(account_currency),
            shares,
            market_value,
            cost: Cost {
                basis: above_zero(raw.cost_basis),
                purchase_price: above_zero(raw.purchase_price),
                // This field is a cost and not a valuation, despite its name.
                total: above_zero(raw.total_cost).or_else(|| above_zero(raw.value)),
            },
        })
    }

    /// None for a closed position.
    pub(super) fn draft(
        &self,
        institution: Option<&str>,
        account_currency: Currency,
        at: Timestamp,
    ) -> Option<HoldingDraft> {
        let shares = self.shares.filter(|it| *it != Fixed9::ZERO);
        let value = self.market_value.filter(|it| *it != Fixed9::ZERO);
        if shares.is_none() && value.is_none() {
            return None;
        }
        let price = shares.zip(value).and_then(|(shares, value)| divided(value, shares));
        let price = price.filter(|it| *it >= Fixed9::ZERO);
        let minor = |it: Fixed9| {
            let minor = Fixed9::ONE.times_price(it, self.currency.decimals());
            minor.filter(|it| !is_implausible_amount(*it))
        };
        // A value without a number of shares counts as one share.
        let quantity = shares.unwrap_or(Fixed9::ONE);
        let cost = self.cost.total(quantity, price, institution);
        Some(HoldingDraft {
            security: self.security(price, account_currency, at),
            quantity,
            cost_basis_minor: cost.and_then(minor),
            institution_value_minor: value.and_then(minor),
        })
    }

    fn security(
        &self,
        price: Option<Fixed9>,
        account_currency: Currency,
        at: Timestamp,
    ) -> SecurityDraft {
        let (kind, asset_class) = self.kind();
        let external_id = match &self.symbol {
            Some(symbol) if self.currency == account_currency => symbol.clone(),
            Some(symbol) => format!("{symbol}.{}", self.currency),
            None => self.id.clone().unwrap_or_else(|| self.name.clone()),
        };
        SecurityDraft {
            external_id,
            symbol: self.symbol.clone(),
            name: self.name.clone(),
            kind,
            asset_class,
            currency: self.currency,
            price,
            previous_close: None,
            priced_at: price.map(|_| at),
        }
    }

    fn kind(&self) -> (SecurityKind, AssetClass) {
        let symbol = self.symbol.as_deref().unwrap_or_default();
        let name = self.name.to_lowercase();
        let is_plain = symbol.bytes().all(|it| it.is_ascii_uppercase());
        if MONEY_MARKET.contains(&symbol) || name.contains("money market") {
            return (SecurityKind::Cash, AssetClass::Cash);
        }
        match names::kind_of(symbol) {
            Some(InstrumentKind::Equity) => return (SecurityKind::Equity, AssetClass::Equity),
            Some(InstrumentKind::Etf) => return (SecurityKind::Etf, AssetClass::Fund),
            None => {}
        }
        let has_word =
            |word: &str| name.split(|it: char| !it.is_alphanumeric()).any(|it| it == word);
        match symbol.len() {
            _ if has_word("etf") => (SecurityKind::Etf, AssetClass::Fund),
            5 if is_plain && symbol.ends_with('X') => (SecurityKind::MutualFund, AssetClass::Fund),
            _ if has_word("fund") => (SecurityKind::MutualFund, AssetClass::Fund),
            1..=5 if is_plain => (SecurityKind::Equity, AssetClass::Equity),
            _ => (SecurityKind::Other, AssetClass::Other),
        }
    }
}

/// Money market funds, which count as cash.
const MONEY_MARKET: [&str; 14] = [
    "VMFXX", "VMMXX", "VMRXX", "VUSXX", "SPAXX", "FDRXX", "SPRXX", "FZFXX", "FDLXX", "SWVXX",
    "SNVXX", "SNOXX", "TTTXX", "PRTXX",
];

/// Institutions known to write the total cost.
const WRITE_TOTALS: [&str; 3] = ["vanguard", "fidelity", "schwab"];

impl Cost {
    /// The total cost by the most likely interpretation.
    fn total(
        self,
        shares: Fixed9,
        price: Option<Fixed9>,
        institution: Option<&str>,
    ) -> Option<Fixed9> {
        if self.total.is_some() {
            return self.total;
        }
        let shares = Fixed9::from_billionths(shares.billionths().abs());
        let bought = self.purchase_price.and_then(|it| multiplied(it, shares));
        let Some(basis) = self.basis else { return bought };
        let times = multiplied(basis, shares);
        let institution = institution.unwrap_or_default().to_lowercase();
        if WRITE_TOTALS.iter().any(|it| institution.contains(it)) {
            return Some(basis);
        }
        // The purchase price distinguishes the two interpretations better than the current price.
        let Some(each) = self.purchase_price.or(price) else { return times };
        match multiplied(each, shares) {
            Some(all) if nearer(basis, all, each) => Some(basis),
            _ => times,
        }
    }
}

/// Whether `it` is nearer to `a` than to `b` as a ratio; all are greater than zero.
fn nearer(it: Fixed9, a: Fixed9, b: Fixed9) -> bool {
    let [mut it, mut a, mut b] = [it, a, b].map(|it| it.billionths().unsigned_abs().max(1));
    while it.max(a).max(b) >= 1 << 63 {
        [it, a, b] = [it, a, b].map(|it| (it >> 1).max(1));
    }
    it.max(a) * it.min(b) < it.max(b) * it.min(a)
}

fn multiplied(a: Fixed9, b: Fixed9) -> Option<Fixed9> {
    let product = a.billionths().checked_mul(b.billionths())?;
    Some(Fixed9::from_billionths(divide_half_even(product, Fixed9::ONE.billionths())))
}

fn divided(value: Fixed9, by: Fixed9) -> Option<Fixed9> {
    let scaled = value.billionths().checked_mul(Fixed9::ONE.billionths())?;
    let sign = by.billionths().signum();
    let quotient = divide_half_even(scaled.checked_mul(sign)?, by.billionths().checked_abs()?);
    Some(Fixed9::from_billionths(quotient))
}

#[cfg(test)]
mod tests;
