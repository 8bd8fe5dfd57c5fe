//! Limits of one request: a deadline for all of its work, and its person's share of slow reads.

use std::future::Future;
use std::time::Duration;

use crate::Caller;

/// Runs the work of one request. None if it is not done in time; its reads are stopped, and a transaction that is under
/// way still ends by itself.
pub async fn with_deadline<T>(within: Duration, work: impl Future<Output = T>) -> Option<T> {
    db::with_deadline(within, work).await
}

/// Gives the current request more time, for work that waits for something other than the database.
pub fn extend_deadline(by: Duration) {
    db::extend_deadline(by);
}

/// Counts the slow reads of the current request as the caller's: one person gets at most half of the slow-read pool.
pub fn charge_to(caller: &Caller) {
    db::set_read_group(*caller.user.as_bytes());
}
