//! The paper trading pages: accounts with simulated money, their holdings and activity.

mod order;

use axum::Router;
use axum::extract::{Path, RawQuery};
use base::{Currency, Money, PaperAccountId, Percent};
use maud::{Markup, html};
use service::platform::cursors::Page;
use service::trading::paper::{self, Account, Activity, Holding};

use super::app_page::AppPage;
use super::errors::{PageError, PageResult};
use super::fields::FormError;
use super::format::{self, View};
use super::navigation::NavItem;
use super::person::Person;
use super::urls;
use crate::WebState;
use crate::routing::{get, get_and_post, post};

const ACTIVITY_PAGE: usize = 50;

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route("/paper", get_and_post(list, order::open))
        .route("/paper/{id}", get(one))
        .route("/paper/{id}/order", post(order::place))
}

async fn list(person: Person) -> PageResult {
    list_with(&person, &order::NewAccountForm::default(), &FormError::default()).await
}

async fn list_with(
    person: &Person,
    typed: &order::NewAccountForm,
    wrong: &FormError,
) -> PageResult {
    let accounts = paper::list_accounts(person.app(), &person.caller).await?;
    let main = html! {
        h1 { "Paper trading" }
        p.soft { "Practice trading with simulated money at market prices." }
        @if accounts.is_empty() {
            div.empty {
                h2 { "No paper accounts yet" }
                p { "Open one below. Every trade needs your approval." }
            }
        }
        @if !accounts.is_empty() {
            div.columns { @for account in &accounts { (card(person.view, account)) } }
        }
        (order::new_account(person, typed, wrong, accounts.is_empty()))
    };
    let status = if wrong.message.is_empty() { 200 } else { 400 };
    let status = http::StatusCode::from_u16(status).unwrap_or_default();
    let page = AppPage { live: true, ..AppPage::new(NavItem::Paper, "Paper trading") };
    Ok(page.page_with(status, person, main))
}

fn card(view: View, account: &Account) -> Markup {
    html! {
        article.card {
            header {
                h2 { a href={ "/paper/" (account.id) } { (account.name) } }
                @if !account.is_open { span.badge { "Closed" } }
            }
            p { span.big { (view.money_or_unknown(account.total_value())) } }
            p.soft {
                "Gain " (change(view, account.gain(), account.gain_percent()))
                ". " (format::plural(account.holdings.len() as i64, "holding", "holdings")) ", "
                (format::plural(account.trade_count, "trade", "trades")) "."
            }
        }
    }
}

fn change(view: View, money: Option<Money>, percent: Option<Percent>) -> Markup {
    html! {
        @match money {
            Some(money) => {
                (view.signed(money))
                @if let Some(percent) = percent { " (" (format::signed_percent(percent)) ")" }
            }
            None => span.soft { "Unknown" },
        }
    }
}

/// A change with its percentage in a line of its own.
fn change_below(view: View, money: Option<Money>, percent: Option<Percent>) -> Markup {
    html! {
        (change(view, money, None))
        @if let Some(percent) = percent.filter(|_| money.is_some()) {
            " " span.soft { (format::signed_percent(percent)) }
        }
    }
}

async fn one(person: Person, Path(id): Path<String>, RawQuery(query): RawQuery) -> PageResult {
    let id = parse(&id)?;
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let cursor = pairs.iter().find(|(it, _)| it == "cursor").map(|(_, it)| it.as_str());
    one_with(&person, id, cursor, &order::OrderForm::default(), &FormError::default()).await
}

async fn one_with(
    person: &Person,
    id: PaperAccountId,
    cursor: Option<&str>,
    typed: &order::OrderForm,
    wrong: &FormError,
) -> PageResult {
    let account = paper::get_account(person.app(), &person.caller, id).await?;
    let page = Page { cursor, limit: ACTIVITY_PAGE };
    let history = paper::list_activity(person.app(), &person.caller, id, page).await?;
    let view = person.view;
    let main = html! {
        p.trail { a href="/paper" { "Paper trading" } }
        div.heading { h1 { (account.name) } span.badge { "Simulated" } }
        (tiles(view, &account))
        (holdings(view, &account))
        (order::form(person, &account, typed, wrong))
        section.card aria-labelledby="activity" {
            h2 id="activity" { "Activity" }
            ul.rows { @for it in &history.rows { (activity(person, it)) } }
            @if let Some(cursor) = &history.next_cursor {
                nav.pages aria-label="Activity pages" {
                    span {}
                    a href={ "/paper/" (id) "?cursor=" (cursor) } { "Older" }
                }
            }
        }
    };
    let status = if wrong.message.is_empty() { 200 } else { 400 };
    let status = http::StatusCode::from_u16(status).unwrap_or_default();
    let page = AppPage { live: true, ..AppPage::new(NavItem::Paper, &account.name) };
    Ok(page.page_with(status, person, main))
}

