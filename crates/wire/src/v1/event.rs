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
    AccountDisconnected {
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
    EndpointDisabled {
        endpoint_id: String,
        reason: &'static str,
    },
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

    /// The account that it is about, if it is about one.
    pub fn account_id(&self) -> Option<&str> {
        match self {
            Event::AccountConnected { account_id, .. }
            | Event::AccountDisconnected { account_id, .. }
            | Event::TransactionsCreated { account_id, .. }
            | Event::TransactionsUpdated { account_id, .. }
            | Event::BalanceUpdated { account_id, .. }
            | Event::InvestmentsUpdated { account_id, .. }
            | Event::BenefitExpiring { account_id, .. } => Some(account_id),
            _ => None,
        }
    }

    pub fn event_type(&self) -> EventType {
        let name = match self {
            Event::AccountConnected { .. } => "account.connected",
            Event::AccountDisconnected { .. } => "account.disconnected",
            Event::TransactionsCreated { .. } => "transaction.created",
            Event::TransactionsUpdated { .. } => "transaction.updated",
            Event::BalanceUpdated { .. } => "balance.updated",
            Event::InvestmentsUpdated { .. } => "investment.updated",
            Event::GoalUpdated { .. } => "goal.updated",
            Event::RecurringUpdated { .. } => "recurring.updated",
            Event::IncomeUpdated { .. } => "income.updated",
            Event::ScoreUpdated { .. } => "score.updated",
            Event::ActionCreated(_) => "action.created",
            Event::ActionDecided(_) => "action.decided",
            Event::ActionExecuted(_) => "action.executed",
            Event::BenefitExpiring { .. } => "benefit.expiring",
            Event::EndpointDisabled { .. } => "webhook.endpoint_disabled",
        };
        EventType::find(name).unwrap_or(EventType { name, description: "" })
    }
}

impl EventType {
    pub fn find(name: &str) -> Option<EventType> {
        EventType::ALL.iter().copied().find(|it| it.name == name)
    }

    /// The names alone.
    pub const NAMES: [&str; EventType::ALL.len()] = {
        let mut names = [""; EventType::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = EventType::ALL[index].name;
            index += 1;
        }
        names
    };

    /// Everything one can subscribe to.
    pub const ALL: &[EventType] = &[
        of("account.connected", "A new financial account was linked."),
        of("account.disconnected", "Access to an account was revoked."),
        of("transaction.created", "New transactions were synced."),
        of(
            "transaction.updated",
            "Transactions changed, were posted, or (with removed: true) were taken back.",
        ),
        of("balance.updated", "An account's balance was refreshed."),
        of("investment.updated", "An account's holdings or their prices changed."),
        of("goal.updated", "A goal was made or changed."),
        of(
            "recurring.updated",
            "Recurring streams were found, changed, missed or ended, or are gone.",
        ),
        of("income.updated", "The income analysis changed."),
        of("score.updated", "The financial health scores changed."),
        of(
            "benefit.expiring",
            "A card's benefit has something left and its cycle ends within 30 days.",
        ),
        of("action.created", "An action was proposed and waits for the person."),
        of("action.decided", "An action was approved, rejected or withdrawn, or it expired."),
        of("action.executed", "An approved action was carried out, or could not be."),
        of("webhook.test", "Sent on request, to try an endpoint."),
        of(
            "webhook.endpoint_disabled",
            "Another endpoint of the same key was disabled because it failed for too long or is gone.",
        ),
    ];
}

const fn of(name: &'static str, description: &'static str) -> EventType {
    EventType { name, description }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_listed_once() {
        for (index, it) in EventType::ALL.iter().enumerate() {
            assert!(EventType::ALL[..index].iter().all(|before| before.name != it.name));
            assert!(!it.description.is_empty());
        }
        let facts = ActionFacts {
            action_id: String::new(),
            thread_id: String::new(),
            action_kind: "trade",
            status: "approved",
        };
        assert!(!Event::ActionDecided(facts).event_type().description.is_empty());
    }
}
