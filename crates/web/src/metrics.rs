//! Metrics in Prometheus' text form.

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::Door;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    method: &'static str,
    /// The pattern, never the path: ids are nobody's label.
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: &'static str,
}

pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Family<Route, Histogram>,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        const BOUNDS: [f64; 9] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0];
        let requests = Family::<Labels, Counter>::default();
        let seconds = Family::<Route, Histogram>::new_with_constructor(|| Histogram::new(BOUNDS));
        let mut registry = Registry::with_prefix("evenkeel");
        registry.register("api_requests", "Requests answered by the API", requests.clone());
        registry.register("api_seconds", "Time to answer", seconds.clone());
        Metrics { registry, requests, seconds }
    }

    pub(crate) fn note(
        &self,
        method: &'static str,
        route: &'static str,
        status: u16,
        took: Duration,
    ) {
        self.requests.get_or_create(&Labels { method, route, status }).inc();
        self.seconds.get_or_create(&Route { route }).observe(took.as_secs_f64());
    }
}

pub(crate) async fn page(State(door): State<Door>) -> Response {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = prometheus_client::encoding::text::encode(&mut text, &door.metrics.registry);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
