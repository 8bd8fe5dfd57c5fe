//! The approvals pages: pending proposals, their history, and the live update for open pages.

mod decide;
mod detail;

use axum::Router;
use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Response};
use base::Timestamp;
use http::header;
use maud::{Markup, html};
use serde_json::json;
use service::actions::{self, Action, ActionsState, Filter, Kind, Status};
use service::platform::cursors::Page;

use super::app_page::AppPage;
use super::errors::PageResult;
use super::navigation::NavItem;
use super::person::Person;
use super::urls;
use crate::WebState;
use crate::routing::{get, post};

const HISTORY_PAGE: usize = 50;
/// How long a live update request waits. Browsers and proxies may give up on longer ones.
const PULSE_SECONDS: u64 = 25;

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route("/approvals", get(list))
        .route("/approvals/pulse", get(pulse))
        .route("/approvals/{thread}", get(detail::get))
        .route("/approvals/{thread}/decide", post(decide::decide))
        .route("/approvals/{thread}/confirm", post(decide::confirm))
        .route("/approvals/{thread}/undo", post(decide::undo))
        .route("/passkeys/approve/start", post(decide::start_passkey))
        .route("/passkeys/approve/finish", post(decide::finish_passkey))
}

async fn list(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let given = |name: &str| pairs.iter().find(|(it, _)| it == name).map(|(_, it)| it.as_str());
    let history = given("show") == Some("history");
    let status = (!history).then_some(Status::PendingApproval);
    let page = Page { cursor: given("cursor"), limit: HISTORY_PAGE };
    let filter = Filter { status, kind: None };
    let found = actions::list(person.app(), &person.caller, filter, page).await?;
    let main = html! {
        h1 { "Approvals" }
        p.soft { "Apps and API keys can propose actions. Nothing happens until you approve." }
        nav aria-label="Approvals" { (tabs(history)) }
        // A page of the history may have only pending proposals, and older pages others.
        @let is_shown = |it: &Action| !history || it.status != Status::PendingApproval;
        @if !found.actions.iter().any(is_shown) && found.next_cursor.is_none() {
            (empty(history))
        } @else if history {
            div.card {
                ul.rows {
                    @for it in found.actions.iter().filter(|it| it.status != Status::PendingApproval) {
                        (history_row(&person, it))
                    }
                }
            }
            @if let Some(cursor) = &found.next_cursor {
                nav.pages aria-label="History pages" {
                    span {}
                    a href={ "/approvals?show=history&cursor=" (cursor) } { "Older" }
                }
            }
        } @else {
            div.columns { @for it in &found.actions { (pending_card(&person, it)) } }
        }
    };
    Ok(AppPage { live: true, ..AppPage::new(NavItem::Approvals, "Approvals") }.page(&person, main))
}

fn tabs(history: bool) -> Markup {
    let current = |it: bool| it.then_some("page");
    html! {
        ul.tabs {
            li { a href="/approvals" aria-current=[current(!history)] { "Pending" } }
            li { a href="/approvals?show=history" aria-current=[current(history)] { "History" } }
        }
    }
}

fn empty(history: bool) -> Markup {
    html! {
        div.empty {
            @if history {
                h2 { "No proposals yet" }
                p { "Past proposals and their outcomes will appear here." }
            } @else {
                h2 { "No pending approvals" }
                p { "When an app or API key proposes something, it appears here right away." }
                a.button.outlined href="/docs/proposing" { "Learn how apps propose actions" }
            }
        }
    }
}

