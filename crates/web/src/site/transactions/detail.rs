//! One transaction: everything that is known of it, where that comes from, and a way to put it right.

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use base::{Money, TransactionId};
use http::StatusCode;
use maud::{Markup, html};
use service::classify::Stage;
use service::classify::transfers::Kind;
use service::insights::transaction_detail::{self, TransactionDetail, TransferLeg};

use super::category;
use crate::site::app_page::{AppPage, NavItem};
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::person::Person;
use crate::site::urls;

pub(in crate::site) async fn get(
    person: Person,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> PageResult {
    let id = TransactionId::parse(&id).map_err(|_| PageError::not_found())?;
    let transaction = transaction_detail::get(person.app(), &person.caller, id).await?;
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let back = pairs.iter().find(|(name, _)| name == "back").map(|(_, it)| it.as_str());
    Ok(page(&person, &transaction, back.unwrap_or_default(), &FormError::default()))
}

/// The page of a transaction, with the way back to the view that one came from.
pub(super) fn address_of(id: TransactionId, back: &str) -> String {
    format!("/transactions/{id}{}", urls::query_string(&[("back", back)]))
}

pub(super) fn page(
    person: &Person,
    transaction: &TransactionDetail,
    back: &str,
    wrong: &FormError,
) -> Response {
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let page_content = TransactionPage { person, it: transaction, back, wrong };
    let title = page_content.name();
    AppPage::new(NavItem::Transactions, title).page_with(status, person, page_content.show())
}

struct TransactionPage<'a> {
    person: &'a Person,
    it: &'a TransactionDetail,
    back: &'a str,
    wrong: &'a FormError,
}

