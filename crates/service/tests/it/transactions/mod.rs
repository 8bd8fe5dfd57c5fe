//! The list of transactions: filters, order, pages, totals and search.

mod annotations;
mod attachments;
mod bulk_edits;
mod changes;
mod counts;
mod cursors;
mod detail;
mod filters;
mod kept_accounts;
mod kept_pages;
mod paging;
mod refund_links;
mod search;
mod search_index;
mod sorted;
mod totals;
mod visibility;

use service::ledger::transactions::Filter;

fn everything() -> Filter {
    Filter::default()
}
