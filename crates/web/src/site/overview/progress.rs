//! Overview cards: this month against the average, goals and scores.

use base::Money;
use maud::{Markup, html};
use service::insights::scores::Observation;
use service::insights::spending::Month;
use service::ledger::goals::Goal;

use super::OverviewData;
use crate::site::chart::{Bars, Group};
use crate::site::errors::sentence;
use crate::site::excluded;
use crate::site::format::View;
use crate::site::person::Person;

const GOALS_SHOWN: usize = 4;

pub(super) fn month(person: &Person, data: &OverviewData) -> Markup {
    let (view, months) = (person.view, &data.months);
    let usual = months.average();
    let money = |minor| Money::new(minor, months.currency);
    let tile = |name: &str, href: &str, minor: i64, usual: Option<i64>| {
        html! {
            div.tile {
                dt { (name) }
                dd {
                    a href=(href) { (view.money(money(minor))) }
                    @if let Some(usual) = usual {
                        span.soft { "average " (view.whole_money_text(money(usual))) }
                    }
                }
            }
        }
    };
    html! {
        section.card aria-labelledby="month" {
            header {
                h2 id="month" { "This month" }
                a.more href="/income" { "Income details" }
            }
            dl.tiles {
                // The income page counts a paycheck in the month in which it was earned, so its average differs.
                (tile("Income received", "/income", months.this.totals.income_minor,
                    usual.map(|it| it.income_minor)))
                (tile("Spending", "/spending", months.this.totals.spending_minor,
                    usual.map(|it| it.spending_minor)))
            }
            (excluded::currencies_note(&data.worth.excluded))
            (bars(view, data))
        }
    }
}

fn bars(view: View, data: &OverviewData) -> Markup {
    let months = &data.months;
    let group = |it: &Month| Group {
        month: it.start,
        minor: vec![it.totals.income_minor, it.totals.spending_minor],
    };
    let groups: Vec<Group> = months.past.iter().map(group).collect();
    let (title, series) = ("Income and spending by month", &["Income", "Spending"]);
    html! {
        @if groups.is_empty() {
            p.soft { "Your monthly averages appear here after your first full month." }
        } @else {
            (Bars { title, currency: months.currency, series, groups: &groups }.draw(view))
        }
    }
}

pub(super) fn goals(person: &Person, data: &OverviewData) -> Markup {
    html! {
        section.card aria-labelledby="goals" {
            header {
                h2 id="goals" { "Goals" }
                @if !data.goals.is_empty() { a.more href="/goals" { "All goals" } }
            }
            @if data.goals.is_empty() {
                p.soft { "No goals yet." }
                p { a href="/goals/new" { "Create goal" } }
            } @else {
                ul.rows.goals {
                    @for goal in data.goals.iter().take(GOALS_SHOWN) { (goal_row(person.view, goal)) }
                }
            }
        }
    }
}

fn goal_row(view: View, goal: &Goal) -> Markup {
    let money = |minor| Money::new(minor, goal.currency);
    let percent = goal.percent_reached();
    html! {
        li {
            div.heading {
                a href={ "/goals/" (goal.id) } { (goal.name) }
                @if let Some(percent) = percent { span { (percent) "%" } }
            }
            progress max="100" value=(percent.unwrap_or(0)) aria-label={ (goal.name) " progress" } {}
            p.soft {
                (view.money_or_unknown(goal.current_minor.map(money))) " of " (view.money(money(goal.target_minor)))
                @if let Some(on) = goal.target_on { ", by " (view.day(on)) }
            }
        }
    }
}

pub(super) fn scores(data: &OverviewData) -> Markup {
    html! {
        section.card aria-labelledby="scores" {
            header { h2 id="scores" { "Scores" } a.more href="/scores" { "See details" } }
            @match &data.scores {
                Ok(observed) => (numbers(observed)),
                Err(missing) => {
                    p { "No scores yet." }
                    p.soft { (sentence(missing)) }
                }
            }
        }
    }
}

fn numbers(observed: &Observation) -> Markup {
    let numbers = [
        ("Overall", observed.evenkeel),
        ("Recovery", observed.recovery),
        ("Capacity", observed.capacity),
        ("Baseline", observed.baseline),
    ];
    let why = &observed.explanation;
    let drag = why.largest_drag.as_ref();
    let drag = drag.and_then(|name| why.reasons.iter().find(|it| it.component == *name));
    html! {
        dl.numbers {
            @for (name, number) in numbers {
                div { dt { (name) } dd { a href="/scores" { (number) } } }
            }
        }
        @if let Some(drag) = drag {
            p.soft { "Lowers your score most: " (drag.text) }
        } @else {
            p.soft { "Nothing is holding your score back." }
        }
    }
}
