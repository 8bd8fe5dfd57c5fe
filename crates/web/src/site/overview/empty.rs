//! The overview of somebody who has brought in nothing yet.

use maud::{Markup, html};

use crate::site::snippet;

pub(super) fn page() -> Markup {
    html! {
        h1 { "Overview" }
        div.empty {
            h2 { "Your net worth will be here" }
            p {
                "With it come what needs you, your next bills, income and spending against a usual \
                 month, goals and scores. All of it follows from your accounts, and there are none \
                 yet."
            }
            a.button href="/import" { "Import files from your bank" }
        }
        section.card aria-labelledby="next" {
            h2 id="next" { "What you can do now" }
            ol.steps {
                li {
                    p {
                        strong { "Bring in your own." }
                        " Download a file from your bank and "
                        a href="/import" { "drop it here" }
                        ": OFX, QFX, QIF, CSV, CAMT.053 or MT940. You see what is in it before \
                         anything is changed."
                    }
                }
                li {
                    p { strong { "Look around with a made-up household." } " On the command line:" }
                    (snippet::text("Shell", "evenkeel demo"))
                }
                li {
                    p {
                        strong { "Meet the API." }
                        " " a href="/docs/start" { "Make a key and ask a first question" } "."
                    }
                }
            }
        }
    }
}
