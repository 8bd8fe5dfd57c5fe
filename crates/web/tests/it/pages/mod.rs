//! The pages over the real router: their content, their forms, and what they refuse.

mod accounts;
mod approvals;
mod bulk;
mod by_hand;
mod connections;
mod enable_banking;
mod forgery;
mod hidden_amounts;
mod imports;
mod income;
mod money;
mod months;
mod notes;
mod onboarding;
mod plaid;
mod plans;
mod recurring;
mod recurring_feed;
mod rules;
mod spending;
mod splits;
mod transactions;
mod webhook_events;
mod webhooks;

/// Text with markup, such as a hostile bank could send.
const HOSTILE: &str = "<script>alert(1)</script>\"'>";

/// Checks that the page has no unescaped `HOSTILE` text.
fn assert_escaped(page: &str) {
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("\"'>"), "{page}");
}
