//! Errors of pages: turns a service error into an error page with advice.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use maud::{Markup, html};
use service::Error;

use super::error_pages::ErrorContent;

/// When to try again after a failure of the database, as in the API.
const RETRY_AFTER_SECONDS: i64 = 5;

/// An error page.
pub(crate) struct PageError {
    status: StatusCode,
    title: String,
    body: Markup,
    retry_after_seconds: Option<i64>,
}

/// The result of a page handler.
pub(crate) type PageResult = Result<Response, PageError>;

impl PageError {
    pub(crate) fn new(status: StatusCode, title: &str, body: &str) -> PageError {
        let body = html! { p { (body) } };
        PageError { status, title: title.to_owned(), body, retry_after_seconds: None }
    }

    /// An error page with more than one paragraph.
    pub(crate) fn with(status: StatusCode, title: &str, body: Markup) -> PageError {
        PageError { status, title: title.to_owned(), body, retry_after_seconds: None }
    }

    /// An error page for something that may work in a moment.
    fn unavailable(title: &str, body: &str) -> PageError {
        PageError {
            retry_after_seconds: Some(RETRY_AFTER_SECONDS),
            ..PageError::new(StatusCode::SERVICE_UNAVAILABLE, title, body)
        }
    }

    /// The page for something that does not exist or belongs to someone else.
    pub(crate) fn not_found() -> PageError {
        PageError::from(Error::NotFound("page"))
    }
}

impl From<Error> for PageError {
    fn from(error: Error) -> PageError {
        let message = error.to_string();
        match error {
            Error::NotFound(_) => PageError::new(
                StatusCode::NOT_FOUND,
                "Page not found",
                "It may have been removed, or the address has a typo.",
            ),
            Error::Invalid { .. } => {
                PageError::new(StatusCode::BAD_REQUEST, "This didn't work", &sentence(&message))
            }
            Error::Unauthenticated(_) | Error::Forbidden(_) | Error::KeyRequired => {
                PageError::new(StatusCode::FORBIDDEN, "You don't have access", &sentence(&message))
            }
            Error::Conflict { .. } | Error::InProgress { .. } => PageError::new(
                StatusCode::CONFLICT,
                "This can't be done right now",
                &sentence(&message),
            ),
            Error::Limited { retry_after_seconds, .. }
            | Error::ProposalLimit { retry_after_seconds, .. } => PageError {
                retry_after_seconds: Some(retry_after_seconds.max(1)),
                ..PageError::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "Too many attempts",
                    &format!("Wait {}, then try again.", duration_text(retry_after_seconds)),
                )
            },
            Error::TooSlow => PageError::unavailable(
                "This took too long",
                "Try a shorter time period or a single account, or try again later.",
            ),
            Error::Unavailable(_) => {
                tracing::error!(error = %error.with_causes(), "page failed");
                PageError::unavailable(
                    "Your data is temporarily unavailable",
                    "The database isn't responding. Nothing was lost. Try again in a moment.",
                )
            }
            Error::Internal(_) => {
                tracing::error!(error = %error.with_causes(), "page failed");
                PageError::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Something went wrong on our side",
                    "Nothing was changed. The error was logged. Try again in a moment.",
                )
            }
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = ErrorContent { title: self.title, body: self.body }.send(self.status);
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Capitalizes a message and ends it with a period.
pub(crate) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A duration in words: "90 seconds", "5 minutes".
pub(crate) fn duration_text(seconds: i64) -> String {
    match seconds {
        ..=1 => "a second".to_owned(),
        2..=90 => format!("{seconds} seconds"),
        91..=7_200 => format!("{} minutes", (seconds + 59) / 60),
        _ => format!("{} hours", (seconds + 3_599) / 3_600),
    }
}
