//! Linking a refund to its purchase: the card on a transaction's page, and the page that finds the purchase.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use base::TransactionId;
use http::StatusCode;
use maud::{Markup, html};
use service::classify::refunds::{self, LinkedTransaction, RefundLinks};
use service::insights::transaction_detail::{self, TransactionDetail};
use service::ledger::Direction;
use service::ledger::transactions::Filter;

use super::{address_of, rows};
use crate::site::app_page::{AppPage, see_other};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::navigation::NavItem;
use crate::site::person::Person;
use crate::site::urls;

/// How many purchases a search shows.
const FOUND_MAX: usize = 20;
const TEXT_MAX: usize = 100;

pub(in crate::site) async fn get(
    person: Person,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResult {
    let refund = find(&person, &id).await?;
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let text = |name: &str| pairs.iter().find(|(it, _)| it == name).map_or("", |(_, it)| it.trim());
    page(&person, &refund, (text("back"), text("q")), &FormError::default()).await
}

pub(in crate::site) async fn link(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let refund = find(&person, &id).await?;
    let purchase =
        TransactionId::parse(form.text("purchase")).map_err(|_| PageError::not_found())?;
    let linked = refunds::link(person.app(), &person.caller, refund.id, purchase).await;
    match linked.map_err(FormError::from_error) {
        Ok(()) => {
            let message = "Linked. The refund counts in the category of its purchase.";
            Ok(see_other(&person, &address_of(refund.id, form.text("back")), message))
        }
        Err(Ok(wrong)) => page(&person, &refund, (form.text("back"), form.text("q")), &wrong).await,
        Err(Err(error)) => Err(PageError::from(error)),
    }
}

pub(in crate::site) async fn unlink(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    refunds::unlink(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, &address_of(id, form.text("back")), "Link removed."))
}

/// Finds a refund: money in.
async fn find(person: &Person, id: &str) -> Result<TransactionDetail, PageError> {
    let id = TransactionId::parse(id).map_err(|_| PageError::not_found())?;
    let found = transaction_detail::get(person.app(), &person.caller, id).await?;
    if found.amount.minor() > 0 { Ok(found) } else { Err(PageError::not_found()) }
}

async fn page(
    person: &Person,
    refund: &TransactionDetail,
    (back, q): (&str, &str),
    wrong: &FormError,
) -> Result<Response, PageError> {
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let found = match q {
        "" => refunds::suggest_purchases(person.app(), &person.caller, refund.id).await?,
        q => search(person, refund, q).await?,
    };
    let here = format!("/transactions/{}/refund", refund.id);
    let name = refund.counterparty.as_deref().unwrap_or(&refund.description);
    let view = person.view;
    let main = html! {
        p.trail { a href=(address_of(refund.id, back)) { "Back to transaction" } }
        h1 { "Link a refund to its purchase" }
        p {
            (name) ", " (view.signed(refund.amount)) ", " (view.day(refund.posted_on)) ". "
            "The refund is subtracted from spending in the category of its purchase, in the month in which it arrived."
        }
        (wrong.summary())
        form method="get" action=(here) role="search" {
            input type="hidden" name="back" value=(back);
            div.ask {
                (Field::text("q", "Search purchases", q).kind("search").optional().show(&FormError::default()))
                button.outlined type="submit" { "Search" }
            }
        }
        section.card aria-labelledby="purchases" {
            h2 id="purchases" { @if q.is_empty() { "Likely purchases" } @else { "Purchases found" } }
            @if found.is_empty() {
                p.soft { "No purchases found. Search by name." }
            }
            @for it in &found { (choice(person, refund.id, it, (back, q))) }
        }
    };
    let title = "Link a refund";
    Ok(AppPage::new(NavItem::Transactions, title).page_with(status, person, main))
}

/// The purchases before a refund whose text contains what the person typed, newest first.
async fn search(
    person: &Person,
    refund: &TransactionDetail,
    q: &str,
) -> service::Result<Vec<LinkedTransaction>> {
    let filter = Filter {
        q: Some(q.chars().filter(|it| !it.is_control()).take(TEXT_MAX).collect()),
        direction: Some(Direction::Outflow),
        transfers: Some(false),
        end_on: Some(refund.posted_on),
        ..Filter::default()
    };
    let (found, _) = rows(person, &filter, None, FOUND_MAX).await?;
    let found = found.into_iter().map(|it| LinkedTransaction {
        id: it.id,
        amount: it.amount,
        posted_on: it.posted_on,
        name: it.name().to_owned(),
        account_name: it.account_name,
    });
    Ok(found.collect())
}

fn choice(
    person: &Person,
    refund: TransactionId,
    purchase: &LinkedTransaction,
    (back, q): (&str, &str),
) -> Markup {
    let body = html! {
        input type="hidden" name="back" value=(back);
        input type="hidden" name="q" value=(q);
        input type="hidden" name="purchase" value=(purchase.id);
        button.outlined type="submit" aria-label={ "Link to " (purchase.name) } { "Link" }
    };
    html! {
        div.leg {
            (described(person, purchase, ""))
            (fields::form(&format!("/transactions/{refund}/refund"), &person.form_token, body))
        }
    }
}

/// The other end of a link.
fn described(person: &Person, it: &LinkedTransaction, back: &str) -> Markup {
    let view = person.view;
    html! {
        div.what {
            a href=(address_of(it.id, back)) { (it.name) }
            span.soft { (view.day(it.posted_on)) " · " (it.account_name) }
        }
        (view.signed(it.amount))
    }
}

/// The links of a transaction, on its page.
pub(super) fn card(
    person: &Person,
    it: &TransactionDetail,
    links: &RefundLinks,
    back: &str,
) -> Markup {
    let query = urls::query_string(&[("back", back)]);
    let can_refund = it.amount.minor() > 0 && it.transfer.is_none();
    html! {
        @if let Some(purchase) = &links.purchase {
            section.card aria-labelledby="refund" {
                h2 id="refund" { "Refund of" }
                p.soft { "Subtracted from spending in the category of the purchase." }
                div.leg {
                    (described(person, purchase, back))
                    (fields::form(&format!("/transactions/{}/unlink", it.id), &person.form_token, html! {
                        input type="hidden" name="back" value=(back);
                        button.outlined type="submit" { "Remove link" }
                    }))
                }
            }
        } @else if !links.refunds.is_empty() {
            section.card aria-labelledby="refund" {
                h2 id="refund" { "Refunded" }
                p.soft { "Subtracted from spending in the category of this purchase." }
                @for refund in &links.refunds { div.leg { (described(person, refund, back)) } }
            }
        } @else if can_refund {
            p { a.button.outlined href={ "/transactions/" (it.id) "/refund" (query) } { "Link to the purchase it refunds" } }
        }
    }
}
