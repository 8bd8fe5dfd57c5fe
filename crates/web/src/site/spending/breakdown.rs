//! The groups of the spending page: categories, merchants or accounts, with their share and change.

use base::{Currency, Money};
use maud::{Markup, html};
use service::insights::spending::{GroupBy, UNKNOWN};
use wire::v1;

use super::choice::{Choice, CompareChoice};
use super::{CHART_CATEGORIES, SpendingPage};
use crate::site::format::plural;
use crate::site::icons;

impl SpendingPage<'_> {
    pub(super) fn breakdown(&self) -> Markup {
        let groups = &self.spending.groups;
        let largest = groups.iter().map(|it| self.minor(Some(&it.amount))).max().unwrap_or(0);
        html! {
            @if groups.is_empty() {
                p.soft { "Nothing was spent on these days." }
            } @else {
                table.spent {
                    thead { tr {
                        th scope="col" { (self.kind_of_group()) }
                        th scope="col" { span.hush { "Share" } }
                        th.figure scope="col" { "Spent" }
                        th.figure scope="col" { (self.compared_name()) }
                        th.figure scope="col" { "Change" }
                    } }
                    tbody {
                        @for group in groups { (self.row(group, largest, true)) }
                        @if let Some(other) = &self.spending.other { (self.row(other, largest, false)) }
                    }
                }
            }
        }
    }

    fn kind_of_group(&self) -> &'static str {
        match self.choice.by {
            GroupBy::Merchant => "Merchant",
            GroupBy::Account => "Account",
            GroupBy::Category | GroupBy::Month => "Category",
        }
    }

    fn compared_name(&self) -> &'static str {
        match self.choice.compare {
            CompareChoice::Before => "Before",
            CompareChoice::Year => "Year before",
            CompareChoice::Usual => "Average",
        }
    }

    fn row(&self, group: &v1::SpendingGroup, largest: i64, is_group: bool) -> Markup {
        let view = self.view();
        let minor = self.minor(Some(&group.amount));
        let before = match self.choice.compare {
            CompareChoice::Usual => self.history.usual_minor(&group.key),
            CompareChoice::Before | CompareChoice::Year => {
                group.previous_amount.as_ref().map(|it| self.minor(Some(it)))
            }
        };
        html! {
            tr {
                th scope="row" {
                    span.marked {
                        (self.mark(group))
                        span {
                            @if is_group { (self.link(group)) } @else { (group.label) }
                            span.soft { (plural(group.transaction_count, "transaction", "transactions")) }
                        }
                    }
                }
                td.gauge { (bar(minor, largest, &self.color(group))) }
                td.figure data-label="Spent" {
                    @if is_group { a href=(self.transactions_of(group)) { (view.money(self.money(minor))) } }
                    @else { (view.money(self.money(minor))) }
                }
                td.figure data-label=(self.compared_name()) { (view.money_or_unknown(before.map(|it| self.money(it)))) }
                td.figure data-label="Change" {
                    @if let Some(before) = before { (view.signed(self.money(minor.saturating_sub(before)))) }
                }
            }
        }
    }

    fn color(&self, group: &v1::SpendingGroup) -> String {
        match (&self.choice.category, self.choice.by) {
            (Some(_), GroupBy::Category) => self.detailed_color(&group.key),
            (Some(category), _) => icons::category_color(category),
            (None, GroupBy::Category) => icons::category_color(&group.key),
            (None, _) => "c13".to_owned(),
        }
    }

    /// The color of a detailed category in the chart above.
    fn detailed_color(&self, key: &str) -> String {
        match self.history.categories.iter().position(|it| it.key == key) {
            Some(index) if index < CHART_CATEGORIES => format!("c{index}"),
            _ => "c14".to_owned(),
        }
    }

    fn mark(&self, group: &v1::SpendingGroup) -> Markup {
        match (&self.choice.category, self.choice.by) {
            (Some(category), GroupBy::Category) => icons::primary_mark(category),
            (None, GroupBy::Category) => icons::primary_mark(&group.key),
            _ => icons::initials_mark(&group.label),
        }
    }

    /// A primary category opens its detailed ones; everything else its transactions.
    fn link(&self, group: &v1::SpendingGroup) -> Markup {
        let is_primary = self.choice.by == GroupBy::Category && self.choice.category.is_none();
        let href = match is_primary && group.key != "UNCATEGORIZED" {
            true => Choice { category: Some(group.key.clone()), ..self.choice.clone() }.href(),
            false => self.transactions_of(group),
        };
        html! { a href=(href) { (group.label) } }
    }

    pub(super) fn transactions_of(&self, group: &v1::SpendingGroup) -> String {
        let key = group.key.as_str();
        self.choice.transactions(match self.choice.by {
            GroupBy::Merchant => of_merchant(key),
            GroupBy::Account => ("account", key),
            GroupBy::Category | GroupBy::Month if key == "UNCATEGORIZED" => ("category", "none"),
            GroupBy::Category | GroupBy::Month => ("category", key),
        })
    }

    pub(super) fn merchants_card(&self, merchants: &v1::Spending) -> Markup {
        let view = self.view();
        let money =
            |it: &wire::json::Number, currency: Currency| match Money::parse(it.as_str(), currency)
            {
                Ok(money) => view.money(money),
                Err(_) => html! {},
            };
        html! {
            @if !merchants.groups.is_empty() {
                section.card aria-labelledby="merchants" {
                    header {
                        h2 id="merchants" { "Top merchants" }
                        @let all = Choice { by: GroupBy::Merchant, ..self.choice.clone() };
                        a.more href=(all.href()) { "All merchants" }
                    }
                    ul.rows {
                        @for group in &merchants.groups {
                            li {
                                span.what.marked {
                                    (icons::initials_mark(&group.label))
                                    span {
                                        a href=(self.choice.transactions(of_merchant(&group.key))) { (group.label) }
                                        span.soft { (plural(group.transaction_count, "transaction", "transactions")) }
                                    }
                                }
                                (money(&group.amount, self.currency))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The filter of the list for a merchant.
fn of_merchant(key: &str) -> (&str, &str) {
    if key == UNKNOWN { ("no_merchant", "yes") } else { ("merchant", key) }
}

/// A bar that shows an amount as a part of the largest one. The amount stands beside it.
fn bar(minor: i64, largest: i64, color: &str) -> Markup {
    // Hundredths of a percent. A small amount is wide enough to be seen.
    let width = i128::from(minor.max(0)) * 10_000 / i128::from(largest.max(1));
    let width = if minor > 0 { width.max(150) } else { 0 };
    html! {
        svg.gauge-bar aria-hidden="true" focusable="false" {
            rect.stave.(color) width={ (width / 100) "." (width % 100 / 10) "%" } height="100%" rx="4" {}
        }
    }
}
