//! The net worth card: the total, its change, a chart, and assets and debts by type.

use base::draft::AccountKind;
use base::{Money, Percent};
use maud::{Markup, html};
use service::ledger::net_worth::Part;

use super::OverviewData;
use crate::site::accounts::kind_name;
use crate::site::chart::{Line, Point, Shares, ranges};
use crate::site::excluded;
use crate::site::format::{View, plural, signed_percent};
use crate::site::person::Person;

pub(super) fn card(person: &Person, data: &OverviewData) -> Markup {
    let (view, worth) = (person.view, &data.worth);
    let money = |minor| Money::new(minor, worth.currency);
    html! {
        section.card aria-labelledby="worth" {
            header {
                div {
                    h2.label id="worth" { a href="/accounts" { "Net worth" } }
                    p.big { (view.money_or_unknown(worth.minor().map(money))) }
                    (change(view, data))
                }
                (ranges::links("/", data.span))
            }
            (chart(view, data))
            div.columns.sides {
                (side(view, data, "Assets", false))
                (side(view, data, "Debts", true))
            }
            (excluded::note(view, &worth.excluded))
            (excluded::rates(view, worth.currency, &worth.rates))
        }
    }
}

/// The change over the chosen range, which is the one that the chart shows.
fn change(view: View, data: &OverviewData) -> Markup {
    let (first, last) = (data.series.points.first(), data.series.points.last());
    let Some((first, last)) = first.zip(last).filter(|(first, last)| first.on < last.on) else {
        return html! {};
    };
    let minor = last.minor.saturating_sub(first.minor);
    let amount = Money::new(minor, data.series.currency);
    let (arrow, direction) = match minor {
        1.. => ("↑", "up "),
        0 => ("", ""),
        _ => ("↓", "down "),
    };
    html! {
        p.soft {
            @if minor == 0 { "Unchanged" } @else {
                span aria-hidden="true" { (arrow) " " }
                span.hush { (direction) }
                strong { (view.signed(amount)) }
                @if let Some(of) = percent_of(minor, first.minor) { " (" (signed_percent(of)) ")" }
            }
            " since " (view.unbroken_day(first.on))
        }
    }
}

fn chart(view: View, data: &OverviewData) -> Markup {
    let points: Vec<Point> = data.series.points.iter().map(Point::from).collect();
    let currency = data.series.currency;
    html! {
        @if points.len() > 1 {
            (Line { title: "Net worth over time", currency, points: &points }.draw(view))
        } @else {
            p.soft { "The chart starts tomorrow, once we have two days of data." }
        }
    }
}

fn side(view: View, data: &OverviewData, title: &str, debts: bool) -> Markup {
    let worth = &data.worth;
    let money = |minor| Money::new(minor, worth.currency);
    let total = if debts { worth.debts_minor.saturating_neg() } else { worth.assets_minor };
    let parts: Vec<&Part> = worth.parts.iter().filter(|it| it.kind.is_debt() == debts).collect();
    let sizes: Vec<i64> = parts.iter().map(|it| it.minor.unwrap_or(0)).collect();
    html! {
        section aria-label=(title) {
            header.heading { h3 { (title) } strong { (view.money(money(total))) } }
            @if parts.is_empty() { p.soft { "None." } } @else {
                (Shares(&sizes).draw())
                ul.rows {
                    @for (index, part) in parts.iter().enumerate() {
                        li {
                            span.what {
                                (Shares::key(index))
                                a href=(anchor(part.kind)) { (kind_name(part.kind)) }
                                " " span.count { (plural(part.accounts as i64, "account", "accounts")) }
                            }
                            (view.money_or_unknown(part.minor.map(money)))
                        }
                    }
                }
            }
        }
    }
}

fn anchor(kind: AccountKind) -> String {
    format!("/accounts#{}", kind.as_str())
}

/// The change as a percentage of the first value; none if that was so small that the percentage says nothing.
fn percent_of(change: i64, first: i64) -> Option<Percent> {
    let first = first.saturating_abs();
    let is_small = change.saturating_abs() / 10 > first;
    Percent::of(change, first).filter(|_| !is_small)
}
