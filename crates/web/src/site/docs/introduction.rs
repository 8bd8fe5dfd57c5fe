//! The introduction of the API reference, with commands that run against this installation.

use maud::{Markup, html};
use wire::v1::{Code, Scope};

use super::super::snippet::{self, curl, prose};
use super::endpoint_path;
use crate::api::{ENDPOINTS, Endpoint};
use crate::openapi::examples;

pub(super) const TITLES: [(&str, &str); 6] = [
    ("start", "Getting started"),
    ("authentication", "Authentication"),
    ("scopes", "Scopes"),
    ("errors", "Errors"),
    ("conditional", "Conditional requests"),
    ("compression", "Compression"),
];

/// Facts about every response.
const FACTS: [&str; 5] = [
    "Responses are JSON with `data` or `error`, and `meta` with the request ID.",
    "Amounts are exact decimal numbers in the given currency. Money out is negative.",
    "Unknown values are `null`, never 0 and never omitted.",
    "Timestamps are UTC, such as `2026-04-10T08:30:00.000Z`. Dates look like `2026-04-10`; today is the person's, in \
     their `timezone`.",
    "Unknown parameters are rejected with a suggestion.",
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
            "Every endpoint of this installation. Apps and assistants can read data and propose actions. Only you \
             can approve them."
        }
        @for ((id, title), body) in TITLES.into_iter().zip(bodies) {
            section.guide aria-labelledby=(id) {
                h2 id=(id) { (title) }
                (body)
            }
        }
    }
}

/// An explanation beside its example.
pub(super) fn pair(explanation: &Markup, example: &Markup) -> Markup {
    html! { div.pair { div.said { (explanation) } div.aside { (example) } } }
}

fn start(base: &str) -> Markup {
    let explanation = html! {
        p { "All paths start with the base URL." }
        ul.facts {
            @for fact in FACTS { li { (prose(fact)) } }
        }
        p {
            "To generate a client, use the "
            a href="/v1/openapi.json" { "OpenAPI 3.1 document" } "."
        }
    };
    pair(&explanation, &snippet::text("Base URL", base))
}

fn authentication(base: &str) -> Markup {
    let explanation = html! {
        p {
            "Send an API key with every request. Create one under "
            a href="/settings/keys" { "Settings, API keys" }
            ". Enter it here to try endpoints from the pages of the reference. "
            a href="/docs/authentication" { "More about API keys" }
        }
        (key_form())
    };
    let first = format!("export EVENKEEL_KEY=ek_...\n{}", curl(&format!("{base}/me")));
    pair(&explanation, &snippet::text("First request", &first))
}

/// The field for the key that the forms of the page send.
pub(super) fn key_form() -> Markup {
    html! {
        form.key id="key-form" {
            div.field {
                label for="api-key" { "Your API key" }
                input id="api-key" type="password" autocomplete="off" spellcheck="false"
                    autocapitalize="none" placeholder="ek_..." aria-describedby="key-note" disabled;
            }
            button type="reset" disabled { "Clear key" }
            p.soft id="key-note" role="status" {
                "Stored in this tab until you close it, and sent only to this installation."
            }
            noscript {
                p.soft { "The forms on this page need JavaScript." }
            }
        }
    }
}

fn scopes() -> Markup {
    html! {
        p {
            "Scopes limit what a key can do. A key that is created in Settings is read-only unless you choose more. No scope allows \
             approving proposals: only a signed-in person can."
        }
        table.scopes {
            (snippet::columns(["Scope", "Allows", "Required by"]))
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
    // An endpoint without fixed scopes names in its description those that it may require.
    let name = format!("`{}`", scope.as_str());
    let may_require = |it: &&Endpoint| {
        it.scopes.contains(&scope) || it.scopes.is_empty() && it.description.contains(&name)
    };
    let mut users = ENDPOINTS.iter().filter(may_require).peekable();
    html! {
        @if users.peek().is_none() { span.soft { "No endpoint in this version" } }
        @for endpoint in users {
            a.path href=(endpoint_path(endpoint)) {
                (endpoint.method.as_str()) " " (endpoint.path)
            }
        }
    }
}

fn errors(base: &str, public_url: &str) -> Markup {
    let explanation = html! {
        p { "All errors have the same format." }
        ul.facts {
            li { (prose("Use `code` in your program. Codes never change.")) }
            li { (prose("`message` is for people and may change.")) }
            li { (prose("`param` names the invalid parameter, if any.")) }
            li { (prose("`type` links to a page that explains how to recover.")) }
        }
        p { a href="/docs/errors" { "All error codes" } }
    };
    let example = html! {
        (snippet::text("An invalid request", &curl(&format!("{base}/transactions?limit=0"))))
        (snippet::block("400", &snippet::json(&examples::error(Code::ValidationError, public_url))))
    };
    pair(&explanation, &example)
}

fn conditional(base: &str) -> Markup {
    let plain = curl(&format!("{base}/accounts"));
    let save = format!("{plain} \\\n  --etag-save accounts.tag -o accounts.json");
    let with_headers = plain.replacen("curl", "curl -i", 1);
    let compare = format!("{with_headers} \\\n  --etag-compare accounts.tag");
    let explanation = html! {
        p {
            (prose("GET responses have an `ETag`. Send it as `If-None-Match` with the next request: if nothing \
                    changed, the response is 304 without a body. These requests count toward the rate limit."))
        }
    };
    let example = html! {
        (snippet::text("Save the ETag", &save))
        (snippet::text("Send it back", &compare))
    };
    pair(&explanation, &example)
}

fn compression(base: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("Responses over 1 KiB are compressed with zstd, br or gzip if `Accept-Encoding` allows it."))
        }
    };
    let plain = curl(&format!("{base}/transactions"));
    pair(
        &explanation,
        &snippet::text("Compressed", &plain.replacen("curl", "curl --compressed", 1)),
    )
}
