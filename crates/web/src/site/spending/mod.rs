//! The spending page: how much was spent on what, compared with before, month by month, and where the money went.

mod breakdown;
mod choice;
mod money_flow;

use axum::extract::RawQuery;
use base::category::Category;
use base::{Currency, Money};
use maud::{Markup, html};
use service::insights::spending::history::{self, History, MoneyFlow};
use service::insights::spending::{self, Query};
use service::ledger::net_worth;
use service::ledger::rates::UsedRate;
use wire::v1;

use super::app_page::AppPage;
use super::chart::{Group, Series, Stacks};
use super::errors::PageResult;
use super::excluded;
use super::fields::{Field, FormError};
use super::format::View;
use super::icons;
use super::navigation::NavItem;
use super::person::Person;
use choice::{Choice, CompareChoice, PeriodChoice};

/// The months of the chart, and of the average.
const MONTHS: i64 = 13;
/// The colors of the chart; smaller categories are summed up.
const CHART_CATEGORIES: usize = 8;
const GROUPS_MAX: usize = 40;
const MERCHANTS_MAX: usize = 8;

/// The data of the page.
struct SpendingPage<'a> {
    person: &'a Person,
    choice: Choice,
    currency: Currency,
    spending: v1::Spending,
    /// The largest merchants, unless the groups are merchants.
    merchants: Option<v1::Spending>,
    history: History,
    flow: Option<MoneyFlow>,
    rates: Vec<UsedRate>,
}

pub(super) async fn get(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let choice = Choice::read(query.as_deref().unwrap_or_default(), person.view.today);
    let page = SpendingPage::read(&person, choice).await?;
    let main = page.show();
    Ok(AppPage::new(NavItem::Spending, "Spending").page(&person, main))
}

