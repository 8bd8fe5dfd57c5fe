//! Aggregates positions into holdings: one for each security, and one for the rest of an account's balance beyond its
//! positions.

use std::collections::BTreeMap;

use base::draft::{AssetClass, SecurityKind};
use base::{AccountId, Date, Fixed9, Percent, SecurityId, days_from_date, divide_half_even};

use super::{AccountBalance, Holding, Position, Price, Scope};

/// A price up to this old may still be from the latest session: Friday's, on the Tuesday after a holiday.
const SESSION_DAYS_MAX: i64 = 4;

pub(super) fn aggregate(scope: &Scope<'_>) -> Vec<Holding> {
    let mut parts: BTreeMap<SecurityId, Vec<&Position>> = BTreeMap::new();
    for position in scope.positions {
        parts.entry(position.security_id).or_default().push(position);
    }
    let newest = |id| scope.prices.get(id);
    parts.iter().filter_map(|(id, parts)| holding(parts, newest(id), scope.today)).collect()
}

/// The positive rest of each account's balance as a holding of its own, and the accounts whose rest is negative.
///
/// The institution's valuations are preferred here, because they belong to the moment of its balance: a price that
/// moved since must not appear as cash. A position without a value counts as zero, so its share of the balance is
/// part of the rest. The rest is not known to be cash, so its gain and day change are unknown.
pub(super) fn unitemized(scope: &Scope<'_>) -> (Vec<Holding>, Vec<AccountId>) {
    let currencies: BTreeMap<AccountId, _> =
        scope.accounts.iter().map(|it| (it.account_id, it.currency)).collect();
    let mut itemised: BTreeMap<AccountId, i128> = BTreeMap::new();
    for position in scope.positions {
        let Some(currency) = currencies.get(&position.account_id) else { continue };
        let value = position
            .institution_value_minor
            .or_else(|| value(position, position.quantity, None))
            .and_then(|minor| scope.rates.convert(minor, position.currency, *currency));
        *itemised.entry(position.account_id).or_default() += i128::from(value.unwrap_or(0));
    }
    let (mut rest, mut over_itemized) = (Vec::new(), Vec::new());
    for account in scope.accounts {
        let counted = itemised.get(&account.account_id).copied().unwrap_or(0);
        match i64::try_from(i128::from(account.balance_minor) - counted) {
            Ok(minor) if minor > 0 => rest.push(rest_of(account, minor)),
            Ok(0) => {}
            _ => over_itemized.push(account.account_id),
        }
    }
    (rest, over_itemized)
}

fn rest_of(account: &AccountBalance, minor: i64) -> Holding {
    let billionths = i128::from(minor) * 10_i128.pow(9 - account.currency.decimals().min(9));
    Holding {
        security_id: SecurityId::from_bytes(*account.account_id.as_bytes()),
        unitemised_in: Some(account.account_id),
        symbol: None,
        name: "Cash / unitemised".to_owned(),
        kind: SecurityKind::Cash,
        asset_class: AssetClass::Cash,
        currency: account.currency,
        quantity: Fixed9::from_billionths(billionths),
        last_price: Some(Fixed9::ONE),
        last_price_at: None,
        current_value_minor: Some(minor),
        day_change_minor: None,
        day_change_percent: None,
        cost_basis_total_minor: None,
        average_cost_basis: None,
        total_gain_loss_minor: None,
        total_gain_loss_percent: None,
        percent_of_account: None,
    }
}

