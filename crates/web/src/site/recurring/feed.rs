//! The calendar feed of recurring payments: its address on the calendar page, and the file that calendar programs read.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use base::Money;
use http::{StatusCode, header};
use maud::{Markup, html};
use service::Error;
use service::insights::recurring::{self, Feed, FeedDetail, FeedEvent};

use super::{ical, signed};
use crate::WebState;
use crate::site::app_page::{AppPage, see_other};
use crate::site::assets::Asset;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields;
use crate::site::form::Form;
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::snippet;

const CALENDAR: &str = "/recurring?view=calendar";

/// The section of the calendar page about the feed.
pub(super) fn card(person: &Person, feed: Option<&Feed>) -> Markup {
    let token = &person.form_token;
    let (label, class) = match feed {
        Some(_) => ("Replace address", "outlined"),
        None => ("Create address", "outlined"),
    };
    let amounts = feed.is_some_and(|it| it.detail == FeedDetail::Amounts);
    let body = html! {
        (fields::check("detail", "amounts", "Show amounts in the calendar", amounts))
        button.(class) type="submit" { (label) }
    };
    html! {
        section.card aria-labelledby="feed" {
            h2 id="feed" { "See bills in your own calendar" }
            p.soft {
                "A secret address that calendar programs such as Google Calendar, Apple Calendar and Thunderbird can \
                 subscribe to. Anyone with this address can see the names and dates of your expected payments. Keep it private."
            }
            @if let Some(feed) = feed {
                p {
                    "Your address was created " (person.view.day_at(feed.created_at))
                    @if amounts { ", with amounts." } @else { ", without amounts." }
                    " It can't be shown again. Replace it if you lost it: the old address stops working."
                }
            }
            (fields::form("/recurring/feed", token, body))
            @if feed.is_some() {
                (fields::button("/recurring/feed/revoke", token, "Revoke address", "danger"))
            }
        }
    }
}

/// Creates or replaces the address, and shows it once.
pub(in crate::site) async fn create(person: Person, form: Form) -> PageResult {
    let detail = match form.text("detail") {
        "amounts" => FeedDetail::Amounts,
        _ => FeedDetail::Names,
    };
    let secret = recurring::create_feed(person.app(), &person.caller, detail).await?;
    let address = format!("{}/calendar/{secret}.ics", person.public_url());
    let main = html! {
        p.trail { a href=(CALENDAR) { "Calendar" } }
        h1 { "Calendar address created" }
        section.card aria-label="Calendar address" {
            p.warning {
                "Copy this address now. You won't see it again. If you lose it, replace it with a new one."
            }
            (snippet::text("Your calendar address", &address))
            p { "In your calendar program, choose “Subscribe” or “Add calendar from URL” and paste it." }
            p { a.button.outlined href=(CALENDAR) { "I've copied it" } }
        }
    };
    let page = AppPage::new(NavItem::Recurring, "Calendar address");
    Ok(AppPage { scripts: &[Asset::Copying], ..page }.page(&person, main))
}

pub(in crate::site) async fn revoke(person: Person, _: Form) -> PageResult {
    recurring::revoke_feed(person.app(), &person.caller).await?;
    Ok(see_other(&person, CALENDAR, "Calendar address revoked."))
}

/// The file at the secret address. It needs no session.
pub(in crate::site) async fn get(
    State(web): State<WebState>,
    Path(file): Path<String>,
) -> Result<Response, PageError> {
    let token = file.strip_suffix(".ics").ok_or_else(PageError::not_found)?;
    let found = recurring::list_feed_events(&web.app, token).await;
    let events = found?.ok_or(Error::NotFound("calendar"))?;
    let events: Vec<ical::Event> = events.iter().map(to_ical).collect();
    let headers = [
        (header::CONTENT_TYPE, "text/calendar; charset=utf-8"),
        (header::CACHE_CONTROL, "private, no-store"),
        (header::CONTENT_DISPOSITION, "inline; filename=\"evenkeel.ics\""),
    ];
    Ok((StatusCode::OK, headers, ical::write("Recurring payments", &events)).into_response())
}

fn to_ical(event: &FeedEvent) -> ical::Event {
    let amount = event.amount.map(|it| {
        let about = if event.is_estimated { "about " } else { "" };
        let signed = Money::new(signed(event.direction, it.minor()), it.currency());
        format!(": {about}{}", signed.pretty())
    });
    ical::Event {
        uid: format!("{}-{}@evenkeel", event.stream, event.on),
        on: event.on,
        updated_at: event.updated_at,
        summary: format!("{}{}", event.name, amount.unwrap_or_default()),
        description: format!("Expected on {}.", event.account_name),
    }
}
