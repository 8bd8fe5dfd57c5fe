//! Scores: the four numbers, why they are what they are, and what would raise them.

use base::date_from_days;
use http::StatusCode;
use maud::{Markup, html};
use service::Error;
use service::insights::scores::{self, Observation, Reason};

use super::app_page::{AppPage, NavItem};
use super::chart::{NumberLine, Point};
use super::errors::{PageResult, sentence};
use super::person::Person;

/// How far back the chart looks.
const DAYS_BACK: i64 = 365;

pub(super) async fn get(person: Person) -> PageResult {
    let app_page = AppPage::new(NavItem::Scores, "Scores");
    match scores::get(person.app(), &person.caller).await {
        Ok(observed) => {
            let today = person.view.today;
            let from = date_from_days(base::days_from_date(today) - DAYS_BACK);
            let history = scores::history(person.app(), &person.caller, from, today).await?;
            Ok(app_page.page(&person, page(&person, &observed, &history)))
        }
        // Too little is known yet, and the message says what is missing.
        Err(Error::Conflict { message, .. }) => {
            Ok(app_page.page_with(StatusCode::OK, &person, not_ready(&message)))
        }
        Err(error) => Err(error.into()),
    }
}

fn not_ready(message: &str) -> Markup {
    html! {
        h1 { "Scores" }
        div.empty {
            h2 { "Not yet" }
            p { (sentence(message)) }
            p { "Scores say how well you could take a shock, how much room a month leaves, and \
                 whether ordinary life stays above water. They need some history to be worth \
                 anything." }
            a href="/accounts" { "Look at your accounts" }
        }
    }
}

fn page(person: &Person, observed: &Observation, history: &[Observation]) -> Markup {
    let why = &observed.explanation;
    let parts = [
        ("recovery", "Recovery", observed.recovery, "Could you get back up after a shock?"),
        ("capacity", "Capacity", observed.capacity, "How much room does a month leave?"),
        ("baseline", "Baseline", observed.baseline, "Does ordinary life stay above water?"),
    ];
    html! {
        h1 { "Scores" }
        section.card aria-label="Overall" {
            p { span.big { (observed.evenkeel) } " of 100, " strong { (why.band) } }
            progress aria-label="Overall score" max="100" value=(observed.evenkeel) {}
            p.soft {
                "As of " (person.view.relative_day(observed.observed_on)) ". " (why.coverage)
                " It is a gauge for yourself, and no credit score: no lender sees it."
            }
        }
        @if history.len() > 1 {
            section.card aria-label="Over time" {
                h2 { "Over time" }
                (NumberLine { title: "Overall score", points: &points(history) }.draw(person.view))
            }
        }
        @if !why.next_steps.is_empty() {
            section.card aria-labelledby="raise" {
                h2 id="raise" { "What would raise it" }
                ul.rows { @for step in &why.next_steps { li { span.what { (step) } } } }
            }
        }
        @for (part, name, points, question) in parts {
            section.card aria-label=(name) {
                header { h2 { (name) } strong { (points) } }
                progress aria-label={ (name) " score" } max="100" value=(points) {}
                p.soft { (question) }
                ul.rows {
                    @for reason in why.reasons.iter().filter(|it| it.part == part) {
                        (row(reason, why.largest_drag.as_deref()))
                    }
                }
            }
        }
        (method())
    }
}

fn row(reason: &Reason, largest_drag: Option<&str>) -> Markup {
    let name = sentence(&reason.component.replace('_', " "));
    html! {
        li {
            span.what {
                (name.trim_end_matches('.'))
                @if largest_drag == Some(reason.component.as_str()) {
                    " " span.badge.warn { "Costs the most" }
                }
                span.soft { (reason.said) }
            }
            span.amount { (reason.points_hundredths / 100) " of 100" }
        }
    }
}

fn points(history: &[Observation]) -> Vec<Point> {
    let point = |it: &Observation| Point { on: it.observed_on, minor: it.evenkeel, reported: true };
    history.iter().map(point).collect()
}

fn method() -> Markup {
    html! {
        details.card {
            summary { "How it is computed" }
            p { "Nine quantities are read off the accounts you linked, each on a curve of its own \
                 from 0 to 100. Recovery is made of what you have: months of spending at hand, a \
                 sudden bill, how much of your card limits is free. Capacity is made of what \
                 flows: what a month leaves, and rent and debt against income. Baseline is made of \
                 what happened: days with little at hand, overdrafts and late fees, how steady \
                 income is, months that paid for themselves." }
            p { "The overall number is 40 % recovery, 30 % capacity and 30 % baseline. Nothing is \
                 compared with other people. The whole method, with its curves, is in the file \
                 docs/scores.md of Evenkeel's source." }
        }
    }
}
