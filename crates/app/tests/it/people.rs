//! People and their keys, from the command line, with and without a server beside it.

use std::io::Write as _;
use std::process::Stdio;

use crate::program::Installation;

#[tokio::test]
async fn a_person_is_made_listed_and_removed() {
    let it = Installation::new().await;
    let made = it.run(&["user", "create", "Robin@Example.com", "--name", "Robin", "--json"]).json();
    assert_eq!(made["email"], "robin@example.com");
    assert_eq!(made["base_currency"], "USD");
    assert_eq!(made["password"].as_str().unwrap().len(), 23);

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
async fn what_is_wrong_with_a_new_person_is_said_in_a_sentence() {
    let it = Installation::new().await;
    for (args, said) in [
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
        assert_eq!(it.run(args).failed(), said);
    }
}

#[tokio::test]
async fn a_password_can_come_from_standard_input_and_is_not_shown_again() {
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
async fn a_key_works_at_once_and_ends_within_a_second_of_its_revocation() {
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
async fn whose_key_it_is_must_be_said_once_there_are_several_people() {
    let it = Installation::new().await;
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
async fn a_fresh_server_says_where_to_begin_and_with_which_code() {
    let it = Installation::new().await;
    let server = it.start(&["serve"]);
    let line = |log: &str| -> serde_json::Value {
        let line = log.lines().find(|it| it.contains("no account exists yet"));
        serde_json::from_str(line.unwrap_or_else(|| panic!("{log}"))).unwrap()
    };
    let said = line(&server.errors());
    assert_eq!(said["url"], format!("{}/setup", server.fact("web_url")));
    let code = said["code"].as_str().unwrap().to_owned();
    assert_eq!((code.len(), code.matches('-').count()), (14, 2));
    server.stop();
    // The same after a restart, and no word of it once somebody has an account.
    let server = it.start(&["serve"]);
    assert_eq!(line(&server.errors())["code"], code.as_str());
    server.stop();
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let server = it.start(&["serve"]);
    assert!(!server.errors().contains(&code));
    server.stop();
}

#[tokio::test]
async fn the_audit_trail_is_shown_and_a_change_in_it_is_noticed() {
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
    let cut = "delete from audit where number = 2";
    db.write(move |tx| tx.execute(cut, &[])).await.unwrap();
    let said = it.run(&["audit", "verify"]).failed();
    assert!(said.contains("it has 1 entries, but its anchor says 2"), "{said}");
    let change = "update audit set details = 'Nothing happened' where number = 1";
    db.write(move |tx| tx.execute(change, &[])).await.unwrap();
    drop(db);
    let broken = it.run(&["audit", "verify"]).failed();
    assert!(broken.contains("is broken at entry 1"), "{broken}");
}

#[tokio::test]
async fn the_operator_helps_somebody_who_lost_their_second_step() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    let args = ["user", "password", "robin@example.com", "--drop-second-step"];
    let said = it.run(&args).succeeded();
    assert!(said.contains("Two-step sign-in of robin@example.com is off."), "{said}");
    let listed = it.run(&["audit", "list", "--json"]).json();
    assert_eq!(listed[0]["action"], "second_step.change");
}

#[tokio::test]
async fn everything_of_a_person_goes_into_a_file_that_is_not_overwritten_unasked() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    it.run(&["user", "create", "kim@example.com"]).succeeded();
    let file = it.path("robin.zip");
    let out = file.to_str().unwrap();
    let export = ["export", "--user", "robin@example.com", "--out", out];
    let said = it.run(&export).succeeded();
    assert!(said.contains("the data of robin@example.com"), "{said}");
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"PK\x03\x04") && bytes.len() > 1_000);
    assert!(it.run(&export).failed().ends_with("or replace it with --force"));
    it.run(&[&export[..], &["--force"]].concat()).succeeded();
    let nobody = it.run(&["export", "--user", "nobody@example.com", "--out", out, "--force"]);
    assert!(nobody.failed().starts_with("no account has the email address"));
    let unsaid = it.run(&["export", "--out", out, "--force"]).failed();
    assert!(unsaid.ends_with("choose one with --user EMAIL"), "{unsaid}");
}
