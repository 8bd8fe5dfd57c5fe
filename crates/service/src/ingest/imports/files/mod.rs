//! Import of files: an upload is staged, previewed with the person's choices, and committed.

mod choices;
mod commit;
mod destination;
mod identity;
mod limits;
mod parse;
mod preview;
mod preview_summary;
mod staged;
mod stored_bytes;

pub use choices::{AccountChoice, Choices, DestinationChoice};
pub(crate) use commit::CommitProgress;
pub use commit::{CommitOutcome, commit, progress};
pub use destination::Destination;
pub use limits::Limits;
pub(crate) use limits::ReadingSlots;
pub use parse::preset;
pub use preview::{AccountPreview, Preview, RowPreview, RowStatus, preview, refresh};
pub use preview_summary::{PreviewOutcome, PreviewSummary};
pub use sources::files::csv;
pub use sources::files::{
    BYTES_MAX, ChargeSign, DateOrder, FileError, FileQuestion, Format, Note, NoteKind, Notes,
    Rejections,
};
pub use sources::files::{FileContents, Limits as ReadingLimits, ParseOptions, RejectedRow, read};
pub use staged::{StagedFile, State, choose, discard, forget_once, get, list, stage};

pub(super) fn statements() -> Vec<&'static str> {
    [
        commit::STATEMENTS,
        destination::STATEMENTS,
        parse::STATEMENTS,
        preview_summary::STATEMENTS,
        staged::STATEMENTS,
        stored_bytes::STATEMENTS,
    ]
    .concat()
}
