//! The investments page: value and return over time, allocation, dividends, and holdings by asset class.

mod returns;

use axum::extract::RawQuery;
use base::draft::AssetClass;
use base::{Currency, Money, Percent};
use maud::{Markup, html};
use service::ledger::investments::{self, Holding, Investments, View as Order, parse_sort};
use service::ledger::performance::{self, Development};

use crate::site::app_page::AppPage;
use crate::site::chart::Shares;
use crate::site::errors::PageResult;
use crate::site::excluded;
use crate::site::format::{self, View};
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::urls;

/// The sortable columns: their name in the URL and their label.
const COLUMNS: [(&str, &str); 6] = [
    ("symbol", "Holding"),
    ("quantity", "Quantity"),
    ("last_price", "Price"),
    ("current_value", "Value"),
    ("day_change", "Today"),
    ("total_gain_loss", "Gain"),
];

pub(in crate::site) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let sorting = Sorting::read(query.as_deref());
    let sort_by = parse_sort(&sorting.sort)?;
    let order = Order { asset_class: None, sort_by, descending: sorting.descending };
    let (app, caller, span) = (person.app(), &person.caller, person.range);
    let (found, development) = tokio::try_join!(
        investments::list(app, caller, None, order),
        performance::get(app, caller, None, span),
    )?;
    let main = html! {
        h1 { "Investments" }
        @if found.portfolio.groups.is_empty() && development.points.len() < 2 { (empty()) }
        @else { (page(&found, &development, &sorting, &person)) }
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
            a.button.outlined href="/accounts" { "Go to accounts" }
        }
    }
}

fn page(
    found: &Investments,
    development: &Development,
    sorting: &Sorting,
    person: &Person,
) -> Markup {
    let view = person.view;
    let total = &found.portfolio.account_total;
    let money = |minor: Option<i64>| minor.map(|it| Money::new(it, found.base_currency));
    html! {
        dl.tiles.sums {
            div.tile { dt { "Value of holdings" } dd { (view.money_or_unknown(money(total.current_value_minor))) } }
            div.tile {
                dt { "Today" }
                dd { (change(view, money(total.day_change_minor), total.day_change_percent)) }
            }
            div.tile {
                dt { "Gain since purchase" }
                dd { (change(view, money(total.total_gain_loss_minor), total.total_gain_loss_percent)) }
            }
        }
        p.soft { "Holdings without a known cost are left out of the gain." }
        (excluded::note(view, &found.excluded))
        (excluded::rates(view, found.base_currency, &found.rates))
        (returns::card(person, development))
        div.columns {
            (allocation(view, found))
            (returns::dividends(view, development))
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

/// The share of each asset class in the value of all holdings.
fn allocation(view: View, found: &Investments) -> Markup {
    let sums: Vec<(AssetClass, i64)> = found
        .portfolio
        .groups
        .iter()
        .map(|it| (it.asset_class, it.value_minor.unwrap_or(0)))
        .filter(|(_, minor)| *minor > 0)
        .collect();
    let sizes: Vec<i64> = sums.iter().map(|it| it.1).collect();
    let total: i64 = sizes.iter().fold(0, |sum, it| sum.saturating_add(*it));
    html! {
        @if total > 0 {
            section.card aria-labelledby="allocation" {
                h2 id="allocation" { "Allocation" }
                (Shares(&sizes).draw())
                ul.rows {
                    @for (index, (class, minor)) in sums.iter().enumerate() {
                        li {
                            span.what {
                                (Shares::key(index)) (class_name(*class))
                                @if let Some(share) = Percent::of(*minor, total) {
                                    " " span.count { (format::percent(share)) }
                                }
                            }
                            (view.money(Money::new(*minor, found.base_currency)))
                        }
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

/// The holdings of one account, without links that sort them.
pub(in crate::site) fn holdings_table(view: View, name: &str, holdings: &[&Holding]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label={ (name) " holdings" } {
            table.holdings.labelled {
                thead { tr {
                    th.name scope="col" { "Holding" }
                    @for (_, label) in &COLUMNS[1..] { th.figure scope="col" { (label) } }
                    th.figure scope="col" { "Share" }
                } }
                tbody { @for holding in holdings { (row(view, holding)) } }
            }
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
            td.figure data-label="Quantity" { (view.quantity_text(holding.quantity)) }
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
        @if let Some(percent) = percent { " " span.soft { (format::signed_percent(percent)) } }
    }
}

fn class_name(class: AssetClass) -> String {
    let word = class.as_str().replace('_', " ");
    crate::site::errors::sentence(&word).trim_end_matches('.').to_owned()
}
