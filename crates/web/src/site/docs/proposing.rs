//! The guide to proposing: a trade from the idea to its outcome, and whatever else a person can be asked.

use maud::{Markup, html};

use super::super::snippet::{self, curl, curl_post, prose};
use super::guides::{GuideContext, filled, section};
use super::introduction::pair;

pub(super) fn body(place: &GuideContext) -> Markup {
    html! {
        p.lead {
            "A program or an assistant proposes; the person sees exactly what would happen, and says \
             yes or no. No key, and no app, can say it for them."
        }
        (section("trade", "Propose a trade", trade(&place.base)))
        (section("follow", "Follow it", follow(&place.base)))
        (section("other", "Propose something else", other(&place.base)))
        (section("withdraw", "Withdraw it", withdraw(&place.base)))
    }
}

fn trade(base: &str) -> Markup {
    let said = html! {
        p {
            (prose("Paper accounts hold made-up money in a real market. Take the `id` of one; if there \
                    is none yet, propose one."))
        }
        p {
            (prose("A trade has a symbol, a side, and either a `quantity` of shares or a `notional` in \
                    dollars. What could not be done now, for want of cash or shares or a price, is \
                    refused with 422 at once."))
        }
        p {
            (prose("The answer is the proposal. `approval_url` is the page where the person decides: \
                    show it to them. `details_v1` is what they see there. `skip_approval` exists, but \
                    skipping is not supported."))
        }
    };
    let accounts = format!("{base}/paper-trading/accounts");
    let trades = format!("{accounts}/$ACCOUNT/trades");
    let buy = r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#;
    let skip = r#"{"symbol": "AAPL", "side": "buy", "quantity": 3, "skip_approval": true}"#;
    pair(
        &said,
        &html! {
            (snippet::text("The accounts there are", &curl(&accounts)))
            (snippet::text("Another account", &curl_post(&accounts, Some(r#"{"name": "Practice"}"#))))
            (snippet::text("Three shares", &filled(&curl_post(&trades, Some(buy)))))
            (snippet::text("Without asking: 400", &filled(&curl_post(&trades, Some(skip)))))
        },
    )
}

fn follow(base: &str) -> Markup {
    let said = html! {
        p {
            (prose("Take the `thread_id` of the proposal. With `wait`, up to 30 seconds, the answer comes \
                    when the status changes, so there is no need to ask every second."))
        }
        ul.facts {
            li { (prose("`pending_approval`: the person has not decided; until `expires_at` they may.")) }
            li { (prose("`rejected`, `expired` or `cancelled`: it will not happen.")) }
            li {
                (prose("`approved`: it will. An order waits for the market to open; a transfer waits for \
                        the person to say that they have moved the money."))
            }
            li { (prose("`executed`: it happened, and `result` says what came of it.")) }
            li { (prose("`failed`: it could not be done after all; `display_error_message` says why.")) }
        }
    };
    let approval = format!("{base}/approvals/$THREAD?wait=30");
    let accounts = format!("{base}/paper-trading/accounts/$ACCOUNT");
    pair(
        &said,
        &html! {
            (snippet::text("Wait for news", &filled(&curl(&approval))))
            (snippet::text("What is held now", &filled(&curl(&format!("{accounts}/holdings")))))
            (snippet::text("What was booked", &filled(&curl(&format!("{accounts}/trades")))))
        },
    )
}

fn other(base: &str) -> Markup {
    let said = html! {
        p {
            (prose("POST `/actions` proposes anything: trades and accounts, another category or name for \
                    transactions, a rule, a transfer for the person to make at their bank, or whatever \
                    wants a yes or a no. `action_type` says which, and what `payload` holds."))
        }
        p {
            (prose("Say why in `reason_markdown`: the person reads it as your words. Give it less time \
                    with `expires_in_seconds`."))
        }
        p { a href="/docs#post-actions" { "All types and their members" } }
    };
    let custom = r#"{
    "action_type": "custom",
    "payload": {"title": "Cancel the gym membership"},
    "reason_markdown": "Unused since **January**.",
    "expires_in_seconds": 3600
  }"#;
    let actions = format!("{base}/actions");
    pair(
        &said,
        &html! {
            (snippet::text("Ask for a yes", &curl_post(&actions, Some(custom))))
            (snippet::text("What waits", &curl(&format!("{actions}?status=pending_approval"))))
        },
    )
}

fn withdraw(base: &str) -> Markup {
    let said = html! {
        p {
            (prose("Whoever proposed something may take it back by its `action_id`, until it is decided. \
                    After that the answer is 409 and `CONFLICT`."))
        }
    };
    let cancel = curl_post(&format!("{base}/actions/$ACTION/cancel"), None);
    pair(&said, &snippet::text("Take it back", &filled(&cancel)))
}
