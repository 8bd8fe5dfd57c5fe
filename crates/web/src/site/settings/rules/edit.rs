//! The form to edit a rule.

use axum::extract::Path;
use base::category::Category;
use base::{AccountId, RuleId};
use http::StatusCode;
use maud::{Markup, html};
use service::classify::overrides::Override;
use service::classify::rules::{self, Rule, RuleEdit};
use service::ledger::Direction;
use service::ledger::accounts::{self, Account, Filter, Status};
use service::{Error, Result};

use super::parse;
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::settings::{Settings, Tab};
use crate::site::transactions::category;

/// The values of the form as text, so that they are kept if the form is shown again.
struct RuleForm {
    words: String,
    account: String,
    direction: String,
    name: String,
    category: String,
    hides: bool,
}

impl RuleForm {
    fn of(rule: &Rule) -> RuleForm {
        RuleForm {
            words: rule.words.clone().unwrap_or_default(),
            account: rule.account_id.map(|it| it.to_string()).unwrap_or_default(),
            direction: rule.direction.map_or("", Direction::as_str).to_owned(),
            name: rule.counterparty.clone().unwrap_or_default(),
            category: rule.category.map_or("", Category::detailed).to_owned(),
            hides: rule.hides,
        }
    }

    fn typed(form: &Form) -> RuleForm {
        let text = |name: &str| form.text(name).to_owned();
        RuleForm {
            words: text("words"),
            account: text("account_id"),
            direction: text("direction"),
            name: text("counterparty_name"),
            category: text("category"),
            hides: form.has("hides"),
        }
    }

    /// Parses the values; the error names the field.
    fn read(&self, rule: &Rule) -> Result<RuleEdit> {
        let unknown = |_| Error::invalid("account_id", "choose one of your accounts");
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let account_id = given(&self.account).map(|it| AccountId::parse(&it)).transpose();
        let category = Category::ALL.into_iter().find(|it| it.detailed() == self.category);
        let sets = Override { counterparty: given(&self.name), category };
        if sets.counterparty.is_none() && sets.category.is_none() && !self.hides {
            let message = "enter a name, choose a category or hide the transactions";
            return Err(Error::invalid("counterparty_name", message));
        }
        Ok(RuleEdit {
            words: rule.words.as_ref().map(|_| self.words.clone()),
            account_id: account_id.map_err(unknown)?,
            direction: Direction::parse(&self.direction),
            sets,
            hides: self.hides,
        })
    }
}

pub(in crate::site) async fn get(person: Person, Path(id): Path<String>) -> PageResult {
    let rule = find(&person, parse(&id)?).await?;
    show(&person, &rule, &RuleForm::of(&rule), &FormError::default()).await
}

pub(in crate::site) async fn change(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let rule = find(&person, parse(&id)?).await?;
    let draft = RuleForm::typed(&form);
    let done = async {
        let edit = draft.read(&rule)?;
        rules::update(person.app(), &person.caller, rule.id, edit).await
    };
    match done.await {
        Ok(()) => {
            let message = "Rule saved. Matching transactions will update in a moment.";
            Ok(see_other(&person, "/settings/rules", message))
        }
        Err(error) => show(&person, &rule, &draft, &FormError::from_error(error)?).await,
    }
}

async fn find(person: &Person, id: RuleId) -> std::result::Result<Rule, PageError> {
    let rules = rules::list(person.app(), &person.caller).await?;
    rules.into_iter().find(|it| it.id == id).ok_or_else(PageError::not_found)
}

async fn show(person: &Person, rule: &Rule, draft: &RuleForm, wrong: &FormError) -> PageResult {
    let filter = Filter { status: Status::All, include_hidden: true };
    let accounts = accounts::list(person.app(), &person.caller, filter).await?;
    let status = match wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let action = format!("/settings/rules/{}", rule.id);
    let main = html! {
        p.trail { a href="/settings/rules" { "Rules" } }
        h2 { "Edit rule" }
        @if let Some(merchant) = &rule.merchant {
            p { "Applies to transactions from " strong { (merchant) } "." }
        }
        section.card aria-label="Rule" {
            (wrong.summary())
            (fields::form(&action, &person.form_token, body(rule, draft, (&accounts, wrong))))
        }
    };
    Ok(Settings { status, ..Settings::new(Tab::Rules) }.page(person, main))
}

fn body(rule: &Rule, draft: &RuleForm, (accounts, wrong): (&[Account], &FormError)) -> Markup {
    let ids: Vec<String> = accounts.iter().map(|it| it.id.to_string()).collect();
    let mut account_options = vec![("", "All accounts")];
    account_options
        .extend(ids.iter().map(String::as_str).zip(accounts.iter().map(|it| it.name.as_str())));
    let directions = [("", "Money in and out"), ("inflow", "Money in"), ("outflow", "Money out")];
    html! {
        @if rule.words.is_some() {
            (Field::text("words", "Words in the description", &draft.words).show(wrong))
        }
        (fields::select("account_id", "Account", &account_options, &draft.account))
        (fields::select("direction", "Direction", &directions, &draft.direction))
        (Field::text("counterparty_name", "Rename to", &draft.name).optional()
            .hint("Leave empty to keep the names.").show(wrong))
        div.field {
            label for="f-category" { "Category" }
            select id="f-category" name="category" {
                option value="" { "Don't change" }
                (category::options(&draft.category, false))
            }
        }
        (fields::check("hides", "yes", "Hide from lists and totals (balances are not affected)", draft.hides))
        button.primary type="submit" { "Save rule" }
    }
}
