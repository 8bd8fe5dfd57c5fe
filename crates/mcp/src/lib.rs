//! The Model Context Protocol: assistants read a household and propose actions, and only the person decides.
//!
//! One message comes in and at most one goes out, without sessions, in both eras of the protocol: the stateless revision
//! and those that begin with `initialize`. The transport (HTTP in `web`, standard input in `app`) authenticates the caller.

mod arguments;
mod era;
mod message;
mod methods;
mod object;
mod prompts;
mod resources;
mod text;
mod tool;
mod tools;

use service::{App, Caller, Scopes};

pub use era::{Headers, LEGACY_VERSIONS, MODERN_VERSION};
pub use message::Code;
pub use object::BYTES_MAX;
pub use tools::{definitions, minimal_scopes};

/// Settings of the protocol's server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The public address of this installation, without a trailing slash.
    pub public_url: String,
    /// Whether the tools that propose are left out.
    pub read_only: bool,
}

/// One message of a client.
pub struct Request<'a> {
    pub body: &'a [u8],
    /// The headers that repeat parts of the body; `None` on a transport without headers.
    pub headers: Option<Headers<'a>>,
    /// Called with the seconds before a tool waits for something other than the database.
    pub before_waiting: &'a (dyn Fn(u64) + Sync),
}

/// The answer to one message.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// A response, with its HTTP status.
    Response { status: u16, body: Vec<u8> },
    /// A notification was taken; there is no response.
    Accepted,
    /// The token lacks scopes. `needed` lists all that the call takes, so that a client asks for them at once.
    MissingScopes { needed: Scopes, body: Vec<u8> },
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
