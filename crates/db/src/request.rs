//! The request on whose behalf reads run: when it must have been answered, and whose share of the slow-read pool its
//! reads use. It belongs to the task, so that statements need not be told.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

tokio::task_local! {
    static CURRENT: Arc<Request>;
}

/// The id of a person, whose reads share a limit.
pub type ReadGroup = [u8; 16];

struct Request {
    until: Mutex<Instant>,
    group: OnceLock<ReadGroup>,
}

impl Request {
    fn until(&self) -> Instant {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the work of one request. Its reads end at the deadline, and if the work itself is not done by then it is
/// dropped: the result is none. A transaction that is under way still ends by itself.
pub async fn with_deadline<T>(within: Duration, work: impl Future<Output = T>) -> Option<T> {
    let request =
        Arc::new(Request { until: Mutex::new(Instant::now() + within), group: OnceLock::new() });
    let ended = {
        let request = request.clone();
        async move {
            // The deadline may be extended while the work runs.
            while Instant::now() < request.until() {
                tokio::time::sleep_until(request.until()).await;
            }
        }
    };
    tokio::select! {
        biased;
        done = CURRENT.scope(request, work) => Some(done),
        () = ended => None,
    }
}

/// Gives the request of this task more time, for work that waits for something other than the database.
pub fn extend_deadline(by: Duration) {
    let _ = CURRENT.try_with(|request| {
        *request.until.lock().unwrap_or_else(PoisonError::into_inner) += by;
    });
}

/// Counts the further reads of this task's request as those of one group.
pub fn set_read_group(group: ReadGroup) {
    let _ = CURRENT.try_with(|request| request.group.set(group));
}

/// The group of this task's reads; none outside of requests, and before their person is known.
pub(crate) fn read_group() -> Option<ReadGroup> {
    CURRENT.try_with(|request| request.group.get().copied()).ok().flatten()
}

/// When work that may take `most` must end: then, or at the deadline of this task's request if that is earlier.
pub(crate) fn deadline_within(most: Duration) -> Instant {
    let until = Instant::now() + most;
    CURRENT.try_with(|request| until.min(request.until())).unwrap_or(until)
}
