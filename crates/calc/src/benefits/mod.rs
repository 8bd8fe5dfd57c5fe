//! Card benefits: a dated catalog of products, the period of each benefit, and how much of it an account has used.

mod catalog;
mod cycles;
mod recognition;
mod summary;
mod text;
mod usage;

pub use catalog::{Alignment, Area, BenefitType, Cadence, Kind, Network};
pub use catalog::{Benefit, Card, Eligible, Fee, PostingDays, Source, cards, find_card};
pub use cycles::{Anniversary, Cycle, cycle};
pub use recognition::{Match, match_card};
pub use summary::{Summary, days_left, expiring, summary};
pub use usage::{Account, BenefitState, Entry, Link, Mark, MarkValue, Status, Usage};
pub use usage::{infer_anniversary, usage};
