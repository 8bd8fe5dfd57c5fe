//! The contract over the real router: what a client sends, and every byte it gets back.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod actions;
mod auth;
mod browser;
mod changes;
mod client;
mod door;
mod endpoints;
mod faults;
mod frame;
mod guides;
mod insights;
mod limits;
mod oauth;
mod openapi;
mod pages;
mod paging;
mod server;
mod settings;
mod slow;
mod webhooks;
