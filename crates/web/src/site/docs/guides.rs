//! Guides: short pages on what every program meets, with lines that run against this very installation.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};
use service::platform::limits::Policy;

use super::super::assets::Asset;
use super::super::public_page::{self, PublicNavItem, PublicPage};
use super::super::snippet::{self, curl, curl_post, prose};
use super::introduction::pair;
use super::{proposing, webhooks};
use crate::WebState;

/// One page: where it is, what it is called, and what is on it.
pub(in super::super) struct Guide {
    pub(in super::super) path: &'static str,
    title: &'static str,
    body: fn(&GuideContext) -> Markup,
}

/// What the lines to run depend on.
pub(in super::super) struct GuideContext {
    pub(super) base: String,
    limit: Policy,
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
    let place = GuideContext { base: format!("{public_url}/v1"), limit };
    PublicPage {
        title: guide.title,
        place: PublicNavItem::Guides,
        class: "docs guides",
        side: Some(contents(guide.path)),
        scripts: &[Asset::Copying],
        main: html! { h1 { (guide.title) } ((guide.body)(&place)) },
    }
    .render()
}

/// Every page of the documentation, with the present one marked.
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

pub(super) fn section(id: &str, title: &str, body: Markup) -> Markup {
    html! { section.guide aria-labelledby=(id) { h2 id=(id) { (title) } (body) } }
}

/// The same line with an address that the shell fills a variable into.
pub(super) fn filled(command: &str) -> String {
    command.replacen('\'', "\"", 2)
}

fn start(place: &GuideContext) -> Markup {
    html! {
        p.lead {
            "From nothing to your first answer in under a minute. Programs and assistants that you \
             give a key may read your data, and may propose; only you decide."
        }
        ol.steps {
            li {
                p {
                    "Open " a href="/settings/keys" { "Settings, API keys" }
                    " and make a key. It is shown once, so copy it."
                }
            }
            li {
                p { "Keep it in your shell, out of your scripts." }
                (snippet::text("Shell", "export EVENKEEL_KEY=ek_..."))
            }
            li {
                p { "Ask who you are." }
                (snippet::text("Shell", &curl(&format!("{}/me", place.base))))
            }
            li {
                p { "Ask for your accounts, and for what moved on them." }
                (snippet::text("Shell", &curl(&format!("{}/accounts", place.base))))
                (snippet::text("Shell", &curl(&format!("{}/transactions?limit=5", place.base))))
            }
        }
        (section("more", "Where to go from here", html! {
            dl.links {
                (link("/docs", "API reference", "Every endpoint, and a form to try each."))
                (link("/docs/authentication", "Authentication", "What a key may do."))
                (link("/docs/proposing", "Proposing", "How to ask for a yes."))
                (link("/docs/webhooks", "Webhooks", "How to be told of what changes."))
                (link("/docs/paging", "Paging", "How to read long lists to the end."))
                (link("/docs/errors", "Errors", "What each code means and how to recover."))
                (link("/v1/openapi.json", "OpenAPI document", "For tools that make clients."))
            }
            p.soft {
                "Without a browser, the operator makes a key with "
                code { "evenkeel key create --user EMAIL --name NAME" } "."
            }
        }))
    }
}

fn link(href: &str, name: &str, about: &str) -> Markup {
    html! { div { dt { a href=(href) { (name) } } dd { (about) } } }
}

fn authentication(place: &GuideContext) -> Markup {
    let key = html! {
        p {
            (prose("Send your key with every request, in the header `Authorization`. Keys begin \
                    with `ek_`; nothing else is needed, and nothing is sent in addresses."))
        }
        ul.facts {
            li {
                "Make, watch and revoke keys under "
                a href="/settings/keys" { "Settings, API keys" }
                ". A revoked key is refused from the next request on."
            }
            li { "A key sees all your accounts, or only those you tick." }
            li {
                "It may do everything, only read, or just what you choose: "
                a href="/docs#scopes" { "all scopes" } "."
            }
            li { "We keep only a hash of it. Whoever loses a key makes another." }
        }
    };
    let refused = html! {
        p {
            (prose("No key, or one that is mistyped, expired or revoked, is answered with 401 and \
                    `UNAUTHENTICATED`. A key that may not do what it asks for gets 403 and \
                    `INSUFFICIENT_SCOPE`, which names the scope it lacks."))
        }
        p { a href="/docs/errors/unauthenticated" { "What to do about a 401" } }
    };
    let plain = format!("curl '{}/me'", place.base);
    html! {
        p.lead { "Every request says who sends it." }
        (section("keys", "API keys", pair(
            &key, &snippet::text("With a key", &curl(&format!("{}/me", place.base)))
        )))
        (section("refused", "When it is refused", pair(
            &refused, &snippet::text("Without a key: 401", &plain)
        )))
    }
}

