//! The surface of a server: its tools, resources and prompts. The product offers a household; the test server of the conformance suite offers
//! the tools, resources and prompts that the suite asks for, through the same layer.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use serde::Deserialize;
use serde_json::{Value, json};
use service::platform::cursors::CursorScope;
use service::{App, Caller, Result, Scopes};

use crate::client::ClientCapabilities;
use crate::era::Era;
use crate::message::Code;
use crate::{Settings, StreamMessage};

/// The lists that clients can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

/// Tools, resources and prompts.
pub trait Surface: std::fmt::Debug + Sync {
    /// Instructions for models that use the server.
    fn instructions(&self) -> &str;

    /// The capabilities that clients learn about.
    fn capabilities(&self, era: Era) -> Value;

    /// Whether it makes use of one of a client's capabilities. If not, the client needs no session.
    fn uses(&self, client: ClientCapabilities) -> bool;

    /// A list as JSON.
    fn list(&self, context: &Context<'_>, list: List) -> String;

    fn call_tool<'a>(&'a self, context: &'a Context<'a>, call: ToolCall<'a>) -> Answering<'a>;

    fn read_resource<'a>(&'a self, context: &'a Context<'a>, uri: &'a str) -> Answering<'a>;

    fn get_prompt(
        &self,
        context: &Context<'_>,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Outcome;

    /// The values of a prompt's argument that begin with what was typed.
    fn complete(&self, prompt: &str, argument: &str, typed: &str) -> Vec<&'static str>;

    /// A method of the protocol that only this surface has.
    fn other(&self, _context: &Context<'_>, _method: &str) -> Option<Outcome> {
        None
    }

    /// Takes the client's answer to a request that was sent before a response.
    fn take_answer(&self, _caller: &Caller, _id: &str, _result: Option<&str>) {}
}

pub type Answering<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolCall<'a> {
    pub name: &'a str,
    /// The arguments as JSON.
    pub arguments: Option<&'a str>,
}

/// The end of a method.
#[derive(Debug)]
pub enum Outcome {
    /// The result as a JSON object.
    Result(String),
    Failed {
        status: u16,
        code: Code,
        message: String,
        /// More about the error, as JSON.
        data: Option<String>,
    },
    MissingScopes(Scopes),
}

impl Outcome {
    pub fn failed(status: u16, code: Code, message: impl Into<String>) -> Outcome {
        Outcome::Failed { status, code, message: message.into(), data: None }
    }

    pub fn invalid(message: impl Into<String>) -> Outcome {
        Outcome::failed(200, Code::InvalidParams, message)
    }

    pub fn no_resource(uri: &str) -> Outcome {
        let uri: String = uri.chars().take(128).collect();
        let message = format!("Resource not found: {uri}");
        let data = Some(json!({ "uri": uri }).to_string());
        Outcome::Failed { status: 200, code: Code::InvalidParams, message, data }
    }

    /// The request takes a capability that the client has not declared.
    pub fn missing_capability(capabilities: &Value) -> Outcome {
        let message = "the client must declare a capability that this request takes".to_owned();
        let data = Some(json!({ "requiredCapabilities": capabilities }).to_string());
        Outcome::Failed { status: 400, code: Code::MissingCapability, message, data }
    }

    /// The client has to ask the person, or itself, and repeat the request with the answers and the state. Only the modern
    /// era has this.
    pub fn input_required(requests: &Value, state: Option<&str>) -> Outcome {
        let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
        if let Some(state) = state {
            result["requestState"] = json!(state);
        }
        Outcome::Result(result.to_string())
    }
}

/// The input of a person, which a client adds when it repeats a request that required it.
#[derive(Debug, Default, Deserialize)]
pub struct Input {
    #[serde(default, rename = "inputResponses")]
    pub responses: Option<BTreeMap<String, Value>>,
    #[serde(default, rename = "requestState")]
    pub state: Option<String>,
}

impl Input {
    /// The client's answer to one of the requests.
    pub fn response(&self, name: &str) -> Option<&Value> {
        self.responses.as_ref()?.get(name).filter(|it| it.is_object())
    }
}

/// Everything that a method works with.
pub struct Context<'a> {
    pub app: &'a App,
    pub settings: &'a Settings,
    pub caller: &'a Caller,
    pub era: Era,
    pub client: ClientCapabilities,
    pub(crate) params: &'a str,
    pub(crate) before_waiting: &'a (dyn Fn(u64) + Sync),
    pub(crate) stream: Option<StreamMessage<'a>>,
    pub(crate) progress_token: Option<&'a str>,
}

impl Context<'_> {
    /// The input that the client adds to a repeated request. Only the modern era has it.
    pub fn input(&self) -> Result<Input, Outcome> {
        match self.era {
            Era::Legacy => Ok(Input::default()),
            Era::Modern => serde_json::from_str(self.params).map_err(|_| {
                Outcome::invalid("inputResponses must be an object, and requestState a text")
            }),
        }
    }

    /// Whether messages can be sent to the client before the response.
    pub fn can_send(&self) -> bool {
        self.stream.is_some()
    }

    /// Sends a notification or a request to the client before the response, if the transport can.
    pub fn send(&self, message: &Value) {
        if let Some(stream) = self.stream {
            stream(message.to_string().into_bytes());
        }
    }

    /// Whether the client wants to hear about progress.
    pub fn wants_progress(&self) -> bool {
        self.can_send() && self.progress_token.is_some()
    }

    /// Tells a client that wants to hear about it how far the work is.
    pub fn report_progress(&self, done: u64, total: u64, message: &str) {
        let token = self.progress_token.and_then(|it| serde_json::from_str::<Value>(it).ok());
        let Some(token) = token else { return };
        let params =
            json!({ "progressToken": token, "progress": done, "total": total, "message": message });
        self.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }),
        );
    }

    /// Seals what a repeated request must bring back. It is bound to the person, the credential and the request, and is
    /// good for a day.
    pub fn seal_state(&self, request: &str, state: &[u8]) -> Result<String> {
        let filter = self.state_filter(request);
        let now = self.app.clock.now();
        self.app.cursors.seal(&self.state_scope(&filter), now, &self.app.entropy, state)
    }

    /// Opens what a repeated request brings back.
    pub fn open_state(&self, request: &str, sealed: &str) -> Result<Vec<u8>, Outcome> {
        let filter = self.state_filter(request);
        let now = self.app.clock.now();
        let opened = self.app.cursors.open(&self.state_scope(&filter), now, sealed);
        opened.map_err(|_| {
            let message = "requestState is invalid or expired, or belongs to another request; call again without it";
            Outcome::invalid(message)
        })
    }

    fn state_filter(&self, request: &str) -> String {
        format!("{:?}\n{request}", self.caller.credential_id())
    }

    fn state_scope<'f>(&self, filter: &'f str) -> CursorScope<'f> {
        CursorScope { user: self.caller.user, list: "MCP request", filter }
    }

    /// The member of results that only the modern era has.
    pub fn result_type(&self) -> &'static str {
        match self.era {
            Era::Modern => ",\"resultType\":\"complete\"",
            Era::Legacy => "",
        }
    }

    /// The members that the modern era adds to results that can be cached. They depend on the token, so that nobody else
    /// may use a cached one.
    pub fn cache_hints(&self, ttl_ms: u32) -> String {
        match self.era {
            Era::Modern => format!(
                ",\"resultType\":\"complete\",\"ttlMs\":{ttl_ms},\"cacheScope\":\"private\""
            ),
            Era::Legacy => String::new(),
        }
    }
}
