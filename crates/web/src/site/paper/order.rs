//! Forms to open a paper account or place a trade. Both create a proposal that the person then approves.

use axum::extract::Path;
use axum::response::Response;
use base::{Currency, Fixed9, Money};
use maud::{Markup, html};
use service::actions::{self, ActionPayload, NewAction, Side, Size};
use service::trading::paper::Account;
use service::{Error, Result};

use super::{list_with, one_with, parse};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;

pub(super) struct NewAccountForm {
    name: String,
    cash: String,
}

impl Default for NewAccountForm {
    fn default() -> NewAccountForm {
        NewAccountForm { name: "Paper account".to_owned(), cash: "100000.00".to_owned() }
    }
}

pub(super) fn new_account(
    person: &Person,
    typed: &NewAccountForm,
    wrong: &FormError,
    is_first: bool,
) -> Markup {
    let inner = html! {
        (wrong.summary())
        (Field::text("name", "Name", &typed.name).show(wrong))
        (Field::text("starting_cash_balance", "Starting cash", &typed.cash)
            .hint("In US dollars, up to $1 billion.").show(wrong))
        button.primary type="submit" { "Review" }
    };
    let open = is_first || !wrong.message.is_empty();
    html! {
        section.card aria-labelledby="new" {
            h2 id="new" { "Open a paper account" }
            details open[open] {
                summary { "Name and starting cash" }
                (fields::form("/paper", &person.form_token, inner))
            }
        }
    }
}

pub(super) async fn open(person: Person, form: Form) -> PageResult {
    let typed = NewAccountForm {
        name: form.text("name").to_owned(),
        cash: form.text("starting_cash_balance").to_owned(),
    };
    let payload = amount("starting_cash_balance", &typed.cash)
        .map(|cash_minor| ActionPayload::PaperAccount { name: typed.name.clone(), cash_minor });
    match propose(&person, payload).await {
        Ok(response) => Ok(response),
        Err(error) => list_with(&person, &typed, &FormError::from_error(error)?).await,
    }
}

/// The values of the order form.
#[derive(Default)]
pub(super) struct OrderForm {
    symbol: String,
    side: String,
    shares: String,
    dollars: String,
}

pub(super) fn form(
    person: &Person,
    account: &Account,
    typed: &OrderForm,
    wrong: &FormError,
) -> Markup {
    if !account.is_open {
        return html! {};
    }
    let inner = html! {
        (wrong.summary())
        div.filters {
            (fields::select("side", "Side", &[("buy", "Buy"), ("sell", "Sell")], &typed.side))
            (Field::text("symbol", "Symbol", &typed.symbol).show(wrong))
            (Field::text("quantity", "Shares", &typed.shares).optional().show(wrong))
            (Field::text("notional", "Or amount in dollars", &typed.dollars).optional().show(wrong))
        }
        button type="submit" { "Review" }
    };
    html! {
        section.card aria-labelledby="order" {
            h2 id="order" { "Trade" }
            p.soft { "You'll see the price and total before anything happens." }
            (fields::form(&format!("/paper/{}/order", account.id), &person.form_token, inner))
        }
    }
}

pub(super) async fn place(person: Person, Path(id): Path<String>, form: Form) -> PageResult {
    let account = parse(&id)?;
    let typed = OrderForm {
        symbol: form.text("symbol").to_owned(),
        side: form.text("side").to_owned(),
        shares: form.text("quantity").to_owned(),
        dollars: form.text("notional").to_owned(),
    };
    let payload = order(&typed).map(|(side, size)| ActionPayload::Trade {
        account,
        symbol: typed.symbol.clone(),
        side,
        size,
    });
    match propose(&person, payload).await {
        Ok(response) => Ok(response),
        Err(error) => {
            one_with(&person, account, None, &typed, &FormError::from_error(error)?).await
        }
    }
}

fn order(typed: &OrderForm) -> Result<(Side, Size)> {
    let side = Side::parse(&typed.side);
    let side = side.ok_or_else(|| Error::invalid("side", "choose buy or sell"))?;
    let size = match (typed.shares.as_str(), typed.dollars.as_str()) {
        (shares, "") if !shares.is_empty() => {
            let wrong = || Error::invalid("quantity", "enter a number of shares, such as 1.5");
            Size::Shares(Fixed9::parse(shares).map_err(|_| wrong())?)
        }
        ("", dollars) if !dollars.is_empty() => Size::Cash(amount("notional", dollars)?),
        _ => return Err(Error::invalid("quantity", "enter either shares or an amount in dollars")),
    };
    Ok((side, size))
}

fn amount(name: &str, text: &str) -> Result<i64> {
    let wrong = |_| Error::invalid(name, "enter an amount such as 500.00");
    Ok(Money::parse(&text.replace(',', ""), Currency::USD).map_err(wrong)?.minor())
}

async fn propose(person: &Person, what: Result<ActionPayload>) -> Result<Response> {
    let new = NewAction::from(what?);
    let action = actions::propose(person.app(), &person.caller, new).await?;
    Ok(see_other(person, &format!("/approvals/{}", action.thread), ""))
}
