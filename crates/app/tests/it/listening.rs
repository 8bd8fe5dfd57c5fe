//! `evenkeel listen`, asked by a client of its own kind.

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

struct Listening {
    child: Child,
    output: std::path::PathBuf,
    url: String,
    client: HttpClient,
}

impl Listening {
    fn start(it: &Installation, more: &[&str]) -> Listening {
        let output = it.path("listen.txt");
        let mut command = it.command(&["listen", "--listen", "127.0.0.1:0"]);
        command.args(more).stdout(File::create(&output).unwrap()).stdin(Stdio::null());
        let child = command.spawn().unwrap();
        let said = || fs::read_to_string(&output).unwrap();
        wait_until("it listens", || said().contains("Press Ctrl-C to stop."));
        let text = said();
        let url =
            text.split_once("Listening on ").unwrap().1.split_once(". Press").unwrap().0.to_owned();
        // Exactly what the operator of a server is told to allow and to trust.
        let extra_ca = Some(fs::read(it.data_dir().join("listen-ca.pem")).unwrap());
        let allow = ["127.0.0.0/8", "::1"].map(|it| it.parse().unwrap()).to_vec();
        let client = HttpClient::new(Policy { guard: Guard::Public { allow }, extra_ca }).unwrap();
        Listening { child, output, url, client }
    }

    fn said(&self) -> String {
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

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// By the library of others.
fn signed(secret: &str, at: Timestamp) -> String {
    Webhook::new(secret).unwrap().sign("evt_1", at.as_second(), BODY.as_bytes()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_signed_is_shown_as_verified_and_what_is_not_is_refused_with_a_reason() {
    let it = Installation::new().await;
    let listening = Listening::start(&it, &["--secret", SECRET]);
    let now = Clock::System.now();
    assert_eq!(listening.post(now, &signed(SECRET, now)).await.0, 204);
    // After a rotation there are two, and one is known here.
    let both = format!("{} {}", signed(OLD, now), signed(SECRET, now));
    assert_eq!(listening.post(now, &both).await.0, 204);
    let (status, said) = listening.post(now, &signed(OLD, now)).await;
    assert_eq!(
        (status, said.contains("no signature matches a known secret")),
        (400, true),
        "{said}"
    );
    let long_ago = Timestamp::from_second(now.as_second() - 400).unwrap();
    let (status, said) = listening.post(long_ago, &signed(SECRET, long_ago)).await;
    assert_eq!((status, said.contains("seconds ago")), (400, true), "{said}");

    let said = listening.said();
    let lines: Vec<&str> = said.lines().filter(|it| it.contains("evt_1")).collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert!(lines[0].contains("transaction_ids=txn_1,txn_2,txn_3,..."), "{}", lines[0]);
    assert!(lines[0].ends_with("  verified") && !lines[0].contains("again"), "{}", lines[0]);
    assert!(lines[1].contains("evt_1  again"), "{}", lines[1]);
    assert!(lines[2].contains("not verified") && lines[3].contains("not verified"));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_to_forward_to_is_not_there_the_sender_hears_it() {
    let it = Installation::new().await;
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = format!("http://{nowhere}/hooks");
    let listening = Listening::start(&it, &["--forward", &nowhere]);
    let now = Clock::System.now();
    let (status, said) = listening.post(now, "v1,AAAA").await;
    assert_eq!((status, said.contains("gave no answer")), (502, true), "{said}");
    assert!(listening.said().contains("start with --secret to check it"));
}

#[tokio::test]
async fn the_certificate_stays_and_its_authority_has_no_key() {
    let it = Installation::new().await;
    drop(Listening::start(&it, &[]));
    let own = fs::read_to_string(it.data_dir().join("listen.pem")).unwrap();
    let authority = fs::read_to_string(it.data_dir().join("listen-ca.pem")).unwrap();
    drop(Listening::start(&it, &[]));
    assert_eq!(fs::read_to_string(it.data_dir().join("listen.pem")).unwrap(), own);
    assert_eq!(own.matches("PRIVATE KEY-----").count(), 2, "one key, of one certificate");
    assert_eq!(own.matches("BEGIN CERTIFICATE").count(), 2);
    assert!(!authority.contains("PRIVATE") && own.ends_with(&authority));
}

#[tokio::test]
async fn a_secret_that_is_none_is_refused_before_anything_listens() {
    let it = Installation::new().await;
    let said =
        outcome(&mut it.command(&["listen", "--secret", "hunter2", "--listen", "127.0.0.1:0"]))
            .failed();
    assert!(said.contains("whsec_"), "{said}");
}

/// Ctrl-C, and a service manager's word.
#[tokio::test]
async fn it_ends_when_told() {
    let it = Installation::new().await;
    for signal in ["INT", "TERM"] {
        let mut listening = Listening::start(&it, &[]);
        let script = format!("kill -{signal} {}", listening.child.id());
        std::process::Command::new("sh").args(["-c", &script]).status().unwrap();
        let mut ended = None;
        wait_until("it has ended", || {
            ended = listening.child.try_wait().unwrap();
            ended.is_some()
        });
        assert_eq!(ended.unwrap().code(), Some(0), "{signal}");
    }
}

#[tokio::test]
async fn what_cannot_work_is_said_before_anything_is_heard() {
    let it = Installation::new().await;
    for url in ["localhost:3000", "ftp://localhost/", "not an address"] {
        let said = it.run(&["listen", "--forward", url, "--listen", "127.0.0.1:0"]).failed();
        assert_eq!(said, "--forward must look like http://localhost:3000/hooks");
    }
    let said = it.run(&["listen", "--listen", "4691"]).failed();
    assert!(said.contains("such as 127.0.0.1:4690"), "{said}");
    // Nobody's folder, or a mistyped one.
    let alone = Listening::start(&it, &[]);
    assert!(alone.said().contains("There is no server in"), "{}", alone.said());
    let absolute = it.data_dir().join("listen-ca.pem").display().to_string();
    assert!(alone.said().contains(&format!("ca_file = \"{absolute}\"")), "{}", alone.said());
    drop(alone);
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let told = Listening::start(&it, &["--secret", SECRET]);
    assert!(
        !told.said().contains("There is no server") && !told.said().contains("curl"),
        "{}",
        told.said()
    );
}
