//! The page of one goal: its progress over time, when it will be reached, and deleting it.

use axum::extract::Path;
use base::{Date, Money};
use maud::{Markup, html};
use service::ledger::goals::{self, Goal, Status, project};

use super::{pace, parse};
use crate::site::app_page;
use crate::site::chart::{Line, Point};
use crate::site::errors::PageResult;
use crate::site::fields;
use crate::site::form::Form;
use crate::site::format::View;
use crate::site::person::Person;

pub(super) fn progress(person: &Person, goal: &Goal, values: &[(Date, i64)]) -> Markup {
    let view = person.view;
    let money = |minor| Money::new(minor, goal.currency);
    let points: Vec<Point> =
        values.iter().map(|(on, minor)| Point { on: *on, minor: *minor, reported: true }).collect();
    html! {
        section.card aria-labelledby="progress" {
            h2.label id="progress" { "Progress" }
            p.big {
                (view.money_or_unknown(goal.current_minor.map(money)))
                span.per { " of " (view.money_text(money(goal.target_minor))) }
            }
            progress aria-label={ (goal.name) " progress" } max="100"
                value=(goal.percent_reached().unwrap_or(0)) {}
            @if goal.status == Status::Active {
                p.soft { (pace(view, goal)) }
                (projection(view, goal, values))
            }
            @if points.len() > 1 && points.iter().all(|it| it.minor == 0) {
                p.soft { "The chart appears once something is saved." }
            } @else if points.len() > 1 {
                (Line { title: "Progress over time", currency: goal.currency, points: &points }.draw(view))
            } @else {
                p.soft { "The chart appears once we have two days of data." }
            }
        }
    }
}

/// When the goal is reached at the pace of the last half year.
fn projection(view: View, goal: &Goal, values: &[(Date, i64)]) -> Markup {
    let Some(found) = project(values, goal.target_minor) else { return html! {} };
    let monthly = view.signed(Money::new(found.monthly_minor, goal.currency));
    let late = |on: Date| goal.target_on.is_some_and(|target| on > target);
    html! {
        @match found.reached_on {
            Some(on) => p {
                "At the pace of the last six months (" (monthly) " a month) you reach it around "
                strong { (on.strftime("%B %Y")) }
                @if late(on) { ", after your target date." }
                @else if goal.target_on.is_some() { ", in time for your target date." }
                @else { "." }
            },
            None => p {
                "At the pace of the last six months (" (monthly) " a month) you don't reach it."
            }
        }
    }
}

pub(super) fn deleting(person: &Person, goal: &Goal) -> Markup {
    let action = format!("/goals/{}/delete", goal.id);
    html! {
        details.confirm {
            summary { "Delete goal" }
            p { "The goal and its history disappear. Your accounts stay as they are. This can't be undone." }
            (fields::button(&action, &person.form_token, "Delete goal", "danger"))
        }
    }
}

pub(in crate::site) async fn delete(person: Person, Path(id): Path<String>, _: Form) -> PageResult {
    goals::delete(person.app(), &person.caller, parse(&id)?).await?;
    Ok(app_page::see_other(&person, "/goals", "Goal deleted."))
}
