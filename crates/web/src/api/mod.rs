//! The API's endpoints: one list, from which requests are routed and the OpenAPI document is generated.

mod accounts;
mod actions;
mod attachments;
mod benefits;
mod bodies;
mod goals;
mod idempotent;
mod income;
mod investments;
mod me;
mod members;
mod net_worth;
mod paper;
mod parameters;
mod payload;
mod propose;
mod recurring;
mod scores;
mod spending;
mod transactions;
mod webhooks;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use base::{Id, Kind};
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use service::platform::requests;
use service::{App, Caller, Error, Result};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use wire::v1::Scope;

pub use crate::answer::Answer;
pub use crate::error::Refusal;
use crate::read_turns::ReadTurn;

pub use crate::query::{Parameter, Query, Takes};
pub use bodies::{Body, Holds, Member, Rule, Variant};
pub use idempotent::change;
pub use members::Members;

/// Every endpoint under `/v1`.
pub const ENDPOINTS: &[Endpoint] = &[
    me::GET,
    me::SUMMARY,
    accounts::LIST,
    accounts::GET,
    accounts::BALANCES,
    net_worth::GET,
    transactions::LIST,
    // Before the endpoint whose path matches any word.
    transactions::CHANGES,
    transactions::GET,
    attachments::LIST,
    attachments::GET,
    spending::GET,
    investments::LIST,
    goals::LIST,
    goals::GET,
    recurring::LIST,
    recurring::GET,
    income::GET,
    scores::GET,
    benefits::SUMMARY,
    benefits::EXPIRING,
    paper::ACCOUNTS,
    paper::OPEN,
    paper::HOLDINGS,
    paper::TRADES,
    paper::ACTIVITY,
    paper::TRADE,
    actions::CREATE,
    actions::LIST,
    actions::GET,
    actions::CANCEL,
    actions::APPROVAL,
    webhooks::CREATE,
    webhooks::LIST,
    webhooks::GET,
    webhooks::UPDATE,
    webhooks::DELETE,
    webhooks::ROTATE,
    webhooks::deliveries::TEST,
    webhooks::events::LIST,
    webhooks::events::REPLAY,
    webhooks::deliveries::LIST,
    webhooks::deliveries::PORTAL,
];

/// One endpoint: its route, parameters, response and handler.
#[derive(Clone, Copy)]
pub struct Endpoint {
    pub method: Verb,
    pub path: &'static str,
    pub tag: &'static str,
    pub summary: &'static str,
    pub description: &'static str,
    /// The required scopes, all of them. If empty, the description says what is required.
    pub scopes: &'static [Scope],
    pub query: &'static [Parameter],
    pub path_parameters: &'static [Parameter],
    pub body: Option<Body>,
    pub answer: Shape,
    pub handle: fn(Call) -> Handling,
}

pub type Handling = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

/// The type of `data`, for the OpenAPI document.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    pub paging: Paging,
    pub schemas: fn(&mut Vec<(String, RefOr<Schema>)>),
}

/// Where a response has its paging members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paging {
    /// The response is not paged.
    None,
    /// In `pagination`, where `data` is the list.
    Within,
    /// In `pagination`, where `data` is an object that contains the list.
    WithinObject,
    /// Beside `data`: `has_more`, `cursor` and `count`.
    Beside,
}

impl Shape {
    pub const fn of<T: ToSchema>(name: &'static str) -> Shape {
        let schemas = |all: &mut Vec<(String, RefOr<Schema>)>| {
            all.push((T::name().into_owned(), T::schema()));
            T::schemas(all);
        };
        Shape { name, paging: Paging::None, schemas }
    }
}

/// An authenticated request.
pub struct Call {
    pub app: App,
    pub caller: Caller,
    pub(crate) path: Vec<String>,
    pub query: Query,
    pub body: Bytes,
    pub(crate) uri: Uri,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) public_url: String,
    /// The person's turn to read, which ends with the call.
    pub(crate) turn: Option<ReadTurn>,
}

impl Call {
    /// A copy of a change, to try it again; none for a read.
    pub(crate) fn copy_of_change(&self) -> Option<Call> {
        (self.method != Method::GET && self.turn.is_none()).then(|| Call {
            app: self.app.clone(),
            caller: self.caller.clone(),
            path: self.path.clone(),
            query: self.query.clone(),
            body: self.body.clone(),
            uri: self.uri.clone(),
            method: self.method.clone(),
            headers: self.headers.clone(),
            public_url: self.public_url.clone(),
            turn: None,
        })
    }

    /// Parses the body's members; a member that is not among `known` is an error.
    pub fn members(&self, known: &[Member]) -> Result<Members> {
        Members::parse(&self.body, known)
    }

    /// Allows the call to wait this long for something other than the database, while the person's other requests go on.
    pub(crate) fn wait_for(&mut self, seconds: u64) {
        self.turn = None;
        requests::extend_deadline(Duration::from_secs(seconds));
    }

    /// The id in the path. A malformed id is NotFound, like an unknown one.
    pub fn path_id<K: Kind>(&self, index: usize, what: &'static str) -> Result<Id<K>> {
        let text = self.path.get(index).map(String::as_str).unwrap_or_default();
        Id::parse(text).map_err(|_| Error::NotFound(what))
    }
}

pub(crate) enum Found {
    Endpoint(&'static Endpoint, Vec<String>),
    /// The path exists, with other methods.
    OtherMethods(String),
    Nothing,
}

pub(crate) fn find(endpoints: &'static [Endpoint], method: &Method, path: &str) -> Found {
    let mut allowed = Vec::new();
    for endpoint in endpoints {
        let Some(values) = match_path(endpoint.path, path) else { continue };
        if endpoint.method.as_str() == method.as_str() {
            return Found::Endpoint(endpoint, values);
        }
        if !allowed.contains(&endpoint.method.as_str()) {
            allowed.push(endpoint.method.as_str());
        }
    }
    if allowed.is_empty() {
        return Found::Nothing;
    }
    if allowed.contains(&"GET") {
        allowed.push("HEAD");
    }
    allowed.push("OPTIONS");
    Found::OtherMethods(allowed.join(", "))
}

/// The values of a pattern's `{...}` parts, if the path matches the pattern.
fn match_path(pattern: &str, path: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let mut parts = path.split('/');
    for expected in pattern.split('/') {
        let part = parts.next()?;
        if expected.starts_with('{') && !part.is_empty() {
            values.push(part.to_owned());
        } else if expected != part {
            return None;
        }
    }
    parts.next().is_none().then_some(values)
}

/// The methods of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Delete => "DELETE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_one_pattern_or_of_none() {
        let id = |pattern, path| match_path(pattern, path).map(|it| it.join(","));
        assert_eq!(id("/accounts", "/accounts").as_deref(), Some(""));
        assert_eq!(id("/accounts/{id}/balances", "/accounts/a/balances").as_deref(), Some("a"));
        for path in ["/accounts/", "/accounts//balances", "/accounts/a/balances/", "", "/"] {
            assert_eq!(id("/accounts/{id}/balances", path), None, "{path}");
        }
    }
}
