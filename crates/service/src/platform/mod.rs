//! Parts that all capabilities use: audit trail, request limits, cursors, idempotency, readiness, processes, the dirty queue and
//! kept figures.

pub mod anchors;
pub mod audit;
pub mod background;
pub mod cursors;
pub mod dirty_queue;
pub(crate) mod ended_access;
pub mod health;
pub mod idempotency;
pub mod installation;
pub(crate) mod kept;
pub mod limits;
pub mod mail_queue;
pub mod meters;
pub(crate) mod person_lock;
pub mod processes;
pub mod readiness;
pub mod requests;
