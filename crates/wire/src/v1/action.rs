//! Actions that wait for a decision of the person, and what became of them.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::json::Moment;

/// A new proposal, with the page where it is decided and the URL where its status can be read.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Action {
    #[serde(flatten)]
    pub body: ActionBody,
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77")]
    pub thread_id: Option<String>,
    /// The page where the person decides.
    #[schema(example = "http://127.0.0.1:4680/approvals/01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77")]
    pub approval_url: String,
    /// The URL of the action.
    #[schema(example = "http://127.0.0.1:4680/v1/approvals/01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77")]
    pub approval_status_url: Option<String>,
}

/// A proposed action and its status.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Approval {
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a77")]
    pub thread_id: Option<String>,
    #[serde(flatten)]
    pub body: ActionBody,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ActionBody {
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a76")]
    pub action_id: String,
    #[schema(example = "paper_trade.create")]
    pub action_type: String,
    #[schema(example = "trade")]
    pub action_kind: &'static str,
    #[schema(example = "pending_approval")]
    pub status: &'static str,
    #[schema(example = "Buy 3 AAPL")]
    pub description: Option<String>,
    /// The reason for the failure, for people to read.
    pub display_error_message: Option<String>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub decided_at: Option<Moment>,
    pub executed_at: Option<Moment>,
    pub expires_at: Moment,
    pub decision_needs: DecisionNeeds,
    /// Only for trades; null otherwise.
    pub details_v1: Option<TradeDetails>,
    /// Null for trades.
    pub details: Option<ActionDetails>,
    pub proposed_by: ProposedBy,
    pub decided_by: Option<DecidedBy>,
    /// Null until the person decided.
    pub decision_method: Option<String>,
    pub rejection_reason: Option<String>,
    /// The result after execution; null before.
    #[schema(value_type = Option<ActionResult>)]
    pub result: Option<Box<RawValue>>,
}

/// The result of an action, with the members that belong to its type. It is stored as JSON; this type documents it.
#[derive(Debug, Clone, ToSchema)]
pub struct ActionResult {
    /// The trade, of `paper_trade.create`.
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a78")]
    pub trade_id: String,
    /// The account, of `paper_account.create`.
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a70")]
    pub paper_account_id: String,
    /// The number of changed transactions, of the actions whose type begins with `transaction.`.
    #[schema(example = 2)]
    pub transaction_count: i64,
    /// The rules that were created, of `transaction.recategorize` and `transaction.rename`.
    #[schema(example = json!(["rule_01kny3v1m8f2x9q4t7r5c6b8de"]))]
    pub rule_ids: Vec<String>,
    /// The rule, of `rule.create`.
    #[schema(example = "rule_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub rule_id: String,
    /// True once the person confirmed it, of `transfer.propose` and `custom`.
    #[schema(example = true)]
    pub confirmed: bool,
}

/// What the person's decision requires.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct DecisionNeeds {
    #[schema(example = true)]
    pub approval: bool,
    pub passkey: bool,
    pub identity_verification: bool,
    /// Whether the person carries it out elsewhere and confirms it here.
    pub client_execution: bool,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProposedBy {
    #[schema(example = "api_key")]
    pub r#type: &'static str,
    #[schema(example = "key_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
    #[schema(example = "My assistant")]
    pub label: String,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DecidedBy {
    #[schema(example = "person")]
    pub r#type: &'static str,
    #[schema(example = "usr_01kny3v1m8f2x9q4t7r5c6b8de")]
    pub id: String,
}

/// The trade as shown to the person, at the price when it was proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TradeDetails {
    #[schema(example = "paper_trade")]
    pub kind: String,
    pub account: TradeAccount,
    #[schema(example = "AAPL")]
    pub symbol: String,
    #[schema(example = "Apple Inc.")]
    pub security_name: Option<String>,
    #[schema(example = "buy")]
    pub side: String,
    #[schema(example = "Buy")]
    pub side_label: String,
    #[schema(example = "shares")]
    pub input_mode: String,
    #[schema(example = "3")]
    pub quantity: String,
    #[schema(example = "3 shares")]
    pub quantity_display: String,
    #[schema(example = "Estimated cost")]
    pub amount_label: String,
    #[schema(example = "$187.10")]
    pub current_price_display: Option<String>,
    #[schema(example = "+$2.10 (+1.14%)")]
    pub price_change_display: Option<String>,
    #[schema(example = "positive")]
    pub price_change_direction: Option<String>,
    #[schema(example = "2026-04-10T14:30:00.000Z")]
    pub quote_as_of: Option<String>,
    #[schema(example = "Demo market, 10 Apr 2026, 10:30 in New York")]
    pub quote_as_of_label: Option<String>,
    #[schema(example = "$561.30")]
    pub estimated_cost_display: Option<String>,
    #[schema(example = "Market order")]
    pub order_type_display: Option<String>,
    #[schema(example = "My assistant")]
    pub proposed_by_label: String,
    pub top_markdown: Option<String>,
    pub bottom_markdown: Option<String>,
    pub reason_markdown: Option<String>,
    /// What happens when the market is closed.
    pub timing_disclosure: Option<String>,
    #[schema(example = "This is paper trading: no real money moves.")]
    pub money_movement_disclosure: Option<String>,
    #[schema(example = "Buy 3 AAPL")]
    pub primary_action_label: String,
    #[schema(example = "Reject")]
    pub secondary_action_label: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TradeAccount {
    #[schema(example = "01936f9e-7a1c-7c3e-9b0a-5d2f4c8e1a70")]
    pub id: String,
    #[schema(example = "paper")]
    pub source: String,
    #[schema(example = "Paper trading")]
    pub source_label: Option<String>,
    #[schema(example = "Paper account")]
    pub display_name: String,
    pub subtitle: Option<String>,
    pub institution_name: Option<String>,
    pub icon_url: Option<String>,
    #[schema(example = "Buying power")]
    pub available_amount_label: String,
    #[schema(example = "$99,438.70")]
    pub available_amount_display: Option<String>,
    #[schema(example = "available")]
    pub available_amount_state: String,
}

/// The change that an action other than a trade makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActionDetails {
    #[schema(example = "Change the category of 2 transactions")]
    pub title: String,
    pub summary_markdown: Option<String>,
    /// The reason, written by the proposer.
    pub reason_markdown: Option<String>,
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ProposedChange)]
pub struct Change {
    #[schema(example = "10 Apr 2026, Corner Cafe")]
    pub label: String,
    #[schema(example = "Groceries")]
    pub before: Option<String>,
    #[schema(example = "Coffee")]
    pub after: Option<String>,
}
