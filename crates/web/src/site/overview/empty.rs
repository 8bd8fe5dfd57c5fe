//! The overview for a person who has no accounts yet.

use maud::{Markup, html};

use crate::site::snippet;

pub(super) fn page() -> Markup {
    html! {
        h1 { "Overview" }
        div.empty {
            h2 { "Your net worth will appear here" }
            p {
                "Add an account to see your net worth, upcoming bills, income and spending, goals and scores."
            }
            a.button href="/import" { "Import bank files" }
        }
        section.card aria-labelledby="next" {
            h2 id="next" { "Get started" }
            ol.steps {
                li {
                    p {
                        strong { "Import your data." } " Download a file from your bank and " a href="/import" { "import it" }
                        ": OFX, QFX, QIF, CSV, CAMT.053 or MT940. You can review it before anything changes."
                    }
                }
                li {
                    p { strong { "Explore with sample data." } " On the command line:" }
                    (snippet::text("Shell", "evenkeel demo"))
                }
                li {
                    p {
                        strong { "Use the API." }
                        " " a href="/docs/start" { "Create a key and send your first request" } "."
                    }
                }
            }
        }
    }
}
