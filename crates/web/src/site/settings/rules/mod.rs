//! The rules page: the person's rules, how many transactions they match, and forms to change them.

pub(in crate::site) mod edit;
mod rule_form;

use axum::extract::Path;
use base::{Money, RuleId};
use maud::{Markup, html};
use service::classify::rule_matches::{self, RuleMatches};
use service::classify::rule_order::{self, Move};
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
        p { "A rule renames, categorizes or hides matching transactions. Rules apply from top to bottom: the first one \
             that matches decides. Your edits to a single transaction override rules." }
        @if rules.is_empty() { (nothing()) } @else {
            p { a.button.outlined href="/settings/rules/new" { "New rule" } }
            div.card {
                ul.rows {
                    @for (index, rule) in rules.iter().enumerate() {
                        (row(&person, rule, reach(rule), (index > 0, index + 1 < rules.len())))
                    }
                }
            }
        }
    };
    Ok(Settings::new(Tab::Rules).page(&person, main))
}

fn nothing() -> Markup {
    html! {
        div.empty {
            h3 { "No rules yet" }
            p { "Open a transaction, change its category and check “Always” to create a rule." }
            a.button.outlined href="/settings/rules/new" { "New rule" } " "
            a.button.outlined href="/transactions" { "Go to transactions" }
        }
    }
}

fn row(
    person: &Person,
    rule: &Rule,
    reach: RuleMatches,
    (can_rise, can_sink): (bool, bool),
) -> Markup {
    let now = person.app().clock.now();
    let here = format!("/settings/rules/{}", rule.id);
    let about = rule.merchant.as_ref().or(rule.words.as_ref()).map_or("amounts", String::as_str);
    // Every button names its rule, for people who hear the page.
    let button = |verb: &str, label: &str, rest: &str| {
        let inner = html! { button.link type="submit" { (label) span.hush { (rest) (about) } } };
        fields::form(&format!("{here}/{verb}"), &person.form_token, inner)
    };
    html! {
        li {
            div.what {
                (rule_sentence(person, rule))
                span.soft {
                    "Applies to " (plural(reach.applied, "transaction", "transactions")) ". Created "
                    (person.view.time_ago(rule.created_at, now)) "."
                }
                @if rule.holds_from.is_some() { (past(reach)) }
            }
            div {
                @if rule.holds_from.is_some() && reach.would_change > 0 {
                    (button("apply", "Apply to past transactions", ": rule for ")) " "
                }
                @if can_rise { (button("up", "Move up", " the rule for ")) " " }
                @if can_sink { (button("down", "Move down", " the rule for ")) " " }
                a href=(here) { "Edit" span.hush { " rule for " (about) } } " "
                (button("delete", "Delete rule", " for "))
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
fn rule_sentence(person: &Person, rule: &Rule) -> Markup {
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
    let every = match rule.direction {
        Some(Direction::Inflow) => "Money in",
        Some(Direction::Outflow) => "Money out",
        None => "Every transaction",
    };
    html! {
        @if let Some(merchant) = &rule.merchant {
            (from) strong { (merchant) }
            @if let Some(words) = &rule.words { " with " strong { (words) } " in the description" }
        } @else if let Some(words) = &rule.words {
            (with) strong { (words) } " in the description"
        } @else {
            (every)
        }
        (amounts(person, rule))
        @if let Some(account) = &rule.account_name { " on " (account) }
        @for (index, part) in effects.iter().enumerate() {
            @if index > 0 { " and" }
            (part)
        }
        "."
    }
}

/// The amounts that a rule asks for, such as " of $5.00 to $10.00".
fn amounts(person: &Person, rule: &Rule) -> Markup {
    let Some(range) = rule.amounts else { return html! {} };
    let text = |minor| person.view.money_text(Money::new(minor, range.currency));
    html! {
        @match (range.least_minor, range.most_minor) {
            (Some(least), Some(most)) if least == most => { " of exactly " (text(least)) }
            (Some(least), Some(most)) => { " of " (text(least)) " to " (text(most)) }
            (Some(least), None) => { " of at least " (text(least)) }
            (None, Some(most)) => { " of at most " (text(most)) }
            (None, None) => {}
        }
    }
}

pub(in crate::site) async fn move_up(
    person: Person,
    Path(id): Path<String>,
    _form: Form,
) -> PageResult {
    move_by(person, &id, Move::Up).await
}

pub(in crate::site) async fn move_down(
    person: Person,
    Path(id): Path<String>,
    _form: Form,
) -> PageResult {
    move_by(person, &id, Move::Down).await
}

async fn move_by(person: Person, id: &str, to: Move) -> PageResult {
    rule_order::move_rule(person.app(), &person.caller, parse(id)?, to).await?;
    Ok(see_other(&person, "/settings/rules", "Order saved."))
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
