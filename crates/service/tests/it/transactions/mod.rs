//! The long list: its filters, its order, its pages.

mod counts;
mod cursors;
mod detail;
mod filters;
mod paging;
mod search;
mod search_index;
mod totals;
mod visibility;

use service::ledger::transactions::Filter;

fn everything() -> Filter {
    Filter::default()
}
