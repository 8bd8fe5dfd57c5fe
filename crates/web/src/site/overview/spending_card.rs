//! Overview cards about this month's money: spending by category against the usual, and the cash until the next income.

use base::Money;
use maud::{Markup, html};
use service::insights::cash_left::CashLeft;
use service::insights::spending::history::CategoryMonths;

use super::OverviewData;
use crate::site::excluded;
use crate::site::format::{View, plural};
use crate::site::icons;
use crate::site::person::Person;
use crate::site::urls;

const CATEGORIES_SHOWN: usize = 6;

/// This month's largest categories, each with a mark at what is usual.
pub(super) fn spending(person: &Person, data: &OverviewData) -> Markup {
    let (view, history) = (person.view, &data.history);
    let mut shown: Vec<(&CategoryMonths, i64, Option<i64>)> = history
        .categories
        .iter()
        .map(|it| (it, history.last_minor(&it.key), history.usual_minor(&it.key)))
        .filter(|(_, now, usual)| *now > 0 || usual.is_some_and(|it| it > 0))
        .collect();
    shown.sort_by_key(|(it, now, _)| (-*now, it.key.clone()));
    shown.truncate(CATEGORIES_SHOWN);
    let largest = shown.iter().map(|(_, now, usual)| (*now).max(usual.unwrap_or(0))).max();
    html! {
        section.card aria-labelledby="spending" {
            header {
                h2 id="spending" { "Spending this month" }
                a.more href="/spending" { "All spending" }
            }
            @if shown.is_empty() {
                p.soft { "Nothing was spent this month." }
            } @else {
                ul.rows {
                    @for (category, now, usual) in &shown {
                        (row(view, data, category, (*now, *usual), largest.unwrap_or(0)))
                    }
                }
                @if history.usual_minor("").is_some() {
                    p.soft { "The line marks an average month." }
                }
            }
            (excluded::currencies_note(&data.worth.excluded))
        }
    }
}

fn row(
    view: View,
    data: &OverviewData,
    category: &CategoryMonths,
    (now, usual): (i64, Option<i64>),
    largest: i64,
) -> Markup {
    let money = |minor| Money::new(minor, data.history.currency);
    let href = match category.key.as_str() {
        "UNCATEGORIZED" => "/transactions?category=none".to_owned(),
        key => format!("/spending{}", urls::query_string(&[("category", key)])),
    };
    html! {
        li.spent-on {
            span.marked {
                (icons::primary_mark(&category.key))
                a href=(href) { (category.label) }
            }
            span {
                (view.money(money(now)))
                @if let Some(usual) = usual { span.soft.about { " average " (view.whole_money_text(money(usual))) } }
            }
            (bar(now, usual, largest, &icons::category_color(&category.key)))
        }
    }
}

/// A bar with a line at the usual amount. The figures stand beside it.
fn bar(now: i64, usual: Option<i64>, largest: i64, color: &str) -> Markup {
    let width = |minor: i64| i128::from(minor.max(0)) * 1_000 / i128::from(largest.max(1));
    html! {
        svg.gauge-bar viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect.rest x="0" y="1" width="1000" height="8" {}
            rect.stave.(color) x="0" y="1" width=(width(now)) height="8" {}
            @if let Some(usual) = usual.map(width) { line.usual x1=(usual) x2=(usual) y1="0" y2="10" {} }
        }
    }
}

/// What remains after the bills that come before the next income.
pub(super) fn cash(person: &Person, data: &OverviewData, left: &CashLeft) -> Markup {
    let view = person.view;
    let money = |minor| Money::new(minor, left.currency);
    html! {
        section.card aria-labelledby="cash" {
            header {
                h2 id="cash" { "Cash until next income" }
                a.more href="/recurring" { "Bills" }
            }
            p.big { (view.money(money(left.left_minor()))) }
            p.soft {
                (view.money(money(left.cash_minor))) " in your checking accounts"
                @if left.bill_count > 0 {
                    ", minus " (view.money(money(left.bills_minor))) " for "
                    (plural(left.bill_count as i64, "bill", "bills")) " due before "
                } @else {
                    ". No bills are due before "
                }
                (left.income_name) ", expected " (view.relative_day(left.income_on)) "."
            }
            (excluded::currencies_note(&data.worth.excluded))
        }
    }
}
