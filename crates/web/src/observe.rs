//! Observes each request: counts it for the metrics, and records it as a span by the semantic conventions of OpenTelemetry
//! for HTTP.

use std::borrow::Cow;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, Method};
use trace::Span;

use crate::WebState;
use crate::metrics::{Answered, Entry, method_label};

/// Observes requests outside of the API, which observes its own.
pub(crate) async fn layer(State(web): State<WebState>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let span = start(&web, request.headers());
    let method = request.method().clone();
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let response = span.scope(next.run(request)).await;
    let route = matched.as_ref().map(MatchedPath::as_str);
    let answered = Answered {
        entry: route.map_or(Entry::Page, Entry::of),
        method: &method,
        route,
        is_whole_route: true,
        status: response.status().as_u16(),
        took: started.elapsed(),
    };
    end(&web, span, &answered);
    response
}

/// Starts the span of a request, as a part of the trace that its client names.
pub(crate) fn start(web: &WebState, headers: &HeaderMap) -> Span {
    let mut values = headers.get_all("traceparent").iter();
    // A header that is given twice names no trace.
    let parent = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    };
    web.app.tracer.start_request(parent)
}

/// Counts a request and ends its span. The path itself is never recorded: it has ids, and its query may have anything.
pub(crate) fn end(web: &WebState, mut span: Span, it: &Answered<'_>) {
    web.metrics.http.count(it);
    if span.context().is_none() {
        return;
    }
    // The routes of the API are those under its prefix.
    let prefix = if it.entry == Entry::Api && !it.is_whole_route { "/v1" } else { "" };
    let method = known_method(it.method);
    span.rename(|| match it.route {
        Some(route) => Cow::Owned(format!("{method} {prefix}{route}")),
        None => Cow::Borrowed(method),
    });
    span.set("http.request.method", method);
    if let Some(route) = it.route {
        span.set_word("http.route", &format!("{prefix}{route}"));
    }
    let is_https = web.settings.public_url.starts_with("https://");
    span.set("url.scheme", if is_https { "https" } else { "http" });
    span.set("http.response.status_code", i64::from(it.status));
    span.set("evenkeel.entry", it.entry.as_str());
    if it.status >= 500 {
        span.fail(it.status.to_string());
    }
}

/// The method as the conventions have it.
fn known_method(method: &Method) -> &'static str {
    match method_label(method) {
        "other" => "_OTHER",
        known => known,
    }
}
