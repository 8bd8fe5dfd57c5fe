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
    RecurringUpdated {
        stream_ids: Vec<String>,
        count: usize,
    },
    IncomeUpdated {
        generated_at: crate::json::Moment,
    },
    ScoreUpdated {
        observation_date: crate::json::Day,
    },
    BenefitExpiring {
        benefit_id: String,
        account_id: String,
        expires_on: crate::json::Day,
    },
    ActionCreated(ActionFacts),
    ActionDecided(ActionFacts),
    ActionExecuted(ActionFacts),
}

/// Enough to ask for the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionFacts {
    pub action_id: String,
    pub thread_id: String,
    pub action_kind: &'static str,
    pub status: &'static str,
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
            Event::RecurringUpdated { .. } => (
                "recurring.updated",
                "Recurring streams were found, changed, missed or ended, or are gone.",
            ),
            Event::IncomeUpdated { .. } => ("income.updated", "The income analysis changed."),
            Event::ScoreUpdated { .. } => ("score.updated", "The financial health scores changed."),
            Event::ActionCreated(_) => {
                ("action.created", "An action was proposed and waits for the person.")
            }
            Event::ActionDecided(_) => {
                ("action.decided", "An action was approved, rejected or withdrawn, or it expired.")
            }
            Event::ActionExecuted(_) => {
                ("action.executed", "An approved action was carried out, or could not be.")
            }
            Event::BenefitExpiring { .. } => (
                "benefit.expiring",
                "A card's benefit has something left and its cycle ends within 30 days.",
            ),
        };
        EventType { name, description }
    }
}
