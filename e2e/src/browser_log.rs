//! Collects the browser's log: every request, and every error on the console.

use serde_json::{Value, json};

use crate::Browser;

/// Log entries so far. The driver returns each entry only once, so they are collected here.
#[derive(Debug, Default)]
pub(crate) struct CollectedLog {
    requests: Vec<String>,
    console_errors: Vec<String>,
}

impl Browser {
    /// Fails if a page sent a request to another server or logged an error on the console.
    #[track_caller]
    pub fn assert_clean(&self) {
        let found = self.logged_problems();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    /// Requests to other servers and console errors since the last call.
    #[track_caller]
    pub fn logged_problems(&self) -> Vec<String> {
        self.collect_log();
        let collected = std::mem::take(&mut *self.collected.borrow_mut());
        let own_origin = format!("{}/", self.origin);
        let foreign = collected.requests.into_iter().filter(|it| !it.starts_with(&own_origin));
        foreign
            .map(|it| format!("a request to another origin: {it}"))
            .chain(collected.console_errors)
            .collect()
    }

    /// Removes the console errors of a page whose refusal the test expects. Other errors stay.
    #[track_caller]
    pub fn expect_refusal(&self, path: &str) {
        self.collect_log();
        let own = format!("{}{path} - Failed to load resource", self.origin);
        let mut collected = self.collected.borrow_mut();
        let before = collected.console_errors.len();
        collected.console_errors.retain(|it| !it.contains(&own));
        assert!(
            collected.console_errors.len() < before,
            "{path} was not refused: {:?}",
            collected.console_errors
        );
    }

    fn collect_log(&self) {
        let mut collected = self.collected.borrow_mut();
        for entry in self.log("browser") {
            if entry["level"] == "SEVERE" {
                let message = entry["message"].as_str().unwrap_or_default();
                collected.console_errors.push(format!("on the console: {message}"));
            }
        }
        for entry in self.log("performance") {
            let message = entry["message"].as_str().unwrap_or_default();
            let message: Value = serde_json::from_str(message).unwrap_or_default();
            collected.requests.extend(request(&message["message"]));
        }
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.session.post("/se/log", json!({"type": kind}));
        match entries.unwrap_or_else(|error| panic!("no {kind} log: {error}")) {
            Value::Array(entries) => entries,
            other => panic!("no {kind} log: {other}"),
        }
    }
}

/// The URL of a request, unless it stays inside the browser.
fn request(event: &Value) -> Option<String> {
    let parameters = &event["params"];
    let url = match event["method"].as_str()? {
        "Network.requestWillBeSent" => parameters["request"]["url"].as_str()?,
        "Network.webSocketCreated" => parameters["url"].as_str()?,
        _ => return None,
    };
    let is_internal = ["data:", "about:", "blob:", "chrome:"].iter().any(|it| url.starts_with(it));
    (!is_internal).then(|| url.to_owned())
}