fn pending_card(person: &Person, action: &Action) -> Markup {
    let shown = action.details();
    let title = person.view.mask_amounts(&shown.title());
    let now = person.app().clock.now();
    html! {
        article.card {
            header {
                h2 { a href={ "/approvals/" (action.thread) } { (title) } }
                span.badge { (kind_name(action.kind())) }
            }
            @if let Some(trade) = &shown.trade {
                p {
                    (trade.amount_label) " "
                    strong { (person.view.mask_amounts(trade.estimated_cost_display.as_deref().unwrap_or("unknown"))) }
                    ", " (trade.account.display_name)
                }
            } @else if let Some(summary) = shown.plain.as_ref().and_then(|it| it.summary_markdown.as_deref()) {
                div.prose { (super::markdown::render(&person.view.mask_amounts(summary))) }
            }
            p.soft {
                "Proposed by " (action.proposer_label) ", " (person.view.time_ago(action.created_at, now)) ". "
                (expires_text(action.expires_at, now))
            }
            a.button href={ "/approvals/" (action.thread) } {
                "Review" span.hush { ": " (title) }
            }
        }
    }
}

fn history_row(person: &Person, action: &Action) -> Markup {
    let now = person.app().clock.now();
    let (name, class) = status_name(action);
    let title = person.view.mask_amounts(&action.details().title());
    html! {
        li {
            span.what {
                a href={ "/approvals/" (action.thread) } { (title) }
                span.soft { (action.proposer_label) ", " (person.view.time_ago(action.updated_at, now)) }
                @if let Some(error) = &action.error_message { span.soft { (error) } }
            }
            span.badge.(class) { (name) }
        }
    }
}

/// "Expires in 23 hours."
fn expires_text(until: Timestamp, now: Timestamp) -> String {
    let seconds = until.as_second() - now.as_second();
    let (count, one, many) = match seconds {
        ..0 => return "Expired.".to_owned(),
        0..120 => return "Expires in less than two minutes.".to_owned(),
        120..7_200 => (seconds / 60, "minute", "minutes"),
        7_200..172_800 => ((seconds + 1_800) / 3_600, "hour", "hours"),
        _ => ((seconds + 43_200) / 86_400, "day", "days"),
    };
    format!("Expires in {}.", super::format::plural(count, one, many))
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Trade => "Paper trade",
        Kind::Transfer => "Transfer",
        Kind::DataFix => "Correction",
        Kind::Automation => "Rule",
        Kind::AccountCreate => "New paper account",
        Kind::Unknown => "Question",
    }
}

fn status_name(action: &Action) -> (&'static str, &'static str) {
    match action.status {
        Status::PendingApproval => ("Pending", "warn"),
        Status::Approved if action.kind().is_executed_by_person() => ("Action needed", "warn"),
        Status::Approved => ("Approved", "good"),
        Status::Executing => ("In progress", "good"),
        Status::Executed if action.undone_at.is_some() => ("Undone", ""),
        Status::Executed => ("Done", "good"),
        Status::Failed => ("Failed", "warn"),
        Status::Rejected => ("Rejected", ""),
        Status::Expired => ("Expired", ""),
        Status::Cancelled => ("Withdrawn", ""),
    }
}

/// Long poll of the live script: answers when something changed, or after a while.
async fn pulse(
    mut person: Person,
    RawQuery(query): RawQuery,
) -> Result<Response, super::errors::PageError> {
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let number = |name: &str| {
        let found = pairs.iter().find(|(it, _)| it == name);
        found.and_then(|(_, it)| it.parse::<i64>().ok())
    };
    let known = number("pending").zip(number("stamp"));
    person.wait_for(PULSE_SECONDS);
    let (app, caller) = (person.app(), &person.caller);
    let now = match known {
        Some((pending, stamp)) => {
            let known = ActionsState { pending, stamp };
            actions::wait_for_change(app, caller, known, PULSE_SECONDS).await?
        }
        None => actions::actions_state(app, caller).await?,
    };
    let body = json!({ "pending": now.pending, "stamp": now.stamp }).to_string();
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "private, no-store")];
    Ok((headers, body).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_until_expiry_uses_a_fitting_unit() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        for (seconds, text) in [
            (-1, "Expired."),
            (60, "Expires in less than two minutes."),
            (300, "Expires in 5 minutes."),
            (86_390, "Expires in 24 hours."),
            (604_800, "Expires in 7 days."),
        ] {
            let until = Timestamp::from_second(now.as_second() + seconds).unwrap();
            assert_eq!(expires_text(until, now), text);
        }
    }
}
