//! Webhooks: endpoints, the outbox, and deliveries from the commit of an event to the receiver's answer.
//!
//! This crate knows neither callers nor what events mean. Operations name the owner of the endpoints they work on;
//! checking who calls, and the audit trail, belong to the layer above. Functions that take a transaction take part in
//! the caller's, so that a change and its events are committed together.
//!
//! Files import downward only:
//!
//! ```text
//! dispatch, replay, event_replay, test_event      loops and attempts by hand
//! endpoints, settle                 changes by the owner, and by the outcome of attempts
//! disable
//! outbox, deliveries, event_log
//! fan_out, claim, send, attempts, health, retention, figures
//! event_access
//! context                           database, clock, HTTP client, limiter
//! limiter, metrics, outcome, version_check
//! delivery
//! rekey
//! secrets
//! endpoint, payload, signatures, error
//! ```

pub mod attempts;
mod claim;
mod context;
pub mod deliveries;
mod delivery;
pub mod disable;
pub mod dispatch;
mod endpoint;
pub mod endpoints;
mod error;
mod event_access;
pub mod event_log;
pub mod event_replay;
mod fan_out;
mod figures;
pub mod health;
mod limiter;
mod metrics;
pub mod outbox;
mod outcome;
mod payload;
pub mod rekey;
pub mod replay;
pub mod retention;
mod secrets;
mod send;
mod settle;
pub mod signatures;
pub mod test_event;
mod version_check;

pub use context::{OnDisabled, Setup, Webhooks};
pub use delivery::{AttemptStatus, DeliveryStatus, Trigger};
pub use endpoint::{
    DisabledEndpoint, DisabledReason, Endpoint, EndpointOwner, EndpointRef, EndpointStatus,
};
pub use error::{Error, Result};

/// Every statement of this crate: a test prepares them all on both engines.
pub fn statements() -> Vec<&'static str> {
    [
        attempts::STATEMENTS,
        claim::STATEMENTS,
        deliveries::STATEMENTS,
        disable::STATEMENTS,
        endpoints::STATEMENTS,
        event_access::STATEMENTS,
        event_log::STATEMENTS,
        event_replay::STATEMENTS,
        fan_out::STATEMENTS,
        figures::STATEMENTS,
        health::STATEMENTS,
        outbox::STATEMENTS,
        payload::STATEMENTS,
        rekey::STATEMENTS,
        replay::STATEMENTS,
        retention::STATEMENTS,
        settle::STATEMENTS,
        test_event::STATEMENTS,
        version_check::STATEMENTS,
    ]
    .concat()
}
