//! Creating and rendering proposals, shared by several endpoints.

use service::actions::{self, Action, NewAction};
use service::{Error, Result};
use wire::v1;

use super::bodies::{Holds, Member};
use super::{Answer, Call, Members, change};

pub(super) const SKIP_APPROVAL: Member = Member::optional(
    "skip_approval",
    Holds::False,
    "Only `false`, which is the default: skipping approval is not supported.",
);

pub(super) fn refuse_skipping(members: &Members) -> Result<()> {
    match members.bool("skip_approval")? {
        Some(true) => Err(Error::invalid("skip_approval", "skipping approval is not supported")),
        _ => Ok(()),
    }
}

/// Creates a proposal, once per Idempotency-Key. `named` maps field names in errors to those of the body.
pub(super) async fn propose(
    call: &Call,
    new: NewAction,
    named: fn(Error) -> Error,
) -> Result<Answer> {
    let prepared = actions::prepare(&call.app, &call.caller, new).await.map_err(named)?;
    let (app, public_url) = (call.app.clone(), call.public_url.clone());
    let work = move |tx: &mut service::Tx<'_>| {
        created(&prepared.save(&app, tx).map_err(named)?, &public_url)
    };
    let answer = change(call, work).await?;
    actions::notify_changed(&call.app);
    Ok(answer)
}

fn created(action: &Action, public_url: &str) -> Result<Answer> {
    let thread = action.thread;
    Answer::data(&v1::Action {
        body: action.into(),
        thread_id: Some(thread.to_string()),
        approval_url: format!("{public_url}/approvals/{thread}"),
        approval_status_url: Some(format!("{public_url}/v1/approvals/{thread}")),
    })
}

/// Renders an existing proposal.
pub(super) fn shown(action: &Action) -> v1::Approval {
    v1::Approval { thread_id: Some(action.thread.to_string()), body: action.into() }
}
