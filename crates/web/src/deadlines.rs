//! The deadline of a whole request. Without it, a page with many reads would wait for each of them in turn behind a
//! database that has stopped answering.

use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::Method;
use service::Error;
use service::platform::requests;

use crate::read_turns::is_read;
use crate::site::errors::PageError;

/// Longer than one slow read may take, and shorter than people and proxies wait.
pub(crate) const READ_MAX: Duration = Duration::from_secs(15);
/// Changes include the time to receive a body. Their transactions have their own limits, and what a person uploads may
/// take longer to take in than any of them.
const CHANGE_MAX: Duration = Duration::from_secs(90);

/// Stops reading for a request that is not answered in time. The body of an answer that has begun is not limited.
/// The API limits its own requests, and answers with its own errors.
pub(crate) async fn limit(request: Request, next: Next) -> Response {
    if !is_read(request.method()) {
        return next.run(request).await;
    }
    match requests::with_deadline(READ_MAX, next.run(request)).await {
        Some(response) => response,
        None => PageError::from(Error::TooSlow).into_response(),
    }
}

/// How long a request of the API may take.
pub(crate) fn of_method(method: &Method) -> Duration {
    if is_read(method) { READ_MAX } else { CHANGE_MAX }
}
