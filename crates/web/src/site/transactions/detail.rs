//! The page of one transaction: its details, their source, and forms to correct them.

use std::borrow::Cow;

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use base::category::Category;
use base::{Money, TransactionId};
use http::StatusCode;
use maud::{Markup, html};
use service::classify::overrides::{TransferMark, Visibility};
use service::classify::transfers::TransferKind;
use service::classify::{CategorySource, is_own_transfer};
use service::insights::transaction_detail::{self, TransactionDetail, TransferLeg};

use super::note_fields::{self, Typed};
use super::{address_of, attachments, category, list, refund};
use crate::site::app_page::AppPage;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::navigation::NavItem;
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

pub(super) fn page(
    person: &Person,
    transaction: &TransactionDetail,
    back: &str,
    wrong: &FormError,
) -> Response {
    page_with(person, transaction, back, wrong, None)
}

/// The page with the note and tags that were typed, if their form was refused.
pub(super) fn page_with(
    person: &Person,
    transaction: &TransactionDetail,
    back: &str,
    wrong: &FormError,
    typed: Option<Typed<'_>>,
) -> Response {
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let page_content = TransactionPage { person, it: transaction, back, wrong, typed };
    let title = page_content.name();
    AppPage::new(NavItem::Transactions, title).page_with(status, person, page_content.show())
}

struct TransactionPage<'a> {
    person: &'a Person,
    it: &'a TransactionDetail,
    back: &'a str,
    wrong: &'a FormError,
    typed: Option<Typed<'a>>,
}

