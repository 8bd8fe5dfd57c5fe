//! What holds for every endpoint, in short, with lines that run against this very installation.

use maud::{Markup, html};
use wire::v1::{Code, Scope};

use super::super::snippet::{self, curl, prose};
use super::endpoint_id;
use crate::api::ENDPOINTS;
use crate::openapi::examples;

pub(super) const TITLES: [(&str, &str); 6] = [
    ("start", "Start here"),
    ("authentication", "Authentication"),
    ("scopes", "Scopes"),
    ("errors", "Errors"),
    ("conditional", "Conditional requests"),
    ("compression", "Compression"),
];

/// How every answer is written.
const FACTS: [&str; 5] = [
    "Answers are JSON: `data` or `error`, and `meta` with the request's id.",
    "Amounts are exact decimal numbers, in the currency beside them. Money going out is negative.",
    "What is unknown is `null`: never 0, and never left out.",
    "Times are UTC, as `2026-04-10T08:30:00.000Z`; days are `2026-04-10`.",
    "A parameter we do not know is refused, with the nearest name we do know.",
];

pub(super) fn sections(public_url: &str) -> Markup {
    let base = format!("{public_url}/v1");
    let bodies = [
        start(&base),
        authentication(&base),
        scopes(),
        errors(&base, public_url),
        conditional(&base),
        compression(&base),
    ];
    html! {
        h1 { "API reference" }
        p.lead {
            "Everything this installation answers, told by the code that answers it. Programs and \
             assistants may read, and may propose; only the person decides."
        }
        @for ((id, title), body) in TITLES.into_iter().zip(bodies) {
            section.guide aria-labelledby=(id) {
                h2 id=(id) { (title) }
                (body)
            }
        }
    }
}

/// What is said beside what it looks like.
pub(super) fn pair(said: &Markup, shown: &Markup) -> Markup {
    html! { div.pair { div.said { (said) } div.aside { (shown) } } }
}

fn start(base: &str) -> Markup {
    let said = html! {
        p { "Every path on this page begins with the base address." }
        ul.facts {
            @for fact in FACTS { li { (prose(fact)) } }
        }
        p {
            "The same as a file, for tools that make clients: "
            a href="/v1/openapi.json" { "OpenAPI 3.1 document" } "."
        }
    };
    pair(&said, &snippet::text("Base address", base))
}

fn authentication(base: &str) -> Markup {
    let said = html! {
        p {
            "Send an API key with every request. Make one under "
            a href="/settings/keys" { "Settings, API keys" }
            "; it is shown once. Put it into the field to try endpoints from this page. "
            a href="/docs/authentication" { "More about keys" }
        }
        form.key id="key-form" {
            div.field {
                label for="api-key" { "Your API key" }
                input id="api-key" type="password" autocomplete="off" spellcheck="false"
                    autocapitalize="none" placeholder="ek_..." aria-describedby="key-note" disabled;
            }
            button type="reset" disabled { "Forget" }
            p.soft id="key-note" role="status" {
                "Kept in this tab only, until you close it; sent to this installation only."
            }
            noscript {
                p.soft { "The forms on this page need JavaScript. Everything else works without." }
            }
        }
    };
    let first = format!("export EVENKEEL_KEY=ek_...\n{}", curl(&format!("{base}/me")));
    pair(&said, &snippet::text("First request", &first))
}

fn scopes() -> Markup {
    html! {
        p {
            "A key may do what its scopes allow; a new one has all of them unless you narrow it. \
             Deciding about a proposal is no scope: only a signed-in person can."
        }
        table.scopes {
            (snippet::columns(["Scope", "Lets a program", "Needed by"]))
            tbody {
                @for scope in Scope::ALL {
                    tr id=(scope_id(scope)) {
                        th scope="row" { code { (scope.as_str()) } }
                        td { (scope.describe()) }
                        td { (users_of(scope)) }
                    }
                }
            }
        }
    }
}

pub(super) fn scope_id(scope: Scope) -> String {
    format!("scope-{}", scope.as_str().replace(':', "-"))
}

fn users_of(scope: Scope) -> Markup {
    let mut users = ENDPOINTS.iter().filter(|it| it.scopes.contains(&scope)).peekable();
    html! {
        @if users.peek().is_none() { span.soft { "Nothing in this version" } }
        @for endpoint in users {
            a.path href={ "#" (endpoint_id(endpoint)) } {
                (endpoint.method.as_str()) " " (endpoint.path)
            }
        }
    }
}

fn errors(base: &str, public_url: &str) -> Markup {
    let said = html! {
        p { "Every error has the same form, whatever went wrong." }
        ul.facts {
            li { (prose("Decide by `code`; it never changes.")) }
            li { (prose("`message` is for people, and may change.")) }
            li { (prose("`param` names what is at fault, where there is one.")) }
            li { (prose("`type` is the address of a page that says how to recover.")) }
        }
        p { a href="/docs/errors" { "All errors, and what to do about them" } }
    };
    let shown = html! {
        (snippet::text("A request that is refused", &curl(&format!("{base}/transactions?limit=0"))))
        (snippet::block("400", &snippet::json(&examples::error(Code::ValidationError, public_url))))
    };
    pair(&said, &shown)
}

fn conditional(base: &str) -> Markup {
    let plain = curl(&format!("{base}/accounts"));
    let save = format!("{plain} \\\n  --etag-save accounts.tag -o accounts.json");
    let loud = plain.replacen("curl", "curl -i", 1);
    let compare = format!("{loud} \\\n  --etag-compare accounts.tag");
    let said = html! {
        p {
            (prose("A GET answers an `ETag` that names the state of the data. Send it back as \
                    `If-None-Match`: when nothing changed, the answer is 304 without a body. It \
                    counts against the rate limit like any other."))
        }
    };
    let shown = html! {
        (snippet::text("Keep the tag", &save))
        (snippet::text("Ask again", &compare))
    };
    pair(&said, &shown)
}

fn compression(base: &str) -> Markup {
    let said = html! {
        p {
            (prose("Answers over 1 KiB are compressed with zstd, br or gzip when `Accept-Encoding` \
                    asks for it."))
        }
    };
    let plain = curl(&format!("{base}/transactions"));
    pair(&said, &snippet::text("Compressed", &plain.replacen("curl", "curl --compressed", 1)))
}
