//! The only outbound HTTP client: bounded in time and size, with every address checked before it is connected to, and
//! no secrets in its debug output.

mod client;
mod connection;
mod failure;
mod guard;
mod message;
mod pool;
mod read_budget;
mod target;
mod tls;

pub use client::{HttpClient, Policy};
pub use failure::Failure;
pub use guard::Guard;
pub use message::{HttpRequest, HttpResponse, Limits};
pub use tls::SetupError;
