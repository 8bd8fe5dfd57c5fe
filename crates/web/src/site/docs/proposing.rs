//! The guide to proposing actions: trades, other actions, following their status and withdrawing them.

use maud::{Markup, html};

use super::super::snippet::{self, curl, curl_post, prose};
use super::guide_parts::{GuideContext, filled, section};
use super::introduction::pair;

pub(super) fn body(context: &GuideContext) -> Markup {
    html! {
        p.lead {
            "Apps and assistants propose actions. You review exactly what would happen and approve or reject. No \
             API key or app can approve for you."
        }
        (section("trade", "Propose a trade", trade(&context.base)))
        (section("follow", "Track the status", follow(&context.base)))
        (section("other", "Propose other actions", other(&context.base)))
        (section("withdraw", "Withdraw a proposal", withdraw(&context.base)))
    }
}

fn trade(base: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("Paper accounts trade simulated money at market prices. Use the `id` of an account, or propose \
                    a new one."))
        }
        p {
            (prose("A trade has a symbol, a side, and either a `quantity` of shares or a `notional` in dollars. A \
                    trade without enough cash, shares or a price returns 422."))
        }
        p {
            (prose("The response is the proposal. Show `approval_url` to the person: they decide there. \
                    `details_v1` is what they see. `skip_approval` exists, but skipping approval is not supported."))
        }
    };
    let accounts = format!("{base}/paper-trading/accounts");
    let trades = format!("{accounts}/$ACCOUNT/trades");
    let buy = r#"{"symbol": "AAPL", "side": "buy", "quantity": 3}"#;
    let skip = r#"{"symbol": "AAPL", "side": "buy", "quantity": 3, "skip_approval": true}"#;
    pair(
        &explanation,
        &html! {
            (snippet::text("List accounts", &curl(&accounts)))
            (snippet::text("Propose an account", &curl_post(&accounts, Some(r#"{"name": "Practice"}"#))))
            (snippet::text("Propose a trade", &filled(&curl_post(&trades, Some(buy)))))
            (snippet::text("Skipping approval: 400", &filled(&curl_post(&trades, Some(skip)))))
        },
    )
}

fn follow(base: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("Use the `thread_id` of the proposal. With `wait`, up to 30 seconds, the response is sent when \
                    the status changes, so you don't need to poll."))
        }
        ul.facts {
            li { (prose("`pending_approval`: waiting for a decision until `expires_at`.")) }
            li { (prose("`rejected`, `expired` or `cancelled`: it won't happen.")) }
            li {
                (prose("`approved`: it will happen. Orders wait for the market to open. Transfers wait until the \
                        person confirms them."))
            }
            li { (prose("`executed`: it happened. See `result`.")) }
            li { (prose("`failed`: it failed. See `display_error_message`.")) }
        }
    };
    let approval = format!("{base}/approvals/$THREAD?wait=30");
    let accounts = format!("{base}/paper-trading/accounts/$ACCOUNT");
    pair(
        &explanation,
        &html! {
            (snippet::text("Wait for a change", &filled(&curl(&approval))))
            (snippet::text("Current holdings", &filled(&curl(&format!("{accounts}/holdings")))))
            (snippet::text("Trade history", &filled(&curl(&format!("{accounts}/trades")))))
        },
    )
}

fn other(base: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("POST `/actions` proposes any action: a trade, an account, a new category or name for \
                    transactions, a rule, a transfer that the person makes at their bank, or a custom question. \
                    `action_type` determines the `payload`."))
        }
        p {
            (prose("Explain the proposal in `reason_markdown`. Set a shorter lifetime with `expires_in_seconds`."))
        }
        p { a href="/docs#post-actions" { "All action types" } }
    };
    let custom = r#"{
    "action_type": "custom",
    "payload": {"title": "Cancel the gym membership"},
    "reason_markdown": "Unused since **January**.",
    "expires_in_seconds": 3600
  }"#;
    let actions = format!("{base}/actions");
    pair(
        &explanation,
        &html! {
            (snippet::text("Ask a question", &curl_post(&actions, Some(custom))))
            (snippet::text("Pending proposals", &curl(&format!("{actions}?status=pending_approval"))))
        },
    )
}

fn withdraw(base: &str) -> Markup {
    let explanation = html! {
        p {
            (prose("The proposer can withdraw a proposal by its `action_id` until it is decided. After that the \
                    response is 409 `CONFLICT`."))
        }
    };
    let cancel = curl_post(&format!("{base}/actions/$ACTION/cancel"), None);
    pair(&explanation, &snippet::text("Withdraw", &filled(&cancel)))
}
