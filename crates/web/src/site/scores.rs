//! The scores page: the four scores, the reasons for them, and what would raise them.

use base::date_from_days;
use http::StatusCode;
use maud::{Markup, html};
use service::Error;
use service::insights::scores::{self, Explanation, Observation, Reason};

use super::app_page::AppPage;
use super::chart::{NumberLine, Point};
use super::errors::{PageResult, sentence};
use super::navigation::NavItem;
use super::person::Person;

/// How many days the chart covers.
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
        // There is not enough data yet; the message says what is missing.
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
            h2 { "No scores yet" }
            p { (sentence(message)) }
            p { "Your scores show how well you could handle a financial shock, how much is left each month, and \
                 how stable your finances are. They need a few months of history." }
            a.button href="/import" { "Import bank files" }
        }
    }
}

fn page(person: &Person, observed: &Observation, history: &[Observation]) -> Markup {
    let why = &observed.explanation;
    let parts = [
        ("recovery", "Recovery", observed.recovery, "Could you recover from a financial shock?"),
        ("capacity", "Capacity", observed.capacity, "How much is left at the end of a month?"),
        ("baseline", "Baseline", observed.baseline, "How stable are your everyday finances?"),
    ];
    html! {
        h1 { "Scores" }
        section.card aria-label="Overall" {
            p { span.big { (observed.evenkeel) } " out of 100, " strong { (why.band) } }
            progress aria-label="Overall score" max="100" value=(observed.evenkeel) {}
            p.soft {
                "As of " (person.view.relative_day(observed.observed_on)) ". " (person.view.mask_amounts(&why.coverage))
                " This is not a credit score, and lenders can't see it."
            }
        }
        @if history.len() > 1 {
            section.card aria-label="History" {
                h2 { "History" }
                (NumberLine { title: "Overall score", points: &points(history) }.draw(person.view))
            }
        }
        @if !why.next_steps.is_empty() {
            section.card aria-labelledby="raise" {
                h2 id="raise" { "How to raise your score" }
                ul.rows { @for step in &why.next_steps { li { span.what { (person.view.mask_amounts(step)) } } } }
            }
        }
        (sum(why))
        @for (part, name, points, question) in parts {
            section.card aria-label=(name) {
                header { h2 { (name) } strong { (points) " out of 100" } }
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

/// How the points of the parts add up to the overall score.
fn sum(why: &Explanation) -> Markup {
    let of_part = |part: &str| {
        let reasons = || why.reasons.iter().filter(move |it| it.part == part);
        let earned: i64 = reasons().map(|it| it.earned_tenths).sum();
        let possible: i64 = reasons().map(|it| it.possible_tenths).sum();
        (earned, possible)
    };
    let parts = [
        ("Recovery", of_part("recovery")),
        ("Capacity", of_part("capacity")),
        ("Baseline", of_part("baseline")),
    ];
    let earned: i64 = parts.iter().map(|(_, it)| it.0).sum();
    let possible: i64 = parts.iter().map(|(_, it)| it.1).sum();
    html! {
        @if possible > 0 {
            section.card aria-labelledby="sum" {
                h2 id="sum" { "How the points add up" }
                ul.rows {
                    @for (name, (earned, possible)) in parts {
                        li {
                            span.what { (name) }
                            span.amount { (tenths(earned)) " of " (tenths(possible)) span.unit { " points" } }
                        }
                    }
                    li {
                        strong.what { "Overall" }
                        strong.amount { (tenths(earned)) " of " (tenths(possible)) span.unit { " points" } }
                    }
                }
                p.soft { "The overall score is rounded to a whole number." }
            }
        }
    }
}

/// Tenths as a number: 185 is "18.5", 180 is "18".
fn tenths(tenths: i64) -> String {
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

/// What a component is about, in words that need no explanation.
fn component_name(component: &str) -> &str {
    match component {
        "runway" => "Cash reserve",
        "shock" => "Sudden bills",
        "credit_slack" => "Card limits",
        "margin" => "Left each month",
        "obligations" => "Rent and debt",
        "low_days" => "Days with little cash",
        "distress" => "Overdrafts and late fees",
        "steadiness" => "Steady income",
        "surplus_months" => "Months with a surplus",
        other => other,
    }
}

fn row(reason: &Reason, largest_drag: Option<&str>) -> Markup {
    html! {
        li {
            span.what {
                (component_name(&reason.component))
                @if largest_drag == Some(reason.component.as_str()) {
                    " " span.badge.warn { "Lowers your score most" }
                }
                span.soft { (reason.text) }
            }
            @if reason.possible_tenths > 0 {
                span.amount { (tenths(reason.earned_tenths)) " of " (tenths(reason.possible_tenths)) span.unit { " points" } }
            } @else {
                span.amount { (reason.points_hundredths / 100) " out of 100" }
            }
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
            summary { "How scores are calculated" }
            p { "We measure nine things from your linked accounts and rate each from 0 to 100. Recovery is about \
                 what you have: how long your cash lasts, coverage of a sudden bill, and unused card limits. \
                 Capacity is about monthly cash flow: what is left each month, and how much of your income goes to \
                 rent and debt. Baseline is about your track record: days with low balances, overdrafts and late \
                 fees, steady income, and months in which you spent less than you earned." }
            p { "The overall score is 40% recovery, 30% capacity and 30% baseline. You are not compared with other \
                 people. The full method is documented in docs/scores.md in Evenkeel's source code." }
        }
    }
}