fn holding(parts: &[&Position], newest: Option<&Price>, today: Date) -> Option<Holding> {
    // All parts should agree about the security; if not, the latest price is used.
    let freshest = |it: &&&Position| (it.price.is_some(), it.priced_at, it.account_id);
    let lead = &with_price(parts.iter().max_by_key(freshest)?, newest);
    let is_cash = lead.asset_class == AssetClass::Cash;
    let billionths = parts.iter().map(|it| it.quantity.billionths());
    let quantity = Fixed9::from_billionths(billionths.fold(0, i128::saturating_add));

    let value = value(lead, quantity, sum(parts.iter().map(|it| it.institution_value_minor)));
    let basis = if is_cash { value } else { sum(parts.iter().map(|it| it.cost_basis_minor)) };
    let gain = value.zip(basis).and_then(|(value, basis)| value.checked_sub(basis));
    let (day_change, day_change_percent) = match value {
        Some(value) if is_cash => (Some(0), Percent::of(0, value)),
        Some(_) if is_fresh(lead, today) => day_change(lead, quantity),
        _ => (None, None),
    };
    Some(Holding {
        security_id: lead.security_id,
        unitemised_in: None,
        symbol: lead.symbol.clone(),
        name: lead.name.clone(),
        kind: lead.kind,
        asset_class: lead.asset_class,
        currency: lead.currency,
        quantity,
        last_price: lead.price,
        last_price_at: lead.priced_at,
        current_value_minor: value,
        day_change_minor: day_change,
        day_change_percent,
        cost_basis_total_minor: basis,
        average_cost_basis: basis.and_then(|it| average(it, quantity, lead.currency.decimals())),
        total_gain_loss_minor: gain,
        total_gain_loss_percent: gain
            .zip(basis.filter(|it| *it > 0))
            .and_then(|(gain, basis)| Percent::of(gain, basis)),
        percent_of_account: None,
    })
}

fn with_price(position: &Position, newest: Option<&Price>) -> Position {
    match newest {
        Some(newest) => Position {
            price: Some(newest.price),
            previous_close: newest.previous_close,
            priced_at: Some(newest.at),
            ..position.clone()
        },
        None => position.clone(),
    }
}

/// Quantity times price; without a price the institution's valuation; cash without either is worth its own amount.
fn value(lead: &Position, quantity: Fixed9, institution: Option<i64>) -> Option<i64> {
    let decimals = lead.currency.decimals();
    match (lead.price, institution) {
        (Some(price), _) => quantity.times_price(price, decimals),
        (None, None) if lead.kind == SecurityKind::Cash => {
            quantity.times_price(Fixed9::ONE, decimals)
        }
        (None, institution) => institution,
    }
}

fn is_fresh(lead: &Position, today: Date) -> bool {
    lead.priced_at.is_some_and(|at| {
        let priced_on = at.as_second().div_euclid(86_400);
        days_from_date(today) - priced_on <= SESSION_DAYS_MAX
    })
}

/// The percentage is computed from the prices, so that rounding a small position to cents does not distort it. It has
/// the sign of the change in value: a short position loses when the price rises.
fn day_change(lead: &Position, quantity: Fixed9) -> (Option<i64>, Option<Percent>) {
    let (Some(price), Some(previous)) = (lead.price, lead.previous_close) else {
        return (None, None);
    };
    let rise = price.billionths().saturating_sub(previous.billionths());
    let change = quantity.times_price(Fixed9::from_billionths(rise), lead.currency.decimals());
    let had_worth = previous > Fixed9::ZERO && quantity != Fixed9::ZERO && change.is_some();
    let percent = had_worth.then(|| rise.checked_mul(10_000 * quantity.billionths().signum()));
    let percent = percent
        .flatten()
        .and_then(|it| i64::try_from(divide_half_even(it, previous.billionths())).ok());
    (change, percent.map(Percent))
}

fn average(basis_minor: i64, quantity: Fixed9, decimals: u32) -> Option<Fixed9> {
    let billionths = quantity.billionths();
    if billionths == 0 {
        return None;
    }
    let scale = 10_i128.pow(18 - decimals.min(18));
    let basis = i128::from(basis_minor).checked_mul(scale)?.checked_mul(billionths.signum())?;
    Some(Fixed9::from_billionths(divide_half_even(basis, billionths.checked_abs()?)))
}

/// The sum; unknown if one part is unknown, because a partial sum would look complete.
fn sum(mut parts: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    parts.try_fold(0_i64, |sum, part| sum.checked_add(part?))
}
