//! The forms on the page of an account without a bank connection: a transaction, and the balance.

use base::Money;
use maud::{Markup, html};
use service::ledger::accounts::Account;

use super::form_state::FormState;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::plain_amount;
use crate::site::person::Person;
use crate::site::transactions::entry::EntryForm;

/// Whether the person may add transactions and set the balance: no bank connection updates the account.
pub(super) fn is_manual(account: &Account) -> bool {
    matches!(account.source.as_str(), "manual" | "file")
}

pub(super) fn forms(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    html! {
        @if is_manual(account) && account.closed_on.is_none() {
            div.columns {
                section.card aria-labelledby="write" {
                    h2 id="write" { "Add a transaction" }
                    (entry_form(person, account, forms_state))
                }
                section.card aria-labelledby="set" {
                    h2 id="set" { "Set balance" }
                    (balance_form(person, account, forms_state))
                }
            }
        }
    }
}

fn entry_form(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    let nothing = FormError::default();
    let (draft, wrong) = match &forms_state.sent {
        Some((form, wrong)) if form.has("amount") => (EntryForm::typed(form), wrong),
        _ => (EntryForm::new(person.view.today), &nothing),
    };
    let body = html! {
        (draft.fields(account.currency, wrong))
        (draft.category())
        button.primary type="submit" { "Add transaction" }
    };
    fields::form(&format!("/accounts/{}/transactions", account.id), &person.form_token, body)
}

fn balance_form(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    let known = account.balance_current_minor.map(|it| Money::new(it, account.currency));
    // Hidden amounts are not shown in fields either.
    let shown = known.filter(|_| !person.view.hide_amounts).map(plain_amount).unwrap_or_default();
    let value = forms_state.typed("balance", &shown);
    let label = match account.kind.is_debt() {
        true => format!("Amount owed ({})", account.currency.code()),
        false => format!("Current balance ({})", account.currency.code()),
    };
    let body = html! {
        (forms_state.show(&Field::text("balance", &label, &value)))
        button.outlined type="submit" { "Set balance" }
    };
    html! {
        p.soft {
            @if let Some(known) = known { "Currently " (person.view.money(known)) ". " }
            "Enter the actual balance. Transactions you add for today or later will change it. Earlier \
             transactions are considered included."
        }
        (fields::form(&format!("/accounts/{}/balance", account.id), &person.form_token, body))
    }
}