impl TransactionPage<'_> {
    fn name(&self) -> &str {
        self.it.counterparty.as_deref().unwrap_or(&self.it.description)
    }

    fn show(&self) -> Markup {
        let back = if self.back.is_empty() { "/transactions" } else { urls::local_path(self.back) };
        let it = self.it;
        html! {
            p.trail { a href=(back) { "Back to transactions" } }
            div.lead-in {
                h1 { (self.name()) }
                p.big { (self.person.view.signed(it.amount)) }
                p.soft {
                    (self.person.view.day(it.posted_on)) " · " (it.account.name)
                    @if it.pending { " " span.badge.dotted { "Pending" } }
                    @if it.transfer.is_some() { " " span.badge { "Transfer" } }
                }
            }
            (self.wrong.summary())
            (self.hiding())
            div.columns {
                div {
                    (self.facts())
                    (self.split())
                    (refund::card(self.person, it, &it.refund_links, self.back))
                    (self.transfer())
                }
                div {
                    (self.correction())
                    (self.notes())
                    (attachments::card(self.person, it.id, &it.attachments, self.back))
                }
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
                    @if self.it.visibility.is_some() {
                        "You hid this transaction from lists and totals. The balance still includes it."
                    } @else {
                        "A rule hides this transaction from lists and totals. The balance still includes it. "
                        a href=(rule) { "View rule" }
                    }
                }
            }
        }
    }

    fn facts(&self) -> Markup {
        let (it, view) = (self.it, self.person.view);
        let account = format!("/transactions?account={}", it.account.id);
        html! {
            section.card aria-labelledby="known" {
                h2 id="known" { "Details" }
                dl.facts-of {
                    div { dt { (if it.by_hand { "Your description" } else { "Bank description" }) } dd.bank { (it.description) } }
                    @if let Some(from_bank) = &it.source_counterparty {
                        div { dt { "Name from the bank" } dd { (from_bank) } }
                    }
                    div {
                        dt { "Category" }
                        dd {
                            (it.category.map_or("None", |it| it.label()))
                            span.soft { (provenance(it)) }
                        }
                    }
                    @if let Some(from_bank) = it.source_category.filter(|from_bank| Some(*from_bank) != it.category) {
                        div { dt { "Category from the bank" } dd { (from_bank.label()) } }
                    }
                    div { dt { "Account" } dd { a href=(account) { (it.account.name) } } }
                    @if let Some(bank) = &it.account.institution_name {
                        div { dt { "Bank" } dd { (bank) } }
                    }
                    div {
                        dt { @if it.pending { "First seen" } @else { "Posted on" } }
                        dd { (view.day(it.posted_on)) }
                    }
                    @if let Some(on) = it.authorized_on {
                        div { dt { "Authorized on" } dd { (view.day(on)) } }
                    }
                    @if let Some(stream) = &it.stream {
                        div {
                            dt { "Recurring" }
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
                        "You added this transaction. " a href={ "/transactions/" (it.id) "/edit" } { "Edit or delete" }
                    }
                }
                @if it.pending {
                    p.soft { "This transaction is pending. The amount and date may change." }
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
                (fields::check("always", "yes", &format!("Always apply to transactions from {merchant}"), false))
                // Shown once "always" is selected.
                div.with-always { (fields::check("past", "yes", "Also apply to past transactions", true)) }
            }
            button.primary type="submit" { "Save changes" }
        };
        html! {
            section.card aria-labelledby="correct" {
                h2 id="correct" { "Edit" }
                (fields::form(&format!("/transactions/{}", it.id), &self.person.form_token, body))
                @if it.corrected_at.is_some() {
                    (self.small_form("undo", html! {
                        button.link type="submit" { "Remove my correction" }
                    }))
                }
                (self.visibility())
                @if let Some(merchant) = it.merchant.as_ref().filter(|_| !it.hidden) {
                    (self.small_form("hide", html! {
                        button.link type="submit" { "Always hide transactions from " (merchant) }
                    }))
                }
                p.soft {
                    "Your changes override your bank's data and are never overwritten. "
                    a href=(self.rule_address()) { "Make a rule" } " · "
                    a href="/settings/rules" { "View rules" }
                }
            }
        }
    }

    /// Hides or shows this transaction alone. A pending one is hidden once it is posted.
    fn visibility(&self) -> Markup {
        let it = self.it;
        let is_hidden = it.hidden || it.visibility == Some(Visibility::Hidden);
        let (word, label) = match is_hidden {
            true => (Visibility::Shown, "Show this transaction"),
            false => (Visibility::Hidden, "Hide this transaction"),
        };
        self.small_form(
            "visibility",
            html! {
                button.link type="submit" name="is" value=(word.as_str()) { (label) }
            },
        )
    }

    /// The form of a new rule for transactions like this one.
    fn rule_address(&self) -> String {
        let it = self.it;
        let merchant = it.merchant.as_deref().unwrap_or_default();
        let category = it.category.map_or("", Category::detailed);
        let query = urls::query_string(&[("merchant", merchant), ("category", category)]);
        format!("/settings/rules/new{query}")
    }

    fn split(&self) -> Markup {
        let (it, view) = (self.it, self.person.view);
        let address =
            format!("/transactions/{}/split{}", it.id, urls::query_string(&[("back", self.back)]));
        let money = |minor| Money::new(minor, it.amount.currency());
        html! {
            @if let Some(split) = &it.split {
                section.card aria-labelledby="split" {
                    h2 id="split" { "Split over categories" }
                    @if !split.counts(it.amount.minor()) {
                        p.warning {
                            "The amount changed from " (view.signed(money(split.whole_minor))) " to "
                            (view.signed(it.amount)) " after you split this transaction. The parts no longer add up, "
                            "so the whole amount counts in its category. Edit or remove the split."
                        }
                    }
                    ul.rows {
                        @for part in &split.parts {
                            li {
                                div.what {
                                    (part.category.label())
                                    @if !part.note.is_empty() { span.soft { (part.note) } }
                                }
                                (view.signed(money(part.amount_minor)))
                            }
                        }
                    }
                    div.actions {
                        a.button.outlined href=(address) { "Edit split" }
                        (self.small_form("unsplit", html! {
                            button.link type="submit" { "Remove split" }
                        }))
                    }
                }
            } @else if it.transfer.is_none() && it.amount.minor() != 0 {
                p { a.button.outlined href=(address) { "Split over categories" } }
            }
        }
    }

    fn notes(&self) -> Markup {
        let it = self.it;
        let (note, tags) = (it.note.as_deref().unwrap_or_default(), it.tags.text());
        let stored = Typed { note, tags: &tags };
        let body = note_fields::fields(self.typed.as_ref().unwrap_or(&stored), self.wrong);
        html! {
            section.card aria-labelledby="notes" {
                h2 id="notes" { "Note and tags" }
                @if !tags.is_empty() { p { (list::tags(&tags)) } }
                (self.small_form("note", body))
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
                    p { "Transfers don't count as money in or out." }
                    (self.leg(leg, ("refuse", "Not a transfer")))
                }
            } @else if it.transfer_mark == Some(TransferMark::Transfer) {
                section.card aria-labelledby="transfer" {
                    h2 id="transfer" { "Transfer" }
                    p { "You marked this as a transfer. It doesn't count as money in or out." }
                    (self.mark("", "Not a transfer"))
                }
            } @else if !it.candidates.is_empty() {
                section.card aria-labelledby="transfer" {
                    h2 id="transfer" { "Is this a transfer?" }
                    p.soft {
                        @if it.amount.minor() < 0 { "The same amount arrived in another one of your accounts." }
                        @else { "The same amount left another one of your accounts." }
                    }
                    @for leg in &it.candidates {
                        (self.leg(leg, ("transfer", "Mark as transfer")))
                    }
                    (self.mark("transfer", "Transfer to or from another account"))
                }
            } @else if it.split.is_none() && it.transfer.is_none() {
                (self.alone())
            }
        }
    }

    /// Marks a transaction whose other leg is not known.
    fn alone(&self) -> Markup {
        let it = self.it;
        let looks_own = it.category.is_some_and(is_own_transfer);
        html! {
            section.card aria-labelledby="transfer" {
                h2 id="transfer" { "Transfer" }
                @if looks_own {
                    p { "The category says that this moved money between your own accounts, so it doesn't count as money in or out." }
                    (self.mark("no_transfer", "Not a transfer"))
                } @else {
                    p.soft {
                        "If this moved money to or from an account of yours that isn't in Evenkeel, mark it as a transfer. "
                        "Then it doesn't count as money in or out."
                    }
                    (self.mark("transfer", "Mark as transfer"))
                }
                @if it.transfer_mark.is_some() { (self.mark("", "Remove my mark")) }
            }
        }
    }

    fn mark(&self, is: &str, label: &str) -> Markup {
        self.small_form(
            "mark",
            html! {
                button.outlined type="submit" name="is" value=(is) { (label) }
            },
        )
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
                            summary.soft { "Why?" }
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

/// The source of the category, in words.
fn provenance(it: &TransactionDetail) -> Cow<'static, str> {
    let words = match it.stage {
        Some(CategorySource::User) => "Set by you",
        Some(CategorySource::Rule) => "Set by your rule",
        Some(CategorySource::Structure) if it.transfer.is_some() => {
            "Transfer between your accounts"
        }
        Some(CategorySource::Structure) => "Based on the account type",
        Some(CategorySource::Provider) => "From your bank",
        Some(CategorySource::Merchant) => "Known merchant",
        Some(CategorySource::Keyword) => "Based on the description",
        Some(CategorySource::History) => "Based on your earlier corrections",
        Some(CategorySource::Guess) => match it.guess_confidence {
            Some(percent) => return format!("Guessed from the name, {percent}% sure").into(),
            None => "Guessed from the name",
        },
        Some(CategorySource::None) | None => "Not recognized",
    };
    words.into()
}

fn kind(kind: Option<TransferKind>) -> &'static str {
    match kind {
        Some(TransferKind::CardPayment) => "Payment to your card",
        Some(TransferKind::LoanPayment) => "Payment on your loan",
        Some(TransferKind::Investment) => "Transfer to or from your investments",
        Some(TransferKind::Savings) => "Transfer to or from your savings",
        Some(TransferKind::Transfer) | None => "Transfer between your accounts",
    }
}
