//! Actions: what keys, apps and assistants propose, and only the person decides. A proposal is written once; from then on
//! only its state moves, by one conditional update at a time.

mod bell;
mod decide;
mod details;
mod execute;
mod fixes;
mod policy;
mod propose;
mod read;
mod what;

use base::{ActionId, PaperAccountId, ThreadId, Timestamp, UserId};
use serde_json::value::RawValue;
use wire::json::Moment;
use wire::v1::{self, ActionFacts};

pub(crate) use bell::Bell;
pub use bell::{Pulse, WAIT_SECONDS_MAX, end_waits, pulse, ring, wait_for_pulse, wait_for_thread};
pub use calc::paper::{Side, Size};
pub use decide::{Method, Seen, approve, ask_passkey, cancel, confirm, reject, undo};
pub use details::{Shown, as_of_label, change_direction, change_display, timing_now};
pub use execute::{execute_once, expire_once};
pub use policy::{LIFE_SECONDS_MAX, LIFE_SECONDS_MIN, Policy, Wish, policy, set_policy};
pub use propose::{NewAction, Prepared, prepare, propose};
pub use read::{Filter, Listed, get, list, pending_count, thread};
pub use what::{ActionType, Kind, What};

base::words!(
    /// Where an action stands. The last five are final.
    Status {
        PendingApproval => "pending_approval",
        Approved => "approved",
        Executing => "executing",
        Executed => "executed",
        Failed => "failed",
        Rejected => "rejected",
        Expired => "expired",
        Cancelled => "cancelled",
    }
);

impl Status {
    pub fn is_final(self) -> bool {
        !matches!(self, Status::PendingApproval | Status::Approved | Status::Executing)
    }
}

base::words!(
    /// Who proposed it.
    Proposer {
        Key => "api_key",
        App => "app",
        Person => "person",
    }
);

/// An action as it stands at the moment it is read: one whose time is over is expired, whether or not anybody has
/// written that down yet.
#[derive(Debug, Clone)]
pub struct Action {
    pub user: UserId,
    pub id: ActionId,
    pub thread: ThreadId,
    pub action_type: ActionType,
    pub status: Status,
    pub(crate) payload: String,
    pub(crate) details: String,
    pub description: Option<String>,
    pub reason: Option<String>,
    pub account: Option<PaperAccountId>,
    pub amount_minor: Option<i64>,
    pub(crate) digest: [u8; 32],
    pub proposer: Proposer,
    pub(crate) proposer_id: [u8; 16],
    pub proposer_label: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub expires_at: Timestamp,
    pub decided_at: Option<Timestamp>,
    pub decision_method: Option<String>,
    pub rejection_reason: Option<String>,
    pub(crate) seen_price: Option<base::Fixed9>,
    /// When an approved trade that waits for the market may be filled.
    pub due_at: Option<Timestamp>,
    pub(crate) reserved_minor: Option<i64>,
    pub executed_at: Option<Timestamp>,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub result: Option<String>,
    pub(crate) inverse: Option<String>,
    pub undone_at: Option<Timestamp>,
    /// Whether deciding it takes a passkey, by the person's policy of today.
    pub needs_passkey: bool,
}

impl Action {
    pub fn kind(&self) -> Kind {
        self.action_type.kind()
    }

    /// Of everything that the person is shown, worked out from what is stored now.
    pub fn digest(&self) -> [u8; 32] {
        propose::digest(self)
    }

    /// Whether nothing has changed since it was proposed.
    pub(crate) fn is_as_shown(&self) -> bool {
        self.digest() == self.digest
    }

    pub fn details(&self) -> Shown {
        Shown::read(&self.details)
    }

    /// What is to be done; none where what is stored is not ours.
    pub fn what(&self) -> Option<What> {
        What::read(self.action_type, &self.payload)
    }

    /// Whether the person may still take it back.
    pub fn can_be_undone(&self, now: Timestamp) -> bool {
        let since = self.executed_at.map_or(i64::MAX, |at| now.as_second() - at.as_second());
        self.status == Status::Executed
            && self.inverse.is_some()
            && self.undone_at.is_none()
            && since <= decide::UNDO_DAYS * 86_400
    }

    pub(crate) fn facts(&self) -> ActionFacts {
        ActionFacts {
            action_id: self.id.to_string(),
            thread_id: self.thread.to_string(),
            action_kind: self.kind().as_str(),
            status: self.status.as_str(),
        }
    }

    fn proposer_text(&self) -> String {
        match self.proposer {
            Proposer::Key => base::KeyId::from_bytes(self.proposer_id).to_string(),
            Proposer::App => base::GrantId::from_bytes(self.proposer_id).to_string(),
            Proposer::Person => self.user.to_string(),
        }
    }
}

impl From<&Action> for v1::ActionBody {
    fn from(action: &Action) -> v1::ActionBody {
        let shown = action.details();
        let decided = matches!(action.decision_method.as_deref(), Some("click" | "passkey"));
        let result = action.result.clone().and_then(|it| RawValue::from_string(it).ok());
        v1::ActionBody {
            action_id: action.id.to_string(),
            action_type: action.action_type.as_str().to_owned(),
            action_kind: action.kind().as_str(),
            status: action.status.as_str(),
            description: action.description.clone().or_else(|| Some(shown.title())),
            display_error_message: action.error_message.clone(),
            created_at: Moment(action.created_at),
            updated_at: Moment(action.updated_at),
            decided_at: action.decided_at.map(Moment),
            executed_at: action.executed_at.map(Moment),
            expires_at: Moment(action.expires_at),
            decision_needs: v1::DecisionNeeds {
                approval: true,
                passkey: action.needs_passkey,
                identity_verification: false,
                client_execution: action.kind().is_for_the_person(),
            },
            details_v1: shown.trade,
            details: shown.plain,
            proposed_by: v1::ProposedBy {
                r#type: action.proposer.as_str(),
                id: action.proposer_text(),
                label: action.proposer_label.clone(),
            },
            decided_by: decided
                .then(|| v1::DecidedBy { r#type: "person", id: action.user.to_string() }),
            decision_method: action.decision_method.clone(),
            rejection_reason: action.rejection_reason.clone(),
            result,
        }
    }
}

pub(crate) fn statements() -> Vec<&'static str> {
    [
        bell::STATEMENTS,
        decide::STATEMENTS,
        details::STATEMENTS,
        execute::STATEMENTS,
        policy::STATEMENTS,
        propose::STATEMENTS,
        read::STATEMENTS,
    ]
    .concat()
}
