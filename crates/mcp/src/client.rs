//! The capabilities of a client. A request of the modern era has them; clients of the legacy era send them once, in
//! `initialize`, and get them back sealed as the id of their session, so that nothing has to be stored here.

use serde::Deserialize;
use serde_json::Value;
use service::platform::cursors::CursorScope;
use service::{App, Caller, Result};

/// The capabilities of a client that a server can make use of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// It asks the person to fill in a form.
    pub forms: bool,
    /// It asks the person to open a page.
    pub urls: bool,
    /// It lets its model answer.
    pub sampling: bool,
    /// It names the folders that it works in.
    pub roots: bool,
}

#[derive(Default, Deserialize)]
struct Declared {
    elicitation: Option<Elicitation>,
    sampling: Option<Value>,
    roots: Option<Value>,
}

#[derive(Default, Deserialize)]
struct Elicitation {
    form: Option<Value>,
    url: Option<Value>,
}

impl ClientCapabilities {
    /// Reads what a client declares. An empty `elicitation` means forms only; what has another shape counts for nothing.
    pub(crate) fn parse(json: &str) -> ClientCapabilities {
        let declared: Declared = serde_json::from_str(json).unwrap_or_default();
        let elicitation = declared.elicitation.as_ref();
        let urls = elicitation.is_some_and(|it| it.url.is_some());
        ClientCapabilities {
            forms: elicitation.is_some_and(|it| it.form.is_some() || !urls),
            urls,
            sampling: declared.sampling.is_some(),
            roots: declared.roots.is_some(),
        }
    }

    fn to_byte(self) -> u8 {
        let flags = [self.forms, self.urls, self.sampling, self.roots];
        flags.iter().enumerate().fold(0, |byte, (at, flag)| byte | (u8::from(*flag) << at))
    }

    fn from_byte(byte: u8) -> ClientCapabilities {
        let has = |at: u8| byte & (1 << at) != 0;
        ClientCapabilities { forms: has(0), urls: has(1), sampling: has(2), roots: has(3) }
    }

    /// The session id for a client of the legacy era.
    pub(crate) fn seal(self, app: &App, caller: &Caller) -> Result<String> {
        let now = app.clock.now();
        app.cursors.seal(&scope(caller), now, &app.entropy, &[self.to_byte()])
    }

    /// The capabilities in a session id; none if it is not one of this person.
    pub(crate) fn open(app: &App, caller: &Caller, session: &str) -> ClientCapabilities {
        match app.cursors.open_lasting(&scope(caller), session).as_deref() {
            Ok([byte]) => ClientCapabilities::from_byte(*byte),
            _ => ClientCapabilities::default(),
        }
    }
}

fn scope(caller: &Caller) -> CursorScope<'static> {
    CursorScope { user: caller.user, list: "MCP session", filter: "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elicitation_means_forms_unless_it_names_pages() {
        for (json, forms, urls) in [
            ("{}", false, false),
            (r#"{"elicitation":{}}"#, true, false),
            (r#"{"elicitation":{"form":{}}}"#, true, false),
            (r#"{"elicitation":{"url":{}}}"#, false, true),
            (r#"{"elicitation":{"form":{},"url":{}},"sampling":{}}"#, true, true),
            (r#"{"elicitation":true}"#, false, false),
            ("[]", false, false),
        ] {
            let read = ClientCapabilities::parse(json);
            assert_eq!((read.forms, read.urls), (forms, urls), "{json}");
            assert_eq!(ClientCapabilities::from_byte(read.to_byte()), read);
        }
    }
}
