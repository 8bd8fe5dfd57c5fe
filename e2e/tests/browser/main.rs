//! Browser tests of the pages, with the program as it is shipped.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails at once")]

mod accessibility;
mod approvals;
mod assistants;
mod audits;
mod banks;
mod bulk_edits;
mod charts;
mod consent;
mod docs;
mod downloads;
mod first_run;
mod hidden_amounts;
mod household;
mod imports;
mod keys;
mod offline;
mod onboarding;
mod panel;
mod paper;
mod passkeys;
mod proof;
mod rules;
mod shortcuts;
mod sign_in;
mod sign_on;
mod spending;
mod stranger;
mod traces;
mod transactions;
mod webhooks;
