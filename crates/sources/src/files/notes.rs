//! Remarks on a file whose rows were read: the person sees them before importing it.

use base::{Currency, words};

use super::limits::{REASON_CHARS_MAX, head};

/// Further notes of a kind are only counted.
const LISTED_MAX: usize = 100;

words!(
    NoteKind {
        /// A value was changed on the way: rounded, converted, or dated by the statement.
        Adjusted => "adjusted",
        /// The file does not name its currency.
        AssumedCurrency => "assumed_currency",
        /// The end of the file is missing, so that rows may be missing too.
        CutOff => "cut_off",
        /// The file's own balances, sums or counts contradict its rows.
        Unbalanced => "unbalanced",
        /// Rows in another currency are not imported.
        OtherCurrency => "other_currency",
    }
);

impl NoteKind {
    /// Whether rows may be missing or wrong.
    pub fn is_warning(self) -> bool {
        match self {
            NoteKind::Adjusted | NoteKind::AssumedCurrency => false,
            NoteKind::CutOff | NoteKind::Unbalanced | NoteKind::OtherCurrency => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    /// The line, counted from 1; none if the note is about the whole file.
    pub line: Option<usize>,
    /// A sentence for the person.
    pub text: String,
}

/// The notes on a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// The first of each kind.
    pub all: Vec<Note>,
    /// The total number.
    pub count: usize,
}

impl Notes {
    /// Adds a remark on a value that was changed on the way.
    pub(crate) fn add(&mut self, line: Option<usize>, text: impl Into<String>) {
        self.push(NoteKind::Adjusted, line, text.into());
    }

    /// Adds a remark on the currency of a file that names none, and why it was assumed if the file suggests it.
    pub(super) fn assume_currency(&mut self, currency: Currency, reason: Option<&str>) {
        let reason = reason.map_or_else(String::new, |it| format!(", because {it}"));
        let text =
            format!("The file names no currency. Its amounts were read as {currency}{reason}.");
        self.push(NoteKind::AssumedCurrency, None, text);
    }

    /// Adds a warning that rows may be missing or wrong.
    pub(crate) fn warn(&mut self, kind: NoteKind, line: usize, text: impl Into<String>) {
        self.push(kind, Some(line.max(1)), text.into());
    }

    fn push(&mut self, kind: NoteKind, line: Option<usize>, mut text: String) {
        self.count += 1;
        if self.all.iter().filter(|it| it.kind == kind).count() < LISTED_MAX {
            text.truncate(head(&text, REASON_CHARS_MAX).len());
            self.all.push(Note { kind, line, text });
        }
    }

    /// Notes that rows may be missing or wrong.
    pub fn warnings(&self) -> impl Iterator<Item = &Note> {
        self.all.iter().filter(|it| it.kind.is_warning())
    }

    /// Sorts the notes by line, warnings first.
    pub(crate) fn sort(&mut self) {
        self.all.sort_by_key(|it| (!it.kind.is_warning(), it.line));
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTED_MAX, NoteKind, Notes};

    #[test]
    fn warnings_come_first_and_are_kept_however_many_other_notes_there_are() {
        let mut notes = Notes::default();
        for line in 0..2 * LISTED_MAX {
            notes.add(Some(line), "rounded");
        }
        notes.warn(NoteKind::CutOff, 7, "x".repeat(10_000));
        notes.sort();
        assert_eq!((notes.count, notes.all.len()), (2 * LISTED_MAX + 1, LISTED_MAX + 1));
        assert_eq!((notes.all[0].kind, notes.all[0].line), (NoteKind::CutOff, Some(7)));
        assert!(notes.all[0].text.len() < 1_000);
        assert_eq!((notes.warnings().count(), notes.all[1].line), (1, Some(0)));
    }
}
