//! Paper trading: accounts with simulated money in a real market.

mod accounts;
mod chain;
mod corporate;
mod history;
mod ledger;
pub(crate) mod orders;
mod verify;

pub(crate) use accounts::too_many_accounts;
pub use accounts::{ACCOUNTS_MAX, Account, Holding, get_account, list_accounts, list_holdings};
pub(crate) use chain::anchor_ledgers;
pub use corporate::settle_once;
pub(crate) use corporate::settle_splits;
pub use history::{Activity, HistoryPage, Trade, list_activity, list_trades};
pub use ledger::EntryKind;
pub(crate) use ledger::{open_account, usd};
pub use verify::{LedgerReport, verify};

pub(crate) fn statements() -> Vec<&'static str> {
    [
        accounts::STATEMENTS,
        chain::STATEMENTS,
        corporate::STATEMENTS,
        history::STATEMENTS,
        ledger::STATEMENTS,
        orders::STATEMENTS,
        verify::STATEMENTS,
    ]
    .concat()
}