fn paging(place: &GuideContext) -> Markup {
    let base = &place.base;
    let said = html! {
        p {
            (prose("Long lists come in pages of `limit` items, 1 to 100; 50 unless you say \
                    otherwise. While `pagination.has_more` is true, send `pagination.next_cursor` \
                    back as `cursor`, with the same filters. `limit` may change."))
        }
        p {
            "A cursor lives for 24 hours. Rows that come or go meanwhile never make you miss or \
             repeat one that was there throughout."
        }
    };
    let first = curl(&format!("{base}/transactions?limit=2"));
    let next = curl(&format!("{base}/transactions")).replacen("curl", "curl -G", 1);
    let next = format!("{next} \\\n  -d limit=2 --data-urlencode \"cursor=$CURSOR\"");
    let since = html! {
        p {
            (prose("To keep a copy up to date, ask for what changed since you last looked with \
                    `updated_since`, and read that list to its end."))
        }
    };
    let changed = curl(&format!("{base}/transactions?updated_since=2026-01-01T00:00:00Z"));
    let refused = html! {
        p {
            (prose("A cursor with other filters, one that was bent, and one older than a day are \
                    answered with 400, and `param` says `cursor`. Begin again without it."))
        }
    };
    let wrong = curl(&format!("{base}/transactions?cursor=bent"));
    html! {
        p.lead { "How to read a long list to its end, without missing or repeating anything." }
        (section("pages", "Page by page", pair(&said, &html! {
            (snippet::text("First page", &first))
            (snippet::text("Next page", &next))
        })))
        (section("changes", "Only what changed", pair(
            &since, &snippet::text("Since a moment", &changed)
        )))
        (section("wrong", "A cursor that is no good", pair(
            &refused, &snippet::text("A bent cursor: 400", &wrong)
        )))
    }
}

fn rate_limits(place: &GuideContext) -> Markup {
    let Policy { requests, window_seconds } = place.limit;
    let command = curl(&format!("{}/me", place.base)).replacen("curl", "curl -I", 1);
    let policy = format!("ratelimit-policy: \"default\";q={requests};w={window_seconds}");
    let left = format!("ratelimit: \"default\";r={};t={window_seconds}", requests - 1);
    let said = html! {
        p {
            "A key may send " (requests) " requests in any " (window_seconds) " seconds. "
            (prose("Every answer says how many are left (`r`), and in how many seconds the oldest \
                    no longer counts (`t`)."))
        }
    };
    let beyond = html! {
        p {
            (prose("The answer is 429 and `RATE_LIMITED`, with the seconds to wait in \
                    `Retry-After`. Wait that long and send it again. What was refused does not \
                    count, so nothing gets worse by it."))
        }
        p { a href="/docs/errors/rate-limited" { "What to do about a 429" } }
    };
    let plain = curl(&format!("{}/accounts", place.base));
    let save = format!("{plain} \\\n  --etag-save accounts.tag -o accounts.json");
    let cheap = html! {
        p {
            (prose("Ask only for what changed: keep the `ETag` of an answer and send it back. When \
                    nothing changed the answer is 304 without a body. It still counts, but costs \
                    next to nothing to read."))
        }
    };
    let retry = curl(&format!("{}/me", place.base)).replacen("curl", "curl --retry 3", 1);
    html! {
        p.lead { "How often you may ask, and how to tell." }
        (section("limit", "The limit", pair(&said, &html! {
            (snippet::text("Look at the headers", &command))
            (snippet::text("Among them", &format!("{policy}\n{left}")))
        })))
        (section("beyond", "Beyond it", pair(
            &beyond, &snippet::text("Wait as told, then try again", &retry)
        )))
        (section("less", "Ask less", pair(
            &cheap, &snippet::text("Keep the tag", &save)
        )))
    }
}

fn idempotency(place: &GuideContext) -> Markup {
    let said = html! {
        p {
            (prose("Send `Idempotency-Key` with a change, and it has one effect however often you \
                    repeat it: again you get the first answer, with `Idempotent-Replayed: true`. \
                    A key has 1 to 255 visible ASCII characters, such as a UUID, and is kept for \
                    24 hours."))
        }
        ul.facts {
            li { "Take a new key for each thing you want done, and the same one to repeat it." }
            li {
                (prose("The same key with another request is refused with 422 and \
                        `IDEMPOTENCY_KEY_REUSED`."))
            }
            li {
                (prose("While the first is still running the answer is 409 and \
                        `IDEMPOTENCY_IN_PROGRESS`; wait a second and repeat."))
            }
            li { "What failed on our side is not kept: the repeat is a fresh attempt." }
        }
    };
    let header = "Idempotency-Key: 0d7f4f0e-6f5c-4a53-9d0b-8f1f6c1f2a11";
    let url = format!("{}/paper-trading/accounts", place.base);
    let change = curl_post(&url, Some(r#"{"name": "Practice"}"#));
    let change = format!("{change} \\\n  -H '{header}'");
    let command = format!("{} \\\n  -H '{header}'", curl(&format!("{}/me", place.base)));
    html! {
        p.lead { "How to repeat a change that you do not know the outcome of, without doing it twice." }
        (section("key", "One key, one effect", pair(&said, &html! {
            (snippet::text("Send it twice, and it is proposed once", &change))
            (snippet::text("On reading it does nothing", &command))
        })))
    }
}
