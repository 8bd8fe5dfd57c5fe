//! Who speaks of a transaction, and whose words count when several do.

use base::draft::id_source;

use super::Known;

/// What the names of all givers that are files begin with.
pub const FILES: &str = "file:";
/// What was exported from here, whose ids are our own.
pub const OWN_EXPORT: &str = "file:evenkeel";

/// The person, by hand.
pub const HAND: &str = "hand";

/// A bank that is asked knows best; of files those that carry ids and whole texts do.
pub(super) fn rank(giver: &str) -> u8 {
    match giver.strip_prefix(FILES) {
        None if giver == HAND => 0,
        None => 5,
        Some("evenkeel") => 4,
        Some("ofx" | "camt") => 3,
        Some("mt940") => 2,
        Some("qif") => 0,
        Some(_) => 1,
    }
}

/// Whose words are kept of it: whoever gave it its id, or else whoever brought it in.
pub(super) fn of(known: &Known) -> &str {
    known.content.external_id.as_deref().map_or(&known.giver, id_source)
}
