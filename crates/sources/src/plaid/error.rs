//! Plaid's errors, as messages for the person that say what to do, and the button that does it.

use net::{Failure, HttpResponse};
use serde::Deserialize;

use crate::provider::{BankError, ErrorKind, JsonError, Remedy};

/// Why a request to Plaid failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlaidError {
    /// Plaid's own error, by its code.
    Code {
        code: String,
        error_type: String,
    },
    Unreachable(Failure),
    /// Not Plaid's error format.
    Status(u16),
    Unreadable,
}

impl From<JsonError> for PlaidError {
    fn from(error: JsonError) -> PlaidError {
        match error {
            JsonError::Unreachable(failure) => PlaidError::Unreachable(failure),
            JsonError::Refused(reply) => PlaidError::read(&reply),
            JsonError::Unreadable => PlaidError::Unreadable,
        }
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    error_type: String,
    error_code: String,
}

impl PlaidError {
    pub(super) fn read(reply: &HttpResponse) -> PlaidError {
        match serde_json::from_slice::<ErrorBody>(&reply.body) {
            Ok(body) => PlaidError::Code { code: body.error_code, error_type: body.error_type },
            Err(_) => PlaidError::Status(reply.status),
        }
    }

    pub(super) fn code(&self) -> &str {
        match self {
            PlaidError::Code { code, .. } => code,
            _ => "",
        }
    }

    /// Whether the data changed while its pages were read, so that reading starts over.
    pub(super) fn is_mutation(&self) -> bool {
        self.code() == "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"
    }

    /// Whether Plaid is still fetching this data from the bank.
    pub(super) fn is_not_ready(&self) -> bool {
        self.code() == "PRODUCT_NOT_READY"
    }

    /// Whether this login has no data of the requested product.
    pub(super) fn is_without_product(&self) -> bool {
        matches!(
            self.code(),
            "NO_ACCOUNTS"
                | "NO_INVESTMENT_ACCOUNTS"
                | "NO_LIABILITY_ACCOUNTS"
                | "PRODUCTS_NOT_SUPPORTED"
        )
    }

    /// The error for the person. The texts of Plaid are not quoted: they change, and are written for developers.
    pub(super) fn for_person(&self) -> BankError {
        match self {
            PlaidError::Code { code, error_type } => of_code(code, error_type),
            PlaidError::Unreachable(failure) => BankError::unreachable("Plaid", failure),
            PlaidError::Status(status) => BankError::temporary(format!(
                "Plaid has a problem ({status}). We'll try again later; you don't need to do \
                 anything."
            )),
            PlaidError::Unreadable => BankError::unreadable("Plaid"),
        }
    }
}

/// Codes by what the person can do about them.
struct Meaning {
    codes: &'static [&'static str],
    kind: ErrorKind,
    message: &'static str,
}

const REPAIR: ErrorKind = ErrorKind::NeedsPerson(Some(Remedy::Repair));
const CHANGE_KEYS: ErrorKind = ErrorKind::NeedsPerson(Some(Remedy::ChangeKeys));

