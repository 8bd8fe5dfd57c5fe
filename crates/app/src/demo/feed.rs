//! The live feed: what happens in the household while the demo runs.

use std::sync::Arc;

use ::demo::Household;
use base::{Timestamp, UserId};
use service::ingest::imports;
use service::{App, Caller};
use tokio::sync::Mutex;

use crate::loops::Loops;

/// Starts telling what is new every so many seconds, beginning after `as_of`; 0 seconds means
/// never.
///
/// After a restart what was told before is told again, and the import recognises it.
pub(super) fn start(
    loops: &mut Loops,
    app: &App,
    household: Household,
    user: UserId,
    (as_of, seconds): (Timestamp, u32),
) {
    if seconds == 0 {
        return;
    }
    let household = Arc::new(household);
    let told_until = Arc::new(Mutex::new(as_of));
    loops.start("feed the demo", seconds.into(), app, move |app| {
        let (household, told_until) = (household.clone(), told_until.clone());
        async move {
            let mut told_until = told_until.lock().await;
            let until = app.clock.now();
            let mut count = 0;
            for statement in household.feed(*told_until, until, seconds) {
                let summary = imports::commit(&app, &Caller::owner(user), statement).await?;
                count += summary.new + summary.changed;
            }
            // Only now: what failed is told again.
            *told_until = until;
            Ok(count)
        }
    });
}
