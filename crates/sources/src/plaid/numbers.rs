//! Plaid's numbers: JSON numbers that came from doubles, read without a float in between.

use base::{Currency, Date, Fixed9, Money};
use serde_json::value::RawValue;

use crate::json_decimal::parse_json_decimal;
use crate::plausibility::{is_implausible_amount, is_plausible_date};

pub(super) type Number = Box<RawValue>;

pub(super) fn decimal(number: Option<&Number>) -> Option<Fixed9> {
    parse_json_decimal(number?.get())
}

/// The amount in minor units; none if it is absent, or more than anyone has.
pub(super) fn minor(number: Option<&Number>, currency: Currency) -> Option<i64> {
    let minor = Fixed9::ONE.times_price(decimal(number)?, currency.decimals())?;
    (!is_implausible_amount(minor)).then_some(minor)
}

pub(super) fn money(number: Option<&Number>, currency: Currency) -> Option<Money> {
    minor(number, currency).map(|it| Money::new(it, currency))
}

/// Plaid writes plain dates as `2026-03-01`.
pub(super) fn date(text: Option<&str>) -> Option<Date> {
    text?.parse::<Date>().ok().filter(|it| is_plausible_date(*it))
}

/// The currency of a code; none for the unofficial ones, such as points.
pub(super) fn currency(code: Option<&str>) -> Option<Currency> {
    Currency::parse(code?).ok()
}
