//! The overview for a person who has no accounts yet.

use maud::{Markup, html};

use super::{OverviewData, checklist};
use crate::site::person::Person;
use crate::site::snippet;

pub(super) fn page(person: &Person, data: &OverviewData) -> Markup {
    html! {
        h1 { "Overview" }
        div.empty {
            h2 { "Your net worth will appear here" }
            p {
                "Add an account to see your net worth, upcoming bills, income and spending, goals and scores."
            }
            a.button href="/import" { "Import bank files" }
        }
        @if let Some(steps) = checklist::card(person, &data.onboarding) { (steps) }
        section.card aria-labelledby="next" {
            h2 id="next" { "Look around first" }
            p { "Sample data shows every page. On the command line:" }
            (snippet::text("Shell", "evenkeel demo"))
            p.soft {
                "For your own programs: " a href="/docs/start" { "create a key and send your first request" } "."
            }
        }
    }
}
