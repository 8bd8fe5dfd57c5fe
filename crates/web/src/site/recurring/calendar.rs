//! The calendar of recurring payments: paid, expected, late and missed.

use std::cmp::Reverse;

use base::{Currency, Date, Money};
use http::StatusCode;
use jiff::{Span, civil::Weekday};
use maud::{Markup, html};
use service::insights::recurring::{self, Due, Month, State};
use service::ledger::Direction;

use super::{feed, signed, tabs};
use crate::site::app_page::AppPage;
use crate::site::errors::PageResult;
use crate::site::excluded;
use crate::site::format::View;
use crate::site::navigation::NavItem;
use crate::site::person::Person;

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// The years that the calendar shows.
const YEARS: std::ops::RangeInclusive<i16> = 1970..=2199;

pub(super) async fn page(person: &Person, month: &str) -> PageResult {
    let view = person.view;
    let asked = if month.is_empty() { Some(view.today) } else { read(month) };
    let first = asked.unwrap_or(view.today).first_of_month();
    let Month { due, currency, rates } =
        recurring::month(person.app(), &person.caller, first).await?;
    let feed = recurring::find_feed(person.app(), &person.caller).await?;
    let name = first.strftime("%B %Y").to_string();
    let main = html! {
        h1 { "Recurring" }
        (tabs(true))
        @if asked.is_none() {
            p.warning role="alert" { "That month isn't valid. Showing the current month." }
        }
        div.heading {
            h2 id="month" { (name) }
            nav.turn aria-label="Months" {
                (turn(first, -1, "Previous"))
                @if first != view.today.first_of_month() {
                    a href="/recurring?view=calendar" { "This month" }
                }
                (turn(first, 1, "Next"))
            }
        }
        (sums(view, &due))
        (excluded::rates(view, currency, &rates))
        (table(view, first, &due))
        @if due.is_empty() { p.soft { "Nothing is due this month." } }
        (feed::card(person, feed.as_ref()))
    };
    let status = if asked.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let title = format!("Recurring in {name}");
    Ok(AppPage::new(NavItem::Recurring, &title).page_with(status, person, main))
}

/// "2026-11".
fn read(month: &str) -> Option<Date> {
    let plain = month.len() == 7 && month.is_ascii();
    let on: Date = if plain { format!("{month}-01").parse().ok()? } else { return None };
    YEARS.contains(&on.year()).then_some(on)
}

fn turn(first: Date, by: i64, label: &str) -> Markup {
    let to = first.checked_add(Span::new().months(by)).ok();
    html! {
        @if let Some(to) = to.filter(|it| YEARS.contains(&it.year())) {
            a href={ "/recurring?view=calendar&month=" (to.strftime("%Y-%m")) }
                aria-label={ (label) ": " (to.strftime("%B %Y")) } { (label) }
        }
    }
}

/// The totals of the month in the person's currency, and in those without an exchange rate, the most used one first.
fn sums(view: View, due: &[Due]) -> Markup {
    let mut currencies: Vec<Currency> = due.iter().map(|it| it.worth.currency()).collect();
    let uses = |of: Currency| due.iter().filter(|it| it.worth.currency() == of).count();
    currencies.sort_by_key(|it| (Reverse(uses(*it)), it.to_string()));
    currencies.dedup();
    let sum = |states: &[State], currency: Currency, into: bool| {
        let of = due.iter().filter(|it| {
            states.contains(&it.state)
                && it.worth.currency() == currency
                && (it.direction == Direction::Inflow) == into
        });
        let minor = of.fold(0_i64, |sum, it| sum.saturating_add(it.worth.minor()));
        Money::new(if into { minor } else { minor.saturating_neg() }, currency)
    };
    let tiles = [
        ("Paid", &[State::Paid][..], false),
        ("Upcoming payments", &[State::Expected, State::Late][..], false),
        ("Received", &[State::Paid][..], true),
        ("Upcoming income", &[State::Expected, State::Late][..], true),
    ];
    html! {
        @if !due.is_empty() {
            dl.tiles.sums {
                @for (name, states, into) in tiles {
                    div.tile {
                        dt { (name) }
                        @for (index, currency) in currencies.iter().enumerate() {
                            @let total = sum(states, *currency, into);
                            @if index == 0 || total.minor() != 0 { dd { (view.money(total)) } }
                        }
                    }
                }
            }
        }
    }
}

fn table(view: View, first: Date, due: &[Due]) -> Markup {
    let lead = i64::from(first.weekday().to_monday_zero_offset());
    let start = first.checked_sub(Span::new().days(lead)).unwrap_or(first);
    let last = first.last_of_month();
    let end = match last.weekday() {
        Weekday::Sunday => last,
        other => {
            let rest = 6 - i64::from(other.to_monday_zero_offset());
            last.checked_add(Span::new().days(rest)).unwrap_or(last)
        }
    };
    let days: Vec<Date> = start.series(Span::new().days(1)).take_while(|it| *it <= end).collect();
    html! {
        table.month aria-labelledby="month" {
            thead { tr { @for name in WEEKDAYS { th scope="col" { (name) } } } }
            tbody {
                @for week in days.chunks(7) {
                    tr { @for on in week { (day(view, first, *on, due)) } }
                }
            }
        }
    }
}

fn day(view: View, first: Date, on: Date, due: &[Due]) -> Markup {
    if on.month() != first.month() {
        return html! { td.outside {} };
    }
    let of_day: Vec<&Due> = due.iter().filter(|it| it.on == on).collect();
    let today = on == view.today;
    html! {
        td.none[of_day.is_empty()].today[today] {
            time datetime=(on) aria-current=[today.then_some("date")] {
                span.number { (on.day()) }
                span.full { (view.day(on)) }
            }
            @if !of_day.is_empty() { ul { @for it in of_day { (entry(view, it)) } } }
        }
    }
}

fn entry(view: View, due: &Due) -> Markup {
    let href = match due.transaction {
        Some(id) => format!("/transactions/{id}?back=/recurring%3Fview%3Dcalendar"),
        None => format!("/recurring/{}", due.stream),
    };
    let amount = Money::new(signed(due.direction, due.amount.minor()), due.amount.currency());
    let state = match due.state {
        State::Paid if due.direction == Direction::Inflow => "Received",
        State::Paid => "Paid",
        State::Late => "Late",
        State::Missed => "Missed",
        State::Expected => "Expected",
    };
    html! {
        li.(due.state.as_str()) {
            a href=(href) { (due.name) }
            span.amount-of { (view.signed(amount)) }
            span.state { (state) }
        }
    }
}