impl TransactionPage<'_> {
    fn name(&self) -> &str {
        self.it.counterparty.as_deref().unwrap_or(&self.it.description)
    }

    fn show(&self) -> Markup {
        let back = if self.back.is_empty() { "/transactions" } else { urls::local_path(self.back) };
        let it = self.it;
        html! {
            p.trail { a href=(back) { "Back to the list" } }
            div.lead-in {
                h1 { (self.name()) }
                p.big { (self.person.view.signed(it.amount)) }
                p.soft {
                    (self.person.view.day(it.posted_on)) " · " (it.account.name)
                    @if it.pending { " " span.badge.dotted { "Pending" } }
                    @if it.transfer.is_some() { " " span.badge { "Own transfer" } }
                }
            }
            (self.wrong.summary())
            (self.hiding())
            div.columns {
                div { (self.facts()) (self.transfer()) }
                div { (self.correction()) }
            }
        }
    }

    fn hiding(&self) -> Markup {
        let rule = self
            .it
            .hidden_by
            .map_or("/settings/rules".to_owned(), |it| format!("/settings/rules/{it}"));
        html! {
            @if self.it.hidden {
                p.warning {
                    "A rule of yours hides this transaction. It is in no list and no figure but the \
                     balance. "
                    a href=(rule) { "Look at the rule" }
                }
            }
        }
    }

    fn facts(&self) -> Markup {
        let (it, view) = (self.it, self.person.view);
        let account = format!("/transactions?account={}", it.account.id);
        html! {
            section.card aria-labelledby="known" {
                h2 id="known" { "What is known" }
                dl.facts-of {
                    div { dt { (if it.by_hand { "Your text" } else { "Bank's text" }) } dd.bank { (it.description) } }
                    @if let Some(told) = &it.source_counterparty {
                        div { dt { "Name from the bank" } dd { (told) } }
                    }
                    div {
                        dt { "Category" }
                        dd {
                            (it.category.map_or("None yet", |it| it.label()))
                            span.soft { (provenance(it)) }
                        }
                    }
                    @if let Some(told) = it.source_category.filter(|told| Some(*told) != it.category) {
                        div { dt { "Category from the bank" } dd { (told.label()) } }
                    }
                    div { dt { "Account" } dd { a href=(account) { (it.account.name) } } }
                    @if let Some(bank) = &it.account.institution_name {
                        div { dt { "Bank" } dd { (bank) } }
                    }
                    div {
                        dt { @if it.pending { "Seen on" } @else { "Posted on" } }
                        dd { (view.day(it.posted_on)) }
                    }
                    @if let Some(on) = it.authorized_on {
                        div { dt { "Authorized on" } dd { (view.day(on)) } }
                    }
                    @if let Some(stream) = &it.stream {
                        div {
                            dt { "Comes again" }
                            dd {
                                a href={ "/recurring/" (stream.id) } { (stream.name) }
                                @if let Some(next) = stream.next_expected_on {
                                    span.soft { "Next expected " (view.relative_day(next)) }
                                }
                            }
                        }
                    }
                }
                @if it.by_hand {
                    p.soft {
                        "You wrote it down. "
                        a href={ "/transactions/" (it.id) "/edit" } { "Change or delete it" }
                    }
                }
                @if it.pending {
                    p.soft { "Your bank has not settled it yet. The amount and the day may still change." }
                }
            }
        }
    }

    fn correction(&self) -> Markup {
        let it = self.it;
        let name = it.counterparty.as_deref().unwrap_or_default();
        let field = Field::text("name", "Name", name).optional();
        let chosen = it.category.map_or("", |it| it.detailed());
        let body = html! {
            input type="hidden" name="back" value=(self.back);
            div.field {
                label for="f-category" { "Category" }
                select id="f-category" name="category" {
                    @if it.category.is_none() { option value="" { "Choose a category" } }
                    (category::options(chosen, false))
                }
            }
            (field.show(self.wrong))
            @if let Some(merchant) = &it.merchant {
                (fields::check("always", "yes", &format!("Always, for every transaction of {merchant}"), false))
                (fields::check("past", "yes", "Then also for those that came in before", true))
            }
            button.primary type="submit" { "Save" }
        };
        html! {
            section.card aria-labelledby="correct" {
                h2 id="correct" { "Put it right" }
                (fields::form(&format!("/transactions/{}", it.id), &self.person.form_token, body))
                @if it.corrected_at.is_some() {
                    (self.small_form("undo", html! {
                        button.link type="submit" { "Take my correction back" }
                    }))
                }
                @if let Some(merchant) = it.merchant.as_ref().filter(|_| !it.hidden) {
                    (self.small_form("hide", html! {
                        button.link type="submit" { "Always hide transactions of " (merchant) }
                    }))
                }
                p.soft {
                    "Your word counts more than your bank's and ours, and is never overwritten. "
                    a href="/settings/rules" { "See your rules" }
                }
            }
        }
    }

    fn small_form(&self, action: &str, body: Markup) -> Markup {
        let inner = html! { input type="hidden" name="back" value=(self.back); (body) };
        let action = format!("/transactions/{}/{action}", self.it.id);
        fields::form(&action, &self.person.form_token, inner)
    }

    fn transfer(&self) -> Markup {
        let it = self.it;
        html! {
            @if let Some(leg) = &it.other_leg {
                section.card aria-labelledby="transfer" {
                    h2 id="transfer" { (kind(it.transfer)) }
                    p { "It is counted as neither money in nor money out." }
                    (self.leg(leg, ("refuse", "These are not one transfer")))
                }
            } @else if !it.candidates.is_empty() {
                section.card aria-labelledby="transfer" {
                    h2 id="transfer" { "A move between your accounts?" }
                    p.soft {
                        @if it.amount.minor() < 0 { "The same amount arrived on another account of yours." }
                        @else { "The same amount left another account of yours." }
                    }
                    @for leg in &it.candidates {
                        (self.leg(leg, ("transfer", "This is a transfer")))
                    }
                }
            }
        }
    }

    fn leg(&self, leg: &TransferLeg, (is, label): (&str, &str)) -> Markup {
        let view = self.person.view;
        let amount: Money = leg.amount;
        html! {
            div.leg {
                div.what {
                    a href=(address_of(leg.id, self.back)) { (leg.account_name) }
                    span.soft { (view.day(leg.posted_on)) " · " (leg.description) }
                    @if !leg.evidence.is_empty() {
                        details {
                            summary.soft { "Why" }
                            ul { @for reason in leg.evidence.lines() { li.soft { (reason) } } }
                        }
                    }
                }
                (view.signed(amount))
                (self.small_form("transfer", html! {
                    input type="hidden" name="other" value=(leg.id);
                    button.outlined type="submit" name="is" value=(is) { (label) }
                }))
            }
        }
    }
}

/// By whose word the category is what it is.
fn provenance(it: &TransactionDetail) -> &'static str {
    match it.stage {
        Some(Stage::User) => "You said so",
        Some(Stage::Rule) => "A rule of yours",
        Some(Stage::Structure) if it.transfer.is_some() => "Both ends are accounts of yours",
        Some(Stage::Structure) => "The kind of account it is on",
        Some(Stage::Provider) => "Your bank",
        Some(Stage::Merchant) => "Our table of merchants",
        Some(Stage::Keyword) => "Words in the bank's text",
        Some(Stage::History) => "Your earlier corrections",
        Some(Stage::None) | None => "Nothing in the bank's text tells what it is",
    }
}

fn kind(kind: Option<Kind>) -> &'static str {
    match kind {
        Some(Kind::CardPayment) => "A payment to your own card",
        Some(Kind::LoanPayment) => "A payment on your own loan",
        Some(Kind::Investment) => "A move to or from your investments",
        Some(Kind::Savings) => "A move to or from your savings",
        Some(Kind::Transfer) | None => "A transfer between your accounts",
    }
}
