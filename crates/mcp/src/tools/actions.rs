//! Proposals and their decisions.

use base::ActionId;
use serde::Serialize;
use service::Result;
use service::actions::{self, Action, Filter, Status, WAIT_SECONDS_MAX};
use service::platform::cursors::Page;
use wire::v1::{self, Scope};

use crate::arguments::{Argument, Takes};
use crate::object::{Object, project};
use crate::tool::Type::{List, Object as Record, OptionalText, Text};
use crate::tool::{CURSOR, Call, Kind, LIMIT, Needs, Tool, put_next};

/// The seconds between two reports that a call still waits.
const PROGRESS_SECONDS: u64 = 5;
const LIST_FIELDS: &[&str] = &[
    "action_id",
    "action_type",
    "status",
    "description",
    "created_at",
    "decided_at",
    "expires_at",
    "proposed_by",
    "approval_url",
];
const FIELDS: &[&str] = &[
    "action_id",
    "action_type",
    "status",
    "description",
    "display_error_message",
    "created_at",
    "decided_at",
    "executed_at",
    "expires_at",
    "details",
    "trade",
    "proposed_by",
    "rejection_reason",
    "result",
];

pub(super) static LIST_ACTIONS: Tool = Tool {
    name: "list_actions",
    title: "Proposals",
    description: "What was proposed to the person, newest first, with the state of each.",
    needs: Needs::All(&[Scope::ActionsRead]),
    kind: Kind::Reads,
    arguments: &[Argument::optional("status", Takes::OneOf(Status::WORDS), ""), LIMIT, CURSOR],
    output: &[("actions", List), ("next_cursor", OptionalText), ("note", Text)],
    call: |call| Box::pin(list(call)),
};

#[derive(Serialize)]
struct WithUrl {
    #[serde(flatten)]
    body: v1::ActionBody,
    approval_url: String,
}

async fn list(call: &Call<'_>) -> Result<Object> {
    let status = call.arguments.text("status")?.as_deref().and_then(Status::parse);
    let filter = Filter { status, kind: None };
    let limit = call.arguments.whole("limit")?.unwrap_or(25) as usize;
    let cursor = call.arguments.text("cursor")?;
    let mut page = Page { cursor: cursor.as_deref(), limit };
    let mut listed = actions::list(call.app, call.caller, filter, page).await?;
    let write = |it: &Action| {
        let approval_url = approval_url(call, it);
        project(&WithUrl { body: it.into(), approval_url }, LIST_FIELDS)
    };
    let rows: Vec<Vec<u8>> = listed.actions.iter().map(write).collect::<Result<_>>()?;
    let mut object = Object::new();
    let written = object.put_rows("actions", rows.into_iter());
    if written.is_cut {
        page.limit = written.count.max(1);
        listed = actions::list(call.app, call.caller, filter, page).await?;
    }
    put_next(&mut object, listed.next_cursor.as_deref())?;
    Ok(object)
}

pub(super) static GET_ACTION: Tool = Tool {
    name: "get_action",
    title: "Follow a proposal",
    description: "The state of one proposal. With wait, the answer comes when the person has decided or after that many \
        seconds; call it again while status is pending_approval.",
    needs: Needs::Any(&[Scope::ActionsRead, Scope::ActionsWrite, Scope::PaperTrade]),
    kind: Kind::Reads,
    arguments: &[
        Argument::required("action_id", Takes::Uuid, ""),
        Argument::optional(
            "wait",
            Takes::Whole { least: 0, most: WAIT_SECONDS_MAX as i64, default: Some(0) },
            "Seconds.",
        ),
    ],
    output: &[("action", Record), ("approval_url", Text), ("next_step", Text)],
    call: |call| Box::pin(get(call)),
};

async fn get(call: &Call<'_>) -> Result<Object> {
    let id: Option<ActionId> = call.arguments.id("action_id")?;
    let id = call.arguments.required("action_id", id)?;
    let seconds = call.arguments.whole("wait")?.unwrap_or(0) as u64;
    shown(call, &wait_for_decision(call, id, seconds).await?)
}

/// The action when its person has decided, or after so many seconds. Clients that want to hear about progress do.
pub(crate) async fn wait_for_decision(
    call: &Call<'_>,
    id: ActionId,
    seconds: u64,
) -> Result<Action> {
    // Before the first read, so that many waiting calls of one person do not take turns.
    if seconds > 0 {
        (call.context.before_waiting)(seconds);
    }
    let first = actions::get(call.app, call.caller, id).await?;
    let wait = |seconds| actions::wait_for_thread(call.app, call.caller, first.thread, seconds);
    if !call.context.wants_progress() {
        return wait(seconds).await;
    }
    let mut waited = 0;
    loop {
        let part = PROGRESS_SECONDS.min(seconds - waited);
        let now = wait(part).await?;
        waited += part;
        if now.status != first.status || now.status.is_final() || waited == seconds {
            return Ok(now);
        }
        call.context.report_progress(waited, seconds, "Waiting for the person to decide");
    }
}

/// An action with the figures of a trade that a person would ask about.
#[derive(Serialize)]
struct WithTrade {
    #[serde(flatten)]
    body: v1::ActionBody,
    trade: Option<Trade>,
}

#[derive(Serialize)]
struct Trade {
    symbol: String,
    side: String,
    quantity: String,
    current_price: Option<String>,
    estimated_cost: Option<String>,
    timing: Option<String>,
}

impl From<&Action> for WithTrade {
    fn from(action: &Action) -> WithTrade {
        let trade = action.details().trade.map(|it| Trade {
            symbol: it.symbol,
            side: it.side,
            quantity: it.quantity_display,
            current_price: it.current_price_display,
            estimated_cost: it.estimated_cost_display,
            timing: it.timing_disclosure,
        });
        WithTrade { body: action.into(), trade }
    }
}

/// An action with the page where it is decided, and what to do next.
pub(crate) fn shown(call: &Call<'_>, action: &Action) -> Result<Object> {
    let mut object = Object::new();
    object.put_json("action", &project(&WithTrade::from(action), FIELDS)?);
    object.put("approval_url", &approval_url(call, action))?;
    object.put("next_step", &next_step(action))?;
    Ok(object)
}

pub(super) fn approval_url(call: &Call<'_>, action: &Action) -> String {
    format!("{}/approvals/{}", call.public_url, action.thread)
}

fn next_step(action: &Action) -> &'static str {
    match action.status {
        Status::PendingApproval => {
            "Nothing has happened yet. Ask the person to open approval_url and decide there, then call get_action with \
             this action_id and wait."
        }
        Status::Approved | Status::Executing => {
            "The person approved it, and it has not been carried out yet. Call get_action again later."
        }
        Status::Executed => "The person approved it and it was carried out.",
        Status::Failed => {
            "The person approved it, but it could not be carried out; see display_error_message."
        }
        Status::Rejected => {
            "The person rejected it. Do not propose the same again unless they ask for it."
        }
        Status::Expired => {
            "The person did not decide in time. Ask them before you propose it again."
        }
        Status::Cancelled => "It was withdrawn.",
    }
}
