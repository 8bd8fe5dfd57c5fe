//! Bank connections from the command line, against test servers with their own certificate authority.

use std::io::Write as _;
use std::process::{Command, Stdio};

use base::Clock;
use testkit::enable_banking::EnableBanking;
use testkit::plaid::{self, Plaid};
use testkit::receiver;
use testkit::simplefin::{Account, SimpleFin, Transaction};

use crate::program::{Installation, Outcome, outcome};

const DAY: i64 = 86_400;

/// An installation with one person, and a SimpleFIN server that it can reach.
struct Fixture {
    it: Installation,
    server: SimpleFin,
}

impl Fixture {
    async fn new() -> Fixture {
        let it = Installation::new().await;
        it.run(&["user", "create", "robin@example.com"]).succeeded();
        std::fs::write(it.path("ca.pem"), receiver::authority()).unwrap();
        let server = SimpleFin::start(Clock::System).await;
        let now = Clock::System.now().as_second();
        server.connection("CON-1", "First Bank");
        let mut checking = Account::new("CON-1", "ACT-1", "Everyday Checking", "100.23", now);
        checking.transactions = vec![
            Transaction::posted("T1", now - 2 * DAY, "-33.20", "GROCER 12"),
            Transaction::posted("T2", now - 60 * DAY, "2500.00", "PAYROLL"),
        ];
        server.account(checking);
        server.account(Account::new("CON-1", "ACT-2", "House", "9000.00", now));
        Fixture { it, server }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.it.command(args);
        command
            .env("EVENKEEL_CONNECTIONS__ALLOW_NETWORKS", "127.0.0.0/8,::1/128")
            .env("EVENKEEL_CONNECTIONS__CA_FILE", self.it.path("ca.pem"));
        command
    }

    fn run(&self, args: &[&str]) -> Outcome {
        outcome(&mut self.command(args))
    }

    /// Runs the command with a setup token on standard input.
    fn run_with_token(&self, args: &[&str]) -> Outcome {
        run_with_input(self.command(args), &self.server.setup_token())
    }
}

