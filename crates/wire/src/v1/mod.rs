//! Version 1 of the API. Fields are only added, never renamed or removed.

mod account;
mod action;
mod attachment;
mod balance;
mod benefit;
mod code;
mod event;
mod goal;
mod income;
mod investment;
mod net_worth;
mod page;
mod paper;
mod profile;
mod recurring;
mod scope;
mod scores;
mod spending;
mod summary;
mod transaction;
mod webhook;

pub use account::{Account, Accounts};
pub use action::{Action, ActionBody, ActionDetails, ActionResult, Approval, DecisionNeeds};
pub use action::{Change, DecidedBy, ProposedBy, TradeAccount, TradeDetails};
pub use attachment::{Attachment, AttachmentContent, Attachments};
pub use balance::{Balances, DailyBalance};
pub use benefit::{Benefit, BenefitSummary, BenefitTotals, BenefitWindow};
pub use benefit::{CardBenefits, ExpiringBenefits};
pub use code::Code;
pub use event::{ActionFacts, Event, EventType, example};
pub use goal::{Goal, Goals};
pub use income::{Income, IncomeBlock, IncomePart, IncomeWindow, Variability};
pub use investment::{AccountTotal, Holding, HoldingGroup, Investments};
pub use net_worth::{ExchangeRate, NetWorthHistory, NetWorthPoint};
pub use page::{ErrorBody, ErrorDetail, Meta, Pagination};
pub use paper::{
    PaperAccount, PaperAccounts, PaperActivity, PaperHolding, PaperHoldings, PaperTrade,
};
pub use profile::Profile;
pub use recurring::{PriceChange, Recurring, Stream, StreamTotals};
pub use scope::{Scope, Scopes, UnknownScope};
pub use scores::Scores;
pub use spending::{Excluded, Spending, SpendingComparison, SpendingGroup, SpendingTotals};
pub use summary::{AccountCounts, BreakdownPart, CashFlow, NetWorthChange, NextOutflow};
pub use summary::{Summary, SummaryGoals, SummaryInvestments, SummaryRecurring, Window};
pub use transaction::TransactionRow;
pub use transaction::{AccountPart, RemovedTransaction, Split, Transaction, TransactionChanges};

pub use webhook::{Deleted, Delivery, DeliveryTest, Endpoint, EndpointWithSecret, Endpoints};
pub use webhook::{EventDelivery, EventTypeShape, Events, LoggedEvent, ReplayedEvent};
pub use webhook::{PortalLink, RotatedSecret};

/// The API version of responses and webhook events.
pub const API_VERSION: &str = "2026-04-10";
/// Every version that a client can ask for with the header `Evenkeel-Version`, oldest first.
pub const API_VERSIONS: &[&str] = &[API_VERSION];
