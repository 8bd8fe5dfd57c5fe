//! The report of a run: how often each thing happened, and what went wrong.

use anyhow::{Result, ensure};

use crate::Storm;
use crate::faults::Fault;
use crate::history::History;

/// What clients must have done in a minute of storm. A run in which one of them never happened shows too little.
const CLIENT_WORK: [&str; 11] = [
    "request refused by the rate limit",
    "proposal acknowledged",
    "proposal approved",
    "proposal rejected",
    "proposal withdrawn",
    "opposite decisions at the same time",
    "file imported",
    "import undone",
    "key revoked",
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

/// Whether clients have done everything that must happen.
pub(crate) fn is_work_done(history: &History) -> bool {
    CLIENT_WORK.iter().all(|it| history.counted(it) > 0)
}

/// Prints the report; an error if something went wrong, or if something that must happen did not.
pub(crate) fn print(storm: &Storm, is_whole_minute: bool) -> Result<()> {
    println!("\n{:>8}  what happened", "times");
    for (what, times) in storm.history.counts() {
        println!("{times:>8}  {what}");
    }
    for server in &storm.servers {
        let memory = server.memory_mib().map_or("?".to_owned(), |it| it.to_string());
        println!("{memory:>8}  MiB of memory of process {}", server.index);
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
    let faults = Fault::ALL.map(Fault::name);
    let must_happen = CLIENT_WORK.iter().chain(&EFFECTS).chain(&faults);
    let missing: Vec<&str> =
        must_happen.copied().filter(|it| storm.history.counted(it) == 0).collect();
    ensure!(missing.is_empty(), "this never happened: {}", missing.join("; "));
    println!("every invariant holds");
    Ok(())
}
