//! How investments did over the chosen range: their value, the time-weighted and money-weighted return, and dividends.

use base::{Money, Percent};
use maud::{Markup, html};
use service::ledger::performance::{Development, Dividend, Performance};

use crate::site::chart::{Line, Point, ranges};
use crate::site::excluded;
use crate::site::format::{View, signed_percent};
use crate::site::person::Person;

/// The dividends that are shown at once.
const SHOWN: usize = 4;

pub(super) fn card(person: &Person, development: &Development) -> Markup {
    let view = person.view;
    let points: Vec<Point> = development.points.iter().map(Point::from).collect();
    html! {
        section.card aria-labelledby="performance" {
            header {
                h2 id="performance" { "How did they do?" }
                (ranges::links("/investments", person.range))
            }
            @match &development.performance {
                Some(found) => (figures(view, development, found)),
                None => p.soft { "The return appears once we have values for two days." },
            }
            @if points.len() > 1 {
                (Line { title: "Value over time", currency: development.currency, points: &points }.draw(view))
            }
            (excluded::currencies_note(&development.excluded))
        }
    }
}

fn figures(view: View, development: &Development, found: &Performance) -> Markup {
    let money = |minor| Money::new(minor, development.currency);
    html! {
        dl.numbers.amounts {
            div { dt { "Investment return" } dd { (rate(found.time_weighted)) } }
            div { dt { "Your return" } dd { (rate(found.money_weighted)) } }
            div { dt { "Gain in this period" } dd { (view.signed(money(found.gain_minor))) } }
            div { dt { "Money added" } dd { (view.signed(money(found.net_flow_minor))) } }
        }
        p.soft {
            (view.day(found.start.on)) " to " (view.day(found.end.on)) ". The investment return shows how the investments did (time-weighted). Your return also counts when you added \
             or withdrew money (money-weighted). Both are for the whole period, not per year."
        }
    }
}

fn rate(found: Option<Percent>) -> Markup {
    match found {
        Some(found) => html! { (signed_percent(found)) },
        None => html! { span.soft { "Unknown" } },
    }
}

pub(super) fn dividends(view: View, development: &Development) -> Markup {
    html! {
        section.card aria-labelledby="dividends" {
            header {
                h2 id="dividends" { "Dividends and interest" }
                strong { (view.money(Money::new(development.dividends_minor, development.currency))) }
            }
            @if development.dividends.is_empty() {
                p.soft { "None in the last 12 months." }
            } @else {
                @let (newest, older) = development.dividends.split_at(development.dividends.len().min(SHOWN));
                p.soft { "In the last 12 months. The newest:" }
                ul.rows { @for it in newest { (dividend(view, it)) } }
                @if !older.is_empty() {
                    details {
                        summary { "Show " (older.len()) " more" }
                        ul.rows { @for it in older { (dividend(view, it)) } }
                    }
                }
            }
        }
    }
}

fn dividend(view: View, it: &Dividend) -> Markup {
    html! {
        li {
            div.what {
                (it.description)
                span.soft { (view.day(it.on)) " · " (it.account_name) }
            }
            (view.signed(it.amount))
        }
    }
}
