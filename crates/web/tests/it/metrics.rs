//! Metrics over the real router, and the files under `deploy` that use them.

use std::collections::BTreeSet;
use std::path::Path;

use http::Method;
use serde_json::Value;
use service::backup::{self, Keep, Plan, Target};
use testkit::World;
use testkit::draft::{checking, statement, txn};

use crate::client::Client;

const OPEN_METRICS: &str = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";

async fn scrape(client: &Client) -> String {
    String::from_utf8(client.get("/metrics").await.bytes).unwrap()
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|it| it == line)
}

#[tokio::test]
async fn every_entry_point_is_counted_by_its_route() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    let client = Client::of(&world, &person).await;
    client.get("/v1/me").await;
    client.get("/v1/accounts/acc_0000000000000000000000000").await;
    client.get("/sign-in").await;
    client.get("/assets/nothing.css").await;
    client.send(Method::POST, "/oauth/token", "grant_type=none").await;
    client.send(Method::POST, "/mcp", "{}").await;
    client.get("/portal/whk_wrong").await;
    client.get("/readyz").await;
    client.send(Method::POST, "/connections/plaid/webhook", "{}").await;
    let text = scrape(&client).await;
    let counted = |entry: &str, method: &str, route: &str, status: &str| {
        format!(
            "evenkeel_http_requests_total{{entry=\"{entry}\",method=\"{method}\",route=\"{route}\",\
             status=\"{status}\"}} 1"
        )
    };
    for line in [
        counted("api", "GET", "/me", "200"),
        counted("api", "GET", "/accounts/{id}", "404"),
        counted("page", "GET", "/sign-in", "200"),
        counted("asset", "GET", "/assets/{name}", "404"),
        counted("oauth", "POST", "/oauth/token", "400"),
        counted("health", "GET", "/readyz", "200"),
        counted("bank_webhook", "POST", "/connections/plaid/webhook", "401"),
    ] {
        assert!(has(&text, &line), "{line}\n{text}");
    }
    for start in [
        "evenkeel_http_requests_total{entry=\"mcp\",method=\"POST\",route=\"/mcp\",",
        "evenkeel_http_requests_total{entry=\"portal\",method=\"GET\",route=\"/portal/{token}\",",
    ] {
        assert!(text.lines().any(|it| it.starts_with(start)), "{start}\n{text}");
    }
    assert!(has(&text, "evenkeel_http_request_seconds_count{entry=\"api\",route=\"/me\"} 1"));
    let wrong = "evenkeel_failed_authentications_total{credential=\"api_key\"} 1";
    client.with_other_token("ek_wrong").get("/v1/me").await;
    assert!(has(&scrape(&client).await, wrong));
}

/// Clients choose paths and methods, and must not be able to create series with them.
#[tokio::test]
async fn invented_paths_and_methods_create_no_series() {
    let world = World::new().await;
    let client = Client::anonymous(&world);
    let invent = async |number: usize| {
        let method = Method::from_bytes(format!("STEAL{number}").as_bytes()).unwrap();
        for path in ["/v1/x", "/x", "/assets/x", "/oauth/x", "/portal/x", "/transactions/x"] {
            client.get(&format!("{path}{number}?q={number}")).await;
            client.send(method.clone(), &format!("{path}{number}"), "").await;
        }
    };
    invent(0).await;
    scrape(&client).await;
    let before = scrape(&client).await.lines().count();
    for number in 1..20 {
        invent(number).await;
    }
    let after = scrape(&client).await;
    assert_eq!(after.lines().count(), before, "{after}");
    assert!(!after.contains("STEAL") && after.contains("method=\"other\""), "{after}");
}

