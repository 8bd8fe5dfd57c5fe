//! The methods of the protocol, in both eras.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use service::{App, Caller};

use crate::client::ClientCapabilities;
use crate::era::{self, Era, LEGACY_VERSIONS};
use crate::message::{Code, Incoming, Malformed, error_body, result_body};
use crate::surface::{Context, List, Outcome, ToolCall};
use crate::{Reply, Request, Settings};

/// How long clients may keep lists, which change only with the token and the release.
const LIST_TTL_MS: u32 = 300_000;

pub(crate) async fn handle(
    app: &App,
    settings: &Settings,
    caller: &Caller,
    request: Request<'_>,
) -> Reply {
    let message = match Incoming::parse(request.body) {
        Ok(Incoming::Message(message)) => message,
        Ok(Incoming::Answer { id, result }) => {
            settings.surface.take_answer(caller, id, result);
            return Reply::Accepted;
        }
        Err(Malformed { id, code, message }) => {
            return Reply::response(400, error_body(id, code, &message, None));
        }
    };
    let Some(id) = message.id else { return Reply::Accepted };
    let found = match era::check(&message, request.headers) {
        Ok(found) => found,
        Err(refused) => {
            let data = refused.data.as_deref();
            return Reply::response(
                400,
                error_body(Some(id), refused.code, &refused.message, data),
            );
        }
    };
    let client = match (found.capabilities, request.session) {
        (Some(declared), _) => ClientCapabilities::parse(declared),
        (None, Some(session)) => ClientCapabilities::open(app, caller, session),
        (None, None) => ClientCapabilities::default(),
    };
    let context = Context {
        app,
        settings,
        caller,
        era: found.era,
        client,
        params: message.params.unwrap_or("{}"),
        before_waiting: request.before_waiting,
        stream: request.stream,
        progress_token: found.progress_token,
    };
    let mut session = None;
    let outcome = run(&context, &message.method, &mut session).await;
    reply(id, outcome, session)
}

fn reply(id: &str, outcome: Outcome, session: Option<String>) -> Reply {
    match outcome {
        Outcome::Result(json) => {
            let body = result_body(id, json.as_bytes());
            Reply::Response { status: 200, body, session }
        }
        Outcome::Failed { status, code, message, data } => {
            Reply::response(status, error_body(Some(id), code, &message, data.as_deref()))
        }
        Outcome::MissingScopes(needed) => {
            let message = format!("this token lacks a scope; this takes {}", needed.to_words());
            let body = error_body(Some(id), Code::Refused, &message, None);
            Reply::MissingScopes { needed, body }
        }
    }
}

/// Runs a method. A client that begins in the legacy era gets a session if the surface makes use of what it can do.
async fn run(context: &Context<'_>, method: &str, session: &mut Option<String>) -> Outcome {
    match (method, context.era) {
        ("initialize", Era::Legacy) => initialize(context, session),
        ("ping", Era::Legacy) => Outcome::Result("{}".to_owned()),
        ("server/discover", Era::Modern) => discover(context),
        ("tools/list", _) => list(context, "tools", List::Tools),
        ("tools/call", _) => call_tool(context).await,
        ("resources/list", _) => list(context, "resources", List::Resources),
        ("resources/templates/list", _) => {
            list(context, "resourceTemplates", List::ResourceTemplates)
        }
        ("resources/read", _) => read_resource(context).await,
        ("prompts/list", _) => list(context, "prompts", List::Prompts),
        ("prompts/get", _) => get_prompt(context),
        ("completion/complete", _) => complete(context),
        _ => context.settings.surface.other(context, method).unwrap_or_else(|| {
            let shown: String = method.chars().take(64).collect();
            let status = if context.era == Era::Modern { 404 } else { 200 };
            Outcome::failed(status, Code::MethodNotFound, format!("Method not found: {shown}"))
        }),
    }
}

fn server_info() -> Value {
    json!({ "name": "evenkeel", "title": "Evenkeel", "version": env!("CARGO_PKG_VERSION") })
}

