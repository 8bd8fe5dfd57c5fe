//! The settings forms of an account: name, type, terms, card product, visibility and closing.

use base::Date;
use maud::{Markup, html};
use service::insights::benefits::{self, Product};
use service::ledger::accounts::Account;

use super::form_state::{FormState, action};
use super::{debt, types};
use crate::site::fields::{self, Field};
use crate::site::person::Person;

pub(super) fn forms(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    html! {
        details.card.folded open[forms_state.is_about_settings()] id="settings" {
            summary { h2 { "Account settings" } }
            div.columns {
                section aria-labelledby="name" {
                    h3 id="name" { "Name" }
                    (name(person, account, forms_state))
                }
                section aria-labelledby="type" {
                    h3 id="type" { "Type" }
                    (account_type(person, account, forms_state))
                }
                @if account.kind.is_debt() {
                    section aria-labelledby="terms" {
                        h3 id="terms" { "Terms" }
                        (debt::form(person, account, forms_state))
                    }
                }
                @if let Some(product) = &forms_state.product {
                    section aria-labelledby="card" {
                        h3 id="card" { "Card product" }
                        (card(person, account, (forms_state, product)))
                    }
                }
                section aria-labelledby="sight" {
                    h3 id="sight" { "Visibility" }
                    (sight(person, account))
                }
                section aria-labelledby="closing" {
                    h3 id="closing" { (if account.closed_on.is_some() { "Closed account" } else { "Close account" }) }
                    (closing(person, account, forms_state))
                }
            }
        }
    }
}

fn account_type(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    let options = types::options(account);
    let options: Vec<(&str, &str)> =
        options.iter().map(|(value, label)| (value.as_str(), label.as_str())).collect();
    let chosen = forms_state.typed("type", &types::value_of(account));
    let body = html! {
        (fields::select("type", "Account type", &options, &chosen))
        button.outlined type="submit" { "Save type" }
    };
    html! {
        p.soft { "You can change it at any time. Categories, transfers, scores and net worth follow it." }
        (fields::form(&action(account, "type"), &person.form_token, body))
    }
}

fn name(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    let value = forms_state.typed("name", &account.name);
    let hint = format!("Your bank calls it {}. Leave empty to use that name.", account.bank_name);
    let field = Field::text("name", "Account name", &value).hint(&hint).optional();
    let body = html! {
        (forms_state.show(&field))
        button.outlined type="submit" { "Save name" }
    };
    fields::form(&action(account, "name"), &person.form_token, body)
}

fn card(
    person: &Person,
    account: &Account,
    (forms_state, product): (&FormState<'_>, &Product),
) -> Markup {
    let mut known: Vec<(&str, String)> =
        benefits::catalog().map(|(id, name, _)| (id, name)).collect();
    known.sort_by(|a, b| a.1.cmp(&b.1));
    let none = if product.decided { "None of these" } else { "Not recognized, or none of these" };
    let options: Vec<(&str, &str)> = [("", none)]
        .into_iter()
        .chain(known.iter().map(|(id, name)| (*id, name.as_str())))
        .collect();
    let chosen = forms_state.typed("product", product.product.as_deref().unwrap_or_default());
    let opened = product.opened_on.map(|it: Date| it.to_string()).unwrap_or_default();
    let opened = forms_state.typed("opened_on", &opened);
    let field = Field::text("opened_on", "Card opened on", &opened).kind("date").optional();
    let field = field.hint("Some benefits renew from this date.");
    let body = html! {
        (fields::select("product", "Product", &options, &chosen))
        (forms_state.show(&field))
        button.outlined type="submit" { "Save card" }
    };
    html! {
        p.soft { "We use this to track your card benefits. " a href="/benefits" { "View benefits" } }
        (fields::form(&action(account, "card"), &person.form_token, body))
    }
}

fn sight(person: &Person, account: &Account) -> Markup {
    let (explanation, value, label) = match account.hidden_at.is_some() {
        true => ("This account is hidden from lists, totals and charts.", "0", "Show account"),
        false => (
            "Hide account from lists, totals and charts, here and in the API. Its data is kept.",
            "1",
            "Hide account",
        ),
    };
    let body = html! {
        input type="hidden" name="hidden" value=(value);
        button.outlined type="submit" { (label) }
    };
    html! {
        p.soft { (explanation) }
        (fields::form(&action(account, "hide"), &person.form_token, body))
    }
}

fn closing(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    let token = &person.form_token;
    if account.closed_on.is_some() {
        return html! {
            @if account.closed_by_person {
                p.soft { "You closed this account. Its history is kept." }
                (fields::button(&action(account, "reopen"), token, "Reopen account", "outlined"))
            } @else {
                p.soft { "Your bank reports this account as closed. Its history is kept." }
            }
        };
    }
    let value = forms_state.typed("closed_on", &person.view.today.to_string());
    let field = Field::text("closed_on", "Closing date", &value).kind("date");
    let body = html! {
        (forms_state.show(&field))
        button.outlined type="submit" { "Close account" }
    };
    html! {
        p.soft {
            "If you no longer have this account. Its history is kept, and its balance counts as zero from that \
             date. You can reopen it later."
        }
        (fields::form(&action(account, "close"), token, body))
    }
}
