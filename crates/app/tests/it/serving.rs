//! `evenkeel serve`: starting, refusing to start, and stopping.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use db::params;

use crate::program::{Installation, get, outcome, read_answer, wait_until};

#[tokio::test]
async fn port_zero_takes_a_free_port_and_the_ready_file_names_it() {
    let it = Installation::empty().await;
    let server = it.start(&["serve"]);
    let url = server.fact("web_url");
    assert!(url.starts_with("http://127.0.0.1:") && !url.ends_with(":0"), "{url}");
    assert_eq!(server.fact("base_url"), format!("{url}/v1"));
    assert_eq!(server.get("/healthz", None).0, 200);
    assert_eq!(server.get("/readyz", None).0, 200);
    assert_eq!(server.get("/metrics", None).0, 404);
    assert_eq!(server.get("/v1/me", None).0, 401);
    assert!(server.output().contains("No account exists yet"));
    server.stop();
}

#[tokio::test]
async fn a_hangup_reads_the_log_level_again_and_names_what_needs_a_restart() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let file = it.data_dir().join("evenkeel.toml");
    fs::write(&file, "[log]\nlevel = \"info\"\n").unwrap();
    let server = it.start(&["serve"]);
    let logged = |text: &str| server.errors().matches(text).count();
    assert_eq!(server.get("/v1/me", None).0, 401);
    assert_eq!(logged("\"level\":\"DEBUG\""), 0);

    fs::write(&file, "[log]\nlevel = \"debug\"\n[sign_up]\nopen = true\n").unwrap();
    server.signal("HUP");
    wait_until("the settings were read", || logged("the settings were read again") == 1);
    wait_until("the other setting is named", || logged("\"settings\":\"sign_up.open\"") == 1);
    assert_eq!(server.get("/v1/me", None).0, 401);
    wait_until("the request is logged", || logged("\"level\":\"DEBUG\"") > 0);

    // A mistake in the file changes nothing.
    fs::write(&file, "[log]\nlevel = \"loud\"\n").unwrap();
    server.signal("HUP");
    wait_until("the mistake is told", || logged("cannot read the settings again") == 1);
    assert_eq!(server.get("/healthz", None).0, 200);
    server.stop();
}

#[tokio::test]
async fn metrics_can_be_served_on_a_separate_address_only() {
    let it = Installation::new().await;
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_METRICS__LISTEN", "127.0.0.1:0");
    let mut server = crate::program::launch(command, &it.path(""));
    server.wait_until_ready();
    assert_eq!(server.get("/metrics", None).0, 404);
    let log = server.errors();
    let line: serde_json::Value =
        serde_json::from_str(log.lines().find(|it| it.contains("metrics")).unwrap()).unwrap();
    assert_eq!(get(line["url"].as_str().unwrap(), "/metrics", None).0, 200);
    server.stop();
}

#[tokio::test]
async fn metrics_are_public_only_if_the_operator_allows_it() {
    let it = Installation::new().await;
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_METRICS__PUBLIC", "true");
    let mut server = crate::program::launch(command, &it.path(""));
    server.wait_until_ready();
    assert_eq!(server.get("/metrics", None).0, 200);
    server.stop();
    let doctor = |public_url: &str| {
        let mut command = it.command(&["doctor"]);
        command.env("EVENKEEL_METRICS__PUBLIC", "true").env("EVENKEEL_PUBLIC_URL", public_url);
        outcome(&mut command).succeeded()
    };
    assert!(!doctor("").contains("metrics"));
    assert!(doctor("https://money.example").contains("warn  metrics"));
}

#[tokio::test]
async fn healthy_asks_the_server_at_the_configured_address() {
    let it = Installation::new().await;
    let server = it.start(&["serve"]);
    let address = server.fact("web_url").trim_start_matches("http://").to_owned();
    assert_eq!(it.run(&["healthy", "--listen", &address]).succeeded(), "ready\n");
    let mut command = it.command(&["healthy"]);
    assert_eq!(outcome(command.env("EVENKEEL_LISTEN", &address)).succeeded(), "ready\n");
    // The tests' programs listen on a port that the system picks.
    assert!(it.run(&["healthy"]).failed().contains("give --listen"));
    server.stop();
    let error = it.run(&["healthy", "--listen", &address]).failed();
    assert!(error.contains(&format!("no server answers at http://{address}/readyz")), "{error}");
}

