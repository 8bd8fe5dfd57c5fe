//! Tests of the API and the pages over the real router.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

mod actions;
mod auth;
mod browser;
mod change_feed;
mod changes;
mod client;
mod currencies;
mod dispatch;
mod endpoints;
mod fair;
mod faults;
mod guides;
mod insights;
mod limits;
mod mcp;
mod metrics;
mod oauth;
mod openapi;
mod pages;
mod paging;
mod resources;
mod server;
mod settings;
mod sign_in;
mod slow;
mod timezones;
mod webhooks;
