//! Endpoints of actions: list, propose, cancel, and wait for a decision.

use base::{ActionId, ThreadId};
use service::actions::{self, ActionType, Filter, Kind, NewAction, Status, WAIT_SECONDS_MAX};
use service::platform::cursors::Page;
use service::{Error, Result};
use wire::v1::{Action, Approval, Pagination, Scope};

use super::bodies::{Body, Holds, Member};
use super::parameters::{CURSOR, LIMIT, one_of, uuid};
use super::payload::{self, PAYLOADS};
use super::propose::{propose, shown};
use super::{Answer, Call, Endpoint, Paging, Parameter, Shape, Takes, Verb, change};

const NEW: &[Member] = &[
    Member::required("action_type", Holds::OneOf(ActionType::WORDS), "The type of action."),
    Member::required(
        "payload",
        Holds::ByWord { word: "action_type", variants: PAYLOADS },
        "The details; its members depend on `action_type`.",
    ),
    Member::optional(
        "description",
        Holds::Text { longest: 200 },
        "A short title, instead of the generated one.",
    ),
    Member::optional(
        "reason_markdown",
        Holds::Text { longest: 4_000 },
        "The reason, in Markdown, shown to the person as written by the proposer.",
    ),
    Member::optional(
        "expires_in_seconds",
        Holds::Whole,
        "Seconds until the proposal expires, from 1 to the limit of the person's policy, which is also the default.",
    ),
];

const EXAMPLES: &[(&str, &str)] = &[
    (
        "A paper trade, with a reason",
        r#"{
  "action_type": "paper_trade.create",
  "payload": {
    "account_id": "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a70",
    "symbol": "AAPL",
    "side": "buy",
    "quantity": 3
  },
  "reason_markdown": "You wanted to **spread** your purchases."
}"#,
    ),
    (
        "A category change, also for future transactions",
        r#"{
  "action_type": "transaction.recategorize",
  "payload": {
    "transaction_ids": ["txn_01kny3v1m8f2x9q4t7r5c6b8de"],
    "category": "FOOD_AND_DRINK_COFFEE",
    "always": true
  }
}"#,
    ),
    (
        "Another name",
        r#"{
  "action_type": "transaction.rename",
  "payload": {
    "transaction_ids": ["txn_01kny3v1m8f2x9q4t7r5c6b8de"],
    "counterparty_name": "Corner Cafe"
  }
}"#,
    ),
    (
        "A receipt over two categories",
        r#"{
  "action_type": "transaction.split",
  "payload": {
    "transaction_id": "txn_01kny3v1m8f2x9q4t7r5c6b8de",
    "splits": [
      { "amount": -3.00, "category": "Coffee shops" },
      { "amount": -1.50, "category": "Groceries", "note": "Milk" }
    ]
  }
}"#,
    ),
    (
        "Tags",
        r#"{
  "action_type": "transaction.annotate",
  "payload": {
    "transaction_ids": ["txn_01kny3v1m8f2x9q4t7r5c6b8de"],
    "tags": ["summer-trip"]
  }
}"#,
    ),
    (
        "A rule",
        r#"{
  "action_type": "rule.create",
  "payload": {
    "words": "CORNER CAFE",
    "category": "Coffee shops",
    "counterparty_name": "Corner Cafe"
  }
}"#,
    ),
    (
        "A transfer",
        r#"{
  "action_type": "transfer.propose",
  "payload": {
    "from_account_id": "acc_01kny3v1m8f2x9q4t7r5c6b8de",
    "to_account_id": "acc_01kny3v1m8f2x9q4t7r5c6b8df",
    "amount": 250.00,
    "date": "2026-04-15"
  }
}"#,
    ),
    (
        "Anything else",
        r#"{
  "action_type": "custom",
  "payload": {
    "title": "Cancel the gym membership",
    "summary_markdown": "Unused since January."
  },
  "expires_in_seconds": 3600
}"#,
    ),
];

pub(super) const CREATE: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/actions",
    tag: "Actions",
    summary: "Propose an action",
    description: "Creates a proposal, which the person approves or rejects at `approval_url`. A token can never \
        approve. Needs `actions:write`, and `transactions:read` or `accounts:read` for the data it shows; a \
        paper trade or paper account needs `paper:trade` instead.",
    scopes: &[],
    query: &[],
    path_parameters: &[],
    body: Some(Body { name: "NewAction", members: NEW, rules: &[], examples: EXAMPLES }),
    answer: Shape::of::<Action>("Action"),
    handle: |call| Box::pin(create(call)),
};

async fn create(call: Call) -> Result<Answer> {
    let members = call.members(NEW)?;
    let action_type = members.one_of("action_type", ActionType::WORDS)?;
    let action_type = members.required("action_type", action_type)?;
    let kind = ActionType::parse(&action_type).ok_or_else(|| Error::internal("an unknown type"))?;
    let new = NewAction {
        payload: payload::read(&call, &members, kind).await?,
        description: members.filled_text("description")?,
        reason: members.filled_text("reason_markdown")?,
        expires_in_seconds: members.whole("expires_in_seconds")?,
    };
    propose(&call, new, within_payload).await
}

