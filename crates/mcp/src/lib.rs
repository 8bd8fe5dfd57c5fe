//! The Model Context Protocol: assistants read a household and propose actions, and only the person decides.
//!
//! One message comes in and at most one goes out, without sessions, in both eras of the protocol: the stateless revision
//! and those that begin with `initialize`. The transport (HTTP in `web`, standard input in `app`) authenticates the caller.

mod arguments;
mod client;
mod elicitation;
mod era;
mod household;
mod message;
mod methods;
mod object;
mod prompts;
mod resources;
mod results;
mod surface;
mod text;
mod tool;
mod tools;

use service::{App, Caller, Scopes};

pub use client::ClientCapabilities;
pub use era::{Era, Headers, LEGACY_VERSIONS, MODERN_VERSION};
pub use household::Household;
pub use message::Code;
pub use object::BYTES_MAX;
pub use surface::{Answering, Context, Input, List, Outcome, Surface, ToolCall};
pub use tools::{definitions, minimal_scopes};

/// Settings of the protocol's server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The public address of this installation, without a trailing slash.
    pub public_url: String,
    /// Whether the tools that propose are left out.
    pub read_only: bool,
    /// The tools, resources and prompts: those of the household, except in tests of the protocol.
    pub surface: &'static dyn Surface,
}

/// Sends one message to the client before the response.
pub type StreamMessage<'a> = &'a (dyn Fn(Vec<u8>) + Sync);

/// One message of a client.
pub struct Request<'a> {
    pub body: &'a [u8],
    /// The headers that repeat parts of the body; `None` on a transport without headers.
    pub headers: Option<Headers<'a>>,
    /// The session that the client got when it began, in the legacy era.
    pub session: Option<&'a str>,
    /// The way to the client before the response; none if the transport or the client takes only a response.
    pub stream: Option<StreamMessage<'a>>,
    /// Called with the seconds before a tool waits for something other than the database.
    pub before_waiting: &'a (dyn Fn(u64) + Sync),
}

/// The answer to one message.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// A response, with its HTTP status.
    Response {
        status: u16,
        body: Vec<u8>,
        /// The session that the client has to name in its next requests.
        session: Option<String>,
    },
    /// A notification or an answer was taken; there is no response.
    Accepted,
    /// The token lacks scopes. `needed` lists all that the call takes, so that a client asks for them at once.
    MissingScopes { needed: Scopes, body: Vec<u8> },
}

impl Reply {
    fn response(status: u16, body: Vec<u8>) -> Reply {
        Reply::Response { status, body, session: None }
    }
}

/// Handles one message. The caller drops the future when its client goes away, which cancels the request.
pub async fn handle(
    app: &App,
    settings: &Settings,
    caller: &Caller,
    request: Request<'_>,
) -> Reply {
    methods::handle(app, settings, caller, request).await
}

/// A response for an error that the transport found, such as a body that is too large.
pub fn transport_error(code: Code, message: &str) -> Vec<u8> {
    message::error_body(None, code, message, None)
}
