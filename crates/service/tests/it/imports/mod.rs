//! Imports: what they match, store, announce and undo.

mod balance_order;
mod concurrent;
mod events;
pub(crate) mod fencing;
mod files;
mod identity;
mod large;
mod matching;
mod model;
mod positions;
mod real;
mod rules;
mod snapshots;
mod splitting;
mod staging;
mod trades;
mod undo;

use service::ingest::imports::Summary;

fn summary(new: usize, changed: usize, seen: usize, removed: usize) -> Summary {
    Summary { new, changed, seen, removed }
}
