//! Maps errors to HTTP statuses and JSON bodies.

use service::Error;
use wire::json::write_str;
use wire::v1::Code;

/// An API error.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    pub param: Option<String>,
    /// Headers of the error response, such as `Retry-After`.
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), param: None, headers: Vec::new() }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Refusal {
        self.headers.push((name, value.into()));
        self
    }

    /// The body without its closing brace, to which `meta` is added.
    pub fn open_body(&self, public_url: &str) -> Vec<u8> {
        let mut body = b"{\"error\":{\"type\":".to_vec();
        write_str(&mut body, &format!("{public_url}/docs/errors/{}", self.code.slug()));
        body.extend_from_slice(b",\"code\":");
        write_str(&mut body, self.code.as_str());
        body.extend_from_slice(b",\"message\":");
        write_str(&mut body, &self.message);
        if let Some(param) = &self.param {
            body.extend_from_slice(b",\"param\":");
            write_str(&mut body, param);
        }
        body.push(b'}');
        body
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        let message = error.to_string();
        match error {
            Error::NotFound(_) => Refusal::new(Code::NotFound, message),
            Error::Invalid { param, .. } => {
                Refusal { param, ..Refusal::new(Code::ValidationError, message) }
            }
            Error::Unauthenticated(_) => Refusal::new(Code::Unauthenticated, message),
            Error::KeyRequired => Refusal::new(Code::ApiKeyRequired, message),
            Error::Forbidden(_) => Refusal::new(Code::InsufficientScope, message),
            Error::InProgress { retry_after_seconds } => {
                Refusal::new(Code::IdempotencyInProgress, message)
                    .with_header("retry-after", retry_after_seconds.max(1).to_string())
            }
            Error::Conflict { code, .. } => Refusal::new(code, message),
            Error::Limited { retry_after_seconds, .. } => Refusal::new(Code::RateLimited, message)
                .with_header("retry-after", retry_after_seconds.max(1).to_string()),
            Error::ProposalLimit { retry_after_seconds, .. } => {
                Refusal::new(Code::ProposalLimitReached, message)
                    .with_header("retry-after", retry_after_seconds.max(1).to_string())
            }
            Error::TooSlow => {
                Refusal::new(Code::Unavailable, message).with_header("retry-after", "5")
            }
            // The cause is logged, never sent.
            Error::Unavailable(_) => {
                Refusal::new(Code::Unavailable, "the service cannot reach its data right now")
                    .with_header("retry-after", "5")
            }
            Error::Internal(_) => {
                Refusal::new(Code::Internal, "something went wrong on our side; it was logged")
            }
        }
    }
}
