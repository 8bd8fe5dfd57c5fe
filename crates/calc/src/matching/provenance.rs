//! The provenance of transactions, and which source takes precedence when several report the same one.

use base::draft::id_source;

use super::KnownTransaction;

/// The prefix of all provenances that are files.
pub const FILE_PREFIX: &str = "file:";
/// Our own export, whose ids are our own.
pub const EVENKEEL_EXPORT: &str = "file:evenkeel";

/// Entered by the person.
pub const MANUAL: &str = "hand";

/// The precedence of a provenance: connected banks first; of files, those with ids and full texts.
pub(super) fn rank(provenance: &str) -> u8 {
    match provenance.strip_prefix(FILE_PREFIX) {
        None if provenance == MANUAL => 0,
        None => 5,
        Some("evenkeel") => 4,
        Some("ofx" | "camt") => 3,
        Some("mt940") => 2,
        Some("qif") => 0,
        Some(_) => 1,
    }
}

/// The provenance of the stored content: that of its id, or else of the import that created it.
pub(super) fn of(known: &KnownTransaction) -> &str {
    known.content.external_id.as_deref().map_or(&known.provenance, id_source)
}