const MEANINGS: &[Meaning] = &[
    Meaning {
        codes: &[
            "ITEM_LOGIN_REQUIRED",
            "INVALID_CREDENTIALS",
            "INVALID_UPDATED_USERNAME",
            "INSUFFICIENT_CREDENTIALS",
            "INVALID_MFA",
            "PENDING_DISCONNECT",
            "PENDING_EXPIRATION",
        ],
        kind: REPAIR,
        message: "Your bank needs you to sign in again. Select Repair and sign in on Plaid's page; \
                  the next sync gets what is missing.",
    },
    Meaning {
        codes: &["ITEM_LOCKED"],
        kind: REPAIR,
        message: "Your bank has locked this login. Unlock it on the bank's own website, then select \
                  Repair.",
    },
    Meaning {
        codes: &["USER_SETUP_REQUIRED", "PASSWORD_RESET_REQUIRED"],
        kind: REPAIR,
        message: "Your bank wants something from you first, such as accepting its terms or a new \
                  password. Sign in on the bank's own website, then select Repair.",
    },
    Meaning {
        codes: &["MFA_NOT_SUPPORTED", "USER_INPUT_TIMEOUT"],
        kind: REPAIR,
        message: "Your bank asks for a code at every sign-in, so it can only be synced while you \
                  are there. Select Repair, or turn this off at the bank.",
    },
    Meaning {
        codes: &["ACCESS_NOT_GRANTED", "ADDITIONAL_CONSENT_REQUIRED"],
        kind: REPAIR,
        message: "Your bank was not allowed to share this data. Select Repair and allow all of it \
                  on the bank's page.",
    },
    Meaning {
        codes: &["NO_ACCOUNTS", "INVALID_ACCOUNT_ID"],
        kind: ErrorKind::NeedsPerson(Some(Remedy::AddAccounts)),
        message: "The bank shares no account of this login any more. Select Add accounts, and \
                  choose them on Plaid's page.",
    },
    Meaning {
        codes: &[
            "USER_PERMISSION_REVOKED",
            "ITEM_NOT_FOUND",
            "INVALID_ACCESS_TOKEN",
            "ITEM_CONCURRENTLY_DELETED",
            "ACCESS_TOKEN_REVOKED",
        ],
        kind: ErrorKind::Ended,
        message: "This connection has ended at Plaid or at your bank. Connect the bank again; your \
                  accounts and their history stay.",
    },
    Meaning {
        codes: &["ITEM_NOT_SUPPORTED", "INSTITUTION_NO_LONGER_SUPPORTED", "NO_LONGER_AVAILABLE"],
        kind: ErrorKind::NeedsPerson(None),
        message: "Plaid no longer supports this bank or this kind of login. Import files from the \
                  bank instead; your accounts and their history stay.",
    },
    Meaning {
        codes: &["INVALID_API_KEYS", "UNAUTHORIZED_ENVIRONMENT", "INVALID_HEADERS"],
        kind: CHANGE_KEYS,
        message: "Plaid doesn't accept these keys. Check the client id, the secret and the \
                  environment on the page Keys of Plaid's dashboard.",
    },
    Meaning {
        codes: &["PRODUCT_NOT_ENABLED", "INVALID_PRODUCT", "UNAUTHORIZED_ROUTE_ACCESS"],
        kind: CHANGE_KEYS,
        message: "Your Plaid account may not use this product yet. Request access to Transactions \
                  in Plaid's dashboard; syncing then continues automatically.",
    },
    Meaning {
        codes: &["ITEM_LIMIT", "ADDITION_LIMIT", "ITEM_ADDITION_LIMIT"],
        kind: CHANGE_KEYS,
        message: "Your Plaid plan has no place for a further bank. The Trial plan has ten; upgrade \
                  it in Plaid's dashboard.",
    },
    Meaning {
        codes: &["CREDITS_EXHAUSTED"],
        kind: ErrorKind::RateLimited,
        message: "The requests of your Plaid plan are used up. Syncing resumes tomorrow.",
    },
    Meaning {
        codes: &[
            "INSTITUTION_DOWN",
            "INSTITUTION_NOT_RESPONDING",
            "INSTITUTION_NOT_AVAILABLE",
            "INSTITUTION_NOT_FOUND",
            "INSTITUTION_NOT_ENABLED_IN_ENVIRONMENT",
        ],
        kind: ErrorKind::Temporary,
        message: "Your bank doesn't answer Plaid at the moment. We'll try again automatically; you \
                  don't need to do anything.",
    },
    Meaning {
        codes: &["PRODUCT_NOT_READY"],
        kind: ErrorKind::Temporary,
        message: "Plaid is still fetching this data from your bank. We'll try again automatically.",
    },
    Meaning {
        codes: &["TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"],
        kind: ErrorKind::Temporary,
        message: "The bank's data kept changing while it was read. We'll try again automatically.",
    },
];

fn of_code(code: &str, error_type: &str) -> BankError {
    let found = MEANINGS.iter().find(|it| it.codes.contains(&code));
    if let Some(meaning) = found {
        return BankError::new(meaning.kind, meaning.message);
    }
    // A code goes into the message; it is a word of Plaid's list, and nothing else is let through.
    let is_word = |it: &u8| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_';
    let code = if code.len() <= 64 && code.as_bytes().iter().all(is_word) { code } else { "" };
    match error_type {
        "RATE_LIMIT_EXCEEDED" => BankError::temporary(
            "Plaid received too many requests. We'll try again automatically; you don't need to do \
             anything.",
        ),
        "API_ERROR" | "INSTITUTION_ERROR" => BankError::temporary(format!(
            "Plaid has a problem ({code}). We'll try again later; you don't need to do anything."
        )),
        "ITEM_ERROR" | "OAUTH_ERROR" => BankError::new(
            REPAIR,
            format!("Your bank needs you ({code}). Select Repair and sign in on Plaid's page."),
        ),
        _ => BankError::temporary(format!(
            "Plaid did not accept the request ({code}). We'll try again later. If this continues, \
             look for a newer version of Evenkeel."
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn person(code: &str, error_type: &str) -> BankError {
        let (code, error_type) = (code.to_owned(), error_type.to_owned());
        PlaidError::Code { code, error_type }.for_person()
    }

    #[test]
    fn every_message_says_what_to_do_and_has_the_button_it_names() {
        let mut seen = BTreeSet::new();
        for meaning in MEANINGS {
            for code in meaning.codes {
                assert!(seen.insert(code), "{code} twice");
                let error = person(code, "ITEM_ERROR");
                assert_eq!(error.message, meaning.message);
                let names = |words: &str| error.message.contains(words);
                assert_eq!(names("elect Repair"), error.remedy() == Some(Remedy::Repair), "{code}");
                let adds = error.remedy() == Some(Remedy::AddAccounts);
                assert_eq!(names("Select Add accounts"), adds, "{code}");
                let reconnects = error.remedy() == Some(Remedy::Reconnect);
                assert_eq!(names("Connect the bank again"), reconnects, "{code}");
            }
        }
    }

    #[test]
    fn unknown_codes_count_by_their_type_and_nothing_else_is_quoted() {
        assert_eq!(person("NEW_CODE", "ITEM_ERROR").remedy(), Some(Remedy::Repair));
        assert_eq!(
            person("TRANSACTIONS_SYNC_LIMIT", "RATE_LIMIT_EXCEEDED").kind,
            ErrorKind::Temporary
        );
        assert_eq!(person("INTERNAL_SERVER_ERROR", "API_ERROR").kind, ErrorKind::Temporary);
        let odd = person("<b>access-production-1</b>", "INVALID_REQUEST");
        assert!(!odd.message.contains("access") && !odd.message.contains('<'), "{odd}");
    }
}
