//! The guide to webhooks: endpoints, events, signatures, retries and secrets.

use maud::{Markup, html};

use super::super::snippet::{self, curl, curl_post, prose};
use super::guide_parts::{GuideContext, filled, section};
use super::introduction::pair;
use super::verify_examples;

/// Each retry with the wait before it and the total time since the first attempt.
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

pub(super) fn body(context: &GuideContext) -> Markup {
    let endpoints = format!("{}/webhooks/endpoints", context.base);
    html! {
        p.lead {
            "Receive events instead of polling. Every event is signed and delivered at least once to each endpoint."
        }
        (section("look", "Try it locally", look(&endpoints)))
        (section("create", "Create an endpoint", create(context, &endpoints)))
        (section("event", "Events", event()))
        (section("verify", "Verify signatures", verify()))
        (section("twice", "Duplicates and order", twice(context)))
        (section("retries", "Retries", retries(context, &endpoints)))
        (section("log", "Event log and replay", log(context)))
        (section("rotate", "Rotate secrets", rotate(&endpoints)))
        (section("pages", "Webhook pages and portal", pages(context)))
    }
}

fn look(endpoints: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("`evenkeel listen` is a receiver for your own machine. It prints a line for each event with its \
                    time, type, subject and whether its signature is valid. The demo sends events to it \
                    automatically, about every 20 seconds."))
        }
        ul.facts {
            li {
                (prose("Use `--secret` with the endpoint's `secret` to verify signatures. After a rotation, pass \
                        both secrets."))
            }
            li {
                (prose("Use `--forward http://localhost:3000/hooks` to forward events to your program and return \
                        its responses."))
            }
            li {
                (prose("Your own server must trust the listener's certificate and be allowed to send to this \
                        machine. The listener prints the settings for `webhooks.ca_file` and \
                        `webhooks.allow_networks`."))
            }
        }
    };
    let new = r#"{"url": "https://localhost:4690/"}"#;
    pair(
        &explanation,
        &html! {
            (snippet::text("Start the demo", "evenkeel demo --data-dir ./look"))
            (snippet::text("In another terminal", "evenkeel listen --data-dir ./look"))
            (snippet::text("Create an endpoint", &curl_post(endpoints, Some(new))))
        },
    )
}

fn create(context: &GuideContext, endpoints: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("You need an API key with the scope `webhooks:manage`; app tokens can't create endpoints. The \
                    endpoint belongs to that key. A key can have five active endpoints and receives only events of \
                    accounts it can access."))
        }
        p {
            (prose("The response contains `secret`. It is shown only once, so store it for your receiver."))
        }
        ul.facts {
            li {
                (prose("The URL must use https with a valid certificate and a public address. Operators can allow \
                        private networks."))
            }
            li { (prose("`filter_types` selects event types. Without it, you receive all types, including new \
                         ones.")) }
            li {
                (prose("A test sends one event with sample data and `test: true` and returns the receiver's \
                        response. Tests are not retried and don't affect endpoint health."))
            }
        }
    };
    let new = r#"{
    "url": "https://example.com/hooks/evenkeel",
    "filter_types": ["transaction.created", "balance.updated"]
  }"#;
    let test = curl_post(&format!("{endpoints}/$ENDPOINT/test"), None);
    pair(
        &explanation,
        &html! {
            (snippet::text("Event types", &curl(&format!("{}/webhooks/events", context.base))))
            (snippet::text("Create an endpoint", &curl_post(endpoints, Some(new))))
            (snippet::text("Send a test", &filled(&test)))
        },
    )
}

fn event() -> Markup {
    let explanation = html! {
        p {
            (prose("Each event is a POST request. `data` contains IDs and no private details. Fetch the rest from \
                    the API, so that you read current data and nothing private ends up in logs."))
        }
        p {
            (prose("Respond with 2xx within 15 seconds, before you process the event. Respond with 2xx to unknown \
                    types too, because new ones may be added."))
        }
    };
    pair(
        &explanation,
        &html! {
            (snippet::text("Headers", HEADERS))
            (snippet::text("Body", EVENT))
        },
    )
}

fn verify() -> Markup {
    let explanation = html! {
        p {
            "Anyone can send requests to your receiver, so accept only events with a valid signature. Signatures \
             follow the Standard Webhooks specification, which has libraries for most languages. Without a library \
             it takes a few lines."
        }
        ol.steps {
            li { p { (prose("Use the raw bytes of the body, before parsing it as JSON.")) } }
            li { p { (prose("Join `webhook-id`, `webhook-timestamp` and the body with periods.")) } }
            li {
                p { (prose("Sign it with HMAC-SHA256. The key is the part of the secret after `whsec_`, decoded \
                            from base64.")) }
            }
            li {
                p { (prose("Encode it as `v1,` followed by base64. It must equal one of the space-separated \
                            entries of `webhook-signature`. Compare in constant time.")) }
            }
            li {
                p { (prose("Reject a `webhook-timestamp` more than five minutes off to prevent replay attacks. \
                            Each attempt has a new timestamp.")) }
            }
        }
    };
    pair(&explanation, &verify_examples::programs())
}

