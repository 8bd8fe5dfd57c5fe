use serde::Serialize;

/// What happened, as webhooks tell it: ids and harmless facts, never whole resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Event {
    AccountConnected {
        account_id: String,
        institution_name: Option<String>,
        r#type: &'static str,
    },
    TransactionsCreated {
        account_id: String,
        transaction_ids: Vec<String>,
        count: usize,
    },
    TransactionsUpdated {
        account_id: String,
        transaction_ids: Vec<String>,
        count: usize,
        removed: bool,
    },
    BalanceUpdated {
        account_id: String,
        as_of: crate::json::Moment,
    },
    InvestmentsUpdated {
        account_id: String,
        as_of: crate::json::Moment,
    },
    GoalUpdated {
        goal_id: String,
        status: &'static str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventType {
    pub name: &'static str,
    pub description: &'static str,
}

impl Event {
    /// More ids than this are split over several events.
    pub const IDS_MAX: usize = 100;

    pub fn event_type(&self) -> EventType {
        let (name, description) = match self {
            Event::AccountConnected { .. } => {
                ("account.connected", "A new financial account was linked.")
            }
            Event::TransactionsCreated { .. } => {
                ("transaction.created", "New transactions were synced.")
            }
            Event::TransactionsUpdated { .. } => (
                "transaction.updated",
                "Transactions changed, were posted, or (with removed: true) were taken back.",
            ),
            Event::BalanceUpdated { .. } => {
                ("balance.updated", "An account's balance was refreshed.")
            }
            Event::InvestmentsUpdated { .. } => {
                ("investment.updated", "An account's holdings or their prices changed.")
            }
            Event::GoalUpdated { .. } => ("goal.updated", "A goal was made or changed."),
        };
        EventType { name, description }
    }
}
