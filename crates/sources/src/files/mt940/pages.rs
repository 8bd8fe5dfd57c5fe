//! Statements that a bank splits into pages: all pages should be in the file.

use std::collections::BTreeMap;

use base::{Currency, Money};

use crate::files::{NoteKind, Notes};

/// The intermediate balances of the pages of each account. The balance with which a page ends is the one with which the
/// next page begins, in whatever order the pages are.
#[derive(Default)]
pub(super) struct Pages {
    balances: BTreeMap<(String, Currency), Vec<PageBalance>>,
}

struct PageBalance {
    minor: i64,
    line: usize,
    is_opening: bool,
}

impl Pages {
    pub(super) fn add(
        &mut self,
        account: &str,
        currency: Currency,
        [opening, closing]: [Option<i64>; 2],
        line: usize,
    ) {
        let balances = self.balances.entry((account.to_owned(), currency)).or_default();
        for (minor, is_opening) in [(opening, true), (closing, false)] {
            balances.extend(minor.map(|minor| PageBalance { minor, line, is_opening }));
        }
    }

    /// Notes the balances whose other page is missing.
    pub(super) fn note_missing(self, notes: &mut Notes) {
        for ((_, currency), mut balances) in self.balances {
            balances.sort_by_key(|it| (it.minor, it.line));
            for same in balances.chunk_by(|one, next| one.minor == next.minor) {
                let openings = same.iter().filter(|it| it.is_opening).count();
                let closings = same.len() - openings;
                let Some(one) = same.first().filter(|_| openings != closings) else { continue };
                let balance = Money::new(one.minor, currency);
                notes.warn(
                    NoteKind::CutOff,
                    one.line,
                    match openings > closings {
                        true => format!(
                            "this page of a statement begins with {balance}, and the page before is missing"
                        ),
                        false => format!(
                            "this page of a statement ends with {balance}, and the next page is missing"
                        ),
                    },
                );
            }
        }
    }
}
