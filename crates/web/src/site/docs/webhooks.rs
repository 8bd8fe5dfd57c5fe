//! The guide to webhooks: from an endpoint to a receiver that can be relied on.

use maud::{Markup, html};

use super::super::snippet::{self, curl, curl_post, prose};
use super::guides::{GuideContext, filled, section};
use super::introduction::pair;
use super::verify_examples;

/// A retry, how long after the attempt before it, and how long after the first.
const SCHEDULE: [[&str; 3]; 7] = [
    ["1", "5 seconds", "5 seconds"],
    ["2", "5 minutes", "5 minutes"],
    ["3", "30 minutes", "35 minutes"],
    ["4", "2 hours", "2 hours 35 minutes"],
    ["5", "5 hours", "7 hours 35 minutes"],
    ["6", "10 hours", "17 hours 35 minutes"],
    ["7", "10 hours", "27 hours 35 minutes"],
];

const EVENT: &str = r#"{
  "id": "evt_01kny3v1m8f2x9q4t7r5c6b8de",
  "type": "transaction.created",
  "created_at": "2026-04-10T08:30:00.000Z",
  "api_version": "2026-04-10",
  "data": {
    "account_id": "acc_01kny3v1m8f2x9q4t7r5c6b8de",
    "transaction_ids": ["txn_01kny3v1m8f2x9q4t7r5c6b8de"],
    "count": 1
  }
}"#;

const HEADERS: &str = "\
content-type: application/json
webhook-id: evt_01kny3v1m8f2x9q4t7r5c6b8de
webhook-timestamp: 1775809800
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=";

pub(super) fn body(place: &GuideContext) -> Markup {
    let endpoints = format!("{}/webhooks/endpoints", place.base);
    html! {
        p.lead {
            "Instead of asking whether something changed, be told. Every event is sent at least \
             once, signed, to each endpoint that wants it."
        }
        (section("look", "See one first", look(&endpoints)))
        (section("create", "Make an endpoint", create(place, &endpoints)))
        (section("event", "What arrives", event()))
        (section("verify", "Make sure that it is ours", verify()))
        (section("twice", "Once, and in order", twice(place)))
        (section("retries", "When it fails", retries(place, &endpoints)))
        (section("rotate", "Another secret", rotate(&endpoints)))
        (section("pages", "Pages to look at it", pages(place)))
    }
}

fn look(endpoints: &str) -> Markup {
    let said = html! {
        p {
            (prose("`evenkeel listen` is a receiver for your own machine. It prints a line for each \
                    event: when it came, what it is, what it is about, and whether its signature is \
                    good. The demo sends there without further ado, and something happens in it every \
                    20 seconds."))
        }
        ul.facts {
            li {
                (prose("With `--secret` and what the endpoint's `secret` said, it verifies; after a \
                        rotation give both."))
            }
            li {
                (prose("With `--forward http://localhost:3000/hooks` it passes on what arrives, \
                        untouched, and answers what your program answers."))
            }
            li {
                (prose("A server of your own has to trust its certificate and to be allowed to send \
                        to this machine: it prints the lines for `webhooks.ca_file` and \
                        `webhooks.allow_networks`."))
            }
        }
    };
    let new = r#"{"url": "https://localhost:4690/"}"#;
    pair(
        &said,
        &html! {
            (snippet::text("A server to look at", "evenkeel demo --data-dir ./look"))
            (snippet::text("In another terminal", "evenkeel listen --data-dir ./look"))
            (snippet::text("Have it told", &curl_post(endpoints, Some(new))))
        },
    )
}

fn create(place: &GuideContext, endpoints: &str) -> Markup {
    let said = html! {
        p {
            (prose("It takes a key with the scope `webhooks:manage`; an app's token cannot. The \
                    endpoint belongs to that key, which may have five active ones and sees no others. \
                    It hears of what the key may see: one that is limited to some accounts is told of \
                    those alone."))
        }
        p {
            (prose("The answer holds `secret`. It is shown this once: keep it where the receiver finds \
                    it."))
        }
        ul.facts {
            li {
                (prose("The address is https, with a certificate that is good, and every address of \
                        its host is public. An operator may allow networks of their own."))
            }
            li { (prose("`filter_types` says which events; without it you get all, also new ones.")) }
            li {
                (prose("A try sends one event at once, with example data and `test: true`, and tells what \
                        the receiver answered. It is never repeated, or held against the endpoint."))
            }
        }
    };
    let new = r#"{
    "url": "https://example.com/hooks/evenkeel",
    "filter_types": ["transaction.created", "balance.updated"]
  }"#;
    let test = curl_post(&format!("{endpoints}/$ENDPOINT/test"), None);
    pair(
        &said,
        &html! {
            (snippet::text("What can be told", &curl(&format!("{}/webhooks/events", place.base))))
            (snippet::text("An endpoint", &curl_post(endpoints, Some(new))))
            (snippet::text("Try it", &filled(&test)))
        },
    )
}

