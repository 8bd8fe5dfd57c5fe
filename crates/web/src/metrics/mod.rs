//! `/metrics`: everything that this process counts, in the text format that the scraper prefers.

mod http;
mod process;
mod text;

use std::sync::Arc;

use ::http::{HeaderMap, header};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};

use crate::WebState;
use crate::server::ConnectionMeters;

pub(crate) use http::{Answered, Entry, HttpMeters, method_label};
use text::Format;

/// What this crate counts itself.
#[derive(Default)]
pub(crate) struct Metrics {
    pub(crate) http: HttpMeters,
    pub(crate) connections: Arc<ConnectionMeters>,
}

pub(crate) async fn page(State(web): State<WebState>, headers: HeaderMap) -> Response {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    let format = Format::choose(accepted);
    let mut families = service::metrics::collect(&web.app).await;
    families.extend(web.metrics.http.families());
    families.extend(web.metrics.connections.families());
    let mut out = text::Writer::new(format);
    families.iter().for_each(|it| out.write("evenkeel_", it));
    // These have the names that every program uses for them.
    process::families().iter().for_each(|it| out.write("", it));
    ([(header::CONTENT_TYPE, format.content_type())], out.finish()).into_response()
}
