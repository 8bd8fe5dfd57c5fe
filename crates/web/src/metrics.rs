//! Metrics in the Prometheus text format.

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use service::App;
use service::platform::background::LoopReport;

use crate::WebState;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    method: &'static str,
    /// The route pattern, not the path: ids must not become labels.
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
    pub(crate) fn new(app: &App) -> Metrics {
        const BOUNDS: [f64; 9] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0];
        let requests = Family::<Labels, Counter>::default();
        let seconds = Family::<Route, Histogram>::new_with_constructor(|| Histogram::new(BOUNDS));
        let mut registry = Registry::with_prefix("evenkeel");
        registry.register("api_requests", "API requests", requests.clone());
        registry.register("api_seconds", "Response time", seconds.clone());
        registry.register_collector(Box::new(BackgroundLoops(app.clone())));
        Metrics { registry, requests, seconds }
    }

    pub(crate) fn note(
        &self,
        method: &'static str,
        route: &'static str,
        status: u16,
        elapsed: Duration,
    ) {
        self.requests.get_or_create(&Labels { method, route, status }).inc();
        self.seconds.get_or_create(&Route { route }).observe(elapsed.as_secs_f64());
    }
}

/// The state of the background loops, read when metrics are requested.
struct BackgroundLoops(App);

impl std::fmt::Debug for BackgroundLoops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BackgroundLoops")
    }
}

impl Collector for BackgroundLoops {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let loops = self.0.background.report();
        let labels = |it: &LoopReport| [("loop", it.name)];
        let help = "Whether a background loop is running";
        let mut alive =
            encoder.encode_descriptor("background_alive", help, None, MetricType::Gauge)?;
        for it in &loops {
            let gauge = ConstGauge::new(i64::from(it.is_alive));
            gauge.encode(alive.encode_family(&labels(it))?)?;
        }
        type Count = fn(&LoopReport) -> u64;
        let counters: [(&str, &str, Count); 2] = [
            ("background_failures", "Background steps that failed", |it| it.failures),
            ("background_panics", "Background steps that panicked", |it| it.panics),
        ];
        for (name, help, count) in counters {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for it in &loops {
                ConstCounter::new(count(it)).encode(family.encode_family(&labels(it))?)?;
            }
        }
        Ok(())
    }
}

pub(crate) async fn page(State(web): State<WebState>) -> Response {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = prometheus_client::encoding::text::encode(&mut text, &web.metrics.registry);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
