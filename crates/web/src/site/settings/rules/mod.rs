//! The rules page: the person's rules, how many transactions they match, and forms to change them.

pub(in crate::site) mod edit;
mod rule_form;
mod sentence;

use axum::extract::Path;
use base::RuleId;
use maud::{Markup, html};
use service::classify::rule_matches::{self, RuleMatches};
use service::classify::rule_order::{self, Move};
use service::classify::rules::{self, Rule};
use service::insights;

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
            p {
                "Create a rule here, or open a " a href="/transactions" { "transaction" }
                ", change its category and check “Always”."
            }
            a.button href="/settings/rules/new" { "New rule" }
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
                (sentence::markup(person, rule))
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
