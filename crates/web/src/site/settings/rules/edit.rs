//! The pages to create a rule and to edit one. Both can show what the rule would change before it is saved.

use axum::extract::{Path, RawQuery};
use base::{Currency, RuleId};
use http::StatusCode;
use maud::{Markup, html};
use service::access::users;
use service::classify::rule_preview::{self, RulePreview};
use service::classify::rules::{self, NewRule, Rule, RuleEdit};
use service::ledger::accounts::{self, Account, Filter, Status};

use super::rule_form::{self, RuleForm};
use super::{parse, sentence};
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields::{self, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::settings::{Settings, Tab};
use crate::site::urls;

/// What the page shows besides the form.
#[derive(Default)]
struct Outcome {
    wrong: FormError,
    preview: Option<RulePreview>,
    /// The older rules that the new one would replace.
    replaced: Vec<Rule>,
}

/// The result of the form's buttons.
enum Done {
    /// With the older rules that it would replace.
    Previewed { preview: RulePreview, replaced: Vec<Rule> },
    /// With the older rules that it replaced.
    Saved { replaced: Vec<Rule> },
}

/// The person's accounts and base currency, by which the form is read.
struct Context {
    accounts: Vec<Account>,
    currency: Currency,
}

impl Context {
    async fn load(person: &Person, rule: Option<&Rule>) -> service::Result<Context> {
        let (app, caller) = (person.app(), &person.caller);
        let filter = Filter { status: Status::All, include_hidden: true };
        let accounts = accounts::list(app, caller, filter).await?;
        let stored = rule.and_then(|it| it.amounts).map(|it| it.currency);
        let currency = match stored {
            Some(currency) => currency,
            None => users::base_currency(app, caller).await?,
        };
        Ok(Context { accounts, currency })
    }
}

/// The form of a new rule. A page about a transaction fills in its merchant and category.
pub(in crate::site) async fn new(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let value = |name: &str| {
        pairs.iter().find(|(it, _)| it == name).map_or_else(String::new, |(_, it)| it.clone())
    };
    let draft = RuleForm::about(value("merchant"), value("words"), value("category"));
    let context = Context::load(&person, None).await?;
    Ok(show(&person, None, (&draft, &context), &Outcome::default()))
}

pub(in crate::site) async fn create(person: Person, form: Form) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let draft = RuleForm::typed(&form);
    let context = Context::load(&person, None).await?;
    let older = rules::list(app, caller).await?;
    let named = |ids: &[RuleId]| older.iter().filter(|it| ids.contains(&it.id)).cloned().collect();
    let done = async {
        let new = draft.read(&context.accounts, context.currency)?;
        if form.text("do") == "preview" {
            let preview = rule_preview::preview(app, caller, &new, None).await?;
            let replaced = named(&preview.replaced);
            return Ok(Done::Previewed { preview, replaced });
        }
        let created = rules::create(app, caller, new).await?;
        Ok(Done::Saved { replaced: named(&created.replaced) })
    };
    answer(&person, None, (&draft, &context), done.await)
}

pub(in crate::site) async fn get(person: Person, Path(id): Path<String>) -> PageResult {
    let rule = find(&person, parse(&id)?).await?;
    let context = Context::load(&person, Some(&rule)).await?;
    let draft = RuleForm::of(&rule).masked(person.view);
    Ok(show(&person, Some(&rule), (&draft, &context), &Outcome::default()))
}

pub(in crate::site) async fn change(
    person: Person,
    Path(id): Path<String>,
    form: Form,
) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let rule = find(&person, parse(&id)?).await?;
    let draft = RuleForm::typed(&form);
    let context = Context::load(&person, Some(&rule)).await?;
    let unmasked = draft.unmasked(&RuleForm::of(&rule));
    let done = async {
        let new = unmasked.read(&context.accounts, context.currency)?;
        if form.text("do") == "preview" {
            let preview = rule_preview::preview(app, caller, &new, Some(rule.id)).await?;
            return Ok(Done::Previewed { preview, replaced: Vec::new() });
        }
        let NewRule { words, account_id, direction, amounts, sets, hides, .. } = new;
        let edit = RuleEdit { words, account_id, direction, amounts, sets, hides };
        rules::update(app, caller, rule.id, edit).await?;
        Ok(Done::Saved { replaced: Vec::new() })
    };
    answer(&person, Some(&rule), (&draft, &context), done.await)
}

/// Shows the form again with a preview or an error, or the list after the rule was saved.
fn answer(
    person: &Person,
    rule: Option<&Rule>,
    form: (&RuleForm, &Context),
    done: service::Result<Done>,
) -> PageResult {
    let outcome = match done {
        Ok(Done::Saved { replaced }) => {
            let mut message = "Rule saved. ".to_owned();
            for rule in &replaced {
                message
                    .push_str(&format!("It replaced this rule: {} ", sentence::text(person, rule)));
            }
            message.push_str("Matching transactions will update in a moment.");
            return Ok(see_other(person, "/settings/rules", &message));
        }
        Ok(Done::Previewed { preview, replaced }) => {
            Outcome { wrong: FormError::default(), preview: Some(preview), replaced }
        }
        Err(error) => {
            let (draft, context) = form;
            let draft = rule.map_or_else(|| draft.clone(), |it| draft.unmasked(&RuleForm::of(it)));
            let checks = draft.checks(&context.accounts, context.currency);
            Outcome { wrong: FormError::from_error(error)?.and(checks), ..Outcome::default() }
        }
    };
    Ok(show(person, rule, form, &outcome))
}

async fn find(person: &Person, id: RuleId) -> std::result::Result<Rule, PageError> {
    let rules = rules::list(person.app(), &person.caller).await?;
    rules.into_iter().find(|it| it.id == id).ok_or_else(PageError::not_found)
}

fn show(
    person: &Person,
    rule: Option<&Rule>,
    (draft, context): (&RuleForm, &Context),
    outcome: &Outcome,
) -> axum::response::Response {
    let status = match outcome.wrong.message.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    let action = match rule {
        Some(rule) => format!("/settings/rules/{}", rule.id),
        None => "/settings/rules/new".to_owned(),
    };
    let future_only = rule.map_or(draft.is_future_only(), |it| it.holds_from.is_some());
    let body = draft.fields(rule.is_none(), (&context.accounts, context.currency), &outcome.wrong);
    let main = html! {
        p.trail { a href="/settings/rules" { "Rules" } }
        h2 { (if rule.is_some() { "Edit rule" } else { "New rule" }) }
        (about(rule))
        section.card aria-label="Rule" {
            (outcome.wrong.summary())
            (fields::form(&action, &person.form_token, body))
        }
        @if let Some(found) = &outcome.preview {
            (rule_form::preview(person, (found, &outcome.replaced), future_only))
        }
    };
    Settings { status, ..Settings::new(Tab::Rules) }.page(person, main)
}

fn about(rule: Option<&Rule>) -> Markup {
    html! {
        @match rule {
            None => { p { "A rule applies to transactions that meet all its conditions. Fill in at least one." } }
            Some(rule) => @if let Some(merchant) = &rule.merchant {
                p { "Applies to transactions from " strong { (merchant) } "." }
            }
        }
    }
}
