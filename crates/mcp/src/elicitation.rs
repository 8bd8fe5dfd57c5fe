//! URL elicitation: a client that declares it asks the person to open the page of a proposal. The answer of a proposing tool
//! has the page in any case, because few clients do.
//!
//! In the modern era the client repeats the call after the person has opened the page, with a sealed state that names the
//! proposal, so that no second one is made. In the legacy era it gets a request before the response; nothing here waits for
//! its answer, which may reach another process, because only the page says what the person decided.

use base::ActionId;
use serde_json::{Value, json};
use service::Result;
use service::actions::{self, Status, WAIT_SECONDS_MAX};

use crate::era::Era;
use crate::results::tool_result;
use crate::surface::Outcome;
use crate::text::clean_json;
use crate::tool::Call;
use crate::tools::{shown_action, wait_for_decision};

/// The name of the request among those that a client has to answer.
const APPROVAL: &str = "approval";
const MESSAGE: &str = "Open this page of your own Evenkeel to approve or reject the proposal.";

/// Asks a client that can to show the page of the proposal that was just made. Some if that is the whole answer.
pub(crate) fn ask(call: &Call<'_>) -> Result<Option<Outcome>> {
    let context = call.context;
    let Some(proposed) = call.proposed.get().filter(|_| context.client.urls) else {
        return Ok(None);
    };
    let mut params = json!({ "mode": "url", "message": MESSAGE, "url": proposed.approval_url });
    if context.era == Era::Modern {
        let state = context.seal_state(&request_of(call), proposed.id.as_bytes())?;
        let request = json!({ "method": "elicitation/create", "params": params });
        let requests = json!({ APPROVAL: request });
        return Ok(Some(Outcome::input_required(&requests, Some(&state))));
    }
    let id = format!("{APPROVAL}-{}", proposed.id);
    params["elicitationId"] = json!(id);
    let request =
        json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
    context.send(&request);
    Ok(None)
}

/// Continues a call that was answered with the request to open the page: the proposal as it is now, or as the person
/// decides it while they have the page open.
pub(crate) async fn resume(call: &Call<'_>) -> Result<Option<Outcome>> {
    let context = call.context;
    let input = match context.input() {
        Ok(input) => input,
        Err(outcome) => return Ok(Some(outcome)),
    };
    let Some(state) = &input.state else { return Ok(None) };
    let id = match context.open_state(&request_of(call), state) {
        Ok(bytes) => <[u8; 16]>::try_from(bytes.as_slice()).map(ActionId::from_bytes),
        Err(outcome) => return Ok(Some(outcome)),
    };
    let id = id.map_err(|_| service::Error::internal("a request state has the wrong length"))?;
    let is_open = input.response(APPROVAL).map(|it| &it["action"]) == Some(&Value::from("accept"));
    let mut action = actions::get(call.app, call.caller, id).await?;
    if is_open && action.status == Status::PendingApproval {
        action = wait_for_decision(call, id, WAIT_SECONDS_MAX).await?;
    }
    let json = clean_json(shown_action(call, &action)?.finish()?);
    Ok(Some(tool_result(context, &json)))
}

/// The tool and its arguments, which a repeated call must have too.
fn request_of(call: &Call<'_>) -> String {
    format!("{}\n{}", call.tool.name, call.arguments.fingerprint())
}
