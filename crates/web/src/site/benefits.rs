//! The card benefits page: annual fees against the value used, benefits that expire soon, and forms to mark them.

use axum::extract::Path;
use base::{BenefitId, Currency, Money};
use maud::{Markup, html};
use service::Error;
use service::insights::benefits::{self, BenefitMark, EXPIRING_DAYS};
use wire::json::Number;
use wire::v1::{Benefit, BenefitTotals, CardBenefits, ExpiringBenefits};

use super::app_page::{self, AppPage};
use super::errors::{PageError, PageResult};
use super::excluded;
use super::fields;
use super::form::Form;
use super::navigation::NavItem;
use super::person::Person;

pub(super) async fn get(person: Person) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let (summary, soon) = tokio::try_join!(
        benefits::summary(app, caller),
        benefits::expiring(app, caller, EXPIRING_DAYS)
    )?;
    let currency = person.user.base_currency;
    let main = html! {
        h1 { "Card benefits" }
        @if summary.cards.is_empty() { (empty()) } @else {
            (tiles(&person, &summary.totals, currency))
            (excluded::wire_currencies_note(&summary.totals.excluded))
            (expiring(&person, &soon))
            @for card in &summary.cards { (card_section(&person, card)) }
            p.soft {
                "Benefit details come from Evenkeel's card list. Terms can change, so check with your card issuer."
            }
        }
    };
    Ok(AppPage::new(NavItem::Benefits, "Card benefits").page(&person, main))
}

fn empty() -> Markup {
    html! {
        div.empty {
            h2 { "No card benefits yet" }
            p { "Add a card with known benefits to track its credits here. If we don't recognize your card, choose \
                 its product on the card's page." }
            a.button.outlined href="/accounts" { "Go to accounts" }
        }
    }
}

fn tiles(person: &Person, totals: &BenefitTotals, currency: Currency) -> Markup {
    let view = person.view;
    html! {
        dl.tiles {
            div.tile { dt { "Annual fees" } dd { (view.decimal(&totals.annual_fees, currency)) } }
            div.tile {
                dt { "Value used in a year" }
                dd { (view.money_or_unknown(used_in_a_year(&totals.net_value, &totals.annual_fees, currency))) }
            }
            div.tile { dt { "Value used minus annual fees" } dd { (view.decimal(&totals.net_value, currency)) } }
            div.tile { dt { "Left to use now" } dd { (view.decimal(&totals.remaining_amount, currency)) } }
        }
    }
}

/// The value of all benefits that were used in the year of the fee: the net value plus the fees.
fn used_in_a_year(net: &Number, fees: &Number, currency: Currency) -> Option<Money> {
    let read = |it: &Number| Money::parse(it.as_str(), currency).ok();
    Some(Money::new(read(net)?.minor().checked_add(read(fees)?.minor())?, currency))
}

fn expiring(person: &Person, soon: &ExpiringBenefits) -> Markup {
    let view = person.view;
    html! {
        section.card aria-labelledby="soon" {
            h2 id="soon" { "Expiring in the next 30 days" }
            @if soon.benefits.is_empty() {
                p.soft { "Nothing expires soon." }
            }
            ul.rows {
                @for benefit in &soon.benefits {
                    li {
                        span.what {
                            (benefit.name)
                            span.soft {
                                (benefit.account_name) ", expires " (view.relative_day(benefit.expires_on.0))
                            }
                        }
                        (view.decimal(&benefit.remaining_amount, currency_of(benefit)))
                    }
                }
            }
        }
    }
}

fn card_section(person: &Person, card: &CardBenefits) -> Markup {
    let view = person.view;
    let currency = card.benefits.first().map_or(person.user.base_currency, currency_of);
    html! {
        section.card aria-label=(card.account_name) {
            header {
                h2 { a href={ "/accounts/" (card.account_id) } { (card.account_name) } }
                span.soft {
                    "Annual fee " (view.decimal(&card.annual_fee, currency)) ", used in a year "
                    (view.money_or_unknown(used_in_a_year(&card.net_value, &card.annual_fee, currency)))
                }
            }
            ul.rows { @for benefit in &card.benefits { (row(person, benefit)) } }
        }
    }
}

