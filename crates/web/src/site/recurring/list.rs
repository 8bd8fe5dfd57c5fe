//! The list of recurring payments by their next date, with monthly totals and recent changes.

use base::{Date, Money, days_from_date};
use maud::{Markup, html};
use service::insights::recurring::{self, Filter, PriceChange, Status, Stream, StreamList};

use super::{forms, how_often, kind, signed, tabs};
use crate::site::app_page::AppPage;
use crate::site::errors::PageResult;
use crate::site::excluded;
use crate::site::format::{View, plural};
use crate::site::navigation::NavItem;
use crate::site::person::Person;

/// How long a change or a missed payment is shown.
const NEWS_DAYS: i64 = 92;

pub(super) async fn page(person: &Person, ended: bool) -> PageResult {
    let everything = Filter { status: None, account_id: None, direction: None };
    let listed = recurring::list(person.app(), &person.caller, everything).await?;
    let dismissed = listed.dismissed_count as i64;
    let of = |status| listed.streams.iter().filter(move |(it, _)| it.status == status);
    let gone = of(Status::Ended).count() as i64;
    let mut shown: Vec<&(Stream, String)> =
        of(if ended { Status::Ended } else { Status::Active }).collect();
    if ended {
        shown.sort_by_key(|(it, _)| std::cmp::Reverse(it.last_on));
    }
    let main = html! {
        h1 { "Recurring" }
        (tabs(false))
        @if listed.streams.is_empty() && dismissed == 0 { (nothing()) } @else {
            @if ended {
                p { "These payments have stopped." }
            } @else {
                (totals(person.view, &listed))
                (news(person.view, &shown))
            }
            @if shown.is_empty() {
                p.soft { @if ended { "No ended payments." } @else { "No active payments." } }
            } @else {
                (table(person.view, &shown, ended))
            }
            p {
                @if ended { a href="/recurring" { "Show active payments" } }
                @else if gone > 0 {
                    a href="/recurring?show=ended" { "Show " (plural(gone, "ended payment", "ended payments")) }
                }
                @if dismissed > 0 {
                    @if gone > 0 || ended { " · " }
                    a href="/recurring?show=dismissed" {
                        "Show " (plural(dismissed, "dismissed payment", "dismissed payments"))
                    }
                }
            }
        }
    };
    Ok(AppPage::new(NavItem::Recurring, "Recurring").page(person, main))
}

/// The payments that the person dismissed, each with a button that brings it back.
pub(super) async fn dismissed(person: &Person) -> PageResult {
    let streams = recurring::list_dismissed(person.app(), &person.caller).await?;
    let main = html! {
        h1 { "Recurring" }
        (tabs(false))
        @if streams.is_empty() { p.soft { "You dismissed no payments." } } @else {
            p { "You dismissed these payments. They are left out of lists, totals, the calendar and forecasts." }
            section.card aria-label="Dismissed payments" {
                ul.rows {
                    @for (stream, account) in &streams {
                        li {
                            div.what {
                                a href={ "/recurring/" (stream.id) } { (stream.name) }
                                span.soft { (how_often(stream.frequency)) " · " (account) }
                            }
                            (forms::restore_button(person, stream))
                        }
                    }
                }
            }
        }
        p { a href="/recurring" { "Show active payments" } }
    };
    Ok(AppPage::new(NavItem::Recurring, "Dismissed payments").page(person, main))
}

fn nothing() -> Markup {
    html! {
        div.empty {
            h2 { "No recurring payments yet" }
            p { "Paychecks, bills and subscriptions appear here after a few payments." }
            a.button href="/import" { "Import bank files" }
        }
    }
}

fn totals(view: View, listed: &StreamList) -> Markup {
    let (into, out) = (listed.monthly_inflow_minor, listed.monthly_outflow_minor);
    let money = |minor| view.money(Money::new(minor, listed.currency));
    html! {
        dl.tiles.sums {
            div.tile { dt { "Expected income" } dd { (money(into)) } }
            div.tile { dt { "Expected bills" } dd { (money(out.saturating_neg())) } }
            div.tile { dt { "After bills" } dd { (money(into.saturating_sub(out))) } }
        }
        p.soft {
            "Expected in an average month from active payments. Weekly and yearly payments are converted to a month. "
            a href="/income" { "Income" }
            " shows what you received."
        }
        (excluded::note(view, &listed.excluded))
        (excluded::rates(view, listed.currency, &listed.rates))
    }
}

