//! Figures about the transactions that match a filter: every page of a filtered list shows them, and computing them reads
//! every match. They are kept with the stamp of the person's transactions (`ledger::stamps`).

use std::collections::BTreeMap;

use base::Date;

use super::sort::SortedPosition;
use super::{Filter, Sort, Total};
use crate::Caller;
use crate::platform::kept::{Kept, Key};

/// The most rows of a page that is kept. Downloads read larger pages.
const PAGE_MAX: usize = 100;

/// The figures by filter.
#[derive(Default)]
pub(crate) struct KeptByFilter {
    pub(super) counts: Kept<i64, Option<i64>, 2_000>,
    pub(super) totals: Kept<i64, Vec<Total>, 2_000>,
    pub(super) totals_by_day: Kept<i64, BTreeMap<Date, Vec<Total>>, 2_000>,
    /// The positions of a page's rows, in its order, and of the first row after it.
    pub(super) pages: Kept<i64, Vec<SortedPosition>, 2_000>,
}

/// The key of a filter. None if its figures depend on more than the person's stamp: on the accounts that a key may see.
pub(super) fn key_of(caller: &Caller, filter: &Filter) -> Option<Key> {
    let sees_all = caller.limited_to().is_none();
    sees_all.then(|| (caller.user, format!("{filter:?}")))
}

/// The key of the page after a position.
pub(super) fn key_of_page(
    caller: &Caller,
    (filter, sort): (&Filter, Sort),
    after: Option<SortedPosition>,
    limit: usize,
) -> Option<Key> {
    let (user, filter) = key_of(caller, filter).filter(|_| limit <= PAGE_MAX)?;
    Some((user, format!("{filter} {sort:?} {after:?} {limit}")))
}
