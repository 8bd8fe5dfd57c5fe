//! The page of one proposal: what, how much, from which account, why and until when, with two buttons.

use axum::extract::Path;
use base::{Currency, Fixed9, ThreadId};
use http::StatusCode;
use maud::{Markup, html};
use service::access::passkeys::RelyingParty;
use service::actions::{self, Action, Kind, ProposalDetails as Details, Status};
use service::ledger::quotes::{self, SourcedQuote};
use wire::v1::{ActionDetails, TradeDetails};

use super::{expires_text, status_name};
use crate::site::app_page::{self, Decision};
use crate::site::errors::{PageError, PageResult};
use crate::site::person::Person;
use crate::site::{fields, markdown};

pub(super) async fn get(person: Person, Path(thread): Path<String>) -> PageResult {
    page(&person, &thread, None).await
}

/// Renders the page, with the error of the last attempt if there is one.
pub(super) async fn page(person: &Person, thread: &str, wrong: Option<&str>) -> PageResult {
    let thread = ThreadId::parse(thread).map_err(|_| PageError::not_found())?;
    let action = actions::get_by_thread(person.app(), &person.caller, thread).await?;
    let shown = action.details();
    let priced = match &shown.trade {
        Some(trade) if action.status == Status::PendingApproval => {
            quotes::find(person.app(), &trade.symbol).await?
        }
        _ => None,
    };
    let title = person.view.mask_amounts(&shown.title());
    let card = html! {
        @if let Some(notice) = &person.notice { p.notice role="status" { (notice) } }
        @if let Some(wrong) = wrong { p.wrong role="alert" { (wrong) } }
        (head(&action, &title))
        (what(person, &action, &shown, priced.as_ref()))
        (reason(&action, &shown))
        @if action.status == Status::PendingApproval {
            (until(person, &action, &shown, priced.as_ref()))
            @if person.view.hide_amounts { (hidden_amounts(person)) }
            (buttons(person, &action, &shown, priced.as_ref().map(|it| it.quote.price)))
        } @else {
            (ended(person, &action))
        }
        p.soft {
            "Proposed by " strong { (action.proposer_label) } ", "
            (person.view.time_ago(action.created_at, person.app().clock.now())) "."
        }
        p.soft { a href="/approvals" { "All approvals" } }
    };
    let status = if wrong.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    Ok(app_page::decision_with(person, &Decision { status, title: &title, live: true }, card))
}

fn head(action: &Action, title: &str) -> Markup {
    let (name, class) = status_name(action);
    html! {
        p { span.badge.(class) { (name) } }
        h1 { (title) }
        // The proposer's own words are quoted, so that they cannot be mistaken for ours.
        @if let Some(description) = &action.description {
            p.soft { "Proposer's note: “" (description) "”" }
        }
    }
}

fn what(
    person: &Person,
    action: &Action,
    shown: &Details,
    priced: Option<&SourcedQuote>,
) -> Markup {
    match (&shown.trade, &shown.plain) {
        (Some(trade), _) => trade_facts(person, trade, priced),
        (None, Some(plain)) => plain_facts(person, action, plain),
        (None, None) => html! { p.warning { "We can't read this proposal. Please reject it." } },
    }
}

fn trade_facts(person: &Person, trade: &TradeDetails, priced: Option<&SourcedQuote>) -> Markup {
    let hide = |text: &str| person.view.mask_amounts(text);
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    html! {
        dl.facts {
            div {
                dt { "What" }
                dd {
                    (trade.quantity_display) " of " strong { (trade.symbol) }
                    @if let Some(name) = &trade.security_name { ", " (name) }
                    span.soft { (known(&trade.order_type_display)) }
                }
            }
            div { dt { (trade.amount_label) } dd.big { (hide(&known(&trade.estimated_cost_display))) } }
            div {
                dt { "Account" }
                dd {
                    (trade.account.display_name)
                    span.soft {
                        (trade.account.available_amount_label) " "
                        (hide(&known(&trade.account.available_amount_display)))
                        " when proposed"
                    }
                }
            }
            div {
                dt { "Price" }
                @if let Some(priced) = priced { (price_now(person, priced)) } @else {
                    dd {
                        (hide(&known(&trade.current_price_display)))
                        span.soft { (known(&trade.quote_as_of_label)) ", when proposed" }
                    }
                }
            }
        }
    }
}

