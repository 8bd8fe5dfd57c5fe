//! Actions: proposals of keys, apps and assistants that only the person can approve. A proposal never changes after it is
//! created; only its state does, by conditional updates.

mod action;
mod annotating;
mod changes;
mod corrections;
mod decide;
mod describe;
mod display;
mod execute;
mod expiry;
mod figures;
mod named_transaction;
mod payload;
mod policy;
mod propose;
mod read;

pub use action::{Action, DecisionMethod, Proposer, Status};
pub use calc::paper::{Side, Size};
pub(crate) use changes::ChangeNotifier;
pub use changes::{
    ActionsState, WAIT_SECONDS_MAX, actions_state, end_waits, notify_changed, wait_for_change,
    wait_for_thread, waiting_count,
};
pub use decide::{SeenProposal, approve, ask_passkey, cancel, confirm, reject, undo};
pub use describe::{as_of_label, change_direction, change_display, timing_now};
pub use display::ProposalDetails;
pub use execute::execute_once;
pub use expiry::expire_once;
pub(crate) use figures::figures;
pub use payload::{ActionPayload, ActionType, Kind, ProposedPart};
pub use policy::{LIFE_SECONDS_MAX, LIFE_SECONDS_MIN, Policy, get_policy, set_policy};
pub use propose::{NewAction, PreparedAction, prepare, propose};
pub use read::{ActionPage, Filter, count_pending, get, get_by_thread, list};

pub(crate) fn statements() -> Vec<&'static str> {
    [
        annotating::STATEMENTS,
        changes::STATEMENTS,
        decide::STATEMENTS,
        describe::STATEMENTS,
        execute::STATEMENTS,
        expiry::STATEMENTS,
        figures::STATEMENTS,
        named_transaction::STATEMENTS,
        policy::STATEMENTS,
        propose::STATEMENTS,
        read::STATEMENTS,
    ]
    .concat()
}