/// Maps a field name of the capability to its path in the payload.
fn within_payload(error: Error) -> Error {
    match error {
        Error::Invalid { param: Some(param), message }
            if !param.starts_with("payload") && !NEW.iter().any(|it| it.name == param) =>
        {
            let message = match message.strip_prefix(&param) {
                Some(rest) => format!("payload.{param}{rest}"),
                None => message,
            };
            Error::invalid(&format!("payload.{param}"), message)
        }
        other => other,
    }
}

pub(super) const LIST: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/actions",
    tag: "Actions",
    summary: "List actions",
    description: "All proposals to the person, newest first, in pages. A key that is limited to some accounts \
        sees only its own proposals.",
    scopes: &[Scope::ActionsRead],
    query: &[
        CURSOR,
        LIMIT,
        one_of("status", Status::WORDS, "Only actions with this status."),
        one_of("action_kind", Kind::WORDS, "Only actions of this type."),
    ],
    path_parameters: &[],
    body: None,
    answer: Shape { paging: Paging::Within, ..Shape::of::<Approval>("Approval") },
    handle: |call| Box::pin(list(call)),
};

async fn list(call: Call) -> Result<Answer> {
    let query = &call.query;
    let filter = Filter {
        status: query.text("status")?.and_then(Status::parse),
        kind: query.text("action_kind")?.and_then(Kind::parse),
    };
    let limit = query.whole(&LIMIT)? as usize;
    let page = Page { cursor: query.text("cursor")?, limit };
    let listed = actions::list(&call.app, &call.caller, filter, page).await?;
    let rows: Vec<Approval> = listed.actions.iter().map(shown).collect();
    let pagination = Pagination {
        count: rows.len(),
        has_more: listed.next_cursor.is_some(),
        next_cursor: listed.next_cursor,
        total_count: None,
        limit,
    };
    Answer::list(&rows, &pagination)
}

const ID: Parameter = uuid("id", "The action, by its `action_id`.");

pub(super) const GET: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/actions/{id}",
    tag: "Actions",
    summary: "Get an action",
    description: "The key or app that proposed it can read it; others need `actions:read`.",
    scopes: &[],
    query: &[],
    path_parameters: &[ID],
    body: None,
    answer: Shape::of::<Approval>("Approval"),
    handle: |call| Box::pin(get(call)),
};

async fn get(call: Call) -> Result<Answer> {
    let id: ActionId = call.path_id(0, "action")?;
    Answer::data(&shown(&actions::get(&call.app, &call.caller, id).await?))
}

pub(super) const CANCEL: Endpoint = Endpoint {
    method: Verb::Post,
    path: "/actions/{id}/cancel",
    tag: "Actions",
    summary: "Withdraw an action",
    description: "The key or app that proposed an action can withdraw it until the person decides; no scope is \
        needed. Its status becomes `cancelled`. The body must be empty.",
    scopes: &[],
    query: &[],
    path_parameters: &[ID],
    body: None,
    answer: Shape::of::<Approval>("Approval"),
    handle: |call| Box::pin(cancel(call)),
};

async fn cancel(call: Call) -> Result<Answer> {
    let id: ActionId = call.path_id(0, "action")?;
    call.members(&[])?;
    let (app, caller) = (call.app.clone(), call.caller.clone());
    let work = move |tx: &mut service::Tx<'_>| {
        Answer::data(&shown(&actions::cancel(&app, tx, &caller, id)?))
    };
    let answer = change(&call, work).await?;
    actions::notify_changed(&call.app);
    Ok(answer)
}

const WAIT: Parameter = Parameter {
    name: "wait",
    takes: Takes::Whole { least: 0, most: WAIT_SECONDS_MAX as i64, default: 0 },
    description: "Seconds to wait for a change of status. The response comes at once if the status is final, \
        otherwise when it changes or the time is up.",
    example: "30",
};

pub(super) const APPROVAL: Endpoint = Endpoint {
    method: Verb::Get,
    path: "/approvals/{threadId}",
    tag: "Actions",
    summary: "Follow a decision",
    description: "The status of a proposal; with `wait`, the response is held until the status changes. The key \
        or app that proposed it can follow it; others need `actions:read`.",
    scopes: &[],
    query: &[WAIT],
    path_parameters: &[uuid("threadId", "The proposal, by its `thread_id`.")],
    body: None,
    answer: Shape::of::<Approval>("Approval"),
    handle: |call| Box::pin(approval(call)),
};

async fn approval(mut call: Call) -> Result<Answer> {
    let thread: ThreadId = call.path_id(0, "approval")?;
    let seconds = call.query.whole(&WAIT)? as u64;
    if seconds > 0 {
        call.wait_for(seconds);
    }
    let action = actions::wait_for_thread(&call.app, &call.caller, thread, seconds).await?;
    Answer::data(&shown(&action))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_payload() {
        let payloads: Vec<&str> = PAYLOADS.iter().map(|it| it.word).collect();
        assert_eq!(payloads, ActionType::WORDS);
    }

    #[test]
    fn a_refusal_is_named_by_where_the_member_lies() {
        let named =
            |param: &str, message: &str| match within_payload(Error::invalid(param, message)) {
                Error::Invalid { param: Some(param), message } => format!("{param}: {message}"),
                other => other.to_string(),
            };
        assert_eq!(named("symbol", "symbol is odd"), "payload.symbol: payload.symbol is odd");
        assert_eq!(named("category", "say one"), "payload.category: say one");
        assert_eq!(named("payload.data", "too long"), "payload.data: too long");
        assert_eq!(named("description", "description is odd"), "description: description is odd");
    }
}