fn row(person: &Person, benefit: &Benefit) -> Markup {
    let (view, currency) = (person.view, currency_of(benefit));
    // A trial or a membership has no amount.
    let total = Money::parse(benefit.total_amount.as_str(), currency);
    let has_amount = total.is_ok_and(|it| it.minor() != 0);
    html! {
        li.benefit {
            div.what {
                strong { (benefit.name) } " " (badge(benefit))
                span.soft { (benefit.description) }
                span.soft {
                    @if has_amount {
                        (view.decimal(&benefit.used_amount, currency)) " of "
                        (view.decimal(&benefit.total_amount, currency)) " used, expires "
                    } @else { "Expires " }
                    (view.relative_day(benefit.expires_on.0))
                }
                details {
                    summary { "Mark as used" span.hush { ": " (benefit.name) } }
                    (mark_form(person, benefit))
                }
            }
            @if has_amount {
                span { (view.decimal(&benefit.remaining_amount, currency)) " " span.soft { "left" } }
            }
        }
    }
}

fn badge(benefit: &Benefit) -> Markup {
    let (class, text) = match benefit.status {
        "used" => ("good", "Used"),
        "partially_used" => ("good", "Partially used"),
        "available" => ("", "Available"),
        "expired" => ("warn", "Expired"),
        _ => ("warn", "Needs activation"),
    };
    html! { span.badge.(class) { (text) } }
}

/// The form to mark a benefit, for use that the bank does not report, or reports wrongly.
fn mark_form(person: &Person, benefit: &Benefit) -> Markup {
    let amount = format!("used-{}", benefit.id);
    let body = html! {
        div.field {
            label for=(amount) { "Amount used this period (" (benefit.currency) ")" }
            input id=(amount) name="used_amount" type="text" inputmode="decimal" autocomplete="off"
                placeholder=(benefit.total_amount.as_str());
        }
        div.actions {
            button.primary type="submit" name="said" value="used" { "Mark as used" }
            @if benefit.activation_required && !benefit.activated {
                button.outlined type="submit" name="said" value="activated" { "Mark as activated" }
            }
            button.outlined type="submit" name="said" value="nothing" { "Clear my entry" }
        }
    };
    fields::form(&format!("/benefits/{}", benefit.id), &person.form_token, body)
}

pub(super) async fn mark(person: Person, Path(id): Path<String>, form: Form) -> PageResult {
    let id = BenefitId::parse(&id).map_err(|_| PageError::not_found())?;
    let (mark, message) = match form.text("said") {
        "used" => (BenefitMark::Used(used_minor(&person, &form)?), "Marked as used."),
        "activated" => (BenefitMark::Activated, "Marked as activated."),
        "nothing" => (BenefitMark::Clear, "Your entry was cleared."),
        _ => return Err(PageError::not_found()),
    };
    benefits::mark(person.app(), &person.caller, id, mark).await?;
    // Recomputed at once, so that the next page shows the change.
    service::insights::pipeline::run_for(person.app(), person.caller.user).await?;
    Ok(app_page::see_other(&person, "/benefits", message))
}

/// The amount that was typed; none means the whole benefit.
fn used_minor(person: &Person, form: &Form) -> Result<Option<i64>, Error> {
    let text = form.text("used_amount");
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = |error: base::MoneyError| Error::invalid("used_amount", error.to_string());
    Money::parse(text, person.user.base_currency).map(|it| Some(it.minor())).map_err(wrong)
}

fn currency_of(benefit: &Benefit) -> Currency {
    Currency::parse(&benefit.currency).unwrap_or(Currency::USD)
}
