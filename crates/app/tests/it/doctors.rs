//! `evenkeel doctor`: it passes sound installations and names the problems of others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use base::Clock;
use db::params;
use serde_json::Value;
use testkit::oidc::{Deviation, OidcProvider};
use testkit::{TlsProxy, receiver};

use crate::program::{Installation, launch, outcome, wait_until};
use crate::serving::make_newer;

fn verdict(checks: &Value, name: &str) -> String {
    let found = checks.as_array().unwrap().iter().find(|it| it["check"] == name);
    found.unwrap_or_else(|| panic!("{checks} has no {name}"))["verdict"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn checks(it: &Installation) -> Value {
    serde_json::from_str(&it.run(&["doctor", "--json"]).output).unwrap()
}

#[tokio::test]
async fn a_sound_installation_passes_while_its_server_runs() {
    let it = Installation::new().await;
    let server = it.start(&["serve"]);
    let report = it.run(&["doctor"]).succeeded();
    // Backups are the operator's to set up, and the tests' PostgreSQL may be quick instead of safe.
    let (advice, others): (Vec<&str>, Vec<&str>) =
        report.lines().partition(|it| it.contains(" backups ") || it.contains(" durability "));
    assert!(others.iter().all(|line| line.starts_with("ok ")), "{report}");
    assert!(advice.iter().any(|it| it.contains("set backups.folder")), "{report}");
    let engine = if it.is_on_postgres() { "PostgreSQL " } else { "SQLite 3." };
    assert!(report.contains(engine), "{report}");
    server.stop();
}

#[tokio::test]
async fn doctor_creates_nothing() {
    let it = Installation::new().await;
    let report = it.run(&["doctor"]);
    assert_eq!(report.code, Some(1));
    assert!(report.output.contains("FAIL"), "{}", report.output);
    assert!(!it.data_dir().exists());
}

#[tokio::test]
async fn doctor_names_each_problem() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    fs::set_permissions(it.data_dir(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(verdict(&checks(&it), "data directory"), "warn");
    let mut open = it.command(&["doctor", "--json"]);
    let open = outcome(open.env("EVENKEEL_PUBLIC_URL", "http://money.example.com"));
    assert_eq!(verdict(&serde_json::from_str(&open.output).unwrap(), "public_url"), "warn");

    let key = it.data_dir().join("installation.key");
    let kept = fs::read(&key).unwrap();
    fs::write(&key, "00".repeat(32)).unwrap();
    assert_eq!(verdict(&checks(&it), "installation key"), "fail");
    fs::write(&key, "nonsense").unwrap();
    assert_eq!(verdict(&checks(&it), "installation key"), "fail");
    fs::write(&key, kept).unwrap();
    assert_eq!(verdict(&checks(&it), "installation key"), "ok");

    make_newer(&it).await;
    assert_eq!(verdict(&checks(&it), "schema"), "fail");
}

#[tokio::test]
async fn doctor_examines_proxy_disk_and_backups() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let with = |settings: &[(&str, &str)]| -> Value {
        let mut command = it.command(&["doctor", "--json"]);
        command.envs(settings.iter().copied());
        serde_json::from_str(&outcome(&mut command).output).unwrap()
    };
    let https = ("EVENKEEL_PUBLIC_URL", "https://money.example.com");
    assert_eq!(verdict(&with(&[https]), "proxy"), "warn");
    assert_eq!(verdict(&with(&[https, ("EVENKEEL_PROXIES", "127.0.0.1")]), "proxy"), "ok");
    // A running server is asked through the public address. Here that is its own address.
    let server = it.start(&["serve"]);
    let address = server.fact("web_url").to_owned();
    let public = ("EVENKEEL_PUBLIC_URL", address.as_str());
    assert_eq!(verdict(&with(&[public]), "public address"), "ok");
    server.stop();
    assert_eq!(verdict(&with(&[public]), "public address"), "warn");
    if !it.is_on_postgres() {
        let full = ("EVENKEEL_DATABASE__FREE_MIB_MIN", "1000000000");
        assert_eq!(verdict(&with(&[full]), "disk"), "fail");
    }
    let folder = it.path("disk");
    let scheduled = ("EVENKEEL_BACKUPS__FOLDER", folder.to_str().unwrap());
    assert_eq!(verdict(&with(&[]), "backups"), "warn");
    assert_eq!(verdict(&with(&[scheduled]), "backups"), "fail");
    fs::create_dir(&folder).unwrap();
    assert_eq!(verdict(&with(&[scheduled]), "backups"), "warn");
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env(scheduled.0, scheduled.1);
    let mut server = launch(command, &it.path(""));
    server.wait_until_ready();
    wait_until("a backup is there", || verdict(&with(&[scheduled]), "backups") == "ok");
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_asks_the_providers_of_single_sign_on() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let provider = OidcProvider::start(Clock::System).await;
    let authority = it.path("authority.pem");
    fs::write(&authority, receiver::authority()).unwrap();
    let checked = |issuer: &str| {
        let mut command = it.command(&["doctor", "--json"]);
        command.env("EVENKEEL_OIDC__HOME__ISSUER", issuer);
        command.env("EVENKEEL_OIDC__HOME__CLIENT_ID", "evenkeel");
        command.env("EVENKEEL_OIDC__CA_FILE", &authority);
        let done = outcome(&mut command);
        let checks = serde_json::from_str(&done.output);
        verdict(&checks.unwrap_or_else(|_| panic!("{}", done.errors)), "single sign-on")
    };
    assert_eq!(checked(provider.issuer()), "ok");
    assert_eq!(checked("https://localhost:1"), "warn", "nobody listens there");
    provider.deviate(Some(Deviation::OtherMetadata));
    assert_eq!(checked(provider.issuer()), "warn", "the metadata is of another issuer");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_warns_a_week_before_the_public_certificate_expires() {
    let it = Installation::new().await;
    let authority = it.path("authority.pem");
    fs::write(&authority, receiver::authority()).unwrap();
    let server = it.start(&["serve"]);
    let port =
        server.fact("web_url").trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
    for (days, expected) in [(30, "ok"), (8, "ok"), (6, "warn")] {
        let valid_for = Duration::from_secs(days * 24 * 60 * 60);
        let proxy = TlsProxy::start_with_certificate_for(valid_for).await;
        proxy.pass_on_to(port);
        let mut command = it.command(&["doctor", "--json"]);
        command.env("EVENKEEL_PUBLIC_URL", &proxy.url).env("SSL_CERT_FILE", &authority);
        let done = outcome(&mut command);
        let checks: Value = serde_json::from_str(&done.output).unwrap();
        assert_eq!(verdict(&checks, "public address"), "ok", "{checks}");
        assert_eq!(verdict(&checks, "public certificate"), expected, "{days} days: {checks}");
    }
    server.stop();
}

#[tokio::test]
async fn doctor_names_certificate_authorities_that_cannot_be_read() {
    let it = Installation::new().await;
    let empty = it.path("empty.pem");
    fs::write(&empty, "no certificate").unwrap();
    for file in ["/nonexistent", empty.to_str().unwrap()] {
        let mut command = it.command(&["doctor"]);
        let report = outcome(command.env("SSL_CERT_FILE", file)).output;
        let found = report.lines().find(|it| it.contains(" certificates ")).unwrap();
        assert!(found.starts_with("warn ") && found.contains("set SSL_CERT_FILE"), "{found}");
    }
}

#[tokio::test]
async fn a_wrong_counter_is_found() {
    let it = Installation::with_demo().await;
    let corrupt = "update accounts set transaction_count = transaction_count + $1";
    let db = it.db().await;
    db.write(move |tx| tx.execute(corrupt, params![1])).await.unwrap();
    assert_eq!(verdict(&checks(&it), "counters"), "fail");
}

#[tokio::test]
async fn a_damaged_file_is_found() {
    if testkit::is_on_postgres() {
        return;
    }
    let it = Installation::with_demo().await;
    let path = it.data_dir().join("evenkeel.db");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20_000].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    assert_eq!(verdict(&checks(&it), "integrity"), "fail");
}

#[tokio::test]
async fn too_many_connections_for_the_server_are_found() {
    let it = Installation::new().await;
    if !it.is_on_postgres() {
        return;
    }
    let mut command = it.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_DATABASE__CONNECTIONS", "1000");
    let mut server = crate::program::launch(command, &it.path(""));
    server.wait_until_ready();
    let checks = checks(&it);
    assert_eq!(verdict(&checks, "connections"), "warn");
    let text = checks.to_string();
    assert!(text.contains("1 server(s) of this database may open 1000"), "{text}");
    assert!(text.contains("set database.connections to "), "{text}");
    server.stop();
}
