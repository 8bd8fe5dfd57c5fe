//! A webhook endpoint: its fields, its states, and who owns it.

use base::{EndpointId, KeyId, Timestamp, UserId};
use wire::json::Moment;
use wire::v1;

base::words!(EndpointStatus { Active => "active", Disabled => "disabled" });

base::words!(
    /// Why an endpoint is disabled.
    DisabledReason {
        /// Its owner disabled it.
        Manual => "manual",
        /// The receiver answered 410 Gone.
        Gone => "gone",
        /// No delivery has succeeded for five days.
        Failing => "failing",
        /// Its API key was revoked or has expired.
        KeyEnded => "key_ended",
    }
);

db::word_columns!(EndpointStatus);

#[derive(Debug, Clone)]
pub struct Endpoint {
    pub user: UserId,
    pub id: EndpointId,
    pub key: KeyId,
    pub url: String,
    pub description: Option<String>,
    /// The types of events it receives; all of them when empty.
    pub filter_types: Vec<String>,
    pub status: EndpointStatus,
    pub disabled_reason: Option<String>,
    pub failing_since: Option<Timestamp>,
    pub last_delivery_at: Option<Timestamp>,
    /// Until when the previous secret signs beside the present one.
    pub previous_until: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<&Endpoint> for v1::Endpoint {
    fn from(it: &Endpoint) -> v1::Endpoint {
        v1::Endpoint {
            id: it.id.to_string(),
            url: it.url.clone(),
            description: it.description.clone(),
            filter_types: it.filter_types.clone(),
            status: it.status.as_str(),
            disabled_reason: it.disabled_reason.clone(),
            failing_since: it.failing_since.map(Moment),
            last_delivery_at: it.last_delivery_at.map(Moment),
            created_at: Moment(it.created_at),
            updated_at: Moment(it.updated_at),
        }
    }
}

/// The endpoints that an operation may see: all of a person's, or those that one of their keys created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointOwner {
    pub user: UserId,
    pub key: Option<KeyId>,
}

impl EndpointOwner {
    /// All endpoints of a person.
    pub fn person(user: UserId) -> EndpointOwner {
        EndpointOwner { user, key: None }
    }

    /// The values of a condition `$n = 'all' or key_id = $m`, which both engines can prepare.
    pub(crate) fn key_params(&self) -> (&'static str, KeyId) {
        (all_or_one(self.key.is_none()), self.key.unwrap_or(KeyId::from_bytes([0; 16])))
    }
}

/// The value of the first half of a condition `$n = 'all' or ...`: whether a filter lets everything through.
pub(crate) fn all_or_one(is_all: bool) -> &'static str {
    if is_all { "all" } else { "one" }
}

/// The ids of an endpoint and of its owner.
#[derive(Debug, Clone, Copy)]
pub struct EndpointRef {
    pub user: UserId,
    pub key: KeyId,
    pub id: EndpointId,
}

/// An endpoint that was disabled automatically, not by its owner.
#[derive(Debug, Clone, Copy)]
pub struct DisabledEndpoint {
    pub endpoint: EndpointRef,
    pub reason: DisabledReason,
    pub at: Timestamp,
}
