//! The pages as a person meets them: in a browser, with the program as it is shipped.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so at once")]

mod approvals;
mod audits;
mod consent;
mod downloads;
mod first_run;
mod imports;
mod keys;
mod looks;
mod passkeys;
mod proof;
mod sign_in;
mod webhooks;
