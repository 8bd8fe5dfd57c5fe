//! Settings from flags, environment and file: their precedence, and the errors for invalid ones.

use std::fs;

use crate::program::{Installation, outcome, program};

#[tokio::test]
async fn flags_override_the_environment_which_overrides_the_file_and_defaults() {
    let it = Installation::new().await;
    fs::create_dir(it.data_dir()).unwrap();
    let file = "listen = \"127.0.0.1:1\"\n[log]\nlevel = \"warn\"\nformat = \"json\"\n";
    fs::write(it.data_dir().join("evenkeel.toml"), file).unwrap();
    let mut command = it.command(&["config", "--json"]);
    command.env_remove("EVENKEEL_LISTEN");
    let shown = outcome(command.env("EVENKEEL_LOG__LEVEL", "debug")).json();
    let value = |name: &str| (shown[name]["value"].clone(), shown[name]["from"].clone());
    assert_eq!(value("listen"), ("127.0.0.1:1".into(), "file".into()));
    assert_eq!(value("log.level"), ("debug".into(), "environment".into()));
    assert_eq!(value("rate_limit.requests"), (100.into(), "default".into()));
    assert_eq!(value("data_dir").1, "flag");
}

#[tokio::test]
async fn config_hides_secrets() {
    let it = Installation::new().await;
    for args in [&["config"][..], &["config", "--json"]] {
        let mut command = program(&it.path(""));
        let url = "postgres://me:hunter2@localhost/x";
        let shown = outcome(command.args(args).env("EVENKEEL_DATABASE__URL", url)).succeeded();
        assert!(shown.contains("(hidden)") && !shown.contains("hunter2"), "{shown}");
    }
}

#[tokio::test]
async fn a_password_on_the_command_line_causes_a_warning_and_a_file_does_not() {
    let it = Installation::new().await;
    let url = "postgres://me:hunter2@localhost/x?sslmode=verify-full";
    let file = it.path("url");
    fs::write(&file, format!("{url}\n")).unwrap();
    let warning = "can see the password in --database-url";
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = program(&it.path(""));
        let ran = outcome(command.args(args).envs(variables.iter().copied()));
        assert_eq!(ran.code, Some(0), "{}", ran.errors);
        let shown: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
        assert_eq!(shown["database.url"]["value"], "(hidden)");
        assert!(!ran.errors.contains("hunter2"), "{}", ran.errors);
        (shown["database.url"]["from"].as_str().unwrap().to_owned(), ran.errors.contains(warning))
    };
    let config = ["config", "--json"];
    let flag = ("flag".to_owned(), true);
    assert_eq!(run(&[&config[..], &["--database-url", url]].concat(), &[]), flag);
    let plain = "postgres://me@localhost/x";
    let unexposed = ("flag".to_owned(), false);
    assert_eq!(run(&[&config[..], &["--database-url", plain]].concat(), &[]), unexposed);
    let named = ["--database-url-file", file.to_str().unwrap()];
    assert_eq!(run(&[&config[..], &named].concat(), &[]), unexposed);
    let environment = ("environment".to_owned(), false);
    assert_eq!(run(&config, &[("EVENKEEL_DATABASE__URL", url)]), environment);
    let by_file = [("EVENKEEL_DATABASE__URL_FILE", file.to_str().unwrap())];
    assert_eq!(run(&config, &by_file), environment);
    let missing = outcome(program(&it.path("")).args(["config", "--database-url-file", "/none"]));
    assert!(missing.failed().starts_with("cannot read the file /none"));
    let both = [&["config", "--database-url", plain][..], &named].concat();
    assert_eq!(outcome(program(&it.path("")).args(both)).code, Some(2));
}

#[tokio::test]
async fn every_command_refuses_an_invalid_setting_with_one_sentence() {
    let it = Installation::new().await;
    for (name, value, expected) in [
        (
            "EVENKEEL_LISTN",
            "127.0.0.1:1",
            "EVENKEEL_LISTN is not a setting; did you mean EVENKEEL_LISTEN?",
        ),
        (
            "EVENKEEL_DEMO__FEED_SECONDS",
            "often",
            "EVENKEEL_DEMO__FEED_SECONDS must be a whole number from 0 to 86400, not \"often\"",
        ),
    ] {
        for command in [&["config"][..], &["serve"], &["user", "list"], &["demo"]] {
            assert_eq!(outcome(it.command(command).env(name, value)).failed(), expected);
        }
    }
    assert!(!it.data_dir().exists());
}

#[tokio::test]
async fn an_invalid_command_line_exits_with_2() {
    let it = Installation::new().await;
    for args in [&["serv"][..], &["key", "create"], &["demo", "--users", "0"], &[]] {
        assert_eq!(outcome(program(&it.path("")).args(args)).code, Some(2), "{args:?}");
    }
    assert_eq!(outcome(program(&it.path("")).arg("--help")).code, Some(0));
}

#[tokio::test]
async fn the_openapi_document_needs_no_installation() {
    let it = Installation::new().await;
    let document = outcome(program(&it.path("")).arg("openapi")).json();
    assert_eq!(document["openapi"].as_str().unwrap().split('.').next(), Some("3"));
    assert!(document["paths"].as_object().unwrap().len() >= 6);
    assert_eq!(fs::read_dir(it.path("")).unwrap().count(), 0);
}
