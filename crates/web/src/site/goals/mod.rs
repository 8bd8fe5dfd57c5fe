//! The goals page: progress of each goal and the monthly amount needed.

mod detail;
mod edit;

use base::{Date, Money, days_from_date};
use maud::{Markup, html};
use service::ledger::goals::{self, Goal, Kind, Status};

use super::app_page::{self, AppPage};
use super::errors::{PageError, PageResult};
use super::fields;
use super::form::Form;
use super::format::View;
use super::navigation::NavItem;
use super::person::Person;
use axum::extract::Path;
use base::GoalId;

pub(super) use detail::delete;
pub(super) use edit::{change, create, edit, new};

pub(super) async fn list(person: Person) -> PageResult {
    let goals = goals::list(person.app(), &person.caller, None).await?;
    let main = html! {
        div.heading {
            h1 { "Goals" }
            @if !goals.is_empty() { a.button href="/goals/new" { "Create goal" } }
        }
        @if goals.is_empty() { (empty()) } @else {
            div.columns { @for goal in &goals { (card(&person, goal)) } }
        }
    };
    Ok(AppPage::new(NavItem::Goals, "Goals").page(&person, main))
}

fn empty() -> Markup {
    html! {
        div.empty {
            h2 { "No goals yet" }
            p { "Set a target amount and an optional date. Link accounts to track your progress automatically." }
            a.button href="/goals/new" { "Create goal" }
        }
    }
}

fn card(person: &Person, goal: &Goal) -> Markup {
    let view = person.view;
    let money = |minor| Money::new(minor, goal.currency);
    let share = goal.percent_reached().unwrap_or(0);
    let label = format!("{} progress", goal.name);
    html! {
        article.card {
            header {
                h2 { a href={ "/goals/" (goal.id) } { (goal.name) } }
                span.badge.(if goal.status == Status::Active { "good" } else { "" }) {
                    (status_name(goal.status))
                }
            }
            p {
                span.big { (view.money_or_unknown(goal.current_minor.map(money))) }
                " " span.of { "of " (view.money(money(goal.target_minor))) }
            }
            progress aria-label=(label) max="100" value=(share) {}
            p.soft {
                (kind_name(goal.kind)) ". "
                @if goal.status != Status::Cancelled { (pace(view, goal)) }
            }
            (status_buttons(person, goal))
        }
    }
}

/// The amount that is left to save, and the exchange rates that are missing.
fn pace(view: View, goal: &Goal) -> Markup {
    let codes: Vec<&str> = goal.missing_rates.iter().map(|it| it.code()).collect();
    let codes = codes.join(", ");
    let Some(current) = goal.current_minor else {
        return html! {
            @if codes.is_empty() { "The balance of its accounts is not known yet." }
            @else { "The progress is not known, because there is no exchange rate for " (codes) "." }
        };
    };
    html! {
        (left(view, goal, current))
        @if !codes.is_empty() {
            " Amounts in " (codes) " are not included, because there is no exchange rate."
        }
    }
}

fn left(view: View, goal: &Goal, current: i64) -> Markup {
    let left = goal.target_minor.saturating_sub(current).max(0);
    if left == 0 {
        return html! { "Goal reached." };
    }
    let left_money = Money::new(left, goal.currency);
    match goal.target_on {
        None => html! { (view.money(left_money)) " to go." },
        Some(on) if on <= view.today => {
            html! { (view.money(left_money)) " short of your target on " (view.day(on)) "." }
        }
        Some(on) => {
            let monthly = Money::new(monthly(left, view.today, on), goal.currency);
            html! {
                (view.money(left_money)) " to go by " (view.day(on)) ", about "
                (view.money(monthly)) " a month."
            }
        }
    }
}

/// The amount to save each month; in the last month, all that is left.
fn monthly(left_minor: i64, today: Date, on: Date) -> i64 {
    let days = i128::from((days_from_date(on) - days_from_date(today)).max(30));
    let monthly = (i128::from(left_minor) * 3_044 + days * 100 - 1) / (days * 100);
    i64::try_from(monthly).unwrap_or(i64::MAX)
}

fn status_buttons(person: &Person, goal: &Goal) -> Markup {
    let action = format!("/goals/{}/status", goal.id);
    let button = |status: Status, label: &str| {
        let inner = html! {
            input type="hidden" name="status" value=(status.as_str());
            button.outlined type="submit" { (label) span.hush { ": " (goal.name) } }
        };
        fields::form(&action, &person.form_token, inner)
    };
    html! {
        div.actions {
            @match goal.status {
                Status::Active => {
                    (button(Status::Paused, "Pause"))
                    (button(Status::Completed, "Mark as completed"))
                }
                Status::Paused => (button(Status::Active, "Resume")),
                Status::Completed | Status::Cancelled => (button(Status::Active, "Reopen")),
            }
        }
    }
}

pub(super) async fn set_status(person: Person, Path(id): Path<String>, form: Form) -> PageResult {
    let id = parse(&id)?;
    let status = Status::parse(form.text("status")).ok_or_else(PageError::not_found)?;
    goals::set_status(person.app(), &person.caller, id, status).await?;
    let message = match status {
        Status::Active => "Goal resumed.",
        Status::Paused => "Goal paused. Your progress is kept.",
        Status::Completed => "Goal completed.",
        Status::Cancelled => "Goal canceled.",
    };
    Ok(app_page::see_other(&person, "/goals", message))
}

/// Parses the id in a path. A malformed id gets the same page as an unknown one.
fn parse(id: &str) -> Result<GoalId, PageError> {
    GoalId::parse(id).map_err(|_| PageError::not_found())
}

pub(super) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Active => "Active",
        Status::Paused => "Paused",
        Status::Completed => "Completed",
        Status::Cancelled => "Canceled",
    }
}

pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Savings => "Savings",
        Kind::EmergencyFund => "Emergency fund",
        Kind::DebtPayoff => "Debt payoff",
        Kind::Purchase => "Purchase",
        Kind::Retirement => "Retirement",
        Kind::NetWorth => "Net worth",
        Kind::Custom => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monthly_amount_reaches_the_target_in_time() {
        let day = |text: &str| text.parse().unwrap();
        // Ten months of 30.44 days.
        let monthly_amount = monthly(100_000, day("2026-01-01"), day("2026-11-01"));
        assert!((9_900..=10_100).contains(&monthly_amount), "{monthly_amount}");
        assert_eq!(monthly(5_000, day("2026-01-01"), day("2026-01-02")), 5_074);
        assert_eq!(monthly(0, day("2026-01-01"), day("2027-01-01")), 0);
        assert!(monthly(i64::MAX, day("2026-01-01"), day("2026-02-01")) > 0);
    }
}