/// The handshake of the legacy era: the requested version if it is supported, otherwise the newest of that era.
fn initialize(context: &Context<'_>, session: &mut Option<String>) -> Outcome {
    #[derive(Deserialize)]
    struct Initialize<'a> {
        #[serde(rename = "protocolVersion")]
        version: String,
        #[serde(borrow)]
        capabilities: Option<&'a RawValue>,
    }
    let Ok(params) = serde_json::from_str::<Initialize<'_>>(context.params) else {
        return Outcome::invalid("initialize takes protocolVersion, a text");
    };
    let surface = context.settings.surface;
    let declared = params.capabilities.map_or("{}", RawValue::get);
    let client = ClientCapabilities::parse(declared);
    if surface.uses(client) {
        // Without a session, the client is asked for nothing.
        *session = client.seal(context.app, context.caller).ok();
    }
    let known = LEGACY_VERSIONS.iter().find(|it| **it == params.version);
    let result = json!({
        "protocolVersion": known.unwrap_or(&LEGACY_VERSIONS[0]),
        "capabilities": surface.capabilities(context.era),
        "serverInfo": server_info(),
        "instructions": surface.instructions(),
    });
    Outcome::Result(result.to_string())
}

fn discover(context: &Context<'_>) -> Outcome {
    let surface = context.settings.surface;
    let result = json!({
        "resultType": "complete",
        "supportedVersions": era::versions(),
        "capabilities": surface.capabilities(context.era),
        "instructions": surface.instructions(),
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "public",
    });
    Outcome::Result(result.to_string())
}

fn list(context: &Context<'_>, name: &str, list: List) -> Outcome {
    let json = context.settings.surface.list(context, list);
    let hints = context.cache_hints(LIST_TTL_MS);
    Outcome::Result(format!("{{\"{name}\":{json}{hints}}}"))
}

async fn call_tool(context: &Context<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct CallParams<'a> {
        name: String,
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let Ok(params) = serde_json::from_str::<CallParams<'_>>(context.params) else {
        return Outcome::invalid("tools/call takes name, a text, and arguments, an object");
    };
    let arguments = params.arguments.map(RawValue::get);
    let call = ToolCall { name: &params.name, arguments };
    context.settings.surface.call_tool(context, call).await
}

async fn read_resource(context: &Context<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct ReadParams {
        uri: String,
    }
    let Ok(ReadParams { uri }) = serde_json::from_str(context.params) else {
        return Outcome::invalid("resources/read takes uri, a text");
    };
    context.settings.surface.read_resource(context, &uri).await
}

fn get_prompt(context: &Context<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct PromptParams {
        name: String,
        #[serde(default)]
        arguments: BTreeMap<String, String>,
    }
    let Ok(params) = serde_json::from_str::<PromptParams>(context.params) else {
        let message = "prompts/get takes name, a text, and arguments, an object of texts";
        return Outcome::invalid(message);
    };
    context.settings.surface.get_prompt(context, &params.name, &params.arguments)
}

/// Suggests values for an argument of a prompt.
fn complete(context: &Context<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct Reference {
        #[serde(default)]
        name: String,
    }
    #[derive(Deserialize)]
    struct Argument {
        name: String,
        value: String,
    }
    #[derive(Deserialize)]
    struct CompleteParams {
        r#ref: Reference,
        argument: Argument,
    }
    let Ok(params) = serde_json::from_str::<CompleteParams>(context.params) else {
        return Outcome::invalid("completion/complete takes ref, and argument with name and value");
    };
    let CompleteParams { r#ref: prompt, argument } = params;
    let surface = context.settings.surface;
    let values = surface.complete(&prompt.name, &argument.name, &argument.value);
    let completion = json!({ "values": values, "hasMore": false });
    let end = context.result_type();
    Outcome::Result(format!("{{\"completion\":{completion}{end}}}"))
}
