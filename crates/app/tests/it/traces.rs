//! Traces of the built program, as a collector receives them, and that they tell nothing personal.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::collector::{Collector, Span, personal_texts};

use crate::program::{Running, connect, launch, program};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A demo with a whole household, whose traces go to the collector.
fn demo(folder: &std::path::Path, collector: &str) -> Running {
    let mut command = program(folder);
    command.args(["demo", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_LOG__LEVEL", "debug").env("EVENKEEL_DEMO__FEED_SECONDS", "1");
    command.env("EVENKEEL_METRICS__PUBLIC", "true");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector).env("OTEL_SERVICE_NAME", "money");
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20let-me-in");
    let mut demo = launch(command, folder);
    demo.wait_until_ready();
    demo
}

fn send(demo: &Running, path: &str, headers: &[String]) -> (String, String) {
    let mut stream = connect(demo.fact("web_url"));
    let headers: String = headers.iter().map(|it| format!("{it}\r\n")).collect();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Visits the API and the pages of a household with every kind of text in addresses, and returns what is personal.
fn visit_everything(demo: &Running) -> BTreeSet<String> {
    let key = format!("Authorization: Bearer {}", demo.fact("api_key"));
    let traceparent = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01");
    let mut secrets = BTreeSet::new();
    secrets.insert(demo.fact("api_key").to_owned());
    secrets.insert(demo.fact("password").to_owned());
    for path in
        ["/v1/me", "/v1/accounts", "/v1/transactions?limit=100", "/v1/goals", "/v1/recurring"]
    {
        let (_, body) = send(demo, path, std::slice::from_ref(&key));
        if let Ok(body) = serde_json::from_str::<Value>(&body) {
            personal_texts(&body["data"], &mut secrets);
        }
    }
    assert!(secrets.len() > 100, "{}", secrets.len());
    let transaction = secrets.iter().find(|it| it.starts_with("txn_")).unwrap().clone();
    let account = secrets.iter().find(|it| it.starts_with("acc_")).unwrap().clone();
    let with_parent = [key, traceparent];
    send(demo, &format!("/v1/transactions/{transaction}"), &with_parent);
    send(demo, &format!("/v1/transactions?account_id={account}&search=secretquery"), &with_parent);
    send(demo, "/v1/nothing/robin@example.com", &with_parent);
    let link = demo.fact("sign_in_url").strip_prefix(demo.fact("web_url")).unwrap().to_owned();
    let (head, _) = send(demo, &link, &[]);
    let cookies = head.lines().filter_map(|it| it.strip_prefix("set-cookie: "));
    let cookies: Vec<&str> = cookies.filter_map(|it| it.split(';').next()).collect();
    let cookie = format!("Cookie: {}", cookies.join("; "));
    secrets.extend(cookies.iter().filter_map(|it| it.split_once('=')).map(|it| it.1.to_owned()));
    for path in [
        "/".to_owned(),
        "/accounts".to_owned(),
        format!("/accounts/{account}"),
        "/transactions?search=secretquery".to_owned(),
        format!("/transactions/{transaction}"),
        "/spending".to_owned(),
        "/recurring".to_owned(),
        "/income".to_owned(),
        "/scores".to_owned(),
        "/search?q=secretquery".to_owned(),
        "/no-such-page/robin@example.com".to_owned(),
        "/settings".to_owned(),
    ] {
        let (head, _) = send(demo, &path, std::slice::from_ref(&cookie));
        assert!(!head.contains(" 500 "), "{path}: {head}");
    }
    secrets.extend(["secretquery", "robin@example.com", "let-me-in"].map(str::to_owned));
    // The cookie of a message is empty.
    secrets.retain(|it| it.len() >= 6);
    secrets
}

#[tokio::test]
async fn a_collector_receives_every_request_and_nothing_personal() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), Collector::start());
    let demo = demo(folder.path(), &collector.url);
    let secrets = visit_everything(&demo);
    let (_, metrics) = send(&demo, "/metrics", &[]);
    assert!(metrics.contains("evenkeel_trace_spans_total{outcome=\"dropped\"} 0"), "{metrics}");
    let log_file = folder.path().join("errors.txt");
    demo.stop();

    let heads = collector.heads();
    assert!(heads[0].starts_with("post /v1/traces http/1.1"), "{}", heads[0]);
    assert!(heads[0].contains("content-type: application/x-protobuf"), "{}", heads[0]);
    assert!(heads[0].contains("authorization: bearer let-me-in"), "{}", heads[0]);
    assert!(!heads[0].contains("traceparent"), "the exporter traces itself");
    let all = collector.spans();
    assert!(all.len() > 50, "{}", all.len());
    assert!(all.iter().all(|it| it.service == "money"));

    let ours: Vec<&Span> = all.iter().filter(|it| it.trace == TRACE).collect();
    let request = ours.iter().find(|it| it.name == "GET /v1/transactions/{id}");
    let request = request.unwrap_or_else(|| panic!("{:?}", names(&ours)));
    assert_eq!(request.parent, "00f067aa0ba902b7");
    let expected = [
        ("http.request.method", "GET"),
        ("http.response.status_code", "200"),
        ("http.route", "/v1/transactions/{id}"),
        ("url.scheme", "http"),
    ];
    for (name, value) in expected {
        assert_eq!(request.attributes[name], value);
    }
    let read = ours.iter().find(|it| it.parent == request.id && it.name.starts_with("SELECT "));
    let read = read.unwrap_or_else(|| panic!("{:?}", names(&ours)));
    assert_eq!(read.attributes["db.system.name"], "sqlite");
    assert!(all.iter().any(|it| it.name == "GET /transactions/{id}"));
    assert!(all.iter().any(|it| it.name == "GET"), "a path without a route has no route");

    assert_eq!(collector.leaked(&secrets), BTreeSet::new());
    assert_eq!(collector.doubtful(), BTreeSet::new());

    let log = std::fs::read_to_string(log_file).unwrap();
    let handled = log.lines().filter(|it| it.contains("request handled"));
    assert!(handled.into_iter().any(|it| it.contains(TRACE)), "the log has the id of the trace");
}

fn names(spans: &[&Span]) -> Vec<String> {
    spans.iter().map(|it| format!("{} {:?}", it.name, it.attributes)).collect()
}

/// A collector that accepts connections and never answers.
#[tokio::test]
async fn a_collector_that_hangs_slows_no_request_and_no_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let demo = demo(folder.path(), &format!("http://{}", silent.local_addr().unwrap()));
    let started = Instant::now();
    for _ in 0..50 {
        assert_eq!(demo.get("/healthz", None).0, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let stopping = Instant::now();
    demo.stop();
    assert!(stopping.elapsed() < Duration::from_secs(20), "{:?}", stopping.elapsed());
}

#[tokio::test]
async fn a_variable_that_cannot_be_followed_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program(folder.path());
    command.args(["demo", "--listen", "127.0.0.1:0"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317");
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let refused = crate::program::outcome(&mut command).failed();
    assert!(refused.contains("use http/protobuf"), "{refused}");
}