impl SpendingPage<'_> {
    async fn read(person: &Person, choice: Choice) -> service::Result<SpendingPage<'_>> {
        let (app, caller) = (person.app(), &person.caller);
        let asked = Query {
            start_on: Some(choice.days.start),
            end_on: Some(choice.days.end),
            group_by: choice.by,
            compare: Some(choice.compared_with()),
            category_tier1: choice.category.clone(),
            limit: GROUPS_MAX,
            ..Query::default()
        };
        let by_merchant =
            Query { group_by: spending::GroupBy::Merchant, limit: MERCHANTS_MAX, ..asked.clone() };
        let merchants = async {
            match choice.by {
                spending::GroupBy::Merchant => Ok(None),
                _ => spending::get(app, caller, &by_merchant).await.map(Some),
            }
        };
        let flow = async {
            match choice.category {
                Some(_) => Ok(None),
                None => history::money_flow(app, caller, choice.days).await.map(Some),
            }
        };
        let (end, tier1) = (choice.days.end, choice.category.as_deref());
        let (spending, merchants, history, flow, rates) = tokio::try_join!(
            spending::get(app, caller, &asked),
            merchants,
            history::by_month(app, caller, end, MONTHS, tier1),
            flow,
            net_worth::used_rates(app, caller),
        )?;
        let currency = history.currency;
        Ok(SpendingPage { person, choice, currency, spending, merchants, history, flow, rates })
    }

    fn view(&self) -> View {
        self.person.view
    }

    fn money(&self, minor: i64) -> Money {
        Money::new(minor, self.currency)
    }

    fn show(&self) -> Markup {
        if self.spending.totals.spending.is_none() {
            return nothing();
        }
        html! {
            (self.heading())
            @if let Some(refused) = &self.choice.refused {
                p.warning role="alert" { (refused.reason) " This month is shown instead." }
            }
            (self.periods())
            section.card aria-labelledby="total" {
                (self.headline())
                (self.chart())
                (excluded::codes_note(self.history.excluded.iter().map(|it| it.code())))
            }
            (self.left_out())
            section.card aria-labelledby="groups" {
                header { h2 id="groups" { "Where did it go?" } (self.groupings()) }
                (self.breakdown())
            }
            @if let Some(merchants) = &self.merchants { (self.merchants_card(merchants)) }
            @if let Some(flow) = &self.flow { (self.flow_card(flow)) }
        }
    }

    fn heading(&self) -> Markup {
        html! {
            @match self.category_name() {
                Some(name) => {
                    @let all = Choice { category: None, ..self.choice.clone() };
                    div.lead-in {
                        p { a href=(all.href()) { "All spending" } }
                        h1 { (name) }
                    }
                }
                None => { h1 { "Spending" } }
            }
        }
    }

    /// The primary category that is shown alone.
    fn category_name(&self) -> Option<String> {
        let primary = self.choice.category.as_deref()?;
        Category::ALL.iter().find(|it| it.primary() == primary).map(|it| it.primary_label())
    }

    fn periods(&self) -> Markup {
        let (from, to) = match &self.choice.refused {
            Some(refused) => (refused.from.clone(), refused.to.clone()),
            None => (self.choice.days.start.to_string(), self.choice.days.end.to_string()),
        };
        let nothing_wrong = FormError::default();
        let is_typed = self.choice.period == PeriodChoice::Days || self.choice.refused.is_some();
        html! {
            nav aria-label="Period" {
                ul.chips {
                    @for period in PeriodChoice::ALL.iter().filter(|it| **it != PeriodChoice::Days) {
                        @let there = Choice { period: *period, ..self.choice.clone() };
                        @let current = (*period == self.choice.period).then_some("true");
                        li { a href=(there.href()) aria-current=[current] { (period.name()) } }
                    }
                }
            }
            details open[is_typed] {
                summary { (PeriodChoice::Days.name()) }
                form.filters method="get" action="/spending" {
                    input type="hidden" name="period" value=(PeriodChoice::Days.as_str());
                    input type="hidden" name="compare" value=(self.choice.compare.as_str());
                    input type="hidden" name="by" value=(self.choice.by.as_str());
                    @if let Some(category) = &self.choice.category {
                        input type="hidden" name="category" value=(category);
                    }
                    (Field::text("from", "From", &from).kind("date").show(&nothing_wrong))
                    (Field::text("to", "To", &to).kind("date").show(&nothing_wrong))
                    button type="submit" { "Show these dates" }
                }
            }
        }
    }

    fn headline(&self) -> Markup {
        let view = self.view();
        let days = self.choice.days;
        html! {
            header {
                div {
                    h2.label id="total" {
                        "Spent " (view.day(days.start)) " to " (view.day(days.end))
                    }
                    p.big {
                        @if let Some(total) = &self.spending.totals.spending {
                            (view.decimal(total, self.currency))
                        }
                    }
                    p.soft { (self.change()) }
                    p.soft { "Refunds are subtracted. Pending transactions count once they are posted." }
                }
                (self.comparisons())
            }
        }
    }

    /// The change since the period that it is compared with.
    fn change(&self) -> Markup {
        let view = self.view();
        let now = self.minor(self.spending.totals.spending.as_ref());
        let (before, with) = match self.choice.compare {
            CompareChoice::Usual => (self.usual_total(), html! { "an average month" }),
            CompareChoice::Before | CompareChoice::Year => {
                let comparison = self.spending.comparison.as_ref();
                let before = comparison.and_then(|it| it.totals.spending.as_ref());
                let days = comparison.map(|it| (it.start_date.0, it.end_date.0));
                let with = html! {
                    @if let Some((start, end)) = days { (view.unbroken_day(start)) " to " (view.unbroken_day(end)) }
                };
                (before.map(|it| self.minor(Some(it))), with)
            }
        };
        let Some(before) = before else { return html! { "Nothing to compare with yet." } };
        let difference = now.saturating_sub(before);
        let amount = view.money(self.money(difference.saturating_abs()));
        html! {
            @match difference {
                1.. => { strong { (amount) " more" } " than " (with) }
                0 => { "The same as " (with) }
                _ => { strong { (amount) " less" } " than " (with) }
            }
            " (" (view.money(self.money(before))) ")"
        }
    }

    fn minor(&self, number: Option<&wire::json::Number>) -> i64 {
        let parsed = number.and_then(|it| Money::parse(it.as_str(), self.currency).ok());
        parsed.map_or(0, |it| it.minor())
    }

    /// The average month's spending in all categories.
    fn usual_total(&self) -> Option<i64> {
        let usual = self.history.categories.iter().map(|it| self.history.usual_minor(&it.key));
        usual.flatten().reduce(i64::saturating_add)
    }

    fn comparisons(&self) -> Markup {
        let mut choices =
            vec![(CompareChoice::Before, "Period before"), (CompareChoice::Year, "Year before")];
        if self.choice.has_usual() {
            choices.push((CompareChoice::Usual, "Average"));
        }
        html! {
            nav aria-label="Compare with" {
                ul.chips {
                    @for (compare, name) in choices {
                        @let there = Choice { compare, ..self.choice.clone() };
                        @let current = (compare == self.choice.compare).then_some("true");
                        li { a href=(there.href()) aria-current=[current] { (name) } }
                    }
                }
            }
        }
    }

    /// Spending by category for each month. Smaller categories are summed up.
    fn chart(&self) -> Markup {
        let categories = &self.history.categories;
        let shown = categories.len().min(CHART_CATEGORIES);
        let color = |key: &str, index: usize| match self.choice.category {
            // Within a category its detailed ones share the category's icon, so colors go by their order.
            Some(_) => format!("c{index}"),
            None => icons::category_color(key),
        };
        let mut series: Vec<Series> = categories[..shown]
            .iter()
            .enumerate()
            .map(|(index, it)| Series { name: it.label.clone(), color: color(&it.key, index) })
            .collect();
        let has_rest = shown < categories.len();
        if has_rest {
            series.push(Series { name: "Other".to_owned(), color: "c14".to_owned() });
        }
        let group = |(index, month): (usize, &base::Date)| {
            let mut minor: Vec<i64> =
                categories[..shown].iter().map(|it| it.minor[index]).collect();
            if has_rest {
                let rest = categories[shown..].iter().map(|it| it.minor[index]);
                minor.push(rest.fold(0, i64::saturating_add));
            }
            Group { month: *month, minor }
        };
        let groups: Vec<Group> = self.history.months.iter().enumerate().map(group).collect();
        html! {
            @if categories.is_empty() {
                p.soft { "No spending in these months." }
            } @else {
                (Stacks { title: "Spending by month", currency: self.currency, series: &series, groups: &groups }
                    .draw(self.view()))
            }
        }
    }

    /// Spending that is in no total because there is no exchange rate for it, and the rates of what is.
    fn left_out(&self) -> Markup {
        let comparison = self.spending.comparison.as_ref();
        let before = comparison.map(|it| it.excluded.as_slice()).unwrap_or_default();
        // The average is of the chart's months, which name their currencies themselves.
        let is_shown = self.choice.compare != CompareChoice::Usual && !before.is_empty();
        html! {
            (excluded::wire_note(self.view(), &self.spending.excluded))
            @if is_shown {
                p { "In the period that it is compared with:" }
                (excluded::wire_note(self.view(), before))
            }
            (excluded::daily_rates(self.view(), self.currency, &self.rates))
        }
    }

    fn groupings(&self) -> Markup {
        use spending::GroupBy;
        let choices = [
            (GroupBy::Category, "Category"),
            (GroupBy::Merchant, "Merchant"),
            (GroupBy::Account, "Account"),
        ];
        html! {
            nav aria-label="Group by" {
                ul.chips {
                    @for (by, name) in choices {
                        @let there = Choice { by, ..self.choice.clone() };
                        @let current = (by == self.choice.by).then_some("true");
                        li { a href=(there.href()) aria-current=[current] { (name) } }
                    }
                }
            }
        }
    }
}

/// The page without any spending.
fn nothing() -> Markup {
    html! {
        h1 { "Spending" }
        div.empty {
            h2 { "No transactions yet" }
            p { "This page will show what you spend by category, merchant and month." }
            a.button href="/import" { "Import bank files" }
        }
    }
}
