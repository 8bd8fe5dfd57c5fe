//! Foreign formats in, drafts out: each source knows one way that banks speak, and nothing of
//! users or of the database.

pub mod demo;
pub mod market;