fn is_news(view: View, on: Date) -> bool {
    days_from_date(view.today) - days_from_date(on) <= NEWS_DAYS
}

/// Whether the amount changed by at least one unit of its currency.
fn matters(stream: &Stream, change: &PriceChange) -> bool {
    let one = 10_u64.pow(stream.currency.decimals());
    change.to_minor.abs_diff(change.from_minor) >= one
}

/// Recent price changes and missed payments.
fn news(view: View, streams: &[&(Stream, String)]) -> Markup {
    let changed: Vec<_> = streams
        .iter()
        .filter_map(|(it, _)| Some((it, it.price_changes.last()?)))
        .filter(|(it, change)| is_news(view, change.on) && matters(it, change))
        .collect();
    let missed: Vec<_> = streams
        .iter()
        .filter_map(|(it, _)| Some((it, it.missed_on.last().filter(|on| is_news(view, **on))?)))
        .collect();
    html! {
        @if !changed.is_empty() || !missed.is_empty() {
            div.columns {
                @if !changed.is_empty() {
                    section.card aria-labelledby="changed" {
                        h2 id="changed" { "Price changes" }
                        ul.rows {
                            @for (stream, change) in &changed {
                                li {
                                    div.what {
                                        a href={ "/recurring/" (stream.id) } { (stream.name) }
                                        (direction_badge(change))
                                        span.soft { "since " (view.day(change.on)) (a_year(view, stream, change)) }
                                    }
                                    span {
                                        (view.money(Money::new(change.from_minor, stream.currency)))
                                        " to "
                                        (view.money(Money::new(change.to_minor, stream.currency)))
                                    }
                                }
                            }
                        }
                    }
                }
                @if !missed.is_empty() {
                    section.card aria-labelledby="missed" {
                        h2 id="missed" { "Missed payments" }
                        ul.rows {
                            @for (stream, on) in &missed {
                                li {
                                    div.what { a href={ "/recurring/" (stream.id) } { (stream.name) } }
                                    span.soft { "expected " (view.day(**on)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn direction_badge(change: &PriceChange) -> Markup {
    html! {
        @if change.to_minor > change.from_minor { " " span.badge.warn { "Up" } }
        @else { " " span.badge { "Down" } }
    }
}

/// What a price change amounts to in a year: ", $24.00 more a year".
fn a_year(view: View, stream: &Stream, change: &PriceChange) -> String {
    let by = change.to_minor.saturating_sub(change.from_minor);
    let yearly = stream.frequency.monthly(by.saturating_abs().saturating_mul(12));
    let word = if by > 0 { "more" } else { "less" };
    format!(", {} {word} a year", view.money_text(Money::new(yearly, stream.currency)))
}

fn table(view: View, streams: &[&(Stream, String)], ended: bool) -> Markup {
    html! {
        div.card {
            table.streams {
                thead { tr {
                    th scope="col" { "Name" }
                    th scope="col" { "Frequency" }
                    th scope="col" { @if ended { "Last" } @else { "Next" } }
                    th.figure scope="col" { "Amount" }
                    th.figure.wide-only scope="col" { "Monthly average" }
                } }
                tbody { @for (stream, account) in streams { (row(view, stream, account)) } }
            }
        }
    }
}

fn row(view: View, stream: &Stream, account: &str) -> Markup {
    let money = |minor| Money::new(signed(stream.direction, minor), stream.currency);
    let usual = stream.expected_minor();
    let late = stream.next_expected_on.is_some_and(|it| it < view.today);
    html! {
        tr {
            th.what scope="row" {
                a href={ "/recurring/" (stream.id) } { (stream.name) }
                span.soft { span.narrow { (how_often(stream.frequency)) " · " } (kind(stream.kind)) " · " (account) }
            }
            td.often { (how_often(stream.frequency)) }
            td {
                @match stream.next_expected_on {
                    Some(next) => {
                        (view.relative_day(next))
                        @if late { " " span.badge.warn { "Late" } }
                    }
                    None => (view.day(stream.last_on)),
                }
            }
            td.figure {
                @if stream.is_amount_estimated() { span.soft.inline { "about " } }
                (view.signed(money(usual)))
            }
            td.figure.wide-only { (view.signed(money(stream.monthly_minor))) }
        }
    }
}
