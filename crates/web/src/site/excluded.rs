//! Names the amounts that a total leaves out because their currency has no exchange rate.

use base::{Currency, Money};
use maud::{Markup, html};
use service::ledger::net_worth::ExcludedBalance;
use service::ledger::rates::UsedRate;
use wire::v1::Excluded;

use super::format::View;

/// A sentence beside a total. Nothing if the total is complete.
pub(super) fn note(view: View, excluded: &[ExcludedBalance]) -> Markup {
    let amounts = excluded.iter().map(|it| Money::new(it.minor, it.currency));
    sentence(view, &amounts.collect::<Vec<_>>())
}

/// The same from the types of the API.
pub(super) fn wire_note(view: View, excluded: &[Excluded]) -> Markup {
    let amount = |it: &Excluded| {
        let currency = Currency::parse(&it.currency).ok()?;
        Money::parse(it.amount.as_str(), currency).ok()
    };
    sentence(view, &excluded.iter().filter_map(amount).collect::<Vec<_>>())
}

/// A sentence beside totals of the same accounts, which names only the currencies.
pub(super) fn currencies_note(excluded: &[ExcludedBalance]) -> Markup {
    codes_note(excluded.iter().map(|it| it.currency.code()))
}

/// The same from the types of the API.
pub(super) fn wire_currencies_note(excluded: &[Excluded]) -> Markup {
    codes_note(excluded.iter().map(|it| it.currency.as_str()))
}

/// The same from the currencies.
pub(super) fn codes_note<'a>(codes: impl Iterator<Item = &'a str>) -> Markup {
    let codes: Vec<&str> = codes.collect();
    html! {
        @if !codes.is_empty() {
            p.warning { "Amounts in " (codes.join(", ")) " are not included, because there is no exchange rate." }
        }
    }
}

fn sentence(view: View, amounts: &[Money]) -> Markup {
    html! {
        @if !amounts.is_empty() {
            p.warning {
                "Not included, because there is no exchange rate: "
                @for (index, amount) in amounts.iter().enumerate() {
                    @if index > 0 { ", " }
                    (view.money(*amount))
                }
                "."
            }
        }
    }
}

/// The exchange rates of a total, with their days.
pub(super) fn rates(view: View, base: Currency, rates: &[UsedRate]) -> Markup {
    rates_sentence(view, base, rates, "Converted at ")
}

/// The newest exchange rates of a total over time, each amount of which has the rate of its day.
pub(super) fn daily_rates(view: View, base: Currency, rates: &[UsedRate]) -> Markup {
    rates_sentence(view, base, rates, "Converted at the rate of each day. The newest: ")
}

fn rates_sentence(view: View, base: Currency, rates: &[UsedRate], start: &str) -> Markup {
    html! {
        @if !rates.is_empty() {
            p.soft {
                (start)
                @for (index, it) in rates.iter().enumerate() {
                    @if index > 0 { ", " }
                    "1 " (it.currency) " = " (it.rate) " " (base) " (" (view.day(it.on)) ")"
                }
                "."
            }
        }
    }
}