fn tiles(view: View, account: &Account) -> Markup {
    html! {
        dl.tiles {
            div.tile { dt { "Value" } dd { (view.money_or_unknown(account.total_value())) } }
            div.tile {
                dt { "Today" }
                dd { (change_below(view, account.day_change(), account.day_change_percent())) }
            }
            div.tile {
                dt { "Gain" }
                dd { (change_below(view, account.gain(), account.gain_percent())) }
            }
            div.tile {
                dt { "Buying power" }
                dd {
                    (view.money(account.buying_power()))
                    @if account.reserved_minor > 0 {
                        span.soft {
                            (view.money(dollars(account.reserved_minor)))
                            " reserved for pending orders"
                        }
                    }
                }
            }
        }
    }
}

fn holdings(view: View, account: &Account) -> Markup {
    html! {
        section.card aria-labelledby="holdings" {
            h2 id="holdings" { "Holdings" }
            @if account.holdings.is_empty() {
                p.soft { "No holdings yet." }
            } @else {
                div.scroll {
                    table.labelled {
                        thead {
                            tr {
                                th scope="col" { "Holding" }
                                @for name in ["Quantity", "Price", "Value", "Cost", "Gain"] {
                                    th.figure scope="col" { (name) }
                                }
                            }
                        }
                        tbody { @for it in &account.holdings { (holding(view, it)) } }
                    }
                }
            }
        }
    }
}

fn holding(view: View, it: &Holding) -> Markup {
    let quote = it.priced.as_ref();
    let gain = it.gain_minor();
    html! {
        tr {
            th scope="row" {
                strong { (it.symbol) } " " span.soft { (it.name.as_deref().unwrap_or_default()) }
            }
            td.figure data-label="Quantity" { (view.quantity_text(it.quantity)) }
            td.figure data-label="Price" {
                @match quote {
                    Some(priced) => {
                        (view.price_text(priced.quote.price, Currency::USD))
                        @if priced.is_stale { " " span.badge.warn { "Stale" } }
                    }
                    None => span.soft { "Unknown" },
                }
            }
            td.figure data-label="Value" { (view.money_or_unknown(it.value_minor().map(dollars))) }
            td.figure data-label="Cost" { (view.money(dollars(it.basis_minor))) }
            td.figure data-label="Gain" {
                (change(view, gain.map(dollars), gain.and_then(|gain| Percent::of(gain, it.basis_minor))))
            }
        }
    }
}

fn activity(person: &Person, it: &Activity) -> Markup {
    let view = person.view;
    html! {
        li {
            span.what {
                (activity_name(view, it))
                span.soft {
                    (person.view.time_ago(it.at, person.app().clock.now()))
                    @if let Some(price) = it.price { ", at " (view.price_text(price, Currency::USD)) }
                    @if it.realised_minor != 0 {
                        ", realized " (view.signed(dollars(it.realised_minor)))
                    }
                }
            }
            @if it.is_reservation() {
                span.soft { (view.money(dollars(it.reserved_minor.abs()))) }
            } @else {
                (view.signed(dollars(it.amount_minor)))
            }
        }
    }
}

/// The name of an activity, such as "Bought 3 VTI", without the number of shares if amounts are hidden.
fn activity_name(view: View, it: &Activity) -> String {
    match it.quantity {
        Some(quantity) if view.hide_amounts => {
            it.name().replacen(&quantity.to_string(), &view.quantity_text(quantity), 1)
        }
        _ => it.name(),
    }
}

fn dollars(minor: i64) -> Money {
    Money::new(minor, Currency::USD)
}

/// Parses the id in a path. A malformed id gets the same page as an unknown one.
fn parse(id: &str) -> Result<PaperAccountId, PageError> {
    PaperAccountId::parse(id).map_err(|_| PageError::not_found())
}
