//! The way in for data: what an import finds, writes, tells and leaves alone.

mod events;
mod fencing;
mod files;
mod matching;
mod model;
mod positions;
mod rules;
mod snapshots;
mod staging;
mod together;
mod undo;

use service::ingest::imports::Summary;

fn summary(new: usize, changed: usize, seen: usize, removed: usize) -> Summary {
    Summary { new, changed, seen, removed }
}
