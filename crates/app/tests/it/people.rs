//! Accounts of people and their API keys from the command line, with and without a running server.

use std::io::Write as _;
use std::process::Stdio;

use crate::program::{Installation, launch};

#[tokio::test]
async fn a_person_is_created_in_a_time_zone() {
    let it = Installation::new().await;
    let create = ["user", "create", "kim@example.com", "--json", "--timezone"];
    let refused = it.run(&[&create[..], &["Europe/Berlim"]].concat()).failed();
    let message = "timezone must be an IANA time zone such as America/New_York or UTC; did you mean Europe/Berlin?";
    assert!(refused.contains(message), "{refused}");
    let made = it.run(&[&create[..], &["europe/berlin"]].concat()).json();
    assert_eq!(made["timezone"], "Europe/Berlin");
    assert_eq!(it.run(&["user", "list", "--json"]).json()[0]["timezone"], "Europe/Berlin");
}

#[tokio::test]
async fn a_person_is_created_listed_and_deleted() {
    let it = Installation::new().await;
    let made = it.run(&["user", "create", "Robin@Example.com", "--name", "Robin", "--json"]).json();
    assert_eq!(made["email"], "robin@example.com");
    assert_eq!(made["base_currency"], "USD");
    assert_eq!(made["timezone"], "UTC");
    assert_eq!(made["password"].as_str().unwrap().len(), 23);
    let stored = "select password_hash from users";
    let hash: String = it.db().await.first(stored, &[], |row| row.get(0)).await.unwrap().unwrap();
    assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
    // Instants look like those of the API, with milliseconds.
    let created = made["created_at"].as_str().unwrap();
    assert!(created.len() == 24 && created.ends_with('Z') && &created[19..20] == ".", "{created}");

    let again = it.run(&["user", "create", "robin@example.com"]).failed();
    assert_eq!(again, "robin@example.com already has an account here");
    let listed = it.run(&["user", "list", "--json"]).json();
    assert_eq!(listed[0]["id"], made["id"]);
    assert!(it.run(&["user", "list"]).succeeded().contains("robin@example.com"));

    let unsure = it.run(&["user", "delete", "robin@example.com"]).failed();
    assert!(unsure.ends_with("confirm with --yes"), "{unsure}");
    it.run(&["user", "delete", "robin@example.com", "--yes"]).succeeded();
    assert_eq!(it.run(&["user", "list", "--json"]).json().as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn an_invalid_new_person_is_refused_with_one_sentence() {
    let it = Installation::new().await;
    for (args, expected) in [
        (
            &["user", "create", "robin"][..],
            "email must be an email address such as robin@example.com",
        ),
        (
            &["user", "create", "r@example.com", "--currency", "XYZ"],
            "currency must be a currency code such as USD or EUR",
        ),
        (
            &["user", "create", "r@example.com", "--password-stdin"],
            "password must have 10 to 256 characters",
        ),
    ] {
        assert_eq!(it.run(args).failed(), expected);
    }
}

#[tokio::test]
async fn a_password_from_standard_input_is_not_printed() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let mut command = it.command(&["user", "password", "robin@example.com", "--password-stdin"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"correct horse battery\n").unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    assert_eq!(done.stdout, b"Password of robin@example.com changed.\n");
}

#[tokio::test]
async fn a_key_works_at_once_and_is_refused_after_its_revocation() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let server = it.start(&["serve"]);
    let made = it.run(&["key", "create", "--name", "Laptop", "--read-only", "--json"]).json();
    let secret = made["key"].as_str().unwrap();
    assert_eq!(server.get("/v1/me", Some(secret)).0, 200);
    assert!(!made["scopes"].to_string().contains("write"));

    let id = made["id"].as_str().unwrap();
    it.run(&["key", "revoke", id]).succeeded();
    crate::program::wait_until("the key is refused", || {
        server.get("/v1/me", Some(secret)).0 == 401
    });
    let again = it.run(&["key", "revoke", id]).failed();
    assert!(
        again.starts_with("robin@example.com does not have this key, or it is already revoked")
    );
    let listed = it.run(&["key", "list"]).succeeded();
    assert!(listed.contains("Laptop") && listed.contains("revoked"), "{listed}");
    server.stop();
}

#[tokio::test]
async fn commands_need_user_when_there_are_several_accounts() {
    let it = Installation::empty().await;
    let missing = it.run(&["key", "list"]).failed();
    assert!(missing.starts_with("there is no Evenkeel database in "), "{missing}");
    for email in ["robin@example.com", "kim@example.com"] {
        it.run(&["user", "create", email]).succeeded();
    }
    let unsure = it.run(&["key", "create", "--name", "Laptop"]).failed();
    assert_eq!(unsure, "there are several accounts; choose one with --user EMAIL");
    let unknown = it.run(&["key", "list", "--user", "sam@example.com"]).failed();
    assert!(unknown.starts_with("no account has the email address sam@example.com"), "{unknown}");

    let args = ["key", "create", "--name", "Laptop", "--user", "kim@example.com"];
    let made = it.run(&[&args[..], &["--expires", "90d"]].concat()).succeeded();
    let secret = made.lines().next().unwrap();
    assert!(
        secret.starts_with("ek_")
            && made.contains(&format!("curl -H 'Authorization: Bearer {secret}'"))
    );
    let account = ["--accounts", "acc_01jqz9b3p2e8v9d0m5w7x4t6ra"];
    let unknown = it.run(&[&args[..], &account].concat()).failed();
    assert_eq!(unknown, "accounts names an unknown account");
    let scope = it.run(&[&args[..], &["--scopes", "accounts:reed"]].concat()).failed();
    assert_eq!(scope, "accounts:reed is not a scope; did you mean accounts:read?");
}

#[tokio::test]
async fn a_fresh_server_prints_the_setup_address_and_code_as_plain_text() {
    let it = Installation::new().await;
    // The address and the code.
    let find = |output: &str| -> (String, String) {
        let line = output.lines().find_map(|it| it.strip_prefix("No account exists yet. Open "));
        let found = line.and_then(|it| it.split_once(" and enter the setup code "));
        let (address, code) = found.unwrap_or_else(|| panic!("{output}"));
        (address.to_owned(), code.to_owned())
    };
    // The code is printed whatever is logged, and is not in the log.
    let mut quiet = it.command(&["serve"]);
    quiet.env("EVENKEEL_LOG__LEVEL", "error");
    let mut server = launch(quiet, &it.path(""));
    server.wait_until_ready();
    let (address, code) = find(&server.output());
    assert_eq!(address, format!("{}/setup", server.fact("web_url")));
    assert_eq!((code.len(), code.matches('-').count()), (14, 2));
    assert!(server.output().contains("EVENKEEL_PUBLIC_URL"), "{}", server.output());
    assert!(!server.errors().contains(&code));
    server.stop();
    // The code is the same after a restart, and no longer printed once an account exists.
    let server = it.start(&["serve", "--public-url", "https://money.example.com"]);
    assert_eq!(find(&server.output()), ("https://money.example.com/setup".to_owned(), code));
    assert!(!server.output().contains("EVENKEEL_PUBLIC_URL"));
    server.stop();
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let server = it.start(&["serve"]);
    assert_eq!(server.output(), "");
    server.stop();
}

#[tokio::test]
async fn the_audit_trail_is_listed_and_changes_in_it_are_detected() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    it.run(&["user", "password", "robin@example.com"]).succeeded();
    it.run(&["user", "password", "robin@example.com"]).succeeded();
    let listed = it.run(&["audit", "list", "--json"]).json();
    let actions: Vec<&str> =
        listed.as_array().unwrap().iter().map(|it| it["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["password.reset", "password.reset"]);
    assert_eq!(listed[0]["actor"], "operator");
    let text = it.run(&["audit", "list", "--limit", "1"]).succeeded();
    assert_eq!(text.lines().count(), 1);
    let sound = it.run(&["audit", "verify"]).succeeded();
    assert_eq!(sound, "The audit trail of robin@example.com is intact: 2 entries.\n");
    assert_eq!(it.run(&["audit", "verify", "--json"]).json()["entries"], 2);
    let db = it.db().await;
    let truncate = "delete from audit where number = 2";
    db.write(move |tx| tx.execute(truncate, &[])).await.unwrap();
    let error = it.run(&["audit", "verify"]).failed();
    assert!(error.contains("it has 1 entries, but its anchor says 2"), "{error}");
    let change = "update audit set details = 'Nothing happened' where number = 1";
    db.write(move |tx| tx.execute(change, &[])).await.unwrap();
    drop(db);
    let broken = it.run(&["audit", "verify"]).failed();
    assert!(broken.contains("is broken at entry 1"), "{broken}");
}

#[tokio::test]
async fn the_operator_can_turn_off_a_lost_second_step() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let args = ["user", "password", "robin@example.com", "--drop-second-step"];
    let output = it.run(&args).succeeded();
    assert!(output.contains("Two-step sign-in of robin@example.com is off."), "{output}");
    let listed = it.run(&["audit", "list", "--json"]).json();
    assert_eq!(listed[0]["action"], "second_step.change");
}

#[tokio::test]
async fn an_export_contains_a_persons_data_and_replaces_a_file_only_with_force() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    it.run(&["user", "create", "kim@example.com"]).succeeded();
    let file = it.path("robin.zip");
    let out = file.to_str().unwrap();
    let export = ["export", "--user", "robin@example.com", "--out", out];
    let output = it.run(&export).succeeded();
    assert!(output.contains("the data of robin@example.com"), "{output}");
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"PK\x03\x04") && bytes.len() > 1_000);
    assert!(it.run(&export).failed().ends_with("or replace it with --force"));
    it.run(&[&export[..], &["--force"]].concat()).succeeded();
    let nobody = it.run(&["export", "--user", "nobody@example.com", "--out", out, "--force"]);
    assert!(nobody.failed().starts_with("no account has the email address"));
    let ambiguous = it.run(&["export", "--out", out, "--force"]).failed();
    assert!(ambiguous.ends_with("choose one with --user EMAIL"), "{ambiguous}");
}
