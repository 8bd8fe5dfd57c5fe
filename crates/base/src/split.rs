//! A transaction that is split over categories: its parts, and how they are stored.
//!
//! Each part is one line: the amount in minor units, a tab, the category code, a unit separator, the note. Only the code
//! follows a tab, so that a filter finds it by a pattern. Reading copies nothing, because lists read every row.

use crate::category::Category;

const BEFORE_CODE: char = '\t';
const BEFORE_NOTE: char = '\x1f';

/// The least and the most parts of a split transaction.
pub const PARTS_MIN: usize = 2;
pub const PARTS_MAX: usize = 20;

/// One part of a split transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPart<'a> {
    /// With the sign of the transaction.
    pub amount_minor: i64,
    pub category: Category,
    /// Empty if there is none.
    pub note: &'a str,
}

/// The parts as they are stored. Notes have no control characters.
pub fn store(parts: &[SplitPart<'_>]) -> String {
    let line = |it: &SplitPart<'_>| {
        let code = it.category.detailed();
        format!("{}{BEFORE_CODE}{code}{BEFORE_NOTE}{}", it.amount_minor, it.note)
    };
    parts.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Reads stored parts. None stands for a line that cannot be read.
pub fn read(stored: &str) -> impl Iterator<Item = Option<SplitPart<'_>>> {
    stored.lines().map(|line| {
        let (amount, rest) = line.split_once(BEFORE_CODE)?;
        let (code, note) = rest.split_once(BEFORE_NOTE)?;
        let (amount_minor, category) = (amount.parse().ok()?, Category::parse(code)?);
        Some(SplitPart { amount_minor, category, note })
    })
}

/// The pattern of SQL's `like` for stored parts of which one has that primary category. Underscores are wildcards, and no
/// two primary categories differ only there.
pub fn pattern_of_primary(primary: &str) -> String {
    format!("%{BEFORE_CODE}{primary}_%")
}

/// The pattern for stored parts of which one has exactly that category.
pub fn pattern_of(category: Category) -> String {
    format!("%{BEFORE_CODE}{}{BEFORE_NOTE}%", category.detailed())
}

/// Why parts are no split of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitError {
    /// Fewer parts than `PARTS_MIN` or more than `PARTS_MAX`.
    Count,
    /// A part is zero, or has another sign than the whole.
    Sign { part: usize },
    /// The parts add up to another amount. `left_minor` is what is missing.
    Sum { left_minor: i128 },
}

/// Checks that parts are a split of an amount: they add up to it exactly, and each has its sign.
pub fn check(whole_minor: i64, parts: &[SplitPart<'_>]) -> Result<(), SplitError> {
    if !(PARTS_MIN..=PARTS_MAX).contains(&parts.len()) {
        return Err(SplitError::Count);
    }
    let is_wrong = |it: &SplitPart<'_>| it.amount_minor.signum() != whole_minor.signum();
    if let Some(part) = parts.iter().position(|it| it.amount_minor == 0 || is_wrong(it)) {
        return Err(SplitError::Sign { part });
    }
    let sum: i128 = parts.iter().map(|it| i128::from(it.amount_minor)).sum();
    match i128::from(whole_minor) - sum {
        0 => Ok(()),
        left_minor => Err(SplitError::Sum { left_minor }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stored_parts_are_read_back(
            rows in proptest::collection::vec((any::<i64>(), 0..Category::ALL.len(), "[^\\x00-\\x1f\\x7f-\\x9f]{0,20}"), 1..6),
        ) {
            let parts: Vec<SplitPart<'_>> = rows
                .iter()
                .map(|(amount_minor, category, note)| SplitPart {
                    amount_minor: *amount_minor,
                    category: Category::ALL[*category],
                    note,
                })
                .collect();
            let stored = store(&parts);
            let read: Option<Vec<SplitPart<'_>>> = read(&stored).collect();
            prop_assert_eq!(read, Some(parts));
        }
    }

    #[test]
    fn a_split_adds_up_exactly_and_keeps_the_sign() {
        let part = |amount_minor| SplitPart { amount_minor, category: Category::ALL[0], note: "" };
        let check = |whole, parts: &[i64]| {
            super::check(whole, &parts.iter().map(|it| part(*it)).collect::<Vec<_>>())
        };
        assert_eq!(check(-100, &[-60, -40]), Ok(()));
        assert_eq!(check(100, &[1, 99]), Ok(()));
        assert_eq!(check(-100, &[-100]), Err(SplitError::Count));
        assert_eq!(check(-21, &[-1; 21]), Err(SplitError::Count));
        assert_eq!(check(-20, &[-1; 20]), Ok(()));
        assert_eq!(check(-100, &[-110, 10]), Err(SplitError::Sign { part: 1 }));
        assert_eq!(check(-100, &[-100, 0]), Err(SplitError::Sign { part: 1 }));
        assert_eq!(check(0, &[0, 0]), Err(SplitError::Sign { part: 0 }));
        assert_eq!(check(-100, &[-60, -39]), Err(SplitError::Sum { left_minor: -1 }));
        let huge = Err(SplitError::Sum { left_minor: 100 - 2 * i128::from(i64::MAX) });
        assert_eq!(check(100, &[i64::MAX, i64::MAX]), huge);
        assert_eq!(read("12\tNOTHING\x1f").next(), Some(None));
        assert_eq!(read("12").next(), Some(None));
    }
}
