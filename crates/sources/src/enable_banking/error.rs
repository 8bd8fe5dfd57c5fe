//! Enable Banking's errors, as messages for the person that say what to do.

use net::{Failure, HttpResponse};
use serde::Deserialize;
use serde_json::Value;

use crate::provider::{BankError, ErrorKind, JsonError, Remedy};

const NAME: &str = "Enable Banking";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EnableError {
    Unreachable(Failure),
    Refused {
        status: u16,
        code: String,
        /// The first day that the bank proposes instead.
        date_from: Option<String>,
    },
    Unreadable,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorBody {
    error: Option<Value>,
    code: Option<Value>,
    detail: Option<Value>,
}

impl From<JsonError> for EnableError {
    fn from(error: JsonError) -> EnableError {
        match error {
            JsonError::Unreachable(failure) => EnableError::Unreachable(failure),
            JsonError::Refused(reply) => EnableError::read(&reply),
            JsonError::Unreadable => EnableError::Unreadable,
        }
    }
}

impl EnableError {
    fn read(reply: &HttpResponse) -> EnableError {
        let body: ErrorBody = serde_json::from_slice(&reply.body).unwrap_or_default();
        let text = |it: &Option<Value>| it.as_ref()?.as_str().map(str::to_owned);
        let code = text(&body.error).or_else(|| text(&body.code));
        let proposed = body.detail.as_ref().and_then(|it| it.get("date_from"));
        let date_from = proposed.and_then(Value::as_str).map(str::to_owned);
        EnableError::Refused { status: reply.status, code: code.unwrap_or_default(), date_from }
    }

    /// Zero if there was no response.
    pub(super) fn status(&self) -> u16 {
        match self {
            EnableError::Refused { status, .. } => *status,
            EnableError::Unreachable(_) | EnableError::Unreadable => 0,
        }
    }

    fn is_code(&self, wanted: &str) -> bool {
        matches!(self, EnableError::Refused { code, .. } if code == wanted)
    }

    /// Whether the bank does not go back that far, and the first day that it proposes.
    pub(super) fn wrong_period(&self) -> Option<Option<&str>> {
        match self {
            EnableError::Refused { code, date_from, .. } if code == "WRONG_TRANSACTIONS_PERIOD" => {
                Some(date_from.as_deref())
            }
            _ => None,
        }
    }

    /// Whether it says that an account is not covered by the consent, which does not concern other accounts.
    pub(super) fn is_of_account(&self) -> bool {
        matches!(self.status(), 401 | 403 | 404 | 410)
    }

    pub(super) fn is_redirect_refused(&self) -> bool {
        self.is_code("REDIRECT_URI_NOT_ALLOWED")
    }

    pub(super) fn for_person(&self) -> BankError {
        match self {
            EnableError::Unreachable(failure) => BankError::unreachable(NAME, failure),
            EnableError::Unreadable => BankError::unreadable(NAME),
            EnableError::Refused { status: 401 | 403, .. } => BankError::new(
                ErrorKind::NeedsPerson(Some(Remedy::ChangeKeys)),
                "Enable Banking doesn't accept this application. Check that it is active in the \
                 control panel, and enter its id and private key again.",
            ),
            EnableError::Refused { status: 429, .. } => BankError::new(
                ErrorKind::RateLimited,
                "Your bank has received the requests that it allows in a day. Syncing resumes \
                 tomorrow.",
            ),
            EnableError::Refused { code, .. } if code == "PSU_HEADER_NOT_PROVIDED" => {
                BankError::temporary(
                    "Your bank answers only while you are here. Select Sync now to update.",
                )
            }
            EnableError::Refused { status, .. } if *status >= 500 => BankError::temporary(format!(
                "Your bank or Enable Banking has a problem ({status}). We'll try again later; you \
                 don't need to do anything."
            )),
            EnableError::Refused { status, .. } => BankError::temporary(format!(
                "Enable Banking did not accept the request ({status}). We'll try again later. If \
                 this continues, look for a newer version of Evenkeel."
            )),
        }
    }
}

/// The consent has ended, which only the person can renew.
pub(super) fn consent_ended() -> BankError {
    BankError::new(
        ErrorKind::NeedsPerson(Some(Remedy::Repair)),
        "Your consent at this bank has ended. Select Repair and consent again on the bank's page; \
         accounts and history stay.",
    )
}
