//! What a card gives back: a dated catalogue of products, the period each benefit counts in, and
//! how much of it an account has used.

mod catalogue;
mod cycles;
mod recognition;
mod summary;
mod text;
mod usage;

pub use catalogue::{Alignment, Area, BenefitType, Cadence, Kind, Network};
pub use catalogue::{Benefit, Card, Eligible, Fee, PostingDays, Source, cards, find_card};
pub use cycles::{Anniversary, Cycle, cycle};
pub use recognition::{Match, match_card};
pub use summary::{Summary, days_left, expiring, summary};
pub use usage::{Account, BenefitState, Entry, Link, Mark, Marked, Status, Usage};
pub use usage::{infer_anniversary, usage};
