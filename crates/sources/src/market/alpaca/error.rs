//! Alpaca's error responses, as messages for the operator that say what to do.

use std::time::Duration;

use net::{Failure, HttpResponse};

use crate::market::MarketError;

/// The shortest wait that gives a server time to recover.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_MESSAGE: usize = 200;

pub(super) enum AlpacaError {
    NoAnswer(Failure),
    Status {
        status: u16,
        /// Alpaca's own message, with our keys redacted.
        message: String,
        /// The time until Alpaca accepts requests again, by its own clock.
        opens_in: Option<Duration>,
    },
}

#[derive(serde::Deserialize)]
struct ErrorBody {
    message: String,
}

impl AlpacaError {
    pub(super) fn read(reply: &HttpResponse, secrets: [&str; 2]) -> AlpacaError {
        let message = serde_json::from_slice(&reply.body).map(|it: ErrorBody| it.message);
        let mut message = message.unwrap_or_default().replace(char::is_control, " ");
        for secret in secrets.iter().filter(|it| !it.is_empty()) {
            message = message.replace(secret, "(hidden)");
        }
        let message = message.chars().take(LONGEST_MESSAGE).collect();
        AlpacaError::Status { status: reply.status, message, opens_in: opens_in(reply) }
    }

    /// Whether the message names this symbol as invalid.
    pub(super) fn names(&self, symbol: &str) -> bool {
        let AlpacaError::Status { status: 400 | 422, message, .. } = self else { return false };
        let Some((_, after)) = message.split_once("invalid symbol") else { return false };
        let outside = |it: char| !it.is_ascii_alphanumeric() && it != '.';
        after.split(outside).any(|it| it == symbol || it.strip_suffix('.') == Some(symbol))
    }

    /// How long to wait before retrying; none if a retry does not help.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            AlpacaError::Status { status: 429, opens_in, .. } => {
                Some(opens_in.unwrap_or_default().max(PAUSE))
            }
            AlpacaError::Status { status: 504, .. } => Some(PAUSE),
            _ => None,
        }
    }

    pub(super) fn to_market_error(&self) -> MarketError {
        let (status, message, opens_in) = match self {
            AlpacaError::Status { status, message, opens_in } => {
                (status, message.as_str(), opens_in)
            }
            AlpacaError::NoAnswer(Failure::BadHeader) => {
                return MarketError(
                    "The key id or the secret of Alpaca contains characters that cannot be sent, such \
                     as a line break. Check them in the configuration."
                        .to_owned(),
                );
            }
            AlpacaError::NoAnswer(failure) => {
                return MarketError(format!(
                    "Alpaca could not be reached: {failure}. Check the internet connection and \
                     the address of Alpaca in the configuration."
                ));
            }
        };
        let because = match message.trim().trim_end_matches('.') {
            "" => status.to_string(),
            message => format!("{status}, \"{message}\""),
        };
        MarketError(match status {
            401 => format!(
                "Alpaca rejected the key ({because}). Check the key id and the secret in the \
                 configuration: those of paper and live accounts differ, and resetting a paper \
                 account invalidates its key."
            ),
            403 => format!(
                "Alpaca denies the key access to this data ({because}). Check the key id and the \
                 secret in the configuration, and whether the plan includes stock prices."
            ),
            404 => format!(
                "Alpaca has no market data at the address in the configuration ({because}). It is \
                 usually https://data.alpaca.markets."
            ),
            429 => format!(
                "Alpaca received too many requests with this key ({because}). {} If it happens \
                 often, check which other programs use the key, or choose a larger plan.",
                opens(opens_in.as_ref())
            ),
            500..=599 => format!(
                "Alpaca has a problem ({because}). Prices are not updated until it is over; there \
                 is nothing to do here."
            ),
            _ => format!(
                "Alpaca did not accept the request ({because}). Its API may have changed: look for \
                 a newer version of Evenkeel."
            ),
        })
    }
}

fn opens(opens_in: Option<&Duration>) -> String {
    match opens_in.map(Duration::as_secs) {
        Some(seconds @ 1..) => format!("It accepts more in {seconds} s."),
        _ => "It accepts more within a minute.".to_owned(),
    }
}

/// Computed from Alpaca's own clock, so that ours need not be right.
fn opens_in(reply: &HttpResponse) -> Option<Duration> {
    let reset: i64 = reply.header("x-ratelimit-reset")?.parse().ok()?;
    let now = jiff::fmt::rfc2822::parse(reply.header("date")?).ok()?.timestamp().as_second();
    Some(Duration::from_secs(u64::try_from(reset.checked_sub(now)?).unwrap_or(0)))
}

pub(super) fn unreadable(_: serde_json::Error) -> MarketError {
    MarketError(
        "Alpaca's response is not as expected. Check that the address of Alpaca in the \
         configuration is right, and look for a newer version of Evenkeel."
            .to_owned(),
    )
}

pub(super) fn too_many_pages() -> MarketError {
    MarketError(
        "Alpaca returned too many pages of corporate actions. Request fewer symbols or fewer days."
            .to_owned(),
    )
}