fn event() -> Markup {
    let said = html! {
        p {
            (prose("A POST for each event. `data` holds ids and harmless facts; ask the API for the \
                    rest, so that what you read is as of now, and so that nothing private lies in \
                    the logs on the way."))
        }
        p {
            (prose("Answer 2xx within 15 seconds, before you do any work. Answer 2xx to types that you \
                    do not know, too: more may be added at any time."))
        }
    };
    pair(
        &said,
        &html! {
            (snippet::text("Headers", HEADERS))
            (snippet::text("Body", EVENT))
        },
    )
}

fn verify() -> Markup {
    let said = html! {
        p {
            "Anyone can send something to your receiver. Believe only what carries a good signature. \
             The rules are those of Standard Webhooks, for which there are libraries in most \
             languages; without one it takes a few lines."
        }
        ol.steps {
            li { p { (prose("Take the body as the bytes that came, before anything reads it as JSON.")) } }
            li { p { (prose("Join `webhook-id`, `webhook-timestamp` and the body with full stops.")) } }
            li {
                p { (prose("Sign that with HMAC-SHA256. The key is what follows `whsec_` in the secret, \
                        decoded from base64.")) }
            }
            li {
                p { (prose("Write it as `v1,` and base64. It must be among the entries of \
                        `webhook-signature`, which are separated by spaces; compare in constant \
                        time.")) }
            }
            li {
                p { (prose("Refuse a `webhook-timestamp` more than five minutes off, so that nobody can \
                        send again what they overheard. Each attempt has a fresh one.")) }
            }
        }
    };
    pair(&said, &verify_examples::programs())
}

fn twice(place: &GuideContext) -> Markup {
    let said = html! {
        p {
            (prose("An event may come more than once: when your answer got lost, or when it was sent \
                    again by hand. Every time it has the same `id`, which is also in `webhook-id`. \
                    Write ids down under a unique key in the transaction that does the work, and skip \
                    those that are there. Thirty days of them are enough."))
        }
        p {
            (prose("Events may overtake each other: `transaction.updated` may come before its \
                    `transaction.created`. Order by `created_at`; better, take an event for a hint \
                    and read what it names, and the order no longer matters."))
        }
        p {
            (prose("After a longer silence, ask for what changed meanwhile with `updated_since`; then \
                    nothing depends on having heard everything."))
        }
    };
    let url = format!("{}/transactions?updated_since=2026-04-10T08:30:00Z", place.base);
    pair(&said, &snippet::text("What changed since", &curl(&url)))
}

fn retries(place: &GuideContext, endpoints: &str) -> Markup {
    let said = html! {
        p {
            (prose("Anything but 2xx within 15 seconds is a failure; redirects are not followed. It is \
                    tried seven times more, never earlier than this and up to a tenth later. \
                    `Retry-After` may double a wait."))
        }
        table.parameters {
            (snippet::columns(["Retry", "After the one before", "After the first"]))
            tbody {
                @for [retry, wait, total] in SCHEDULE {
                    tr { th scope="row" { (retry) } td { (wait) } td { (total) } }
                }
            }
        }
        ul.facts {
            li {
                "After the last it is a dead letter. " a href="/settings/webhooks/failed" { "Not delivered" }
                " under Settings, Webhooks, lists them, and sends one again, or all since a day."
            }
            li { (prose("410 disables the endpoint at once, with `disabled_reason` `gone`.")) }
            li {
                (prose("An endpoint that used up all attempts, and where nothing has arrived for five \
                        days, is disabled: `failing`. The key's other endpoints are told by \
                        `webhook.endpoint_disabled`."))
            }
            li { "One that is slow or dead delays no other." }
        }
    };
    let failed = format!("{}/webhooks/deliveries?status=failed", place.base);
    let wake = curl_post(&format!("{endpoints}/$ENDPOINT"), Some(r#"{"status": "active"}"#));
    let wake = filled(&wake).replacen("curl", "curl -X PUT", 1);
    pair(
        &said,
        &html! {
            (snippet::text("What failed, and why", &curl(&failed)))
            (snippet::text("Start again", &wake))
        },
    )
}

fn pages(place: &GuideContext) -> Markup {
    let said = html! {
        p {
            "Under " a href="/settings/webhooks" { "Settings, Webhooks" }
            " the person sees the endpoints of all their keys: every attempt with what the receiver \
             answered, each event with its payload, what was not delivered, and a button to send it again."
        }
        p {
            (prose("For whoever looks after a receiver and has no account here, the portal shows the same of \
                    one key. `GET /webhooks/portal` answers a link: it opens once, within ten minutes, and \
                    the pages stay open for an hour."))
        }
    };
    let portal = format!("{}/webhooks/portal", place.base);
    pair(&said, &snippet::text("A link to the portal", &curl(&portal)))
}

fn rotate(endpoints: &str) -> Markup {
    let said = html! {
        p {
            (prose("A new secret takes over at once, and for 24 hours every delivery carries a \
                    signature of each, the new one first. Put the new secret into the receiver within \
                    that day, and nothing is refused. Changed again within the day, every one of them \
                    signs until its own day is over."))
        }
    };
    let rotate = curl_post(&format!("{endpoints}/$ENDPOINT/rotate"), None);
    pair(&said, &snippet::text("Rotate", &filled(&rotate)))
}
