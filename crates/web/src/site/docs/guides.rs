//! The guides of the documentation, with commands that run against this installation.

use axum::Router;
use axum::extract::State;
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use service::platform::limits::Policy;

use super::super::assets::Asset;
use super::super::public_page::{self, PublicNavItem, PublicPage};
use super::super::snippet::{self, curl, curl_post, prose};
use super::guide_parts::{GuideContext, section};
use super::introduction::pair;
use super::search_form::search_form;
use super::{proposing, webhooks};
use crate::WebState;
use crate::routing::get;

/// A guide: its path, title and content.
pub(in super::super) struct Guide {
    pub(in super::super) path: &'static str,
    pub(super) title: &'static str,
    body: fn(&GuideContext) -> Markup,
}

pub(in super::super) const GUIDES: [Guide; 7] = [
    Guide { path: "/docs/start", title: "Quick start", body: start },
    Guide { path: "/docs/authentication", title: "Authentication", body: authentication },
    Guide { path: "/docs/proposing", title: "Proposing", body: proposing::body },
    Guide { path: "/docs/webhooks", title: "Webhooks", body: webhooks::body },
    Guide { path: "/docs/paging", title: "Paging", body: paging },
    Guide { path: "/docs/rate-limits", title: "Rate limits", body: rate_limits },
    Guide { path: "/docs/idempotency", title: "Idempotency", body: idempotency },
];

pub(in super::super) fn router() -> Router<WebState> {
    GUIDES.iter().fold(Router::new(), |router, guide| {
        let show = async move |State(web): State<WebState>, headers: HeaderMap| {
            let page = page(guide, &web.settings.public_url, web.app.limits.policy());
            public_page::send(&headers, StatusCode::OK, page)
        };
        router.route(guide.path, get(show))
    })
}

pub(in super::super) fn page(guide: &Guide, public_url: &str, limit: Policy) -> Markup {
    let context = GuideContext { base: format!("{public_url}/v1"), limit };
    PublicPage {
        title: guide.title,
        place: PublicNavItem::Guides,
        class: "docs guides",
        side: Some(html! { (search_form("")) (contents(guide.path)) }),
        scripts: &[Asset::Copying],
        main: html! { h1 { (guide.title) } ((guide.body)(&context)) },
    }
    .render()
}

/// The table of contents, with the current page marked.
pub(super) fn contents(here: &str) -> Markup {
    let entry = |href: &str, title: &str| {
        let current = (href == here).then_some("page");
        html! { li { a href=(href) aria-current=[current] { (title) } } }
    };
    html! {
        p { "Guides" }
        ul {
            @for guide in &GUIDES { (entry(guide.path, guide.title)) }
            (entry("/docs/errors", "Errors"))
            @if here != "/docs" { (entry("/docs", "API reference")) }
        }
    }
}

fn start(context: &GuideContext) -> Markup {
    html! {
        p.lead {
            "Send your first API request in under a minute. Apps and assistants with a key can read your data and \
             propose actions. Only you can approve them."
        }
        ol.steps {
            li {
                p {
                    "Open " a href="/settings/keys" { "Settings, API keys" }
                    " and create a key. Copy it, because it is shown only once."
                }
            }
            li {
                p { "Store it in an environment variable." }
                (snippet::text("Shell", "export EVENKEEL_KEY=ek_..."))
            }
            li {
                p { "Get your profile." }
                (snippet::text("Shell", &curl(&format!("{}/me", context.base))))
            }
            li {
                p { "List your accounts and transactions." }
                (snippet::text("Shell", &curl(&format!("{}/accounts", context.base))))
                (snippet::text("Shell", &curl(&format!("{}/transactions?limit=5", context.base))))
            }
        }
        (section("more", "Next steps", html! {
            dl.links {
                (link("/docs", "API reference", "Every endpoint, with a form to try it."))
                (link("/docs/authentication", "Authentication", "How API keys and scopes work."))
                (link("/docs/proposing", "Proposing", "How to propose actions for approval."))
                (link("/docs/webhooks", "Webhooks", "How to receive events."))
                (link("/docs/paging", "Paging", "How to read long lists."))
                (link("/docs/errors", "Errors", "What each error code means."))
                (link("/v1/openapi.json", "OpenAPI document", "To generate clients."))
            }
            p.soft {
                "Without a browser, create a key with "
                code { "evenkeel key create --user EMAIL --name NAME" } "."
            }
        }))
    }
}

fn link(href: &str, name: &str, about: &str) -> Markup {
    html! { div { dt { a href=(href) { (name) } } dd { (about) } } }
}

fn authentication(context: &GuideContext) -> Markup {
    let key = html! {
        p {
            (prose("Send your key in the `Authorization` header of every request. Keys start with `ek_`."))
        }
        ul.facts {
            li {
                "Create and revoke keys under "
                a href="/settings/keys" { "Settings, API keys" }
                ". A revoked key stops working immediately."
            }
            li { "A key can access all your accounts or only selected ones." }
            li {
                "A key can have full access, read-only access or selected scopes: "
                a href="/docs#scopes" { "all scopes" } "."
            }
            li { "We store only a hash. If you lose a key, create a new one." }
        }
    };
    let refused = html! {
        p {
            (prose("A missing, invalid, expired or revoked key returns 401 `UNAUTHENTICATED`. A key without the \
                    required scope returns 403 `INSUFFICIENT_SCOPE`, which names the scope."))
        }
        p { a href="/docs/errors/unauthenticated" { "How to fix a 401" } }
    };
    let plain = format!("curl '{}/me'", context.base);
    html! {
        p.lead { "Every request needs an API key." }
        (section("keys", "API keys", pair(
            &key, &snippet::text("With a key", &curl(&format!("{}/me", context.base)))
        )))
        (section("refused", "Authentication errors", pair(
            &refused, &snippet::text("Without a key: 401", &plain)
        )))
    }
}

