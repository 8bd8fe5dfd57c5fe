//! Starts a chromedriver, and one WebDriver session with its browser.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{http, until};

/// Options that stop the browser's own background requests, so that every observed request comes from a page.
const ARGUMENTS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
];

/// Chromium without windows, where Debian installs it. The tests take two thirds of the work with it.
const HEADLESS_SHELL: &str = "/usr/bin/chromium-headless-shell";

pub struct Session {
    driver: Child,
    origin: String,
    path: String,
    folder: TempDir,
}

impl Session {
    pub fn start() -> Session {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let log = folder.path().join("driver.txt");
        let output = File::create(&log).expect("a log for the driver");
        let errors = output.try_clone().expect("a log for the driver");
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("HOME", folder.path()).env("TMPDIR", folder.path());
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let driver = command.spawn().unwrap_or_else(|error| {
            panic!("chromedriver does not start ({error}): run `cargo xtask test --only browser`")
        });
        let mut session =
            Session { driver, origin: String::new(), path: "/session".to_owned(), folder };
        let port = until("chromedriver prints its port", || {
            let log_text = fs::read_to_string(&log).unwrap_or_default();
            let (_, rest) = log_text.split_once("started successfully on port ")?;
            rest.split_once('.').map(|(port, _)| port.to_owned())
        });
        session.origin = format!("http://127.0.0.1:{port}");
        let made =
            session.post("", session.capabilities()).unwrap_or_else(|error| panic!("{error}"));
        let id = made["sessionId"].as_str().expect("a session has an id");
        session.path = format!("/session/{id}");
        session
    }

    fn capabilities(&self) -> Value {
        let profile = format!("--user-data-dir={}", self.folder.path().join("profile").display());
        let mut arguments: Vec<&str> =
            ARGUMENTS.into_iter().chain(std::iter::once(profile.as_str())).collect();
        // Turns off the password manager, whose prompt would cover the page.
        let mut options = json!({"prefs": {"credentials_enable_service": false}});
        let mut browser = "chrome";
        if Path::new(HEADLESS_SHELL).exists() {
            browser = "chrome-headless-shell";
            options["binary"] = HEADLESS_SHELL.into();
            // The headless shell opens no page by itself.
            arguments.push("about:blank");
        }
        options["args"] = json!(arguments);
        json!({"capabilities": {"alwaysMatch": {
            "browserName": browser,
            // Simulated banks have certificates of an authority of their own.
            "acceptInsecureCerts": true,
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}})
    }

    pub fn get(&self, what: &str) -> Result<Value, String> {
        self.request("GET", what, None)
    }

    pub fn post(&self, what: &str, body: Value) -> Result<Value, String> {
        self.request("POST", what, Some(body))
    }

    pub fn delete(&self, what: &str) -> Result<Value, String> {
        self.request("DELETE", what, None)
    }

    /// A command of the Chrome DevTools Protocol, for what WebDriver does not support.
    #[track_caller]
    pub fn command(&self, name: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", json!({"cmd": name, "params": parameters}))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The value of the response, or the driver's error.
    fn request(&self, method: &str, what: &str, body: Option<Value>) -> Result<Value, String> {
        let path = format!("{}{what}", self.path);
        let body = body.map(|it| it.to_string()).unwrap_or_default();
        let kind = [("Content-Type", "application/json")];
        let answer = http::send(&self.origin, method, &path, &kind, &body)
            .map_err(|error| format!("the driver does not respond to {method} {what}: {error}"))?;
        let mut answered = answer.json();
        let value = answered["value"].take();
        match value["error"].as_str() {
            Some(error) if answer.status != 200 => {
                let message = value["message"].as_str().unwrap_or_default();
                Err(format!("{error}: {}", message.lines().next().unwrap_or_default()))
            }
            _ => Ok(value),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ending the session closes the browser; the driver alone would leave it behind.
        let _ = self.request("DELETE", "", None);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
