//! The orders of the list, and the position of a row in each.

use base::TransactionId;

base::words!(
    /// The order of a list. Amounts are compared by their size, whether money in or out.
    Sort { Newest => "newest", Oldest => "oldest", Largest => "largest", Smallest => "smallest" }
);

impl Sort {
    pub(super) fn is_descending(self) -> bool {
        matches!(self, Sort::Newest | Sort::Largest)
    }

    pub(super) fn is_by_amount(self) -> bool {
        matches!(self, Sort::Largest | Sort::Smallest)
    }

    pub(super) fn position(self, amount_minor: i64, day: i64, id: TransactionId) -> SortedPosition {
        let size = if self.is_by_amount() { amount_minor.saturating_abs() } else { 0 };
        SortedPosition { size, day, id }
    }

    /// Whether a position comes after another one in this order.
    pub(super) fn is_after(self, position: SortedPosition, other: SortedPosition) -> bool {
        if self.is_descending() { position < other } else { position > other }
    }
}

/// The position of a row in a sorted list. Without an order by amount the size is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SortedPosition {
    pub(super) size: i64,
    pub(super) day: i64,
    pub(super) id: TransactionId,
}

/// Which rows of a sorted list are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortedRange {
    pub(super) sort: Sort,
    pub(super) after: Option<SortedPosition>,
    /// Only amounts of `LARGE_MINOR` and more.
    pub(super) only_large: bool,
    pub(super) limit: usize,
}

/// Amounts of this size have an index (migration 38).
pub(super) const LARGE_MINOR: i64 = 100_000;
