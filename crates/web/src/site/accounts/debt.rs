//! What a card or loan asks of the person: statement and due dates, the payoff estimate, and the form for its terms.

use base::draft::AccountKind;
use base::{Fixed9, Money};
use maud::{Markup, html};
use service::ledger::account_terms::PayoffEstimate;
use service::ledger::accounts::{Account, Terms};
use service::{Error, Result};

use super::form_state::{FormState, action};
use crate::site::fields::{self, Field};
use crate::site::form::Form;
use crate::site::format::{View, or_stored, plain_amount, plural};
use crate::site::person::Person;

/// The statement and due dates of a card or loan, where they are known.
pub(super) fn dates(view: View, account: &Account) -> Vec<(&'static str, Markup)> {
    let mut facts = Vec::new();
    if account.closed_on.is_some() {
        return facts;
    }
    if let Some(on) = account.next_statement_on(view.today) {
        facts.push(("Statement closes", html! { (view.relative_day(on)) }));
    }
    if let Some(on) = account.next_payment_due_on {
        let label = if on < view.today { "Payment was due" } else { "Payment due" };
        facts.push((label, html! { (view.relative_day(on)) }));
    }
    facts
}

pub(super) fn payoff_card(view: View, account: &Account, found: &PayoffEstimate) -> Markup {
    let money = |minor| view.money(Money::new(minor, account.currency));
    html! {
        section.card aria-labelledby="payoff" {
            h2 id="payoff" { "When will it be paid off?" }
            @match (found.payoff, found.payment, found.interest_rate) {
                (Some(payoff), Some(payment), Some(rate)) => {
                    dl.numbers.amounts {
                        div { dt { "Last payment" } dd { (view.day(payoff.last_payment_on)) } }
                        div {
                            dt { "Payments left" }
                            dd { (plural(i64::from(payoff.payments), "payment", "payments")) }
                        }
                        div { dt { "Interest left" } dd { (money(payoff.interest_minor)) } }
                    }
                    p.soft {
                        "An estimate, with " (view.money(payment)) " a month"
                        @if !found.is_own_payment { " (what you paid in the last three months)" }
                        " and interest of " (rate) "% a year, added monthly."
                    }
                }
                (None, Some(payment), Some(rate)) if account.balance_current_minor.is_some_and(|it| it > 0) => {
                    p {
                        (view.money(payment)) " a month does not pay off this balance at " (rate)
                        "% a year."
                    }
                }
                _ if account.balance_current_minor.is_some_and(|it| it <= 0) => {
                    p { "Nothing is owed." }
                }
                _ => p.soft { (missing(found)) }
            }
        }
    }
}

/// Says what the person has to enter for an estimate.
fn missing(found: &PayoffEstimate) -> &'static str {
    match (found.interest_rate, found.payment) {
        (None, None) => {
            "Enter the interest rate and the monthly payment under “Account settings” to see an estimate."
        }
        (None, Some(_)) => "Enter the interest rate under “Account settings” to see an estimate.",
        (Some(_), None) => "Enter the monthly payment under “Account settings” to see an estimate.",
        (Some(_), Some(_)) => "The estimate appears once the balance is known.",
    }
}

/// The form for the terms. Fields that the source fills in show its value in the hint.
pub(super) fn form(person: &Person, account: &Account, state: &FormState<'_>) -> Markup {
    let own = account.own_terms;
    let text = |it: Option<i64>| it.map(|it| it.to_string()).unwrap_or_default();
    let rate = own.interest_rate.map(|it| it.to_string()).unwrap_or_default();
    let rate = state.typed("interest_rate", &rate);
    let payment = state.typed("payment", &person.view.field_text(&stored_payment(account)));
    let statement_day = state.typed("statement_day", &text(own.statement_day));
    let due_day = state.typed("due_day", &text(own.due_day));
    let rate_hint = match (own.interest_rate, account.interest_rate) {
        (None, Some(rate)) => format!("Your bank says {rate}%. Enter another rate to replace it."),
        _ => "Percent a year, such as 6.5.".to_owned(),
    };
    let payment_label = format!("Monthly payment ({})", account.currency.code());
    let is_card = account.kind == AccountKind::Credit;
    let body = html! {
        @if is_card {
            (state.show(&Field::text("statement_day", "Statement day of the month", &statement_day)
                .optional().hint("1 to 31. Shorter months use their last day.")))
        }
        (state.show(&Field::text("due_day", "Payment due day of the month", &due_day)
            .optional().hint("Used when your bank reports no due date.")))
        (state.show(&Field::text("interest_rate", "Interest rate", &rate).optional().hint(&rate_hint)))
        (state.show(&Field::text("payment", &payment_label, &payment).optional()
            .hint("Leave empty to use what you paid in the last three months.")))
        button.outlined type="submit" { "Save terms" }
    };
    fields::form(&action(account, "terms"), &person.form_token, body)
}

/// The monthly payment that the person entered, as text.
fn stored_payment(account: &Account) -> String {
    let payment = account.own_terms.payment_minor.map(|it| Money::new(it, account.currency));
    payment.map(plain_amount).unwrap_or_default()
}

/// Reads the form for the terms.
pub(super) fn read(form: &Form, account: &Account) -> Result<Terms> {
    let day = |name: &'static str| match form.text(name) {
        "" => Ok(None),
        text => text
            .parse::<i64>()
            .map(Some)
            .map_err(|_| Error::invalid(name, "enter a day of the month, 1 to 31")),
    };
    let interest_rate = match form.text("interest_rate").trim_end_matches('%').trim() {
        "" => None,
        text => Some(
            Fixed9::parse(text)
                .map_err(|_| Error::invalid("interest_rate", "enter a percentage such as 6.5"))?,
        ),
    };
    let payment_minor = match or_stored(form.text("payment"), &stored_payment(account)) {
        "" => None,
        text => Some(fields::amount("payment", text, account.currency)?.minor()),
    };
    Ok(Terms {
        interest_rate,
        payment_minor,
        statement_day: day("statement_day")?,
        due_day: day("due_day")?,
    })
}
