//! An action: a proposal of a key, an app or the person, and its state.

use base::{ActionId, PaperAccountId, ThreadId, Timestamp, UserId};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use wire::json::Moment;
use wire::v1::{self, ActionFacts};

use super::display::ProposalDetails;
use super::payload::{ActionPayload, ActionType, Kind};

/// How long an executed correction can be undone.
const UNDO_DAYS: i64 = 30;

base::words!(
    /// The state of an action. The last five are final.
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
    /// The kind of credential that proposed an action.
    Proposer {
        Key => "api_key",
        App => "app",
        Person => "person",
    }
);

base::words!(
    /// How the person confirmed a decision.
    DecisionMethod {
        Click => "click",
        Passkey => "passkey",
    }
);

db::word_columns!(Status, Proposer, DecisionMethod);

/// An action as of the moment it is read. One whose time is over is expired, even if the background step has not saved
/// that yet.
#[derive(Debug, Clone)]
pub struct Action {
    pub user: UserId,
    pub id: ActionId,
    pub thread: ThreadId,
    pub action_type: ActionType,
    pub status: Status,
    pub(super) payload_json: String,
    pub(super) details_json: String,
    pub description: Option<String>,
    pub reason: Option<String>,
    pub account: Option<PaperAccountId>,
    pub amount_minor: Option<i64>,
    pub(super) digest: [u8; 32],
    pub proposer: Proposer,
    pub(super) proposer_id: [u8; 16],
    pub proposer_label: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub expires_at: Timestamp,
    pub decided_at: Option<Timestamp>,
    pub decision_method: Option<DecisionMethod>,
    pub rejection_reason: Option<String>,
    pub(super) seen_price: Option<base::Fixed9>,
    /// When an approved action is to be executed; for a queued trade, when the market opens.
    pub due_at: Option<Timestamp>,
    pub(super) reserved_minor: Option<i64>,
    pub executed_at: Option<Timestamp>,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub result: Option<String>,
    pub(super) inverse: Option<String>,
    pub undone_at: Option<Timestamp>,
    /// Whether approving it takes a passkey, by the person's current policy.
    pub needs_passkey: bool,
}

impl Action {
    pub fn kind(&self) -> Kind {
        self.action_type.kind()
    }

    /// The digest of everything that the person is shown, computed from the stored columns.
    pub fn computed_digest(&self) -> [u8; 32] {
        digest(self)
    }

    /// Whether the stored columns are unchanged since the proposal.
    pub(super) fn is_unchanged(&self) -> bool {
        self.computed_digest() == self.digest
    }

    pub fn details(&self) -> ProposalDetails {
        ProposalDetails::parse(&self.details_json)
    }

    /// The payload of the proposal; `None` if the stored JSON is invalid.
    pub fn payload(&self) -> Option<ActionPayload> {
        ActionPayload::parse(self.action_type, &self.payload_json)
    }

    /// Whether the person can still undo it.
    pub fn can_be_undone(&self, now: Timestamp) -> bool {
        let since = self.executed_at.map_or(i64::MAX, |at| now.as_second() - at.as_second());
        self.status == Status::Executed
            && self.inverse.is_some()
            && self.undone_at.is_none()
            && since <= UNDO_DAYS * 86_400
    }

    pub(super) fn facts(&self) -> ActionFacts {
        ActionFacts {
            action_id: self.id.to_string(),
            thread_id: self.thread.to_string(),
            action_kind: self.kind().as_str(),
            status: self.status.as_str(),
        }
    }

    fn proposer_id_text(&self) -> String {
        match self.proposer {
            Proposer::Key => base::KeyId::from_bytes(self.proposer_id).to_string(),
            Proposer::App => base::GrantId::from_bytes(self.proposer_id).to_string(),
            Proposer::Person => self.user.to_string(),
        }
    }
}

impl From<&Action> for v1::ActionBody {
    fn from(action: &Action) -> v1::ActionBody {
        let details = action.details();
        let decided = action.decision_method.is_some();
        let result = action.result.clone().and_then(|it| RawValue::from_string(it).ok());
        v1::ActionBody {
            action_id: action.id.to_string(),
            action_type: action.action_type.as_str().to_owned(),
            action_kind: action.kind().as_str(),
            status: action.status.as_str(),
            description: action.description.clone().or_else(|| Some(details.title())),
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
                client_execution: action.kind().is_executed_by_person(),
            },
            details_v1: details.trade,
            details: details.plain,
            proposed_by: v1::ProposedBy {
                r#type: action.proposer.as_str(),
                id: action.proposer_id_text(),
                label: action.proposer_label.clone(),
            },
            decided_by: decided
                .then(|| v1::DecidedBy { r#type: "person", id: action.user.to_string() }),
            decision_method: action.decision_method.map(|it| it.as_str().to_owned()),
            rejection_reason: action.rejection_reason.clone(),
            result,
        }
    }
}

/// Hashes everything that the person is shown and that will be executed, so that no change to either goes unnoticed.
pub(super) fn digest(action: &Action) -> [u8; 32] {
    let mut hash = Sha256::new();
    let account = action.account.as_ref().map(PaperAccountId::as_bytes);
    let expires_at = action.expires_at.as_microsecond().to_be_bytes();
    let created_at = action.created_at.as_microsecond().to_be_bytes();
    let fields: [Option<&[u8]>; 14] = [
        Some(action.user.as_bytes()),
        Some(action.id.as_bytes()),
        Some(action.thread.as_bytes()),
        Some(action.action_type.as_str().as_bytes()),
        Some(action.payload_json.as_bytes()),
        Some(action.details_json.as_bytes()),
        action.description.as_deref().map(str::as_bytes),
        action.reason.as_deref().map(str::as_bytes),
        account.map(|it| &it[..]),
        Some(&created_at),
        Some(&expires_at),
        Some(action.proposer.as_str().as_bytes()),
        Some(&action.proposer_id),
        Some(action.proposer_label.as_bytes()),
    ];
    for field in fields {
        hash.update(field.map_or(-1, |it| it.len() as i64).to_be_bytes());
        hash.update(field.unwrap_or_default());
    }
    hash.update(action.amount_minor.unwrap_or(i64::MIN).to_be_bytes());
    hash.finalize().into()
}
