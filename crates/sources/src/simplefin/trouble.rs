//! Why there is no answer from a SimpleFIN server, in sentences that say what to do.

use std::fmt;

use net::{Failure, HttpResponse};

use super::AccessUrl;
use super::notice::{cleaned, is_about_requests};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The token was claimed before, or never existed.
    Claimed,
    /// The access URL is not good any more.
    Revoked,
    /// The person's subscription at the server has ended.
    PaymentRequired,
    RateLimited,
    Unreachable(Failure),
    /// The address is one that the client does not let out to.
    Forbidden(Failure),
    /// The server has trouble of its own.
    ServerError(u16),
    /// The server refuses for another reason, and this is what it said.
    Refused {
        status: u16,
        said: String,
    },
    TooLarge,
    /// An answer that is none of SimpleFIN's, and what is wrong with it.
    BadAnswer(String),
}

impl Trouble {
    /// Whether asking again later may help without the person doing anything.
    pub fn passes(&self) -> bool {
        match self {
            Trouble::RateLimited | Trouble::Unreachable(_) | Trouble::ServerError(_) => true,
            Trouble::BadAnswer(_) | Trouble::TooLarge | Trouble::Refused { .. } => true,
            Trouble::Claimed | Trouble::Revoked => false,
            Trouble::PaymentRequired | Trouble::Forbidden(_) => false,
        }
    }

    pub(super) fn of_failure(failure: Failure) -> Trouble {
        match failure {
            Failure::BlockedAddress | Failure::BadUrl | Failure::NotHttps => {
                Trouble::Forbidden(failure)
            }
            _ => Trouble::Unreachable(failure),
        }
    }

    /// Of a claim that brought no access URL.
    pub(super) fn of_claim(reply: &HttpResponse) -> Trouble {
        let said = String::from_utf8_lossy(&reply.body);
        match reply.status {
            403 => Trouble::Claimed,
            200..=299 if said.contains("Forbidden") => Trouble::Claimed,
            200..=299 => Trouble::BadAnswer("it holds no access URL".to_owned()),
            _ => Trouble::of_status(reply.status, cleaned(&said)),
        }
    }

    pub(super) fn of_fetch(reply: &HttpResponse, access: &AccessUrl) -> Trouble {
        let said = cleaned(&access.redact(&String::from_utf8_lossy(&reply.body)));
        match reply.status {
            401 | 403 if is_about_requests(&said) => Trouble::RateLimited,
            401 | 403 => Trouble::Revoked,
            status => Trouble::of_status(status, said),
        }
    }

    fn of_status(status: u16, said: String) -> Trouble {
        match status {
            402 => Trouble::PaymentRequired,
            429 => Trouble::RateLimited,
            500..=599 => Trouble::ServerError(status),
            _ => Trouble::Refused { status, said },
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Claimed => f.write_str(
                "SimpleFIN says that this setup token was used before, or never existed. Create a \
                 new one at SimpleFIN and paste it here. If you did not use the old one yourself, \
                 someone else may have: disconnect it at SimpleFIN.",
            ),
            Trouble::Revoked => f.write_str(
                "SimpleFIN does not accept this connection any more: it was revoked there. Create \
                 a new setup token at SimpleFIN and paste it here; your accounts and their history \
                 stay.",
            ),
            Trouble::PaymentRequired => f.write_str(
                "Your subscription at SimpleFIN has ended. Renew it there; syncing then goes on by \
                 itself.",
            ),
            Trouble::RateLimited => f.write_str(
                "SimpleFIN was asked too often today. Wait until tomorrow, and see whether other \
                 programs use the same connection.",
            ),
            Trouble::Unreachable(failure) => write!(
                f,
                "SimpleFIN could not be asked: {failure}. It is tried again later; if it goes on, \
                 check the connection to the internet."
            ),
            Trouble::Forbidden(failure) => write!(
                f,
                "The address of this SimpleFIN server is not one that may be asked: {failure}. \
                 Create a setup token at a server that you trust, or let the operator of this \
                 installation allow its network."
            ),
            Trouble::ServerError(status) => write!(
                f,
                "SimpleFIN has trouble of its own ({status}). It is tried again later; there is \
                 nothing to do here."
            ),
            Trouble::Refused { status, said } => {
                let said = said.trim_end_matches('.');
                let said = if said.is_empty() { String::new() } else { format!(", \"{said}\"") };
                write!(
                    f,
                    "SimpleFIN does not accept the request ({status}{said}). If it goes on, look \
                     for a newer version of this program."
                )
            }
            Trouble::TooLarge => f.write_str(
                "SimpleFIN's answer is larger than is let in. Fewer days or fewer accounts make it \
                 smaller.",
            ),
            Trouble::BadAnswer(wrong) => write!(
                f,
                "The answer is not one of a SimpleFIN server: {wrong}. Check that the setup token \
                 comes from SimpleFIN; if it does, try again later."
            ),
        }
    }
}

impl std::error::Error for Trouble {}
