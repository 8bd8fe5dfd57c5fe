//! Card benefits: the fee against what was used, what is about to be lost, and what only the person can say.

use axum::extract::Path;
use base::{BenefitId, Currency, Money};
use maud::{Markup, html};
use service::Error;
use service::insights::benefits::{self, BenefitMark, EXPIRING_DAYS};
use wire::v1::{Benefit, BenefitTotals, CardBenefits, ExpiringBenefits};

use super::app_page::{self, AppPage, NavItem};
use super::errors::{PageError, PageResult};
use super::fields;
use super::form::Form;
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
            (expiring(&person, &soon))
            @for card in &summary.cards { (card_section(&person, card)) }
            p.soft {
                "What your cards give comes from a list kept with Evenkeel, with the day each fact \
                 was checked. Terms change; the issuer's word counts."
            }
        }
    };
    Ok(AppPage::new(NavItem::Benefits, "Card benefits").page(&person, main))
}

fn empty() -> Markup {
    html! {
        div.empty {
            h2 { "No card we know" }
            p { "When a card is linked whose benefits are in our list, its credits are followed \
                 here: used, left, and until when. On a card's own page you can say which product \
                 it is." }
            a href="/accounts" { "Look at your accounts" }
        }
    }
}

fn tiles(person: &Person, totals: &BenefitTotals, currency: Currency) -> Markup {
    let view = person.view;
    html! {
        dl.tiles {
            div.tile { dt { "Fees a year" } dd { (view.decimal(&totals.annual_fees, currency)) } }
            div.tile { dt { "Used in present cycles" } dd { (view.decimal(&totals.used_amount, currency)) } }
            div.tile { dt { "Still there" } dd { (view.decimal(&totals.remaining_amount, currency)) } }
            div.tile { dt { "Used this year less fees" } dd { (view.decimal(&totals.net_value, currency)) } }
        }
    }
}

fn expiring(person: &Person, soon: &ExpiringBenefits) -> Markup {
    let view = person.view;
    html! {
        section.card aria-labelledby="soon" {
            h2 id="soon" { "Lost within 30 days unless used" }
            @if soon.benefits.is_empty() {
                p.soft { "Nothing runs out soon." }
            }
            ul.rows {
                @for benefit in &soon.benefits {
                    li {
                        span.what {
                            (benefit.name)
                            span.soft {
                                (benefit.account_name) ", until " (view.relative_day(benefit.expires_on.0))
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
                    "Fee " (view.decimal(&card.annual_fee, currency)) " a year, used less fee "
                    (view.decimal(&card.net_value, currency))
                }
            }
            ul.rows { @for benefit in &card.benefits { (row(person, benefit)) } }
        }
    }
}

fn row(person: &Person, benefit: &Benefit) -> Markup {
    let (view, currency) = (person.view, currency_of(benefit));
    html! {
        li.benefit {
            div.what {
                strong { (benefit.name) } " " (badge(benefit))
                span.soft { (benefit.description) }
                span.soft {
                    (view.decimal(&benefit.used_amount, currency)) " of "
                    (view.decimal(&benefit.total_amount, currency)) " used, until "
                    (view.relative_day(benefit.expires_on.0))
                }
                details {
                    summary { "Say something about it" span.hush { ": " (benefit.name) } }
                    (mark_form(person, benefit))
                }
            }
            span { (view.decimal(&benefit.remaining_amount, currency)) " " span.soft { "left" } }
        }
    }
}

fn badge(benefit: &Benefit) -> Markup {
    let (class, text) = match benefit.status {
        "used" => ("good", "Used"),
        "partially_used" => ("good", "Partly used"),
        "available" => ("", "Not used yet"),
        "expired" => ("warn", "Run out"),
        _ => ("warn", "Needs to be switched on"),
    };
    html! { span.badge.(class) { (text) } }
}

/// What the bank cannot see, or saw wrongly.
fn mark_form(person: &Person, benefit: &Benefit) -> Markup {
    let amount = format!("used-{}", benefit.id);
    let body = html! {
        div.field {
            label for=(amount) { "Used in this cycle (" (benefit.currency) ")" }
            input id=(amount) name="used_amount" type="text" inputmode="decimal" autocomplete="off"
                placeholder=(benefit.total_amount.as_str());
        }
        div.actions {
            button.primary type="submit" name="said" value="used" { "Mark as used" }
            @if benefit.activation_required && !benefit.activated {
                button.outlined type="submit" name="said" value="activated" { "I switched it on" }
            }
            button.outlined type="submit" name="said" value="nothing" { "Forget what I said" }
        }
    };
    fields::form(&format!("/benefits/{}", benefit.id), &person.form_token, body)
}

pub(super) async fn mark(person: Person, Path(id): Path<String>, form: Form) -> PageResult {
    let id = BenefitId::parse(&id).map_err(|_| PageError::not_found())?;
    let (said, done) = match form.text("said") {
        "used" => (BenefitMark::Used(used_minor(&person, &form)?), "Marked as used."),
        "activated" => (BenefitMark::Activated, "Noted: it is switched on."),
        "nothing" => (BenefitMark::Clear, "What you said of this cycle is forgotten."),
        _ => return Err(PageError::not_found()),
    };
    benefits::mark(person.app(), &person.caller, id, said).await?;
    // Worked out at once, so that the page shows what was just said.
    service::insights::pipeline::run_for(person.app(), person.caller.user).await?;
    Ok(app_page::see_other(&person, "/benefits", done))
}

/// All of it when nothing is written.
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
