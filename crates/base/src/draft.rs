//! Drafts: data from a source in our own types, before it is stored. `service::imports` decides what is new in it.

use crate::category::Category;
use crate::words;
use crate::{Currency, Date, Fixed9, Money, Timestamp};

/// Everything that one connection reported at one time.
#[derive(Debug, Clone)]
pub struct Statement {
    pub source: Source,
    /// Identifies the connection at its source; the same value means the same connection.
    pub connection: String,
    pub institution: Option<String>,
    pub as_of: Timestamp,
    pub accounts: Vec<AccountDraft>,
    pub rates: Vec<RateDraft>,
}

words!(
    /// The origin of data; the value of `external_source` in the API.
    Source {
        Demo => "demo",
        EnableBanking => "enable_banking",
        File => "file",
        Manual => "manual",
        Plaid => "plaid",
        Simplefin => "simplefin",
    }
);

/// One account with its transactions and holdings. Absent values are unknown, never zero.
#[derive(Debug, Clone)]
pub struct AccountDraft {
    /// The source's own id for the account, unique within the connection.
    pub external_id: String,
    pub name: String,
    pub mask: Option<String>,
    pub kind: AccountKind,
    /// Plaid's subtype: checking, savings, credit card, mortgage, brokerage, 401k and so on.
    pub subtype: Option<String>,
    pub currency: Currency,
    pub institution_name: Option<String>,
    pub institution_logo: Option<String>,
    pub closed_on: Option<Date>,
    pub balance: Option<BalanceDraft>,
    /// End-of-day balances of earlier days, in any order.
    pub past_balances: Vec<PastBalance>,
    /// Yearly interest in percent, such as 21.49.
    pub interest_rate: Option<Fixed9>,
    /// Yearly yield as the bank prints it, such as "4.20%".
    pub apy_display: Option<String>,
    pub next_payment_due_on: Option<Date>,
    pub transactions: Vec<TransactionDraft>,
    /// External ids of transactions that the source has withdrawn.
    pub removed: Vec<String>,
    /// All positions of the account, if the source reports positions: a position that is not listed no longer exists.
    pub holdings: Option<Vec<HoldingDraft>>,
    /// The trades of securities, from which the cost of a position follows if the source does not say it.
    pub trades: Vec<TradeDraft>,
}

impl AccountDraft {
    /// An account without further data. Control characters are removed from its name, so that it stays on one line and
    /// cannot send escape sequences to a terminal.
    pub fn new(
        external_id: impl Into<String>,
        name: impl AsRef<str>,
        kind: AccountKind,
        currency: Currency,
    ) -> AccountDraft {
        AccountDraft {
            external_id: external_id.into(),
            name: name.as_ref().replace('\0', "").replace(char::is_control, " "),
            mask: None,
            kind,
            subtype: None,
            currency,
            institution_name: None,
            institution_logo: None,
            closed_on: None,
            balance: None,
            past_balances: Vec::new(),
            interest_rate: None,
            apy_display: None,
            next_payment_due_on: None,
            transactions: Vec::new(),
            removed: Vec::new(),
            holdings: None,
            trades: Vec::new(),
        }
    }
}

words!(
    /// Ordered as lists show them.
    AccountKind {
        Depository => "depository",
        Credit => "credit",
        Loan => "loan",
        Investment => "investment",
        Other => "other",
    }
);

impl AccountKind {
    /// Whether the balance is owed rather than owned.
    pub fn is_debt(self) -> bool {
        matches!(self, AccountKind::Credit | AccountKind::Loan)
    }
}

/// Minor units of the account's currency. `current_minor` of a credit or loan account is the debt, as a positive
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalanceDraft {
    pub as_of: Timestamp,
    pub current_minor: i64,
    pub available_minor: Option<i64>,
    pub limit_minor: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastBalance {
    pub on: Date,
    pub current_minor: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionDraft {
    /// The source's own id, if it has a stable one. Where several sources may report one account, the id is prefixed
    /// with its source; see `id_source`.
    pub external_id: Option<String>,
    pub pending: bool,
    /// The external id of the pending transaction that this posted one settles, if the source reports it.
    pub settles: Option<String>,
    pub posted_on: Date,
    pub authorized_on: Option<Date>,
    /// Positive is money into the account.
    pub amount: Money,
    /// The bank's own text, unchanged.
    pub description: String,
    pub counterparty: Option<String>,
    pub counterparty_logo_url: Option<String>,
    pub category: Option<Category>,
}

/// The source of an external id: the text before its first space, or nothing. Ids of different sources are unrelated.
pub fn id_source(external_id: &str) -> &str {
    external_id.split_once(' ').map_or("", |(source, _)| source)
}

#[derive(Debug, Clone, PartialEq)]
pub struct HoldingDraft {
    pub security: SecurityDraft,
    pub quantity: Fixed9,
    /// The total cost of the position in minor units; none if unknown.
    pub cost_basis_minor: Option<i64>,
    /// The source's own valuation, for securities without a price.
    pub institution_value_minor: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SecurityDraft {
    /// The source's own id for the security, unique within the connection.
    pub external_id: String,
    pub symbol: Option<String>,
    pub name: String,
    pub kind: SecurityKind,
    pub asset_class: AssetClass,
    pub currency: Currency,
    pub price: Option<Fixed9>,
    pub previous_close: Option<Fixed9>,
    pub priced_at: Option<Timestamp>,
}

/// A trade of a security. The transaction beside it tells its effect on the cash of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TradeDraft {
    /// The source's own id of the trade.
    pub external_id: Option<String>,
    /// The external id of the security.
    pub security: String,
    pub on: Date,
    pub kind: TradeKind,
    /// The traded units, positive; for a split, the new units for `per` old ones. Negative if it reverses a trade.
    pub quantity: Fixed9,
    pub per: Option<Fixed9>,
    /// The amount paid or received, in minor units of the account's currency, fees included; none if unknown.
    pub amount_minor: Option<i64>,
}

words!(
    TradeKind {
        Buy => "buy",
        Sell => "sell",
        /// A dividend or gain that bought more units.
        Reinvest => "reinvest",
        Split => "split",
        TransferIn => "transfer_in",
        TransferOut => "transfer_out",
        ReturnOfCapital => "return_of_capital",
    }
);

words!(
    SecurityKind {
        Cash => "cash",
        Cryptocurrency => "cryptocurrency",
        Derivative => "derivative",
        Equity => "equity",
        Etf => "etf",
        FixedIncome => "fixed_income",
        MutualFund => "mutual_fund",
        Other => "other",
    }
);

words!(
    AssetClass {
        Alternative => "alternative",
        Cash => "cash",
        Crypto => "crypto",
        Derivative => "derivative",
        Equity => "equity",
        FixedIncome => "fixed_income",
        Fund => "fund",
        Other => "other",
    }
);

/// One unit of `from` was worth `rate` units of `to` on that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateDraft {
    pub from: Currency,
    pub to: Currency,
    pub on: Date,
    pub rate: Fixed9,
}
