//! Requests by entry point and route: how many, with which status, and how long they took.

use std::time::Duration;

use ::http::Method;
use base::metrics::{ByLabel, Counter, Histogram, MetricFamily};

/// The part of the product that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Api,
    Page,
    Oauth,
    Mcp,
    /// The pages by which receivers manage their webhooks.
    Portal,
    /// Styles, scripts and icons.
    Asset,
    Health,
    /// Webhooks of bank providers.
    BankWebhook,
}

const ENTRIES: [(Entry, &str); 8] = [
    (Entry::Api, "api"),
    (Entry::Page, "page"),
    (Entry::Oauth, "oauth"),
    (Entry::Mcp, "mcp"),
    (Entry::Portal, "portal"),
    (Entry::Asset, "asset"),
    (Entry::Health, "health"),
    (Entry::BankWebhook, "bank_webhook"),
];

impl Entry {
    pub(crate) fn as_str(self) -> &'static str {
        ENTRIES[self as usize].1
    }

    /// The entry point of a route outside of the API.
    pub(crate) fn of(route: &str) -> Entry {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|it| route.starts_with(it));
        match route {
            "/mcp" => Entry::Mcp,
            "/healthz" | "/healthz/connection" | "/readyz" | "/metrics" => Entry::Health,
            "/connections/plaid/webhook" => Entry::BankWebhook,
            "/manifest.webmanifest" | "/worker.js" => Entry::Asset,
            _ if starts(&["/oauth/", "/.well-known/"]) => Entry::Oauth,
            _ if starts(&["/portal/"]) => Entry::Portal,
            _ if starts(&["/assets/"]) => Entry::Asset,
            _ if starts(&["/v1"]) => Entry::Api,
            _ => Entry::Page,
        }
    }
}

/// The label of requests that no route matches. Paths never become labels: they have ids, and anyone can invent them.
const UNMATCHED: &str = "unmatched";

pub(crate) struct HttpMeters {
    /// By route, for each entry point.
    routes: [ByLabel<String, RouteMeters>; ENTRIES.len()],
}

struct RouteMeters {
    /// By method and status.
    answers: ByLabel<(&'static str, u16), Counter>,
    seconds: Histogram,
}

impl RouteMeters {
    fn new() -> RouteMeters {
        RouteMeters { answers: ByLabel::default(), seconds: Histogram::short() }
    }
}

impl Default for HttpMeters {
    fn default() -> HttpMeters {
        HttpMeters { routes: ENTRIES.map(|_| ByLabel::new(RouteMeters::new)) }
    }
}

/// A request that was answered.
pub(crate) struct Answered<'r> {
    pub(crate) entry: Entry,
    pub(crate) method: &'r Method,
    /// The pattern of the route; none if no route matched.
    pub(crate) route: Option<&'r str>,
    /// Whether the route has the prefix of the API.
    pub(crate) is_whole_route: bool,
    pub(crate) status: u16,
    pub(crate) took: Duration,
}

impl HttpMeters {
    pub(crate) fn count(&self, it: &Answered<'_>) {
        let routes = &self.routes[it.entry as usize];
        routes.with(it.route.unwrap_or(UNMATCHED), |meters| {
            meters.answers.with(&(method_label(it.method), it.status), Counter::increment);
            meters.seconds.observe_duration(it.took);
        });
    }

    pub(crate) fn families(&self) -> [MetricFamily; 2] {
        let mut requests = MetricFamily::counter("http_requests", "Requests that were answered");
        let mut seconds = MetricFamily::histogram(
            "http_request_seconds",
            "Time from a request's head to the beginning of its response",
        );
        for (entry, name) in ENTRIES {
            for (route, meters) in self.routes[entry as usize].all() {
                let labels = [("entry", name), ("route", route.as_str())];
                seconds.add(&labels, &meters.seconds);
                for ((method, status), counter) in meters.answers.all() {
                    let status = status.to_string();
                    let labels = [labels[0], ("method", method), labels[1], ("status", &status)];
                    requests.add(&labels, &*counter);
                }
            }
        }
        [requests, seconds]
    }
}

/// Methods that clients invent must not become labels.
pub(crate) fn method_label(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|it| *it == method.as_str()).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_point_has_its_place() {
        for (index, (entry, _)) in ENTRIES.into_iter().enumerate() {
            assert_eq!(entry as usize, index);
        }
        for (route, entry) in [
            ("/transactions/{id}", Entry::Page),
            ("/", Entry::Page),
            ("/mcp", Entry::Mcp),
            ("/oauth/token", Entry::Oauth),
            ("/.well-known/oauth-authorization-server", Entry::Oauth),
            ("/portal/webhooks/{id}", Entry::Portal),
            ("/assets/{name}", Entry::Asset),
            ("/readyz", Entry::Health),
            ("/connections/plaid/webhook", Entry::BankWebhook),
            ("/v1/openapi.json", Entry::Api),
        ] {
            assert_eq!(Entry::of(route), entry, "{route}");
        }
    }

    #[test]
    fn an_invented_method_is_other() {
        assert_eq!(method_label(&Method::PATCH), "PATCH");
        assert_eq!(method_label(&Method::from_bytes(b"STEAL").unwrap()), "other");
    }
}
