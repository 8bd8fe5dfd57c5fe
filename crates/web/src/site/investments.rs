//! The investments page: holdings by asset class with value, daily change and gain.

use axum::extract::RawQuery;
use base::draft::AssetClass;
use base::{Currency, Money, Percent};
use maud::{Markup, html};
use service::ledger::investments::{self, Holding, Investments, View as Order, parse_sort};

use super::app_page::AppPage;
use super::errors::PageResult;
use super::format::{self, View};
use super::navigation::NavItem;
use super::person::Person;
use super::urls;

/// The sortable columns: their name in the URL and their label.
const COLUMNS: [(&str, &str); 6] = [
    ("symbol", "Holding"),
    ("quantity", "Quantity"),
    ("last_price", "Price"),
    ("current_value", "Value"),
    ("day_change", "Today"),
    ("total_gain_loss", "Gain"),
];

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let sorting = Sorting::read(query.as_deref());
    let sort_by = parse_sort(&sorting.sort)?;
    let order = Order { asset_class: None, sort_by, descending: sorting.descending };
    let found = investments::list(person.app(), &person.caller, None, order).await?;
    let main = html! {
        h1 { "Investments" }
        @if found.portfolio.groups.is_empty() { (empty()) } @else { (page(&found, &sorting, &person)) }
    };
    Ok(AppPage::new(NavItem::Investments, "Investments").page(&person, main))
}

struct Sorting {
    sort: String,
    descending: bool,
}

impl Sorting {
    /// Reads the sorting from the URL. Unknown values fall back to the default.
    fn read(query: Option<&str>) -> Sorting {
        let pairs = query.and_then(urls::parse_pairs).unwrap_or_default();
        let value = |name: &str| pairs.iter().find(|(it, _)| it == name).map(|(_, it)| it.as_str());
        let known = value("sort").filter(|it| COLUMNS.iter().any(|(name, _)| name == it));
        Sorting {
            sort: known.unwrap_or("current_value").to_owned(),
            descending: value("order") != Some("asc"),
        }
    }
}

fn empty() -> Markup {
    html! {
        div.empty {
            h2 { "No holdings yet" }
            p { "Add an investment account to see its holdings, their value, daily change and gain." }
            a href="/accounts" { "Go to accounts" }
        }
    }
}

fn page(found: &Investments, sorting: &Sorting, person: &Person) -> Markup {
    let view = person.view;
    let total = &found.portfolio.account_total;
    let money = |minor: Option<i64>| minor.map(|it| Money::new(it, found.base_currency));
    html! {
        dl.tiles {
            div.tile { dt { "Value" } dd { (view.money_or_unknown(money(total.current_value_minor))) } }
            div.tile {
                dt { "Today" }
                dd { (change(view, money(total.day_change_minor), total.day_change_percent)) }
            }
            div.tile {
                dt { "Gain" }
                dd { (change(view, money(total.total_gain_loss_minor), total.total_gain_loss_percent)) }
            }
        }
        p.soft {
            "Holdings without a cost are excluded from gains."
        }
        @for group in &found.portfolio.groups {
            section.card aria-label=(class_name(group.asset_class)) {
                h2 { (class_name(group.asset_class)) }
                div.scroll tabindex="0" role="group"
                    aria-label={ (class_name(group.asset_class)) " holdings" } {
                    table.holdings.labelled {
                        thead { tr { @for column in COLUMNS { (head(column, sorting)) }
                            th.figure scope="col" { "Share" } } }
                        tbody { @for holding in &group.holdings { (row(view, holding)) } }
                    }
                }
            }
        }
    }
}

/// A column header that links to the list sorted by it, or reversed if it is sorted by it already.
fn head((name, label): (&str, &str), sorting: &Sorting) -> Markup {
    let sorted = sorting.sort == name;
    let next = if sorted && sorting.descending { "asc" } else { "desc" };
    let direction = if sorting.descending { "descending" } else { "ascending" };
    let href = format!("/investments{}", urls::query_string(&[("sort", name), ("order", next)]));
    let class = if name == "symbol" { "name" } else { "figure" };
    html! {
        th.(class) scope="col" aria-sort=[sorted.then_some(direction)] {
            a href=(href) { (label) }
            @if sorted { span aria-hidden="true" { (if sorting.descending { " ↓" } else { " ↑" }) } }
        }
    }
}

fn row(view: View, holding: &Holding) -> Markup {
    let money = |minor: Option<i64>| minor.map(|it| Money::new(it, holding.currency));
    html! {
        tr {
            th scope="row" {
                @if let Some(symbol) = &holding.symbol { strong { (symbol) } " " }
                (holding.name)
                @if let Some(at) = holding.last_price_at {
                    span.soft { "Price as of " (view.local(at, "%a %-d %b %Y, %H:%M %Z")) }
                }
            }
            td.figure data-label="Quantity" { (holding.quantity) }
            td.figure data-label="Price" { (price(view, holding.last_price, holding.currency)) }
            td.figure data-label="Value" { (view.money_or_unknown(money(holding.current_value_minor))) }
            td.figure data-label="Today" { (change(view, money(holding.day_change_minor), holding.day_change_percent)) }
            td.figure data-label="Gain" {
                @if holding.cost_basis_total_minor.is_none() {
                    span.soft { "Cost unknown" }
                } @else {
                    (change(view, money(holding.total_gain_loss_minor), holding.total_gain_loss_percent))
                }
            }
            td.figure data-label="Share" {
                @if let Some(share) = holding.percent_of_account { (format::percent(share)) }
            }
        }
    }
}

/// A price, which may have more decimals than its currency.
fn price(view: View, price: Option<base::Fixed9>, currency: Currency) -> Markup {
    match price {
        None => html! { span.soft { "Unknown" } },
        Some(price) => html! { (view.price_text(price, currency)) },
    }
}

fn change(view: View, amount: Option<Money>, percent: Option<Percent>) -> Markup {
    html! {
        @match amount {
            Some(amount) => (view.signed(amount)),
            None => span.soft { "Unknown" },
        }
        @if let Some(percent) = percent { " " span.soft { (format::percent(percent)) } }
    }
}

fn class_name(class: AssetClass) -> String {
    let word = class.as_str().replace('_', " ");
    super::errors::sentence(&word).trim_end_matches('.').to_owned()
}
