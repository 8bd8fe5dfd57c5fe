//! What Alpaca's refusals mean for whoever runs this, in sentences that say what to do.

use std::time::Duration;

use net::{Failure, HttpResponse};

use crate::market::Trouble;

/// The shortest wait that gives anybody time to recover.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_MESSAGE: usize = 200;

pub(super) enum Refusal {
    NoAnswer(Failure),
    Status {
        status: u16,
        /// Alpaca's own message, without our keys.
        said: String,
        /// Until Alpaca takes requests again, by its own clock.
        opens_in: Option<Duration>,
    },
}

#[derive(serde::Deserialize)]
struct ErrorBody {
    message: String,
}

impl Refusal {
    pub(super) fn read(reply: &HttpResponse, secrets: [&str; 2]) -> Refusal {
        let said = serde_json::from_slice(&reply.body).map(|it: ErrorBody| it.message);
        let mut said = said.unwrap_or_default().replace(char::is_control, " ");
        for secret in secrets.iter().filter(|it| !it.is_empty()) {
            said = said.replace(secret, "(hidden)");
        }
        let said = said.chars().take(LONGEST_MESSAGE).collect();
        Refusal::Status { status: reply.status, said, opens_in: opens_in(reply) }
    }

    /// Whether this is the symbol that Alpaca calls none.
    pub(super) fn names(&self, symbol: &str) -> bool {
        let Refusal::Status { status: 400 | 422, said, .. } = self else { return false };
        let Some((_, after)) = said.split_once("invalid symbol") else { return false };
        let outside = |it: char| !it.is_ascii_alphanumeric() && it != '.';
        after.split(outside).any(|it| it == symbol || it.strip_suffix('.') == Some(symbol))
    }

    /// How long to wait before the same request is worth making again.
    pub(super) fn passes_in(&self) -> Option<Duration> {
        match self {
            Refusal::Status { status: 429, opens_in, .. } => {
                Some(opens_in.unwrap_or_default().max(PAUSE))
            }
            Refusal::Status { status: 504, .. } => Some(PAUSE),
            _ => None,
        }
    }

    pub(super) fn trouble(&self) -> Trouble {
        let (status, said, opens_in) = match self {
            Refusal::Status { status, said, opens_in } => (status, said.as_str(), opens_in),
            Refusal::NoAnswer(Failure::BadHeader) => {
                return Trouble(
                    "The key id or the secret of Alpaca holds characters that cannot be sent, such \
                     as a line break. Check them in the configuration."
                        .to_owned(),
                );
            }
            Refusal::NoAnswer(failure) => {
                return Trouble(format!(
                    "Alpaca could not be asked: {failure}. Check the connection to the internet \
                     and the address of Alpaca in the configuration."
                ));
            }
        };
        let because = match said.trim().trim_end_matches('.') {
            "" => status.to_string(),
            said => format!("{status}, \"{said}\""),
        };
        Trouble(match status {
            401 => format!(
                "Alpaca does not know the key ({because}). Check the key id and the secret in the \
                 configuration: those of paper and live accounts differ, and resetting a paper \
                 account ends its key."
            ),
            403 => format!(
                "Alpaca does not give this data to the key ({because}). Check the key id and the \
                 secret in the configuration, and whether the plan includes stock prices."
            ),
            404 => format!(
                "Alpaca has no market data at the address in the configuration ({because}). It is \
                 usually https://data.alpaca.markets."
            ),
            429 => format!(
                "Alpaca has had too many requests with this key ({because}). {} If it happens \
                 often, see which other programs use the key, or choose a larger plan.",
                opens(opens_in.as_ref())
            ),
            500..=599 => format!(
                "Alpaca has trouble of its own ({because}). Prices stay as they are until it is \
                 over; there is nothing to do here."
            ),
            _ => format!(
                "Alpaca does not accept the request ({because}). It may have changed how it is \
                 asked: look for a newer version of this program."
            ),
        })
    }
}

fn opens(opens_in: Option<&Duration>) -> String {
    match opens_in.map(Duration::as_secs) {
        Some(seconds @ 1..) => format!("It takes more in {seconds} s."),
        _ => "It takes more within a minute.".to_owned(),
    }
}

/// Both moments are Alpaca's, so it does not matter whether our clock is right.
fn opens_in(reply: &HttpResponse) -> Option<Duration> {
    let reset: i64 = reply.header("x-ratelimit-reset")?.parse().ok()?;
    let now = jiff::fmt::rfc2822::parse(reply.header("date")?).ok()?.timestamp().as_second();
    Some(Duration::from_secs(u64::try_from(reset.checked_sub(now)?).unwrap_or(0)))
}

pub(super) fn unreadable(_: serde_json::Error) -> Trouble {
    Trouble(
        "Alpaca's answer is not what is expected. Check that the address of Alpaca in the \
         configuration leads to Alpaca, and look for a newer version of this program."
            .to_owned(),
    )
}

pub(super) fn endless() -> Trouble {
    Trouble(
        "Alpaca lists corporate actions without end. Ask for fewer symbols or fewer days."
            .to_owned(),
    )
}
