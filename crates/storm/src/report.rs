//! The report of a run: how often each thing happened, and what went wrong.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use crate::Storm;
use crate::faults::PlannedFault;
use crate::history::History;
use crate::inject::CRASH;

/// What clients must have done in a minute of storm. A run in which one of them never happened shows too little.
const CLIENT_WORK: [&str; 12] = [
    "request refused by the rate limit",
    "proposal acknowledged",
    "proposal approved",
    "proposal rejected",
    "proposal withdrawn",
    "opposite decisions at the same time",
    "file imported",
    "import undone",
    "key revoked",
    "webhook endpoint moved",
    "webhook endpoint deleted",
    "list walked to its end",
];
/// What must have come of it under the faults. Repeated deliveries are counted too, but need a request in flight at the moment of
/// a fault, which is chance.
const EFFECTS: [&str; 9] = [
    "fault: clock ahead",
    "fault: clock behind",
    "request without an answer",
    "request refused with 503",
    "trade executed",
    "idempotent request got the stored response",
    "idempotent request found its twin in progress",
    "committed change whose answer was lost",
    "delivery received",
];

/// What a process may hold at the end. A development build holds about 100 MiB.
const MEMORY_MIB_MAX: u64 = 600;

/// Whether clients have done everything that must happen.
pub(crate) fn is_work_done(history: &History) -> bool {
    CLIENT_WORK.iter().all(|it| history.counted(it) > 0)
}

/// Prints the report; an error if something went wrong, or if something that must happen did not.
pub(crate) fn print(storm: &Storm, plan: &[PlannedFault], is_whole_minute: bool) -> Result<()> {
    println!("\n{:>8}  what happened", "times");
    for (what, times) in storm.history.counts() {
        println!("{times:>8}  {what}");
    }
    for server in &storm.servers {
        let memory = server.memory_mib();
        let shown = memory.map_or("?".to_owned(), |it| it.to_string());
        println!("{shown:>8}  MiB of memory of process {}", server.index);
        if memory.is_some_and(|it| it > MEMORY_MIB_MAX) {
            storm.history.violated(format!("process {} holds {shown} MiB", server.index));
        }
    }
    let violations = storm.history.violations();
    ensure!(
        violations.is_empty(),
        "{} violations, such as:\n  {}",
        violations.len(),
        violations[..violations.len().min(20)].join("\n  ")
    );
    if !is_whole_minute {
        println!("a storm of less than a minute need not have every fault");
        return Ok(());
    }
    let faults = plan.iter().map(|it| it.fault.name()).chain([CRASH]);
    let must_happen = CLIENT_WORK.into_iter().chain(EFFECTS).chain(faults);
    let missing: BTreeSet<&str> = must_happen.filter(|it| storm.history.counted(it) == 0).collect();
    let missing = Vec::from_iter(missing);
    ensure!(missing.is_empty(), "this never happened: {}", missing.join("; "));
    println!("every invariant holds");
    Ok(())
}
