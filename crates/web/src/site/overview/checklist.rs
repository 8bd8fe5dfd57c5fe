//! The checklist of first steps, for a new person until all are done or the person hides it.

use maud::{Markup, html};
use service::onboarding::Onboarding;

use crate::site::fields;
use crate::site::person::Person;

/// How long a person counts as new.
const NEW_DAYS: i64 = 60;

struct Step {
    is_done: bool,
    title: &'static str,
    text: Markup,
}

/// The checklist, if it is still of use.
pub(super) fn card(person: &Person, done: &Onboarding) -> Option<Markup> {
    let now = person.app().clock.now();
    let is_new = now.as_second() - done.since.as_second() < NEW_DAYS * 86_400;
    if !is_new || done.is_complete() || person.hides_checklist {
        return None;
    }
    let steps = steps(done);
    let count = steps.iter().filter(|it| it.is_done).count();
    let hide = html! {
        input type="hidden" name="next" value=(person.here);
        button.quiet type="submit" name="checklist" value="hide" { "Hide" }
    };
    Some(html! {
        section.card aria-labelledby="first-steps" {
            header {
                h2 id="first-steps" { "Get started" }
                span.soft { (count) " of " (steps.len()) " done" }
            }
            ol.steps.checklist {
                @for step in &steps {
                    li.done[step.is_done] {
                        p {
                            strong { (step.title) }
                            @if step.is_done { span.hush { " (done)" } }
                        }
                        @if !step.is_done { p.soft { (step.text) } }
                    }
                }
            }
            @if done.has_account { (fields::form("/view", &person.form_token, hide)) }
        }
    })
}

fn steps(done: &Onboarding) -> [Step; 4] {
    [
        Step {
            is_done: done.has_account,
            title: "Add your accounts",
            text: html! {
                a href="/connections" { "Connect a bank" } ", "
                a href="/import" { "import a file" } " that you downloaded from your bank, or "
                a href="/accounts/new" { "add an account by hand" } "."
            },
        },
        Step {
            is_done: done.has_correction,
            title: "Check your categories",
            text: html! {
                "Open a " a href="/transactions" { "transaction" }
                " that is in the wrong category and correct it. You can apply the change to future transactions."
            },
        },
        Step {
            is_done: done.has_passkey,
            title: "Sign in without a password",
            text: html! { a href="/settings/security" { "Add a passkey" } " for this device or your password manager." },
        },
        Step {
            is_done: done.has_program,
            title: "Connect an assistant or a program",
            text: html! {
                a href="/settings/assistants" { "Claude, ChatGPT and others" }
                " can read your data and propose changes, and so can any program with an "
                a href="/settings/keys" { "API key" } ". Only you decide."
            },
        },
    ]
}
