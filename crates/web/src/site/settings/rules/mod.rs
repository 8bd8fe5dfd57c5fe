//! The rules page: the person's rules, how many transactions they match, and forms to change them.

pub(in crate::site) mod edit;

use axum::extract::Path;
use base::RuleId;
use maud::{Markup, html};
use service::classify::rule_matches::{self, RuleMatches};
use service::classify::rules::{self, Rule};
use service::insights;
use service::ledger::Direction;

use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields;
use crate::site::form::Form;
use crate::site::format::plural;
use crate::site::person::Person;
use crate::site::settings::{Settings, Tab};

pub(in crate::site) async fn get(person: Person) -> PageResult {
    let (app, caller) = (person.app(), &person.caller);
    let (rules, reaches) =
        tokio::try_join!(rules::list(app, caller), rule_matches::count(app, caller))?;
    let reach = |rule: &Rule| reaches.get(&rule.id).copied().unwrap_or_default();
    let main = html! {
        h2 { "Rules" }
        p { "A rule renames, categorizes or hides matching transactions. Your edits to a single transaction \
             override rules." }
        @if rules.is_empty() { (nothing()) } @else {
            div.card { ul.rows { @for rule in &rules { (row(&person, rule, reach(rule))) } } }
        }
    };
    Ok(Settings::new(Tab::Rules).page(&person, main))
}

fn nothing() -> Markup {
    html! {
        div.empty {
            h3 { "No rules yet" }
            p { "Open a transaction, change its category and check “Always” to create a rule." }
            a.button.outlined href="/transactions" { "Go to transactions" }
        }
    }
}

fn row(person: &Person, rule: &Rule, reach: RuleMatches) -> Markup {
    let now = person.app().clock.now();
    let here = format!("/settings/rules/{}", rule.id);
    let about = rule.merchant.as_ref().or(rule.words.as_ref()).map_or("", String::as_str);
    let button = |verb: &str, label: &str| {
        fields::button(&format!("{here}/{verb}"), &person.form_token, label, "link")
    };
    html! {
        li {
            div.what {
                (rule_sentence(rule))
                span.soft {
                    "Applies to " (plural(reach.applied, "transaction", "transactions")) ". Created "
                    (person.view.time_ago(rule.created_at, now)) "."
                }
                @if rule.holds_from.is_some() { (past(reach)) }
            }
            div {
                @if rule.holds_from.is_some() && reach.would_change > 0 {
                    (button("apply", "Apply to past transactions")) " "
                }
                a href=(here) { "Edit" span.hush { " rule for " (about) } } " "
                (button("delete", "Delete rule"))
            }
        }
    }
}

fn past(reach: RuleMatches) -> Markup {
    html! {
        span.soft {
            "Doesn't apply to earlier transactions. "
            @if reach.would_change > 0 {
                "Applying it would change " (plural(reach.would_change, "past transaction", "past transactions")) "."
            } @else {
                "No past transactions would change."
            }
        }
    }
}

/// A rule as a sentence.
fn rule_sentence(rule: &Rule) -> Markup {
    let from = match rule.direction {
        Some(Direction::Inflow) => "Money in from ",
        Some(Direction::Outflow) => "Money out to ",
        None => "Every transaction from ",
    };
    let with = match rule.direction {
        Some(Direction::Inflow) => "Money in with ",
        Some(Direction::Outflow) => "Money out with ",
        None => "Every transaction with ",
    };
    let named = rule.counterparty.as_ref().map(|it| html! { " is renamed to " strong { (it) } });
    let sorted = rule.category.map(|it| html! { " is categorized as " strong { (it.label()) } });
    let hidden = rule.hides.then(|| html! { " is " strong { "hidden" } });
    let effects: Vec<Markup> = [named, sorted, hidden].into_iter().flatten().collect();
    html! {
        @if let Some(merchant) = &rule.merchant {
            (from) strong { (merchant) }
        } @else if let Some(words) = &rule.words {
            (with) strong { (words) } " in the description"
        }
        @if let Some(account) = &rule.account_name { " on " (account) }
        @for (index, part) in effects.iter().enumerate() {
            @if index > 0 { " and" }
            (part)
        }
        "."
    }
}

/// Applies a rule to past transactions.
pub(in crate::site) async fn apply(
    person: Person,
    Path(id): Path<String>,
    _form: Form,
) -> PageResult {
    let (id, app, caller) = (parse(&id)?, person.app(), &person.caller);
    let reach = rule_matches::count(app, caller).await?.get(&id).copied().unwrap_or_default();
    rules::apply_to_past(app, caller, id).await?;
    // Recomputed at once, because the person is waiting for the result.
    insights::pipeline::run_for(app, caller.user).await?;
    let many = plural(reach.would_change, "transaction", "transactions");
    let message = format!("Rule applied to past transactions: {many} changed.");
    Ok(see_other(&person, "/settings/rules", &message))
}

fn parse(id: &str) -> Result<RuleId, PageError> {
    RuleId::parse(id).map_err(|_| PageError::not_found())
}

pub(in crate::site) async fn delete(
    person: Person,
    Path(id): Path<String>,
    _form: Form,
) -> PageResult {
    let id = parse(&id)?;
    rules::delete(person.app(), &person.caller, id).await?;
    let message = "Rule deleted. Affected transactions will update in a moment.";
    Ok(see_other(&person, "/settings/rules", message))
}
