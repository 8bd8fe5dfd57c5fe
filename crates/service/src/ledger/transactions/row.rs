//! The columns of a stored transaction, read by name instead of by position.

use base::category::Category;
use base::{AccountId, Currency, Date, Timestamp, TransactionId, date_from_days, split};
use calc::enrich::CategorySource;
use calc::transfers::TransferKind;

base::words!(
    /// The state of a transaction: whether it counts, and whether lists show it.
    TransactionState {
        Pending => "pending",
        Posted => "posted",
        /// Posted, and hidden from lists by a rule.
        Hidden => "hidden",
        /// Removed by its source. It stays stored so that the source can report it again.
        Removed => "removed",
    }
);
db::word_columns!(TransactionState);

impl TransactionState {
    /// The state of a transaction that was classified. A rule hides it only once it is posted: until then its
    /// description may still change.
    pub(crate) fn of(is_posted: bool, is_hidden_by_rule: bool) -> TransactionState {
        match (is_posted, is_hidden_by_rule) {
            (false, _) => TransactionState::Pending,
            (true, false) => TransactionState::Posted,
            (true, true) => TransactionState::Hidden,
        }
    }

    /// Whether the amount counts in the balance of its account.
    pub(crate) fn is_posted(self) -> bool {
        matches!(self, TransactionState::Posted | TransactionState::Hidden)
    }
}

/// The first columns that `StoredTransaction` reads, of `transactions t`: all that pairing transfers looks at.
macro_rules! transfer_leg_columns {
    () => {
        "t.id, t.account_id, t.posted_on, t.state, t.amount_minor, t.currency, t.authorized_on, t.description,
        t.told_category, t.transfer_id, t.transfer_kind"
    };
}

/// The columns of `transfer_leg_columns`, and the rest of what classifying reads and writes.
macro_rules! classification_columns {
    () => {
        concat!(
            $crate::ledger::transactions::row::transfer_leg_columns!(),
            ", t.told_counterparty, t.counterparty, t.category, t.category_stage, t.merchant_key"
        )
    };
}

/// Every column that `StoredTransaction` reads. Columns that a statement selects beside them begin at
/// `StoredTransaction::WIDTH`.
macro_rules! transaction_columns {
    () => {
        concat!(
            $crate::ledger::transactions::row::classification_columns!(),
            ", t.counterparty_logo_url, t.external_id, t.updated_at"
        )
    };
}

pub(crate) use {classification_columns, transaction_columns, transfer_leg_columns};

/// A row of a statement that selects `transaction_columns`, or on hot paths one of the shorter lists. Each column is
/// decoded only when asked for, and text is borrowed from the driver.
#[derive(Clone, Copy)]
pub(crate) struct StoredTransaction<'r, 'd>(pub(crate) &'r db::Row<'d>);

impl<'r> StoredTransaction<'r, '_> {
    pub(crate) const WIDTH: usize = 19;

    pub(crate) fn id(self) -> db::Result<TransactionId> {
        self.0.get(0)
    }

    pub(crate) fn account_id(self) -> db::Result<AccountId> {
        self.0.get(1)
    }

    pub(crate) fn posted_on_days(self) -> db::Result<i64> {
        self.0.get(2)
    }

    pub(crate) fn posted_on(self) -> db::Result<Date> {
        self.posted_on_days().map(date_from_days)
    }

    pub(crate) fn state(self) -> db::Result<TransactionState> {
        self.0.get(3)
    }

    pub(crate) fn amount_minor(self) -> db::Result<i64> {
        self.0.get(4)
    }

    pub(crate) fn currency(self) -> db::Result<Currency> {
        self.0.get(5)
    }

    pub(crate) fn authorized_on(self) -> db::Result<Option<Date>> {
        self.0.get(6)
    }

    /// The bank's description.
    pub(crate) fn description(self) -> db::Result<&'r str> {
        self.0.get(7)
    }

    /// The category that the source gave.
    pub(crate) fn source_category(self) -> db::Result<Option<Category>> {
        self.0.optional_word(8, "category", Category::parse)
    }

    /// The id of the outflow of the transfer that it is one leg of.
    pub(crate) fn transfer_id(self) -> db::Result<Option<TransactionId>> {
        self.0.get(9)
    }

    pub(crate) fn transfer_kind(self) -> db::Result<Option<TransferKind>> {
        self.0.optional_word(10, "transfer kind", TransferKind::parse)
    }

    /// The counterparty that the source gave.
    pub(crate) fn source_counterparty(self) -> db::Result<Option<&'r str>> {
        self.0.get(11)
    }

    pub(crate) fn counterparty(self) -> db::Result<Option<&'r str>> {
        self.0.get(12)
    }

    pub(crate) fn category(self) -> db::Result<Option<Category>> {
        self.0.optional_word(13, "category", Category::parse)
    }

    /// The stage of classifying that decided the category.
    pub(crate) fn category_stage(self) -> db::Result<Option<CategorySource>> {
        self.0.optional_word(14, "category stage", CategorySource::parse)
    }

    pub(crate) fn merchant_key(self) -> db::Result<Option<&'r str>> {
        self.0.get(15)
    }

    pub(crate) fn counterparty_logo_url(self) -> db::Result<Option<&'r str>> {
        self.0.get(16)
    }

    pub(crate) fn external_id(self) -> db::Result<Option<&'r str>> {
        self.0.get(17)
    }

    pub(crate) fn updated_at(self) -> db::Result<Timestamp> {
        self.0.get(18)
    }
}

/// The stored parts of a transaction if they count, from its columns `amount_minor`, `split_minor` and `splits`.
pub(crate) fn counted_parts<'r>(
    row: &'r db::Row<'_>,
    amount_minor: i64,
    column: usize,
) -> db::Result<Option<&'r str>> {
    let whole: Option<i64> = row.get(column)?;
    if whole != Some(amount_minor) {
        return Ok(None);
    }
    let stored: &str = row.get(column + 1)?;
    match split::read(stored).all(|it| it.is_some()) {
        true => Ok(Some(stored)),
        false => Err(unreadable_part(column + 1)),
    }
}

pub(crate) fn unreadable_part(column: usize) -> db::Error {
    db::Error::Decode { column, reason: "a part of a split transaction cannot be read".to_owned() }
}
