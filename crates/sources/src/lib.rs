//! Foreign formats in, drafts out: each source knows one way that banks speak, and nothing of
//! users or of the database.

mod apart;
mod bounds;
mod decimal;
pub mod files;
pub mod market;
mod percent;
pub mod simplefin;
