//! The long list: its filters, its order, its pages.

mod counts;
mod cursors;
mod filters;
mod one;
mod paging;
mod search;
mod search_index;
mod totals;
mod visibility;

use service::ledger::transactions::Filter;

fn everything() -> Filter {
    Filter::default()
}
