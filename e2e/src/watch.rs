//! What the browser noticed on the way: every request, and every complaint on the console.

use serde_json::{Value, json};

use crate::Browser;

/// Logs are handed out once, so they gather here.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    requests: Vec<String>,
    complaints: Vec<String>,
}

impl Browser {
    /// Fails when a page asked another server for anything, or complained on the console.
    #[track_caller]
    pub fn is_clean(&self) {
        let found = self.troubles();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    /// Requests to other servers and complaints since the last time somebody asked.
    #[track_caller]
    pub fn troubles(&self) -> Vec<String> {
        self.gather();
        let watch = std::mem::take(&mut *self.watch.borrow_mut());
        let home = format!("{}/", self.origin);
        let abroad = watch.requests.into_iter().filter(|it| !it.starts_with(&home));
        abroad
            .map(|it| format!("a request to another origin: {it}"))
            .chain(watch.complaints)
            .collect()
    }

    /// A page that is meant to be refused is no complaint; everything else about it still is.
    #[track_caller]
    pub fn expect_refusal(&self, path: &str) {
        self.gather();
        let own = format!("{}{path} - Failed to load resource", self.origin);
        let mut watch = self.watch.borrow_mut();
        let before = watch.complaints.len();
        watch.complaints.retain(|it| !it.contains(&own));
        assert!(watch.complaints.len() < before, "{path} was not refused: {:?}", watch.complaints);
    }

    fn gather(&self) {
        let mut watch = self.watch.borrow_mut();
        for entry in self.log("browser") {
            if entry["level"] == "SEVERE" {
                let message = entry["message"].as_str().unwrap_or_default();
                watch.complaints.push(format!("on the console: {message}"));
            }
        }
        for entry in self.log("performance") {
            let message = entry["message"].as_str().unwrap_or_default();
            let message: Value = serde_json::from_str(message).unwrap_or_default();
            watch.requests.extend(request(&message["message"]));
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

/// The address that something asked for, unless it never leaves the browser.
fn request(event: &Value) -> Option<String> {
    let parameters = &event["params"];
    let url = match event["method"].as_str()? {
        "Network.requestWillBeSent" => parameters["request"]["url"].as_str()?,
        "Network.webSocketCreated" => parameters["url"].as_str()?,
        _ => return None,
    };
    let inside = ["data:", "about:", "blob:", "chrome:"].iter().any(|it| url.starts_with(it));
    (!inside).then(|| url.to_owned())
}
