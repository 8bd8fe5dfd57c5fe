//! Imports: every path by which transactions, balances and holdings come in, and their undo.

mod accounts;
mod amount_limits;
mod balances;
mod batch;
mod commit;
pub mod files;
mod holdings;
mod journal;
mod list;
mod request;
mod text;
mod trades;
mod transactions;
mod undo;

pub use commit::commit;
pub(crate) use commit::{commit_in, prepare};
pub(crate) use journal::negate_balances;
pub use list::{Import, get, list, list_accounts};
pub use request::Summary;
pub(crate) use request::{FileInfo, ImportOutcome, ImportRequest, IncomingAccount, Progress};
pub use undo::{UNDO_DAYS, UndoSummary, undo};
pub(crate) use undo::{disconnected_event, forget_links};

pub(crate) fn statements() -> Vec<&'static str> {
    let journaled = journal::TABLES.iter().flat_map(|it| [it.select, it.delete, it.restore]);
    let mut all: Vec<&str> = journaled.collect();
    for part in [
        accounts::STATEMENTS,
        balances::STATEMENTS,
        batch::STATEMENTS,
        commit::STATEMENTS,
        holdings::STATEMENTS,
        journal::STATEMENTS,
        list::STATEMENTS,
        trades::STATEMENTS,
        transactions::STATEMENTS,
        undo::STATEMENTS,
    ] {
        all.extend(part);
    }
    all.extend(files::statements());
    all
}
