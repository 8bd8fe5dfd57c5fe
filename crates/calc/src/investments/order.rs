//! The display order: groups by value, and within a group as requested.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use base::draft::AssetClass;

use super::totals::value_in_base;
use super::{Group, Holding, SortBy, View};
use crate::rates::Rates;

pub(super) fn groups(holdings: Vec<Holding>, rates: &Rates, view: &View) -> Vec<Group> {
    let mut by_class: BTreeMap<AssetClass, Vec<Holding>> = BTreeMap::new();
    for holding in holdings {
        if view.asset_class.is_none_or(|it| it == holding.asset_class) {
            by_class.entry(holding.asset_class).or_default().push(holding);
        }
    }
    let mut groups: Vec<Group> = by_class
        .into_iter()
        .map(|(asset_class, holdings)| Group {
            asset_class,
            value_minor: worth(&holdings, rates),
            holdings: sorted(holdings, rates, view),
        })
        .collect();
    groups.sort_by(|a, b| {
        directed(a.value_minor, b.value_minor, true)
            .then_with(|| a.asset_class.as_str().cmp(b.asset_class.as_str()))
    });
    groups
}

fn worth(holdings: &[Holding], rates: &Rates) -> Option<i64> {
    let mut known = holdings.iter().filter_map(|it| value_in_base(it, rates)).peekable();
    known.peek()?;
    known.try_fold(0_i64, i64::checked_add)
}

/// The sort key of a holding. Amounts of different currencies are compared by their converted value; an amount
/// without an exchange rate sorts with the unknown ones.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Text(String),
    Number(i128),
}

fn sorted(holdings: Vec<Holding>, rates: &Rates, view: &View) -> Vec<Holding> {
    let mut keyed: Vec<(Option<Key>, Option<String>, Holding)> = holdings
        .into_iter()
        .map(|it| (key(&it, rates, view.sort_by), folded_symbol(&it), it))
        .collect();
    keyed.sort_by(|a, b| {
        directed(a.0.as_ref(), b.0.as_ref(), view.descending)
            .then_with(|| directed(a.1.as_ref(), b.1.as_ref(), false))
            .then_with(|| a.2.security_id.cmp(&b.2.security_id))
    });
    keyed.into_iter().map(|(_, _, holding)| holding).collect()
}

fn key(holding: &Holding, rates: &Rates, sort_by: SortBy) -> Option<Key> {
    let weigh = |minor: Option<i64>| rates.weigh(minor?, holding.currency);
    let number = match sort_by {
        SortBy::Symbol => return folded_symbol(holding).map(Key::Text),
        SortBy::LastPrice => holding
            .last_price
            .zip(rates.rate(holding.currency))
            .and_then(|(price, rate)| price.billionths().checked_mul(rate.billionths())),
        SortBy::DayChange => weigh(holding.day_change_minor),
        SortBy::TotalGainLoss => weigh(holding.total_gain_loss_minor),
        SortBy::CurrentValue => weigh(holding.current_value_minor),
        SortBy::Quantity => Some(holding.quantity.billionths()),
        SortBy::CostBasisTotal => weigh(holding.cost_basis_total_minor),
    };
    number.map(Key::Number)
}

fn folded_symbol(holding: &Holding) -> Option<String> {
    holding.symbol.as_ref().map(|it| it.to_lowercase())
}

/// Sorts known values in either direction, and unknown ones last in both.
fn directed<T: Ord>(a: Option<T>, b: Option<T>, descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if descending => b.cmp(&a),
        (Some(a), Some(b)) => a.cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}
