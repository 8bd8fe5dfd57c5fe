//! A tool: its declaration, from which clients learn about it, and a call of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use base::ActionId;
use serde_json::{Value, json};
use service::platform::cursors::CursorScope;
use service::{App, Caller, Error, Result, Scopes};
use wire::v1::Scope;

use crate::arguments::{Argument, Arguments, Takes, input_schema};
use crate::object::{Object, RowsWritten};
use crate::surface::Context;

/// One tool. It answers a question, rather than mirroring an endpoint.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) needs: Needs,
    pub(crate) kind: Kind,
    pub(crate) arguments: &'static [Argument],
    /// The members of the answer, each with its JSON type.
    pub(crate) output: &'static [(&'static str, Type)],
    pub(crate) call: for<'a> fn(&'a Call<'a>) -> Calling<'a>,
}

pub(crate) type Calling<'a> = Pin<Box<dyn Future<Output = Result<Object>> + Send + 'a>>;

/// The scopes that a tool takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Needs {
    All(&'static [Scope]),
    /// One of these is enough.
    Any(&'static [Scope]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Reads,
    /// Makes a proposal, which changes nothing until the person approves it.
    Proposes,
}

/// The JSON type of a member of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Number,
    Object,
    List,
    /// Null where there is none.
    OptionalText,
    OptionalNumber,
    OptionalObject,
}

impl Type {
    fn schema(self) -> Value {
        match self {
            Type::Text => json!({ "type": "string" }),
            Type::Number => json!({ "type": "number" }),
            Type::Object => json!({ "type": "object" }),
            Type::List => json!({ "type": "array" }),
            Type::OptionalText => json!({ "type": ["string", "null"] }),
            Type::OptionalNumber => json!({ "type": ["number", "null"] }),
            Type::OptionalObject => json!({ "type": ["object", "null"] }),
        }
    }
}

impl Tool {
    /// The definition that clients see.
    pub(crate) fn definition(&self) -> Value {
        let is_read = self.kind == Kind::Reads;
        let output: serde_json::Map<String, Value> =
            self.output.iter().map(|(name, kind)| ((*name).to_owned(), kind.schema())).collect();
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input_schema(self.arguments),
            "outputSchema": {
                "type": "object",
                "properties": output,
                "additionalProperties": false,
            },
            "annotations": {
                "title": self.title,
                "readOnlyHint": is_read,
                "destructiveHint": false,
                "idempotentHint": is_read || self.arguments.iter().any(|it| it.name == IDEMPOTENCY_KEY.name),
                "openWorldHint": false,
            },
        })
    }

    /// Whether the caller's token may call it.
    pub(crate) fn is_allowed(&self, caller: &Caller) -> bool {
        match self.needs {
            Needs::All(scopes) => caller.require_all(scopes).is_ok(),
            Needs::Any(scopes) => scopes.iter().any(|it| caller.require(*it).is_ok()),
        }
    }

    /// The scopes to ask for when the token may not call it.
    pub(crate) fn needed_scopes(&self) -> Scopes {
        match self.needs {
            Needs::All(scopes) => scopes.iter().copied().collect(),
            Needs::Any(scopes) => scopes.iter().copied().take(1).collect(),
        }
    }
}

/// Arguments that several tools share.
pub(crate) const CURSOR: Argument = Argument::optional(
    "cursor",
    Takes::Text { longest: 512 },
    "next_cursor of the previous page; keep the other arguments the same.",
);
pub(crate) const LIMIT: Argument =
    Argument::optional("limit", Takes::Whole { least: 1, most: 100, default: Some(25) }, "");
pub(crate) const ACCOUNT_ID: Argument = Argument::optional("account_id", Takes::Id("acc_"), "");
pub(crate) const REASON: Argument = Argument::optional(
    "reason",
    Takes::Text { longest: 4_000 },
    "Why, in Markdown; the person sees it as your words.",
);
pub(crate) const IDEMPOTENCY_KEY: Argument = Argument::optional(
    "idempotency_key",
    Takes::Text { longest: 255 },
    "Any unique text; repeating a call with it makes no second proposal.",
);

/// A proposal that waits for a decision.
#[derive(Debug)]
pub(crate) struct Proposed {
    pub(crate) id: ActionId,
    /// The page where the person decides. It has no secret: the person has to be signed in there.
    pub(crate) approval_url: String,
}

/// A call of a tool.
pub(crate) struct Call<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) app: &'a App,
    pub(crate) caller: &'a Caller,
    pub(crate) public_url: &'a str,
    pub(crate) tool: &'static Tool,
    pub(crate) arguments: Arguments<'a>,
    /// The proposal that the call made, if it waits for a decision.
    pub(crate) proposed: OnceLock<Proposed>,
}

impl Call<'_> {
    /// Writes a list that is in memory as a whole, from the position of the cursor, as far as it fits.
    pub(crate) fn put_list<T>(
        &self,
        object: &mut Object,
        name: &str,
        rows: &[T],
        write: impl Fn(&T) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let text = self.arguments.fingerprint();
        let scope = CursorScope { user: self.caller.user, list: self.tool.name, filter: &text };
        let (cursors, now) = (&self.app.cursors, self.app.clock.now());
        let start = match self.arguments.text(CURSOR.name)? {
            Some(cursor) => {
                let position = cursors.open(&scope, now, &cursor)?;
                let position = <[u8; 8]>::try_from(position.as_slice());
                let position =
                    position.map_err(|_| Error::internal("a cursor has the wrong length"))?;
                u64::from_be_bytes(position) as usize
            }
            None => 0,
        };
        let rest = rows.get(start..).unwrap_or_default();
        let written: Vec<Vec<u8>> = rest.iter().map(write).collect::<Result<_>>()?;
        let RowsWritten { count, is_cut } = object.put_rows(name, written.into_iter());
        let next = match is_cut {
            true => {
                let position = ((start + count) as u64).to_be_bytes();
                Some(cursors.seal(&scope, now, &self.app.entropy, &position)?)
            }
            false => None,
        };
        put_next(object, next.as_deref())
    }
}

/// Ends a list: the cursor of the next page, and a sentence that tells the model that there is one.
pub(crate) fn put_next(object: &mut Object, next_cursor: Option<&str>) -> Result<()> {
    object.put("next_cursor", &next_cursor)?;
    if next_cursor.is_some() {
        let note = "There are more rows: call again with next_cursor as cursor and the same other arguments.";
        object.put("note", &note)?;
    }
    Ok(())
}
