//! The live feed: new transactions of the household while the demo runs.

use std::sync::Arc;

use ::demo::Household;
use base::Timestamp;
use service::ingest::imports;
use service::{App, Caller};
use tokio::sync::Mutex;

use crate::loops::Loops;

/// Starts importing new transactions at an interval, beginning after `as_of`; an interval of 0 turns the feed off.
///
/// After a restart the same transactions come again, and the import recognizes them.
pub(super) fn start(
    loops: &mut Loops,
    app: &App,
    household: Household,
    caller: Caller,
    (as_of, seconds): (Timestamp, u32),
) {
    if seconds == 0 {
        return;
    }
    let household = Arc::new(household);
    let told_until = Arc::new(Mutex::new(as_of));
    loops.start("feed the demo", seconds.into(), app, move |app| {
        let (household, told_until) = (household.clone(), told_until.clone());
        let caller = caller.clone();
        async move {
            let mut told_until = told_until.lock().await;
            let until = app.clock.now();
            let mut count = 0;
            for statement in household.feed(*told_until, until, seconds) {
                let summary = imports::commit(&app, &caller, statement).await?;
                count += summary.new + summary.changed;
            }
            // Moved on only after success, so that a failed import is repeated.
            *told_until = until;
            Ok(count)
        }
    });
}
