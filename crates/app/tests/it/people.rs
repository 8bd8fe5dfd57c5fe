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
    assert!(unsure.ends_with("say --yes if you mean it"), "{unsure}");
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
    assert_eq!(done.stdout, b"The password of robin@example.com is replaced.\n");
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
    assert!(again.starts_with("robin@example.com has no such key, or it is revoked already"));
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
    assert_eq!(unsure, "several people have an account here; say whose with --user EMAIL");
    let unknown = it.run(&["key", "list", "--user", "sam@example.com"]).failed();
    assert!(unknown.starts_with("nobody here has the address sam@example.com"), "{unknown}");

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
    assert_eq!(scope, "accounts:reed is not a scope");
}