#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_server_stops() {
    let it = Installation::new().await;
    let mut server = it.start(&["serve"]);
    let mut slow = server.connect();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: loc").unwrap();
    // Connections are accepted in order, so once this one is answered, the slow one has been accepted.
    assert_eq!(server.get("/healthz", None).0, 200);
    server.signal("TERM");
    wait_until("the server begins to stop", || server.errors().contains("stopping"));
    slow.write_all(b"alhost\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut slow).0, 200);
    assert_eq!(server.wait().code(), Some(0));
}

/// A load balancer has to learn that a server stops before the server refuses its connections.
#[tokio::test]
async fn a_server_that_is_asked_for_readiness_says_that_it_stops_and_goes_on_serving() {
    let it = Installation::new().await;
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_SERVER__STOP_DELAY_SECONDS", "300");
    let mut server = crate::program::launch(command, &it.path(""));
    server.wait_until_ready();
    assert_eq!(server.get("/readyz", None).0, 200);
    server.signal("TERM");
    wait_until("it is not ready", || server.get("/readyz", None).0 == 503);
    assert_eq!(server.get("/healthz", None).0, 200);
    assert_eq!(server.get("/v1/me", None).0, 401);
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(1), "a second signal ends it at once");
}

#[tokio::test]
async fn a_request_that_does_not_end_is_cut_off_when_the_server_stops() {
    let it = Installation::new().await;
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_SERVER__DRAIN_SECONDS", "1");
    let mut server = crate::program::launch(command, &it.path(""));
    server.wait_until_ready();
    let mut endless = server.connect();
    endless.write_all(b"GET /healthz HTTP/1.1\r\nHost: loc").unwrap();
    assert_eq!(server.get("/healthz", None).0, 200);
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[tokio::test]
async fn the_last_use_of_a_key_is_saved_when_the_server_stops() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let secret = it.run(&["key", "create", "--name", "Laptop"]).succeeded();
    let server = it.start(&["serve"]);
    assert_eq!(server.get("/v1/me", secret.lines().next()).0, 200);
    server.stop();
    let keys = it.run(&["key", "list", "--json"]).json();
    assert!(keys[0]["last_used_at"].is_string(), "{keys}");
    assert_eq!(keys[0]["last_used_address"], "127.0.0.1");
}

#[tokio::test]
async fn a_second_server_is_refused_on_the_same_file_and_allowed_on_the_same_postgres() {
    let it = Installation::new().await;
    let first = it.start(&["serve"]);
    if it.is_on_postgres() {
        let mut second = it.launch(&["serve"]);
        second.wait_until_ready();
        second.stop();
    } else {
        let error = it.run(&["serve", "--listen", "127.0.0.1:0"]).failed();
        let holder = format!("another evenkeel (process {}) is using ", first.pid());
        assert!(error.starts_with(&holder) && error.contains("--data-dir"), "{error}");
    }
    // The first server still runs, and commands work at the same time.
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    first.stop();
    it.start(&["serve"]).stop();
}

#[tokio::test]
async fn an_address_in_use_is_named_in_the_error() {
    let it = Installation::new().await;
    let server = it.start(&["serve"]);
    let address = server.fact("web_url").trim_start_matches("http://");
    let other = Installation::new().await;
    let error = other.run(&["serve", "--listen", address]).failed();
    assert!(error.starts_with(&format!("cannot listen on {address}; ")), "{error}");
    server.stop();
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    make_newer(&it).await;
    for args in [&["serve"][..], &["user", "list"]] {
        let error = it.run(args).failed();
        let expected =
            "this database was last used by a newer Evenkeel (its schema is at version 999,";
        assert!(error.starts_with(expected), "{error}");
    }
}

pub(crate) async fn make_newer(it: &Installation) {
    let insert = "insert into schema_migrations (version, name, checksum) values ($1, $2, $3)";
    let db = it.db().await;
    let write = move |tx: &mut db::Tx<'_>| tx.execute(insert, params![999, "later", 0]);
    db.write(write).await.unwrap();
}

#[tokio::test]
async fn only_the_owner_can_read_the_data_directory() {
    let it = Installation::new().await;
    let server = it.start(&["serve"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&it.data_dir()), 0o700);
    for entry in fs::read_dir(it.data_dir()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    server.stop();
}

#[tokio::test]
async fn another_installation_s_key_is_refused() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let key = it.data_dir().join("installation.key");
    let other = "00".repeat(32);
    let error = outcome(it.command(&["serve"]).env("EVENKEEL_INSTALLATION_KEY", other)).failed();
    assert!(
        error.starts_with("this database belongs to an installation with another key"),
        "{error}"
    );
    fs::remove_file(&key).unwrap();
    let error = it.run(&["user", "list"]).failed();
    assert!(error.contains("installation.key is missing"), "{error}");
}
