//! What the person may say of an account: its name, which card it is, and whether it is in sight or closed.

use base::Date;
use maud::{Markup, html};
use service::insights::benefits::{self, Product};
use service::ledger::accounts::Account;

use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;

/// What the forms begin with.
pub(super) struct FormState<'a> {
    /// Only of cards.
    pub(super) product: Option<Product>,
    /// What was typed, and what is wrong with it.
    pub(super) sent: Option<(&'a Form, FormError)>,
}

impl FormState<'_> {
    pub(super) fn typed(&self, name: &str, known: &str) -> String {
        match &self.sent {
            Some((form, _)) if form.has(name) => form.text(name).to_owned(),
            _ => known.to_owned(),
        }
    }

    pub(super) fn show(&self, field: &Field<'_>) -> Markup {
        match &self.sent {
            Some((_, wrong)) => field.show(wrong),
            None => field.show(&FormError::default()),
        }
    }
}

pub(super) fn forms(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    html! {
        div.columns {
            section.card aria-labelledby="name" {
                h2 id="name" { "Name" }
                (name(person, account, forms_state))
            }
            @if let Some(product) = &forms_state.product {
                section.card aria-labelledby="card" {
                    h2 id="card" { "Which card it is" }
                    (card(person, account, (forms_state, product)))
                }
            }
            section.card aria-labelledby="sight" {
                h2 id="sight" { "In sight" }
                (sight(person, account))
            }
            section.card aria-labelledby="closing" {
                h2 id="closing" { (if account.closed_on.is_some() { "Closed" } else { "Closing" }) }
                (closing(person, account, forms_state))
            }
        }
    }
}

fn action(account: &Account, verb: &str) -> String {
    format!("/accounts/{}/{verb}", account.id)
}

fn name(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    let value = forms_state.typed("name", &account.name);
    let hint = format!("Your bank calls it {}. Leave this empty to use that.", account.bank_name);
    let field = Field::text("name", "What you call it", &value).hint(&hint).optional();
    let body = html! {
        (forms_state.show(&field))
        button.outlined type="submit" { "Save the name" }
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
    let none = if product.decided { "None of these" } else { "Not recognised, or none of these" };
    let options: Vec<(&str, &str)> = [("", none)]
        .into_iter()
        .chain(known.iter().map(|(id, name)| (*id, name.as_str())))
        .collect();
    let chosen = forms_state.typed("product", product.product.as_deref().unwrap_or_default());
    let opened = product.opened_on.map(|it: Date| it.to_string()).unwrap_or_default();
    let opened = forms_state.typed("opened_on", &opened);
    let field = Field::text("opened_on", "Yours since", &opened).kind("date").optional();
    let field = field.hint("Some benefits count from this day.");
    let body = html! {
        (fields::select("product", "Product", &options, &chosen))
        (forms_state.show(&field))
        button.outlined type="submit" { "Save the card" }
    };
    html! {
        p.soft { "Its benefits follow from it. " a href="/benefits" { "Look at your benefits" } }
        (fields::form(&action(account, "card"), &person.form_token, body))
    }
}

fn sight(person: &Person, account: &Account) -> Markup {
    let (said, value, label) = match account.hidden_at.is_some() {
        true => ("It is hidden: no list, total or chart speaks of it.", "0", "Show it again"),
        false => (
            "Hide it from lists, totals and charts, here and in the API. Nothing is lost.",
            "1",
            "Hide this account",
        ),
    };
    let body = html! {
        input type="hidden" name="hidden" value=(value);
        button.outlined type="submit" { (label) }
    };
    html! {
        p.soft { (said) }
        (fields::form(&action(account, "hide"), &person.form_token, body))
    }
}

fn closing(person: &Person, account: &Account, forms_state: &FormState<'_>) -> Markup {
    let token = &person.form_token;
    if account.closed_on.is_some() {
        return html! {
            @if account.closed_by_person {
                p.soft { "You said that you no longer have it. Its history stays." }
                (fields::button(&action(account, "reopen"), token, "Open it again", "outlined"))
            } @else {
                p.soft { "Your bank says that it is closed. Its history stays." }
            }
        };
    }
    let value = forms_state.typed("closed_on", &person.view.today.to_string());
    let field = Field::text("closed_on", "Last day", &value).kind("date");
    let body = html! {
        (forms_state.show(&field))
        button.outlined type="submit" { "Close this account" }
    };
    html! {
        p.soft {
            "If you no longer have it. It keeps its history and counts as empty from that day on. \
             You can open it again."
        }
        (fields::form(&action(account, "close"), token, body))
    }
}
