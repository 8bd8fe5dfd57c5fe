//! The pages over the real router: what a person sees, sends, and is refused.

mod approvals;
mod by_hand;
mod connections;
mod forgery;
mod imports;
mod income;
mod money;
mod plans;
mod recurring;
mod transactions;
mod webhooks;

/// What a hostile bank would write.
const HOSTILE: &str = "<script>alert(1)</script>\"'>";

/// Nothing of it may reach the page as it is.
fn is_harmless(page: &str) {
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("\"'>"), "{page}");
}