fn run_with_input(mut command: Command, line: &str) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    let done = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Outcome { code: done.status.code(), output: text(done.stdout), errors: text(done.stderr) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_is_connected_chosen_synced_and_disconnected() {
    let fixture = Fixture::new().await;
    let offered =
        fixture.run_with_token(&["connect", "simplefin", "--token-stdin", "--json"]).json();
    let id = offered["id"].as_str().unwrap();
    assert_eq!(offered["accounts"][0]["external_id"], "ACT-1");
    assert_eq!(offered["accounts"][0]["state"], "open");
    let shown = fixture.run(&["connect", "choose", id]).succeeded();
    assert!(shown.contains("ACT-2") && shown.contains("Everyday Checking"), "{shown}");

    let args = ["--take", "ACT-1", "--take", "ACT-2=loan/mortgage", "--owed", "ACT-2=positive"];
    let chosen = fixture.run(&[&["connect", "choose", id, "--json"], &args[..]].concat()).json();
    assert_eq!((&chosen[0]["new"], &chosen[0]["error"]), (&2.into(), &serde_json::Value::Null));
    let listed = fixture.run(&["connect", "list", "--json"]).json();
    assert_eq!(
        (&listed[0]["state"], &listed[0]["history_complete"]),
        (&"connected".into(), &true.into())
    );
    assert_eq!(listed[0]["accounts"].as_array().unwrap().len(), 2);
    let synced = fixture.run(&["sync"]).succeeded();
    assert!(synced.ends_with("nothing new\n"), "{synced}");

    fixture.server.revoke();
    let failed = fixture.run(&["sync", id]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.output.contains("Create a new setup token"), "{}", failed.output);
    let listed = fixture.run(&["connect", "list"]).succeeded();
    assert!(listed.contains("needs attention") && listed.contains("! SimpleFIN"), "{listed}");
    let renewed = fixture.run_with_token(&["connect", "renew", id, "--token-stdin"]).succeeded();
    assert!(renewed.contains("connected"), "{renewed}");

    fixture.run(&["connect", "disconnect", id]).succeeded();
    let nothing = fixture.run(&["sync"]).failed();
    assert!(nothing.contains("has no connections"), "{nothing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_the_person_has_already_is_offered_to_be_continued() {
    let fixture = Fixture::new().await;
    let all = ["connect", "simplefin", "--token-stdin", "--all", "--json"];
    fixture.run_with_token(&all).json();
    let offered =
        fixture.run_with_token(&["connect", "simplefin", "--token-stdin", "--json"]).json();
    let id = offered["id"].as_str().unwrap();
    let same = offered["accounts"][0]["same_account_id"].as_str().unwrap();
    let shown = fixture.run(&["connect", "choose", id]).succeeded();
    assert!(shown.contains(&format!("--into ACT-1={same}")), "{shown}");
    let chosen = fixture.run(&["connect", "choose", id, "--all"]);
    assert!(
        chosen.errors.contains("continues your account Everyday Checking"),
        "{}",
        chosen.errors
    );
    let chosen = chosen.succeeded();
    assert!(chosen.contains("nothing new"), "{chosen}");
    let shown = fixture.run(&["connect", "choose", id, "--json"]).json();
    assert_eq!(shown["accounts"][0]["account_id"], same);
    assert_eq!(shown["accounts"][0]["same_account_id"], serde_json::Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_first_fetch_is_reported_and_repeated_by_the_next_sync() {
    let fixture = Fixture::new().await;
    fixture.server.fail_next(testkit::simplefin::Fault::Response(503, String::new()));
    let connected = fixture.run_with_token(&["connect", "simplefin", "--token-stdin", "--all"]);
    // The first fetch failed, so no account could be selected; the sync then fetches the accounts again.
    assert_eq!(connected.code, Some(0), "{}", connected.errors);
    assert!(connected.output.contains("has a problem (503)"), "{}", connected.output);
    let listed = fixture.run(&["connect", "list", "--json"]).json();
    assert_eq!(listed[0]["open_offers"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_cannot_be_made_is_refused_with_one_sentence() {
    let fixture = Fixture::new().await;
    let args = ["connect", "simplefin", "--token-stdin"];
    let token = fixture.server.setup_token();
    // A token must not lead to a private address unless the operator allows that network.
    let refused = run_with_input(fixture.it.command(&args), &token).failed();
    assert!(refused.contains("is not allowed"), "{refused}");
    let none = run_with_input(fixture.command(&args), "hello").failed();
    assert!(none.starts_with("This is not a setup token."), "{none}");
    let silent = fixture.run(&["connect", "simplefin"]).failed();
    assert!(silent.contains("--token-stdin"), "{silent}");
    let unknown = fixture.run(&["sync", "con_nothing"]).failed();
    assert!(unknown.contains("is not a connection id"), "{unknown}");
    let nothing = fixture.run(&["connect", "list"]).succeeded();
    assert!(nothing.contains("connect simplefin"), "{nothing}");
    // The token was not spent on any of these.
    run_with_input(fixture.command(&args), &token).succeeded();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_installation_key_keeps_connections_and_the_audit_trail() {
    let fixture = Fixture::new().await;
    let it = &fixture.it;
    let connect = ["connect", "simplefin", "--token-stdin", "--all", "--json"];
    fixture.run_with_token(&connect).succeeded();
    let id = it.run(&["connect", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let before = std::fs::read_to_string(it.data_dir().join("installation.key")).unwrap();
    let done = it.run(&["key", "rotate-installation"]).succeeded();
    assert!(done.contains("Encrypted 1 secrets and signed 1 anchors"), "{done}");
    assert_ne!(std::fs::read_to_string(it.data_dir().join("installation.key")).unwrap(), before);
    assert!(!it.data_dir().join("installation.key.next").exists());
    fixture.run(&["sync", &id]).succeeded();
    it.run(&["audit", "verify"]).succeeded();
    // Interrupted after the commit: the new key is only in its own file. The command finishes.
    let now = std::fs::read_to_string(it.data_dir().join("installation.key")).unwrap();
    std::fs::write(it.data_dir().join("installation.key.next"), now).unwrap();
    std::fs::write(it.data_dir().join("installation.key"), before).unwrap();
    it.run(&["user", "list"]).failed();
    it.run(&["key", "rotate-installation"]).succeeded();
    fixture.run(&["sync", &id]).succeeded();
}

/// Runs a command that waits for a round trip, while `person` does something at the bank.
async fn run_while(mut command: Command, person: impl AsyncFnOnce()) -> Outcome {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let done = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap());
    person().await;
    let done = done.await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Outcome { code: done.status.code(), output: text(done.stdout), errors: text(done.stderr) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_is_connected_with_plaid_while_the_command_waits() {
    let fixture = Fixture::new().await;
    let plaid = Plaid::start(Clock::System).await;
    let mut command = fixture.command(&["connect", "plaid", "--json"]);
    command
        .env("EVENKEEL_PLAID__URL", plaid.url())
        .env("EVENKEEL_PLAID__ENVIRONMENT", "sandbox")
        .env("EVENKEEL_PLAID__CLIENT_ID", Plaid::CLIENT_ID)
        .env("EVENKEEL_PLAID__SECRET", Plaid::SECRET);
    let outcome = run_while(command, async || {
        while plaid.count("/link/token/get") == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let checking = plaid::account("acc1", "Everyday", "0000", "depository/checking", "110.4");
        plaid.sign_in("ins_1", "First Platypus Bank", vec![checking]);
    })
    .await;
    assert!(outcome.errors.contains(&format!("{}/hosted/", plaid.url())), "{}", outcome.errors);
    let offered = outcome.json();
    assert_eq!(offered["accounts"][0]["name"], "Everyday (0000)", "{offered}");
    let listed = fixture.run(&["connect", "list", "--json"]).json();
    assert_eq!(listed[0]["source"], "plaid", "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_banks_of_a_country_are_listed_with_the_persons_application() {
    let fixture = Fixture::new().await;
    let server = EnableBanking::start(Clock::System).await;
    let keys = server.keys();
    std::fs::write(fixture.it.path("key.pem"), keys.private_key).unwrap();
    let run = |args: &[&str]| {
        let args = [&["connect", "enable-banking", "--country", "de"], args].concat();
        let mut command = fixture.command(&args);
        command.env("EVENKEEL_ENABLE_BANKING__URL", server.url());
        outcome(&mut command)
    };
    let key = fixture.it.path("key.pem");
    let key = key.to_str().unwrap();
    let save = ["--application-id", &keys.application_id, "--key-file", key, "--json"];
    let banks = run(&save).json();
    assert_eq!(banks[0]["name"], "Alpenbank", "{banks}");
    let listed = run(&[]).succeeded();
    assert!(listed.contains("Nordbank\n"), "the application was saved: {listed}");
    let unknown = run(&["--bank", "Seebank"]);
    assert!(unknown.errors.contains("no bank of this country"), "{}", unknown.errors);
    // A bank sends the browser back to an https address.
    let refused = run(&["--bank", "nordbank"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.errors.contains("Set public_url"), "{}", refused.errors);
}
