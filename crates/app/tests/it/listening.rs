//! `evenkeel listen`, receiving webhooks from Evenkeel's own HTTP client.

use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::time::Duration;

use base::{Clock, Timestamp};
use net::{Guard, HttpClient, HttpRequest, Limits, Policy};
use standardwebhooks::Webhook;

use crate::program::{Installation, outcome, wait_until};

const SECRET: &str = "whsec_RThugh3ZqGnNb+HbLBCe9q5JgDa0zXsUEStYzTZaTTs=";
const OLD: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const BODY: &str = r#"{"id":"evt_1","type":"transaction.created","data":{"account_id":"acc_1","transaction_ids":["txn_1","txn_2","txn_3","txn_4"],"count":4}}"#;
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), total: Duration::from_secs(15), body_max: 4_096 };

struct Listener {
    child: Child,
    output: std::path::PathBuf,
    url: String,
    client: HttpClient,
}

impl Listener {
    fn start(it: &Installation, more: &[&str]) -> Listener {
        let output = it.path("listen.txt");
        let mut command = it.command(&["listen", "--listen", "127.0.0.1:0"]);
        command.args(more).stdout(File::create(&output).unwrap()).stdin(Stdio::null());
        let child = command.spawn().unwrap();
        let read_output = || fs::read_to_string(&output).unwrap();
        wait_until("it listens", || read_output().contains("Press Ctrl-C to stop."));
        let text = read_output();
        let url =
            text.split_once("Listening on ").unwrap().1.split_once(". Press").unwrap().0.to_owned();
        // The client trusts and allows exactly what `listen` tells a server's operator to configure.
        let extra_ca = Some(fs::read(it.data_dir().join("listen-ca.pem")).unwrap());
        let allow = ["127.0.0.0/8", "::1"].map(|it| it.parse().unwrap()).to_vec();
        let client = HttpClient::new(Policy { guard: Guard::Public { allow }, extra_ca }).unwrap();
        Listener { child, output, url, client }
    }

    fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap()
    }

    async fn post(&self, at: Timestamp, signature: &str) -> (u16, String) {
        let outgoing = HttpRequest::post(self.url.clone(), BODY)
            .header("content-type", "application/json")
            .header("webhook-id", "evt_1")
            .header("webhook-timestamp", at.as_second().to_string())
            .header("webhook-signature", signature);
        let reply = self.client.send(outgoing, LIMITS).await.unwrap();
        (reply.status, String::from_utf8(reply.body.to_vec()).unwrap())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Signs with the reference library of Standard Webhooks.
fn sign(secret: &str, at: Timestamp) -> String {
    Webhook::new(secret).unwrap().sign("evt_1", at.as_second(), BODY.as_bytes()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn valid_signatures_are_shown_as_verified_and_others_refused_with_a_reason() {
    let it = Installation::new().await;
    let listener = Listener::start(&it, &["--secret", SECRET]);
    let now = Clock::System.now();
    assert_eq!(listener.post(now, &sign(SECRET, now)).await.0, 204);
    // After a rotation there are two signatures, of which one matches a known secret.
    let both = format!("{} {}", sign(OLD, now), sign(SECRET, now));
    assert_eq!(listener.post(now, &both).await.0, 204);
    let (status, body) = listener.post(now, &sign(OLD, now)).await;
    assert_eq!(
        (status, body.contains("no signature matches a known secret")),
        (400, true),
        "{body}"
    );
    let long_ago = Timestamp::from_second(now.as_second() - 400).unwrap();
    let (status, body) = listener.post(long_ago, &sign(SECRET, long_ago)).await;
    assert_eq!((status, body.contains("seconds ago")), (400, true), "{body}");

    let output = listener.output();
    let lines: Vec<&str> = output.lines().filter(|it| it.contains("evt_1")).collect();
    assert_eq!(lines.len(), 4, "{output}");
    assert!(lines[0].contains("transaction_ids=txn_1,txn_2,txn_3,..."), "{}", lines[0]);
    assert!(lines[0].ends_with("  verified") && !lines[0].contains("again"), "{}", lines[0]);
    assert!(lines[1].contains("evt_1  again"), "{}", lines[1]);
    assert!(lines[2].contains("not verified") && lines[3].contains("not verified"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_forward_address_is_answered_with_502() {
    let it = Installation::new().await;
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = format!("http://{nowhere}/hooks");
    let listener = Listener::start(&it, &["--forward", &nowhere]);
    let now = Clock::System.now();
    let (status, body) = listener.post(now, "v1,AAAA").await;
    assert_eq!((status, body.contains("gave no answer")), (502, true), "{body}");
    assert!(listener.output().contains("start with --secret to check it"));
}

#[tokio::test]
async fn the_certificate_is_reused_and_its_authority_file_has_no_key() {
    let it = Installation::new().await;
    drop(Listener::start(&it, &[]));
    let own = fs::read_to_string(it.data_dir().join("listen.pem")).unwrap();
    let authority = fs::read_to_string(it.data_dir().join("listen-ca.pem")).unwrap();
    drop(Listener::start(&it, &[]));
    assert_eq!(fs::read_to_string(it.data_dir().join("listen.pem")).unwrap(), own);
    assert_eq!(
        own.matches("PRIVATE KEY-----").count(),
        2,
        "the file does not have exactly one key"
    );
    assert_eq!(own.matches("BEGIN CERTIFICATE").count(), 2);
    assert!(!authority.contains("PRIVATE") && own.ends_with(&authority));
}

#[tokio::test]
async fn an_invalid_secret_is_refused_at_start() {
    let it = Installation::new().await;
    let error =
        outcome(&mut it.command(&["listen", "--secret", "hunter2", "--listen", "127.0.0.1:0"]))
            .failed();
    assert!(error.contains("whsec_"), "{error}");
}

/// SIGINT is Ctrl-C; service managers send SIGTERM.
#[tokio::test]
async fn listen_stops_on_sigint_and_sigterm() {
    let it = Installation::new().await;
    for signal in ["INT", "TERM"] {
        let mut listener = Listener::start(&it, &[]);
        let script = format!("kill -{signal} {}", listener.child.id());
        std::process::Command::new("sh").args(["-c", &script]).status().unwrap();
        let mut ended = None;
        wait_until("it has ended", || {
            ended = listener.child.try_wait().unwrap();
            ended.is_some()
        });
        assert_eq!(ended.unwrap().code(), Some(0), "{signal}");
    }
}

#[tokio::test]
async fn invalid_options_are_refused_at_start() {
    let it = Installation::new().await;
    for url in ["localhost:3000", "ftp://localhost/", "not an address"] {
        let error = it.run(&["listen", "--forward", url, "--listen", "127.0.0.1:0"]).failed();
        assert_eq!(error, "--forward must look like http://localhost:3000/hooks");
    }
    let error = it.run(&["listen", "--listen", "4691"]).failed();
    assert!(error.contains("such as 127.0.0.1:4690"), "{error}");
    // A folder without a server, perhaps a mistyped one.
    let without_server = Listener::start(&it, &[]);
    assert!(
        without_server.output().contains("There is no server in"),
        "{}",
        without_server.output()
    );
    let absolute = it.data_dir().join("listen-ca.pem").display().to_string();
    assert!(
        without_server.output().contains(&format!("ca_file = \"{absolute}\"")),
        "{}",
        without_server.output()
    );
    drop(without_server);
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let with_server = Listener::start(&it, &["--secret", SECRET]);
    assert!(
        !with_server.output().contains("There is no server")
            && !with_server.output().contains("curl"),
        "{}",
        with_server.output()
    );
}