#[tokio::test]
async fn the_scraper_chooses_the_format() {
    let world = World::new().await;
    let client = Client::anonymous(&world);
    let plain = client.get("/metrics").await;
    assert_eq!(plain.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let text = String::from_utf8(plain.bytes).unwrap();
    assert!(has(&text, "# TYPE evenkeel_http_requests_total counter"), "{text}");
    assert!(!text.contains("# EOF") && !text.contains("# UNIT"), "{text}");
    let open = client.header("accept", OPEN_METRICS).get("/metrics").await;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(open.header("content-type"), kind);
    let text = String::from_utf8(open.bytes).unwrap();
    assert!(has(&text, "# TYPE evenkeel_http_requests counter"), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
}

/// Each family is described once, and all of its samples follow.
#[tokio::test]
async fn the_text_is_well_formed() {
    let world = World::new().await;
    let person = world.person("robin@example.com").await;
    person.import(statement([checking("A").with(txn("2026-03-09", -100, "KROGER"))])).await;
    let client = Client::of(&world, &person).await;
    client.get("/v1/transactions").await;
    let text = scrape(&client).await;
    let (mut seen, mut current) = (BTreeSet::new(), String::new());
    for line in text.lines() {
        if let Some(described) = line.strip_prefix("# TYPE ") {
            current = described.split(' ').next().unwrap().to_owned();
            assert!(seen.insert(current.clone()), "{current} is described twice");
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            assert!(name.starts_with(&current), "{line} follows {current}");
            let value = line.rsplit(' ').next().unwrap();
            assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        }
    }
    let lines: BTreeSet<&str> = text.lines().collect();
    assert_eq!(lines.len(), text.lines().count(), "a sample is there twice");
    assert!(!text.contains("robin") && !text.contains("KROGER"), "{text}");
}

/// The names of families that a scrape describes, without the suffix of counters.
async fn families() -> BTreeSet<String> {
    let mut world = World::new().await;
    // Some families are there only with scheduled backups.
    let folder = tempfile::tempdir().unwrap();
    let keep = Keep { daily: 1, weekly: 1, monthly: 1 };
    let target = Target::Folder(folder.path().to_owned());
    let plan = Plan { target, every_hours: 24, hour: 3, keep, encryption: None };
    world.app = world.with_backups(plan);
    assert_eq!(backup::run_once(&world.app).await.unwrap(), 1);
    let text = scrape(&Client::anonymous(&world)).await;
    let described = text.lines().filter_map(|it| it.strip_prefix("# TYPE "));
    let names = described.map(|it| it.split(' ').next().unwrap());
    names.map(|it| it.trim_end_matches("_total").to_owned()).collect()
}

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// The families that an expression names.
fn named(expression: &str) -> BTreeSet<String> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let words = expression.split(|it| !is_part(it));
    let ours = words.filter(|it| it.starts_with("evenkeel_") || it.starts_with("process_"));
    let suffixes = ["_total", "_bucket", "_sum", "_count"];
    let family = |it: &str| {
        suffixes.iter().find_map(|suffix| it.strip_suffix(suffix)).unwrap_or(it).to_owned()
    };
    ours.map(family).collect()
}

/// Every expression of a dashboard.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|it| expressions(it, found)),
        Value::Object(members) => {
            let own = ["expr", "query"].iter().filter_map(|it| members.get(*it)?.as_str());
            found.extend(own.map(str::to_owned));
            members.values().for_each(|it| expressions(it, found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_name_only_families_that_exist() {
    let existing = families().await;
    assert!(existing.len() > 50, "{existing:?}");
    let mut used = BTreeSet::new();
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/evenkeel.json")).unwrap();
    let mut found = Vec::new();
    expressions(&dashboard, &mut found);
    assert!(found.len() > 50, "the dashboard has {} expressions", found.len());
    let alerts = ["deploy/prometheus/rules.yml", "deploy/prometheus/rules_test.yml"].map(read);
    for expression in found.iter().chain(&alerts) {
        let names = named(expression);
        let unknown: Vec<&String> = names.difference(&existing).collect();
        assert!(unknown.is_empty(), "{unknown:?} in {expression}");
        used.extend(names);
    }
    let unused: Vec<&String> = existing.difference(&used).collect();
    assert!(unused.is_empty(), "put these on the dashboard: {unused:?}");
}

#[tokio::test]
async fn every_family_is_documented() {
    let text = read("docs/monitoring.md");
    let undocumented = families().await;
    let undocumented = undocumented.iter().map(|it| it.trim_start_matches("evenkeel_"));
    let undocumented: Vec<&str> =
        undocumented.filter(|it| !text.contains(&format!("`{it}"))).collect();
    assert!(undocumented.is_empty(), "{undocumented:?}");
}
