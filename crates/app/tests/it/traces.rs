//! Traces of the built program, as a collector receives them, and that they tell nothing personal.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::hex;

use crate::program::{Running, connect, launch, program};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A collector that keeps what it is sent.
struct Collector {
    url: String,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (bodies, heads) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<Vec<_>>>::default());
        let kept = (bodies.clone(), heads.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || while Collector::take(&stream, &kept).is_some() {});
            }
        });
        Collector { url, bodies, heads }
    }

    fn take(mut stream: &TcpStream, (bodies, heads): &Kept) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let lower = head.to_lowercase();
        let length = lower.lines().find_map(|it| it.strip_prefix("content-length: "))?;
        let mut body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        bodies.lock().unwrap().push(body);
        heads.lock().unwrap().push(lower);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()
    }
}

type Kept = (Arc<Mutex<Vec<Vec<u8>>>>, Arc<Mutex<Vec<String>>>);

/// The fields of a protobuf message: number, and bytes or number.
#[derive(Debug)]
enum Field<'b> {
    Bytes(&'b [u8]),
    Number(u64),
}

fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    fn varint(message: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = message[0];
            *message = &message[1..];
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut message)),
            1 => {
                let (number, rest) = message.split_at(8);
                message = rest;
                Field::Number(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(&mut message)).unwrap();
                let (bytes, rest) = message.split_at(length);
                message = rest;
                Field::Bytes(bytes)
            }
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, field));
    }
    found
}

fn bytes_of(message: &[u8], number: u64) -> Vec<&[u8]> {
    let each = fields(message).into_iter().filter(|it| it.0 == number);
    each.filter_map(|it| if let Field::Bytes(bytes) = it.1 { Some(bytes) } else { None }).collect()
}

fn text_of(message: &[u8], number: u64) -> String {
    let text = bytes_of(message, number).first().map(|it| it.to_vec()).unwrap_or_default();
    String::from_utf8(text).unwrap()
}

struct Span {
    trace: String,
    id: String,
    parent: String,
    name: String,
    attributes: BTreeMap<String, String>,
}

fn attributes(message: &[u8], number: u64) -> BTreeMap<String, String> {
    let read = |pair: &[u8]| {
        let value = bytes_of(pair, 2).remove(0);
        let value = fields(value).into_iter().next().map(|it| match it.1 {
            Field::Bytes(text) => String::from_utf8(text.to_vec()).unwrap(),
            Field::Number(number) => number.to_string(),
        });
        (text_of(pair, 1), value.unwrap_or_default())
    };
    bytes_of(message, number).into_iter().map(read).collect()
}

fn spans(request: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    for resource_spans in bytes_of(request, 1) {
        let resource = attributes(bytes_of(resource_spans, 1)[0], 1);
        assert_eq!(resource["service.name"], "money");
        for scope_spans in bytes_of(resource_spans, 2) {
            for span in bytes_of(scope_spans, 2) {
                found.push(Span {
                    trace: hex(bytes_of(span, 1)[0]),
                    id: hex(bytes_of(span, 2)[0]),
                    parent: bytes_of(span, 4).first().map(|it| hex(it)).unwrap_or_default(),
                    name: text_of(span, 5),
                    attributes: attributes(span, 9),
                });
            }
        }
    }
    found
}

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

/// Every text of a person's data that an answer of the API has: ids, names, descriptions, amounts.
fn personal(value: &Value, found: &mut BTreeSet<String>) {
    const WORDS: [&str; 9] = [
        "id",
        "account_id",
        "name",
        "description",
        "merchant",
        "email",
        "amount",
        "display_name",
        "institution_name",
    ];
    match value {
        Value::Array(all) => all.iter().for_each(|it| personal(it, found)),
        Value::Object(members) => {
            for (name, value) in members {
                let text = value.as_str().map(str::to_owned);
                let text = text.or_else(|| value.as_i64().map(|it| it.to_string()));
                // A category's id is a word of the program.
                let is_word =
                    |it: &String| it.chars().all(|it| it.is_ascii_lowercase() || it == '_');
                if WORDS.contains(&name.as_str()) {
                    found.extend(text.filter(|it| it.len() >= 6 && !is_word(it)));
                }
                personal(value, found);
            }
        }
        _ => {}
    }
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
            personal(&body["data"], &mut secrets);
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

    let heads = collector.heads.lock().unwrap().clone();
    assert!(heads[0].starts_with("post /v1/traces http/1.1"), "{}", heads[0]);
    assert!(heads[0].contains("content-type: application/x-protobuf"), "{}", heads[0]);
    assert!(heads[0].contains("authorization: bearer let-me-in"), "{}", heads[0]);
    assert!(!heads[0].contains("traceparent"), "the exporter traces itself");
    let bodies = collector.bodies.lock().unwrap().clone();
    let all: Vec<Span> = bodies.iter().flat_map(|it| spans(it)).collect();
    assert!(all.len() > 50, "{}", all.len());

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

    let everything = bodies.concat();
    let has = |secret: &str| everything.windows(secret.len()).any(|it| it == secret.as_bytes());
    let told: Vec<&String> = secrets.iter().filter(|it| has(it)).collect();
    assert!(told.is_empty(), "{told:?}");
    for (name, value) in all.iter().flat_map(|it| &it.attributes) {
        let is_plain =
            value.chars().all(|it| it.is_ascii_alphanumeric() || "_/{}*.- ".contains(it));
        assert!(is_plain && value.len() < 100, "{name} = {value}");
    }

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
