//! The one door out: every request that leaves goes through here, with bounded time and size, to
//! addresses that were looked at first, and shows nothing secret when it is printed.

mod door;
mod failure;
mod guard;
mod line;
mod message;
mod meter;
mod pool;
mod target;
mod tls;

pub use door::{Door, Policy};
pub use failure::Failure;
pub use guard::Guard;
pub use message::{Limits, Outgoing, Reply};
pub use tls::SetupError;
