//! The events that webhooks announce.

use serde::Serialize;

use super::Scope;

/// The payload of a webhook event: ids and non-sensitive facts, never whole resources.
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
    AccountNeedsAttention {
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

/// The payload of events about actions.
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
    /// The scope that a key needs to receive the event; none if every key with an endpoint receives it.
    pub scope: Option<Scope>,
}

impl Event {
    /// The most ids in one event; more are split over several events.
    pub const IDS_MAX: usize = 100;

    /// The account of the event, if it has one.
    pub fn account_id(&self) -> Option<&str> {
        match self {
            Event::AccountConnected { account_id, .. }
            | Event::AccountDisconnected { account_id, .. }
            | Event::AccountNeedsAttention { account_id, .. }
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
            Event::AccountNeedsAttention { .. } => "account.needs_attention",
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
        EventType::find(name).unwrap_or(unscoped(name, ""))
    }
}

impl EventType {
    pub fn find(name: &str) -> Option<EventType> {
        EventType::ALL.iter().copied().find(|it| it.name == name)
    }

    pub const NAMES: [&str; EventType::ALL.len()] = {
        let mut names = [""; EventType::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = EventType::ALL[index].name;
            index += 1;
        }
        names
    };

    /// All event types that an endpoint can subscribe to.
    pub const ALL: &[EventType] = &[
        scoped(Scope::AccountsRead, "account.connected", "A new financial account was linked."),
        scoped(Scope::AccountsRead, "account.disconnected", "Access to an account was revoked."),
        scoped(
            Scope::AccountsRead,
            "account.needs_attention",
            "An account is not updated until the person acts, for example by signing in to the bank again.",
        ),
        scoped(Scope::TransactionsRead, "transaction.created", "New transactions were synced."),
        scoped(
            Scope::TransactionsRead,
            "transaction.updated",
            "Transactions changed, were posted or were removed (removed: true).",
        ),
        scoped(Scope::AccountsRead, "balance.updated", "An account's balance was refreshed."),
        scoped(
            Scope::InvestmentsRead,
            "investment.updated",
            "An account's holdings or their prices changed.",
        ),
        scoped(Scope::GoalsRead, "goal.updated", "A goal was created or changed."),
        scoped(
            Scope::RecurringRead,
            "recurring.updated",
            "Recurring payments were detected, changed, missed, ended or removed.",
        ),
        scoped(Scope::IncomeRead, "income.updated", "The income analysis changed."),
        scoped(Scope::ScoresRead, "score.updated", "The financial health scores changed."),
        scoped(
            Scope::BenefitsRead,
            "benefit.expiring",
            "A card benefit is not used up and its period ends within 30 days.",
        ),
        scoped(
            Scope::ActionsRead,
            "action.created",
            "An action was proposed and awaits the person's decision.",
        ),
        scoped(
            Scope::ActionsRead,
            "action.decided",
            "An action was approved, rejected or withdrawn, or it expired.",
        ),
        scoped(Scope::ActionsRead, "action.executed", "An approved action succeeded or failed."),
        unscoped("webhook.test", "A test event, sent on request."),
        unscoped(
            "webhook.endpoint_disabled",
            "Another endpoint of the same key was disabled because it failed for too long or is gone.",
        ),
    ];
}

const ACCOUNT: &str = "acc_01kny3v1m8f2x9q4t7r5c6b8de";

/// An example of an event type; none for `webhook.test`, which has no payload.
pub fn example(name: &str, at: crate::json::Moment, today: crate::json::Day) -> Option<Event> {
    let account_id = || ACCOUNT.to_owned();
    let institution_name = || Some("Example Bank".to_owned());
    let transaction_ids = || vec!["txn_01kny3v1m8f2x9q4t7r5c6b8de".to_owned()];
    let facts = |status| ActionFacts {
        action_id: "019d7c3d-8690-77c3-b2b1-343e56c5a1ae".to_owned(),
        thread_id: "019d7c3d-8691-7d22-9d3c-5a1f0e2b4c6d".to_owned(),
        action_kind: "trade",
        status,
    };
    Some(match name {
        "account.connected" => Event::AccountConnected {
            account_id: account_id(),
            institution_name: institution_name(),
            r#type: "depository",
        },
        "account.disconnected" => Event::AccountDisconnected {
            account_id: account_id(),
            institution_name: institution_name(),
            r#type: "depository",
        },
        "account.needs_attention" => Event::AccountNeedsAttention {
            account_id: account_id(),
            institution_name: institution_name(),
            r#type: "depository",
        },
        "transaction.created" => Event::TransactionsCreated {
            account_id: account_id(),
            transaction_ids: transaction_ids(),
            count: 1,
        },
        "transaction.updated" => Event::TransactionsUpdated {
            account_id: account_id(),
            transaction_ids: transaction_ids(),
            count: 1,
            removed: false,
        },
        "balance.updated" => Event::BalanceUpdated { account_id: account_id(), as_of: at },
        "investment.updated" => Event::InvestmentsUpdated { account_id: account_id(), as_of: at },
        "goal.updated" => Event::GoalUpdated {
            goal_id: "goal_01kny3v1m8f2x9q4t7r5c6b8de".to_owned(),
            status: "active",
        },
        "recurring.updated" => Event::RecurringUpdated {
            stream_ids: vec!["rec_01kny3v1m8f2x9q4t7r5c6b8de".to_owned()],
            count: 1,
        },
        "income.updated" => Event::IncomeUpdated { generated_at: at },
        "score.updated" => Event::ScoreUpdated { observation_date: today },
        "benefit.expiring" => Event::BenefitExpiring {
            benefit_id: "ben_01kny3v1m8f2x9q4t7r5c6b8de".to_owned(),
            account_id: account_id(),
            expires_on: today,
        },
        "action.created" => Event::ActionCreated(facts("pending_approval")),
        "action.decided" => Event::ActionDecided(facts("approved")),
        "action.executed" => Event::ActionExecuted(facts("executed")),
        "webhook.endpoint_disabled" => Event::EndpointDisabled {
            endpoint_id: "ep_01kny3v1m8f2x9q4t7r5c6b8de".to_owned(),
            reason: "gone",
        },
        _ => return None,
    })
}

/// An event type that requires a scope.
const fn scoped(scope: Scope, name: &'static str, description: &'static str) -> EventType {
    EventType { name, description, scope: Some(scope) }
}

/// An event type about the webhooks themselves, which requires no scope.
const fn unscoped(name: &'static str, description: &'static str) -> EventType {
    EventType { name, description, scope: None }
}

#[cfg(test)]
mod tests {
    use base::{Date, Timestamp};

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

    #[test]
    fn every_type_except_the_test_event_has_an_example() {
        let (at, today) = (Timestamp::UNIX_EPOCH, Date::constant(2026, 4, 10));
        for it in EventType::ALL {
            let example = example(it.name, crate::json::Moment(at), crate::json::Day(today));
            let named = example.map(|it| it.event_type().name);
            assert_eq!(named, Some(it.name).filter(|it| *it != "webhook.test"));
        }
    }
}
