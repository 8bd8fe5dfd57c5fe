//! The page of one recurring payment: schedule, amounts, price changes and payments.

use axum::extract::Path;
use base::{Money, StreamId};
use http::StatusCode;
use jiff::ToSpan as _;
use maud::{Markup, html};
use service::insights::recurring::{self, Filter, Payment, Status, Stream};

use super::forms::{self, LabelsForm};
use super::{how_often, kind, parse, signed};
use crate::site::app_page::AppPage;
use crate::site::chart::{Bars, Group};
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::format::{View, plural};
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::urls;

/// How many months the chart shows.
const MONTHS_MAX: i64 = 24;
/// How many payments are listed.
const SHOWN: usize = 24;

pub(in crate::site) async fn get(person: Person, Path(id): Path<String>) -> PageResult {
    let id = parse(&id)?;
    again(&person, id, FormError::default()).await
}

/// The page with the stored values in its forms, and the error of the form that was sent.
pub(super) async fn again(person: &Person, id: StreamId, error: FormError) -> PageResult {
    let labels = recurring::get_labels(person.app(), &person.caller, id).await?;
    let found = recurring::get(person.app(), &person.caller, id).await?;
    let stored = LabelsForm::stored(&found.0, labels);
    let stored = LabelsForm { amount: person.view.field_text(&stored.amount), ..stored };
    show(person, found, stored, error).await
}

/// The page with the typed values in its form, and the error of that form.
pub(super) async fn page(
    person: &Person,
    id: StreamId,
    typed: LabelsForm,
    error: FormError,
) -> PageResult {
    let found = recurring::get(person.app(), &person.caller, id).await?;
    show(person, found, typed, error).await
}

async fn show(
    person: &Person,
    (stream, account, payments): (Stream, String, Vec<Payment>),
    typed: LabelsForm,
    error: FormError,
) -> PageResult {
    let view = person.view;
    let everything = Filter { status: None, account_id: None, direction: Some(stream.direction) };
    let others = recurring::list(person.app(), &person.caller, everything).await?.streams;
    let usual = stream.expected_minor();
    let groups = by_month(&payments);
    let bars = Bars {
        title: "Amounts by month",
        currency: stream.currency,
        series: &["Amount"],
        groups: &groups,
    };
    let main = html! {
        p.trail { a href="/recurring" { "Recurring" } }
        div.lead-in {
            h1 { (stream.name) }
            p.big {
                @if stream.is_amount_estimated() { "about " }
                (view.signed(Money::new(signed(stream.direction, usual), stream.currency)))
            }
            p.soft {
                (how_often(stream.frequency)) " · " (kind(stream.kind)) " · " (account)
                @if stream.status == Status::Ended { " " span.badge { "Ended" } }
                @if stream.dismissed_at.is_some() { " " span.badge { "Dismissed" } }
            }
        }
        @if groups.len() > 1 {
            section.card aria-labelledby="amounts" {
                h2 id="amounts" { "Amounts by month" }
                (bars.draw(view))
            }
        }
        div.columns {
            div { (facts(view, &stream)) }
            div { (paid(person, &stream, &payments)) }
        }
        @if stream.dismissed_at.is_some() { (forms::dismissed(person, &stream)) }
        @else if let Some(target) = stream.merged_into { (forms::merged(person, &stream, target)) }
        @else { (forms::forms(person, &stream, &typed, &others, &error)) }
    };
    let status = match error.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    Ok(AppPage::new(NavItem::Recurring, &stream.name).page_with(status, person, main))
}

/// The sum of each month's payments, up to the month of the last one. Months without a payment are empty.
fn by_month(payments: &[Payment]) -> Vec<Group> {
    let months = payments.iter().map(|it| it.on.first_of_month());
    let (Some(first), Some(last)) = (months.clone().min(), months.max()) else {
        return Vec::new();
    };
    let mut groups = Vec::new();
    for back in (0..MONTHS_MAX).rev() {
        let month = last.saturating_sub(back.months());
        if month >= first {
            let paid = payments.iter().filter(|it| it.on.first_of_month() == month);
            let minor = paid.fold(0_i64, |sum, it| sum.saturating_add(it.amount_minor));
            groups.push(Group { month, minor: vec![minor] });
        }
    }
    groups
}

fn facts(view: View, stream: &Stream) -> Markup {
    let money = |minor| view.money(Money::new(minor, stream.currency));
    html! {
        section.card aria-labelledby="known" {
            h2 id="known" { "Details" }
            dl.facts-of {
                @if let Some(next) = stream.next_expected_on {
                    div {
                        dt { "Next expected" }
                        dd {
                            (view.relative_day(next))
                            @if next < view.today { " " span.badge.warn { "Late" } }
                        }
                    }
                }
                @if let Some(minor) = stream.own_amount_minor {
                    div { dt { "Amount you set" } dd { (money(minor)) } }
                }
                div { dt { "Last payment" } dd { (view.day(stream.last_on)) ", " (money(stream.last_minor)) } }
                div { dt { "First seen" } dd { (view.day(stream.first_on)) } }
                div { dt { "Monthly average" } dd { (money(stream.monthly_minor)) } }
                @if stream.min_minor != stream.max_minor {
                    div { dt { "Range" } dd { (money(stream.min_minor)) " to " (money(stream.max_minor)) } }
                }
                @if let Some(category) = stream.category {
                    div { dt { "Category" } dd { (category.label()) } }
                }
            }
        }
        @if !stream.price_changes.is_empty() {
            section.card aria-labelledby="prices" {
                h2 id="prices" { "Price changes" }
                ul.rows {
                    @for change in stream.price_changes.iter().rev() {
                        li {
                            span.what { (view.day(change.on)) }
                            span { (money(change.from_minor)) " to " (money(change.to_minor)) }
                        }
                    }
                }
            }
        }
        @if !stream.missed_on.is_empty() {
            section.card aria-labelledby="gaps" {
                h2 id="gaps" { "Missed payments" }
                ul.rows { @for on in stream.missed_on.iter().rev() { li { (view.day(*on)) } } }
            }
        }
    }
}

fn paid(person: &Person, stream: &Stream, payments: &[Payment]) -> Markup {
    let view = person.view;
    let back = urls::encode(&person.here);
    html! {
        section.card aria-labelledby="payments" {
            header {
                h2 id="payments" { "Payments" }
                span.soft { (plural(payments.len() as i64, "payment", "payments")) }
            }
            ul.rows {
                @for it in payments.iter().rev().take(SHOWN) {
                    li {
                        span.what {
                            a href={ "/transactions/" (it.id) "?back=" (back) } { (view.day(it.on)) }
                        }
                        (view.signed(Money::new(signed(stream.direction, it.amount_minor), stream.currency)))
                    }
                }
            }
            @if payments.len() > SHOWN {
                p.soft { "Showing the newest " (SHOWN) "." }
            }
        }
    }
}