fn paging(context: &GuideContext) -> Markup {
    let base = &context.base;
    let explanation = html! {
        p {
            (prose("Long lists are paginated. `limit` sets the page size: 1 to 100, 50 by default. While \
                    `pagination.has_more` is true, send `pagination.next_cursor` as `cursor` with the same \
                    filters. You can change `limit` between pages."))
        }
        p {
            "A cursor is valid for 24 hours. Rows that are added or removed meanwhile never make you miss or \
             repeat other rows."
        }
    };
    let first = curl(&format!("{base}/transactions?limit=2"));
    let next = curl(&format!("{base}/transactions")).replacen("curl", "curl -G", 1);
    let next = format!("{next} \\\n  -d limit=2 --data-urlencode \"cursor=$CURSOR\"");
    let since = html! {
        p {
            (prose("To keep a copy in sync, request changes with `updated_since` and read all pages."))
        }
    };
    let changed = curl(&format!("{base}/transactions?updated_since=2026-01-01T00:00:00Z"));
    let refused = html! {
        p {
            (prose("A cursor that is invalid, expired or used with other filters returns 400 with `param` set to \
                    `cursor`. Start again without a cursor."))
        }
    };
    let wrong = curl(&format!("{base}/transactions?cursor=bent"));
    html! {
        p.lead { "How to read long lists without missing or repeating rows." }
        (section("pages", "Cursors", pair(&explanation, &html! {
            (snippet::text("First page", &first))
            (snippet::text("Next page", &next))
        })))
        (section("changes", "Incremental sync", pair(
            &since, &snippet::text("Changes since a time", &changed)
        )))
        (section("wrong", "Invalid cursors", pair(
            &refused, &snippet::text("An invalid cursor: 400", &wrong)
        )))
    }
}

fn rate_limits(context: &GuideContext) -> Markup {
    let Policy { requests, window_seconds } = context.limit;
    let command = curl(&format!("{}/me", context.base)).replacen("curl", "curl -I", 1);
    let policy = format!("ratelimit-policy: \"default\";q={requests};w={window_seconds}");
    let left = format!("ratelimit: \"default\";r={};t={window_seconds}", requests - 1);
    let explanation = html! {
        p {
            "A key can send " (requests) " requests in any " (window_seconds) " seconds. "
            (prose("Every response has the remaining requests (`r`) and the seconds until the limit resets (`t`)."))
        }
    };
    let exceeded = html! {
        p {
            (prose("The response is 429 `RATE_LIMITED` with the seconds to wait in `Retry-After`. Wait, then \
                    retry. Rejected requests don't count toward the limit."))
        }
        p {
            (prose("Proposals have a limit of their own, which the person sets. Its error is 429 \
                    `PROPOSAL_LIMIT_REACHED`; the `RateLimit` headers don't count proposals."))
        }
        p { a href="/docs/errors/rate-limited" { "How to handle a 429" } }
    };
    let plain = curl(&format!("{}/accounts", context.base));
    let save = format!("{plain} \\\n  --etag-save accounts.tag -o accounts.json");
    let conditional = html! {
        p {
            (prose("Save the `ETag` of a response and send it back. If nothing changed, the response is 304 \
                    without a body. It counts toward the limit but is cheap to process."))
        }
    };
    let retry = curl(&format!("{}/me", context.base)).replacen("curl", "curl --retry 3", 1);
    html! {
        p.lead { "How many requests a key can send." }
        (section("limit", "Limits", pair(&explanation, &html! {
            (snippet::text("Show the headers", &command))
            (snippet::text("Rate limit headers", &format!("{policy}\n{left}")))
        })))
        (section("beyond", "Exceeding the limit", pair(
            &exceeded, &snippet::text("Wait and retry", &retry)
        )))
        (section("less", "Reduce requests", pair(
            &conditional, &snippet::text("Save the ETag", &save)
        )))
    }
}

fn idempotency(context: &GuideContext) -> Markup {
    let explanation = html! {
        p {
            (prose("Send an `Idempotency-Key` with a change to make it safe to retry. A retry returns the first \
                    response with `Idempotent-Replayed: true`. A key has 1 to 255 visible ASCII characters, such \
                    as a UUID, and is stored for 24 hours."))
        }
        ul.facts {
            li { "Use a new key for each change, and the same key to retry it." }
            li {
                (prose("The same key with a different request returns 422 `IDEMPOTENCY_KEY_REUSED`."))
            }
            li {
                (prose("While the first request is running, a retry returns 409 `IDEMPOTENCY_IN_PROGRESS`. Wait \
                        as long as `Retry-After` says and retry."))
            }
            li { "Server errors are not stored, so a retry is a new attempt." }
        }
    };
    let header = "Idempotency-Key: 0d7f4f0e-6f5c-4a53-9d0b-8f1f6c1f2a11";
    let url = format!("{}/paper-trading/accounts", context.base);
    let change = curl_post(&url, Some(r#"{"name": "Practice"}"#));
    let change = format!("{change} \\\n  -H '{header}'");
    let command = format!("{} \\\n  -H '{header}'", curl(&format!("{}/me", context.base)));
    html! {
        p.lead { "How to retry a change safely." }
        (section("key", "Idempotency keys", pair(&explanation, &html! {
            (snippet::text("Sent twice, proposed once", &change))
            (snippet::text("Has no effect on GET", &command))
        })))
    }
}