fn price_now(person: &Person, priced: &SourcedQuote) -> Markup {
    html! {
        dd {
            (person.view.price_text(priced.quote.price, Currency::USD))
            @if let Some(change) = actions::change_display(priced) {
                " " span.count { (person.view.mask_amounts(&change)) }
            }
            @if priced.is_stale { " " span.badge.warn { "Stale" } }
            span.soft { (actions::as_of_label(priced)) }
        }
    }
}

fn plain_facts(person: &Person, action: &Action, plain: &ActionDetails) -> Markup {
    // Text written by the proposer is set apart from our own description.
    let is_custom = action.kind() == Kind::Unknown;
    html! {
        @if let Some(summary) = &plain.summary_markdown {
            @let summary = person.view.mask_amounts(summary);
            @if is_custom {
                div.quoted { (markdown::render(&summary)) }
            } @else {
                div.prose { (markdown::render(&summary)) }
            }
        }
        @if !plain.changes.is_empty() {
            dl.facts {
                @for change in &plain.changes {
                    div {
                        dt { (person.view.mask_amounts(&change.label)) }
                        dd {
                            @if let Some(before) = &change.before {
                                span.soft { "Current: " (person.view.mask_amounts(before)) }
                            }
                            @if let Some(after) = &change.after { (person.view.mask_amounts(after)) }
                        }
                    }
                }
            }
        }
    }
}

fn reason(action: &Action, shown: &Details) -> Markup {
    let trade = shown.trade.as_ref().and_then(|it| it.reason_markdown.as_deref());
    let plain = shown.plain.as_ref().and_then(|it| it.reason_markdown.as_deref());
    html! {
        @if let Some(text) = trade.or(plain) {
            section aria-labelledby="why" {
                h2 id="why" { "Reason given by " (action.proposer_label) }
                div.quoted { (markdown::render(text)) }
            }
        }
    }
}

/// When the proposal expires, and what will happen.
fn until(
    person: &Person,
    action: &Action,
    shown: &Details,
    priced: Option<&SourcedQuote>,
) -> Markup {
    let now = person.app().clock.now();
    let price = priced.map(|it| it.quote.price);
    let timing = price.and_then(|it| actions::timing_now(person.app(), action, it));
    html! {
        @if let Some(trade) = &shown.trade {
            @if let Some(timing) = &timing { p.warning { (timing) } }
            @if let Some(text) = &trade.bottom_markdown { div.prose.soft { (markdown::render(text)) } }
            @if let Some(text) = &trade.money_movement_disclosure { p.soft { (text) } }
        }
        p {
            strong { (expires_text(action.expires_at, now)) }
        }
    }
}

/// The way to see what is decided about. The page has no other switches.
fn hidden_amounts(person: &Person) -> Markup {
    let body = html! {
        input type="hidden" name="next" value=(person.here);
        button.outlined type="submit" name="hide" value="0" { "Show amounts" }
    };
    html! {
        p.warning { "Amounts are hidden. Show them before you decide." }
        (fields::form("/view", &person.form_token, body))
    }
}

fn buttons(person: &Person, action: &Action, shown: &Details, price: Option<Fixed9>) -> Markup {
    let trade = shown.trade.as_ref();
    let approve = trade.map_or("Approve", |it| it.primary_action_label.as_str());
    let reject = trade.map_or("Reject", |it| it.secondary_action_label.as_str());
    let can_approve = trade.is_none() || price.is_some();
    let price = price.map(|it| it.to_string()).unwrap_or_default();
    let digest = hex(&action.computed_digest());
    let here = format!("/approvals/{}", action.thread);
    let about = serde_json::json!({
        "thread": action.thread.to_string(), "digest": digest, "price": price,
    });
    let inner = html! {
        input type="hidden" name="digest" value=(digest);
        input type="hidden" name="price" value=(price);
        details {
            summary { "Add a reason for rejecting" }
            div.field {
                label for="f-reason" { "Reason" }
                textarea id="f-reason" name="reason" maxlength="500" {}
            }
        }
        div.choice {
            @if can_approve && !action.needs_passkey {
                button.primary type="submit" name="decision" value="approve" { (approve) }
            }
            button.outlined type="submit" name="decision" value="reject" { (reject) }
        }
    };
    html! {
        @if !can_approve {
            p.warning { "No price is available right now, so you can't approve this yet. Try again in a moment." }
        } @else if action.needs_passkey {
            (with_passkey(person, approve, &here, &about.to_string()))
        }
        (fields::form(&format!("{here}/decide"), &person.form_token, inner))
    }
}

