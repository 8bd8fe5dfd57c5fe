//! The person's rules for names and categories: what they say, and how to be rid of one.

use axum::extract::Path;
use base::RuleId;
use maud::{Markup, html};
use service::enrichment::{self, KeptRule};
use service::recurring::Direction;

use crate::site::fields;
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::settings::{Settings, Tab};
use crate::site::shell::see_other;
use crate::site::show::moment;
use crate::site::trouble::{Shown, Trouble};

pub(in crate::site) async fn get(person: Person) -> Shown {
    let rules = enrichment::rules(person.app(), &person.caller).await?;
    let main = html! {
        h2 { "Rules" }
        p { "A rule gives a name or a category to every transaction it fits, the old ones and those to \
             come. What you say of a single transaction counts more than a rule." }
        @if rules.is_empty() { (nothing()) } @else {
            div.card { ul.rows { @for rule in &rules { (row(&person, rule)) } } }
        }
    };
    Ok(Settings::new(Tab::Rules).page(&person, main))
}

fn nothing() -> Markup {
    html! {
        div.empty {
            h3 { "No rules yet" }
            p { "Open a transaction, put its category right, and tick “Always” to make one." }
            a.button.outlined href="/transactions" { "Go to your transactions" }
        }
    }
}

fn row(person: &Person, rule: &KeptRule) -> Markup {
    let action = format!("/settings/rules/{}/delete", rule.id);
    html! {
        li {
            div.what {
                (sentence(rule))
                span.soft { "Made " (moment(rule.created_at, person.app().clock.now())) }
            }
            (fields::button(&action, &person.form_token, "Delete", "link"))
        }
    }
}

/// What a rule says, as one says it.
fn sentence(rule: &KeptRule) -> Markup {
    let whose = match rule.direction {
        Some(Direction::Inflow) => "Money in from ",
        Some(Direction::Outflow) => "Money out to ",
        None => "Every transaction of ",
    };
    html! {
        @if let Some(merchant) = &rule.merchant {
            (whose) strong { (merchant) }
        } @else if let Some(words) = &rule.words {
            "Every transaction with " strong { (words) } " in the bank's text"
        }
        @if let Some(account) = &rule.account_name { " on " (account) }
        @match (&rule.counterparty, rule.category) {
            (Some(name), Some(category)) => {
                " is called " strong { (name) } " and is " strong { (category.label()) } "."
            }
            (Some(name), None) => { " is called " strong { (name) } "." }
            (None, Some(category)) => { " is " strong { (category.label()) } "." }
            (None, None) => {}
        }
    }
}

pub(in crate::site) async fn delete(person: Person, Path(id): Path<String>, _form: Form) -> Shown {
    let id = RuleId::parse(&id).map_err(|_| Trouble::not_found())?;
    enrichment::delete_rule(person.app(), &person.caller, id).await?;
    let said = "The rule is gone. What it said is judged anew in a moment.";
    Ok(see_other(&person, "/settings/rules", said))
}
