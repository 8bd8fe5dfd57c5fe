//! The approval settings: how long proposals wait, when a passkey is required, and daily limits.

use base::{Currency, Money};
use http::StatusCode;
use maud::{Markup, html};
use service::actions::{self, LIFE_SECONDS_MIN, Policy};

use super::{Settings, Tab};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::format::{or_stored, plain_amount};
use crate::site::person::Person;

const HERE: &str = "/settings/approvals";
/// The choices for how long a proposal waits.
const LIVES: [(&str, &str); 7] = [
    ("300", "5 minutes"),
    ("3600", "1 hour"),
    ("14400", "4 hours"),
    ("43200", "12 hours"),
    ("86400", "1 day"),
    ("259200", "3 days"),
    ("604800", "7 days"),
];

pub(super) async fn get(person: Person) -> PageResult {
    let policy = actions::get_policy(person.app(), &person.caller).await?;
    let stored = FormValues::from(policy);
    let passkey_from = person.view.field_text(&stored.passkey_from);
    let shown = FormValues { passkey_from, ..stored };
    Ok(page(&person, &shown, &FormError::default(), StatusCode::OK))
}

/// The values of the form.
struct FormValues {
    life_seconds: String,
    passkey: bool,
    passkey_from: String,
    proposals_a_day: String,
}

impl From<Policy> for FormValues {
    fn from(policy: Policy) -> FormValues {
        let from = policy.passkey_from_minor.unwrap_or(100_000);
        FormValues {
            life_seconds: policy.life_seconds.to_string(),
            passkey: policy.passkey_from_minor.is_some(),
            passkey_from: plain_amount(Money::new(from, Currency::USD)),
            proposals_a_day: policy.proposals_a_day.to_string(),
        }
    }
}

pub(super) async fn post(person: Person, form: Form) -> PageResult {
    let typed = FormValues {
        life_seconds: form.text("life_seconds").to_owned(),
        passkey: form.has("passkey"),
        passkey_from: form.text("passkey_from").to_owned(),
        proposals_a_day: form.text("proposals_a_day").to_owned(),
    };
    // Where amounts are hidden, the form is sent with dots in place of the stored one.
    let stored = FormValues::from(actions::get_policy(person.app(), &person.caller).await?);
    let saved = match read(&typed, or_stored(&typed.passkey_from, &stored.passkey_from)) {
        Ok(policy) => actions::set_policy(person.app(), &person.caller, policy).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(()) => Ok(see_other(&person, HERE, "Approval settings saved.")),
        Err(error) => {
            let wrong = FormError::from_error(error)?;
            Ok(page(&person, &typed, &wrong, StatusCode::BAD_REQUEST))
        }
    }
}

fn read(typed: &FormValues, passkey_from: &str) -> service::Result<Policy> {
    let whole = |name: &str, text: &str| {
        let wrong = || service::Error::invalid(name, "enter a whole number");
        text.parse::<i64>().map_err(|_| wrong())
    };
    let passkey_from_minor = match typed.passkey {
        true => {
            let read = Money::parse(&passkey_from.replace(',', ""), Currency::USD);
            let wrong =
                |_| service::Error::invalid("passkey_from", "enter an amount such as 1000.00");
            Some(read.map_err(wrong)?.minor())
        }
        false => None,
    };
    Ok(Policy {
        life_seconds: whole("life_seconds", &typed.life_seconds)?,
        passkey_from_minor,
        proposals_a_day: whole("proposals_a_day", &typed.proposals_a_day)?,
    })
}

fn page(
    person: &Person,
    typed: &FormValues,
    wrong: &FormError,
    status: StatusCode,
) -> axum::response::Response {
    let inner = html! {
        (wrong.summary())
        (lives(&typed.life_seconds))
        (fields::check("passkey", "1", "Require my passkey for large trades and transfers", typed.passkey))
        (Field::text("passkey_from", "Minimum amount", &typed.passkey_from)
            .hint("In US dollars. Applies once you have a passkey.").show(wrong))
        (Field::text("proposals_a_day", "Proposals per day", &typed.proposals_a_day)
            .hint("The limit for each app and API key.").show(wrong))
        button.primary type="submit" { "Save settings" }
    };
    let main = html! {
        section.card aria-labelledby="rules" {
            h2 id="rules" { "Approval settings" }
            p.soft { "Apps and API keys can propose actions. Only you can approve them." }
            (fields::form(HERE, &person.form_token, inner))
        }
    };
    Settings { status, ..Settings::new(Tab::Approvals) }.page(person, main)
}

/// The select box. A default that the operator chose is added if it is not in the list.
fn lives(chosen: &str) -> Markup {
    let own = chosen.parse::<i64>().ok().filter(|it| *it >= LIFE_SECONDS_MIN);
    let own_name = own.map(|it| format!("{} minutes", it / 60)).unwrap_or_default();
    let mut options = LIVES.to_vec();
    if own.is_some() && !LIVES.iter().any(|it| it.0 == chosen) {
        options.push((chosen, &own_name));
    }
    fields::select("life_seconds", "Proposals expire after", &options, chosen)
}