fn twice(context: &GuideContext) -> Markup {
    let explanation = html! {
        p {
            (prose("An event may be delivered more than once, for example if your response was lost or the event \
                    was resent. Its `id`, also in `webhook-id`, stays the same. Store the IDs with a unique \
                    constraint in the same transaction as your work, and skip known ones. Keep them for 30 days."))
        }
        p {
            (prose("Events may arrive out of order: `transaction.updated` may come before `transaction.created`. \
                    Order them by `created_at`, or better, fetch the current data from the API on each event."))
        }
        p {
            (prose("After an outage, request changes with `updated_since`, so that you don't depend on every event."))
        }
    };
    let url = format!("{}/transactions?updated_since=2026-04-10T08:30:00Z", context.base);
    pair(&explanation, &snippet::text("Changes since a time", &curl(&url)))
}

fn retries(context: &GuideContext, endpoints: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("Anything but a 2xx response within 15 seconds is a failure. Redirects are not followed. A \
                    failed delivery is retried seven times, with up to 10% added to each wait. `Retry-After` can \
                    extend a wait to twice its length."))
        }
        table.parameters {
            (snippet::columns(["Retry", "Wait", "Total"]))
            tbody {
                @for [retry, wait, total] in SCHEDULE {
                    tr { th scope="row" { (retry) } td { (wait) } td { (total) } }
                }
            }
        }
        ul.facts {
            li {
                "After the last retry the delivery has failed. " a href="/settings/webhooks/failed" { "Failed deliveries" }
                " under Settings, Webhooks, lists them and lets you resend them. With the API, list them with "
                (prose("`status=failed` and replay them one by one."))
            }
            li { (prose("A 410 response disables the endpoint immediately, with `disabled_reason` `gone`.")) }
            li {
                (prose("An endpoint is disabled with `failing` when a delivery has used up its retries and nothing \
                        has succeeded for five days since the first failure, even if nothing is due. The key's \
                        other endpoints receive `webhook.endpoint_disabled`."))
            }
            li { "A slow or failing endpoint doesn't delay others." }
        }
    };
    let failed = format!("{}/webhooks/events?status=failed", context.base);
    let enable = curl_post(&format!("{endpoints}/$ENDPOINT"), Some(r#"{"status": "active"}"#));
    let enable = filled(&enable).replacen("curl", "curl -X PUT", 1);
    pair(
        &explanation,
        &html! {
            (snippet::text("List failed events", &curl(&failed)))
            (snippet::text("Enable the endpoint", &enable))
        },
    )
}

fn log(context: &GuideContext) -> Markup {
    let explanation = html! {
        p {
            (prose("`GET /webhooks/events` lists the events of the last 90 days that your key can access, newest \
                    first, with the status of their deliveries. Events that none of your endpoints subscribed to \
                    have the status `no_endpoint`. Filter by `event_type`, `status`, `start` and `end`. Payloads are \
                    kept for 30 days; then `data` is null."))
        }
        p {
            (prose("A page searches at most 2,000 events. If few of them match your filter, the page can be short or \
                    empty: continue with `next_cursor` until it is null."))
        }
        p {
            (prose("A replay sends an event again with the same `id`. By default it goes to the endpoints where it \
                    failed, or to all active ones if it was never sent. Use `endpoint_id` to choose one. A replay is \
                    one attempt and is not retried."))
        }
    };
    let events = format!("{}/webhooks/events", context.base);
    let missed = format!("{events}?event_type=transaction.created&status=no_endpoint");
    let replay = curl_post(&format!("{events}/$EVENT/replay"), None);
    pair(
        &explanation,
        &html! {
            (snippet::text("Events that were not sent", &curl(&missed)))
            (snippet::text("Replay an event", &filled(&replay)))
        },
    )
}

fn pages(context: &GuideContext) -> Markup {
    let explanation = html! {
        p {
            "Under " a href="/settings/webhooks" { "Settings, Webhooks" }
            " you can see the endpoints of all your keys: the event log with payloads and replay, every attempt with \
             its response, and failed deliveries with a button to resend them."
        }
        p {
            (prose("The portal shows the same pages for one API key to someone without an account here. `GET \
                    /webhooks/portal` returns a link that works once within ten minutes. The portal session lasts \
                    an hour."))
        }
    };
    let portal = format!("{}/webhooks/portal", context.base);
    pair(&explanation, &snippet::text("Portal link", &curl(&portal)))
}

fn rotate(endpoints: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("A new secret is used immediately. For 24 hours, every delivery is signed with both the new and \
                    the old secret, the new one first. Update your receiver within that time. If you rotate again, \
                    each old secret stays valid for its own 24 hours."))
        }
    };
    let rotate = curl_post(&format!("{endpoints}/$ENDPOINT/rotate"), None);
    pair(&explanation, &snippet::text("Rotate", &filled(&rotate)))
}
