//! All outbound connections: the HTTP client, bounded in time and size, with every address checked before it is connected
//! to, and no secrets in its debug output; and the SMTP client.

mod client;
mod connection;
mod failure;
mod guard;
mod message;
mod pool;
mod read_budget;
mod smtp;
mod target;
mod tls;

pub use client::{HttpClient, Policy};
pub use failure::Failure;
pub use guard::Guard;
pub use message::{HttpRequest, HttpResponse, Limits};
pub use smtp::{
    EmailAddress, Login, Mailbox, Message, Security, SmtpClient, SmtpError, SmtpSettings,
};
pub use tls::SetupError;
