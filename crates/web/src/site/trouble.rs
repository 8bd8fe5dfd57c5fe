//! What a page says when it cannot be shown or a form cannot be taken.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::{Markup, html};
use service::Error;

use super::astray;
use super::layout;

/// A page about what went wrong, with the way on.
pub(crate) struct Trouble {
    status: StatusCode,
    title: String,
    said: Markup,
    retry_after_seconds: Option<i64>,
}

/// What handlers of pages answer.
pub(crate) type Shown = Result<Response, Trouble>;

impl Trouble {
    pub(crate) fn new(status: StatusCode, title: &str, said: &str) -> Trouble {
        let said = html! { p { (said) } };
        Trouble { status, title: title.to_owned(), said, retry_after_seconds: None }
    }

    /// A page that says more than one sentence.
    pub(crate) fn with(status: StatusCode, title: &str, said: Markup) -> Trouble {
        Trouble { status, title: title.to_owned(), said, retry_after_seconds: None }
    }

    /// The same page for what is not there and for what is somebody else's.
    pub(crate) fn not_found() -> Trouble {
        Trouble::from(Error::NotFound("page"))
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        let message = error.to_string();
        match error {
            Error::NotFound(_) => Trouble::new(
                StatusCode::NOT_FOUND,
                "There is no page here",
                "It may have been removed, or the address is mistyped.",
            ),
            Error::Invalid { .. } => {
                Trouble::new(StatusCode::BAD_REQUEST, "This cannot be done", &sentence(&message))
            }
            Error::Unauthenticated(_) | Error::Forbidden(_) | Error::KeyRequired => {
                Trouble::new(StatusCode::FORBIDDEN, "This is not yours to do", &sentence(&message))
            }
            Error::Conflict { .. } => {
                Trouble::new(StatusCode::CONFLICT, "This cannot be done now", &sentence(&message))
            }
            Error::Limited { retry_after_seconds, .. } => Trouble {
                retry_after_seconds: Some(retry_after_seconds.max(1)),
                ..Trouble::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "Too many attempts",
                    &format!("Wait {}, then try again.", waiting(retry_after_seconds)),
                )
            },
            Error::TooSlow => Trouble::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "This takes too long",
                "Ask for less, for example for fewer days or for one account, or try again later.",
            ),
            Error::Unavailable(_) => {
                tracing::error!(error = %causes(&error), "a page failed");
                Trouble::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "The data cannot be reached",
                    "The database does not answer right now. Nothing is lost. Try again in a \
                     moment.",
                )
            }
            Error::Internal(_) => {
                tracing::error!(error = %causes(&error), "a page failed");
                Trouble::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Something went wrong on our side",
                    "It was written to the log. Nothing was changed.",
                )
            }
        }
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let page = astray::page(&self.title, self.said);
        let mut response = layout::send(&HeaderMap::new(), self.status, page);
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

pub(crate) fn causes(error: &Error) -> String {
    let mut chain = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        chain = format!("{chain}: {cause}");
        source = cause.source();
    }
    chain
}

/// A message of the service as a sentence on a page.
pub(crate) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Seconds as people say them.
pub(crate) fn waiting(seconds: i64) -> String {
    match seconds {
        ..=1 => "a second".to_owned(),
        2..=90 => format!("{seconds} seconds"),
        91..=7_200 => format!("{} minutes", (seconds + 59) / 60),
        _ => format!("{} hours", (seconds + 3_599) / 3_600),
    }
}
