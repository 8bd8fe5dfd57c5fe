//! The contract over the real router: what a client sends, and every byte it gets back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod actions;
mod auth;
mod browser;
mod changes;
mod client;
mod dispatch;
mod endpoints;
mod faults;
mod guides;
mod insights;
mod limits;
mod oauth;
mod openapi;
mod pages;
mod paging;
mod server;
mod settings;
mod sign_in;
mod slow;
mod webhooks;