fn with_passkey(person: &Person, label: &str, here: &str, about: &str) -> Markup {
    let party = match RelyingParty::from_url(person.public_url()) {
        Ok(party) => party,
        Err(reason) => return html! { p.warning { "Your passkey is required. " (reason) } },
    };
    let origin = party.origins.first().map_or("", String::as_str);
    html! {
        div.passkey data-passkey="approve" data-token=(person.form_token) data-next=(here)
            data-origin=(origin) data-about=(about) {
            button.primary type="button" hidden { (label) }
            p.soft { "Your passkey is required." }
            p.wrong role="alert" hidden {}
            p.soft data-elsewhere hidden {
                "To use your passkey, open this page at " a href={ (origin) (here) } { (origin) } "."
            }
            noscript { p.soft { "Passkeys need JavaScript, which is turned off in your browser." } }
        }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// The outcome of a proposal that is decided.
fn ended(person: &Person, action: &Action) -> Markup {
    let now = person.app().clock.now();
    let method = match action.decision_method.map(|it| it.as_str()) {
        Some("passkey") => " with your passkey",
        _ => "",
    };
    let message = match action.status {
        Status::Approved if action.kind().is_executed_by_person() => {
            format!("You approved this{method}. Make the transfer at your bank, then confirm here.")
        }
        Status::Approved => match action.due_at.filter(|it| *it > now) {
            Some(_) => format!("You approved this{method}. It will run when the market opens."),
            None => format!("You approved this{method}. It will run shortly."),
        },
        Status::Executing => "In progress.".to_owned(),
        Status::Executed if action.undone_at.is_some() => "You undid this.".to_owned(),
        Status::Executed => format!("You approved this{method}. It's done."),
        Status::Failed => action.error_message.clone().unwrap_or_else(|| "This failed.".to_owned()),
        Status::Rejected => "You rejected this. Nothing was done.".to_owned(),
        Status::Expired => "This expired before a decision. Nothing was done.".to_owned(),
        Status::Cancelled => "The proposer withdrew this. Nothing was done.".to_owned(),
        Status::PendingApproval => String::new(),
    };
    let class = if action.status == Status::Failed { "warning" } else { "notice" };
    html! {
        p.(class) {
            (message)
            @if let Some(at) = action.executed_at.or(action.decided_at) {
                " " span.soft { (person.view.time_ago(at, now)) "." }
            }
        }
        @if let Some(reason) = &action.rejection_reason { p { "Your reason: “" (reason) "”" } }
        (afterwards(person, action))
    }
}

fn afterwards(person: &Person, action: &Action) -> Markup {
    let here = format!("/approvals/{}", action.thread);
    let now = person.app().clock.now();
    let account = action.account.filter(|_| action.status == Status::Executed);
    html! {
        @if let Some(account) = account {
            p { a.button.outlined href={ "/paper/" (account) } { "View account" } }
        }
        @if action.kind().is_executed_by_person() && action.status == Status::Approved {
            (fields::form(&format!("{here}/confirm"), &person.form_token, html! {
                div.choice {
                    button.primary type="submit" name="done" value="yes" { "Mark as done" }
                    button.outlined type="submit" name="done" value="no" { "Mark as not done" }
                }
            }))
        }
        @if action.can_be_undone(now) {
            (fields::button(&format!("{here}/undo"), &person.form_token, "Undo", "outlined"))
        }
    }
}
