//! `evenkeel demo`, as a first-time user runs it.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::program::{Installation, Running, get, launch, program, wait_until};

/// A demo that has printed how to use it.
fn started(folder: &Path) -> Running {
    let mut command = program(folder);
    command.args(["demo", "--listen", "127.0.0.1:0"]);
    let mut demo = launch(command, folder);
    demo.wait_until_ready();
    wait_until("it has printed", || demo.output().contains("Press Ctrl-C to stop"));
    demo
}

/// The address, path and key of the printed `curl` line.
fn curl_line(output: &str) -> (String, String, String) {
    let line = output.lines().find(|it| it.contains("curl ")).unwrap();
    let words: Vec<&str> = line.split('\'').collect();
    let key = words[1].trim_start_matches("Authorization: Bearer ").to_owned();
    let (url, path) = words[3].split_at(words[3].find("/v1").unwrap());
    (url.to_owned(), path.to_owned(), key)
}

#[tokio::test]
async fn the_printed_curl_line_works_and_no_files_are_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let demo = started(folder.path());
    let (url, path, key) = curl_line(&demo.output());
    assert_eq!((url.as_str(), key.as_str()), (demo.fact("web_url"), demo.fact("api_key")));
    let (status, answer) = get(&url, &path, Some(&key));
    assert_eq!((status, answer["data"].as_array().unwrap().len()), (200, 3));
    assert!(demo.output().contains(demo.fact("password")));
    // The link that signs in works once.
    let link = demo.fact("sign_in_url").to_owned();
    assert!(demo.output().contains(&link));
    let link = link.strip_prefix(&url).unwrap();
    assert_eq!([get(&url, link, None).0, get(&url, link, None).0], [303, 410]);
    demo.stop();
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["errors.txt", "output.txt", "ready.json"]);
}

#[tokio::test]
async fn the_printed_lines_start_a_receiver_of_webhooks_in_another_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let demo = started(folder.path());
    let output = demo.output();
    let (_, lines) = output.split_once("Receive its webhooks in another terminal:\n\n").unwrap();
    let lines: Vec<&str> = lines.lines().take(2).map(str::trim).collect();
    let listened = folder.path().join("listened.txt");
    // The port of the line is the usual one, which may be taken here.
    let script = format!("{}\nexec {} --listen 127.0.0.1:0", lines[0], lines[1]);
    let mut terminal = Command::new("/bin/sh");
    terminal.args(["-c", &script]).env_clear().current_dir(folder.path());
    terminal.stdout(File::create(&listened).unwrap()).stdin(Stdio::null());
    let mut listener = terminal.spawn().unwrap();
    let read = || fs::read_to_string(&listened).unwrap();
    wait_until("it listens", || read().contains("Press Ctrl-C to stop."));
    listener.kill().unwrap();
    listener.wait().unwrap();
    demo.stop();
}

#[tokio::test]
async fn the_demo_opens_its_link_with_the_program_of_the_desktop() {
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    fs::write(&opener, "#!/bin/sh\nprintf %s \"$*\" > opened.txt\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = program(folder.path());
    command.args(["demo", "--open", "--listen", "127.0.0.1:0"]).env("PATH", folder.path());
    let mut demo = launch(command, folder.path());
    demo.wait_until_ready();
    let link = demo.fact("sign_in_url").to_owned();
    let opened = || fs::read_to_string(folder.path().join("opened.txt")).unwrap_or_default();
    wait_until("the opener has the link", || opened() == link);
    demo.stop();
}

#[tokio::test]
async fn a_demo_with_a_data_directory_continues_after_a_restart() {
    let it = Installation::empty().await;
    let total = |answer: &Value| answer["pagination"]["total_count"].as_i64().unwrap();
    let args = ["demo", "--seed", "7"];
    let quiet = || {
        let mut command = it.command(&args);
        command.args(["--listen", "127.0.0.1:0"]).env("EVENKEEL_DEMO__FEED_SECONDS", "0");
        let mut demo = launch(command, &it.path(""));
        demo.wait_until_ready();
        demo
    };
    let first = quiet();
    let (_, before) = first.get("/v1/transactions?limit=1", Some(first.fact("api_key")));
    let (key, password) = (first.fact("api_key").to_owned(), first.fact("password").to_owned());
    assert!(total(&before) > 1_000);
    first.stop();

    let second = quiet();
    // The key and password of the first start still work after the second, and so do the key's endpoints.
    assert_eq!((second.fact("api_key"), second.fact("password")), (&*key, &*password));
    let (status, after) = second.get("/v1/transactions?limit=1", Some(&key));
    assert_eq!((status, total(&after)), (200, total(&before)));
    assert_eq!(after["data"], before["data"]);
    wait_until("it says so", || {
        second.output().contains("The data and the key are those of the last start")
    });
    second.stop();

    // A key that was revoked meanwhile is replaced.
    let keys = it.run(&["key", "list", "--json"]).json();
    let ids = keys.as_array().unwrap().iter().filter(|it| it["name"] == "Demo");
    for id in ids.map(|it| it["id"].as_str().unwrap()) {
        it.run(&["key", "revoke", id]).succeeded();
    }
    let third = quiet();
    assert_ne!(third.fact("api_key"), key);
    assert_eq!(third.get("/v1/transactions?limit=1", Some(third.fact("api_key"))).0, 200);
    third.stop();

    let other = it.run(&["demo", "--seed", "8", "--listen", "127.0.0.1:0"]).failed();
    assert!(other.contains("contains another demo (--seed 7)"), "{other}");
}

#[tokio::test]
async fn the_feed_brings_new_transactions() {
    let it = Installation::new().await;
    let mut command = it.command(&["demo", "--listen", "127.0.0.1:0"]);
    command.env("EVENKEEL_DEMO__FEED_SECONDS", "1").env("EVENKEEL_RATE_LIMIT__REQUESTS", "100000");
    let mut demo = launch(command, &it.path(""));
    demo.wait_until_ready();
    let total = || {
        let (_, answer) = demo.get("/v1/transactions?limit=1", Some(demo.fact("api_key")));
        answer["pagination"]["total_count"].as_i64().unwrap()
    };
    let before = total();
    wait_until("there are more", || total() > before);
    demo.stop();
}

#[tokio::test]
async fn the_demo_household_has_goals_hidden_and_closed_accounts_and_investments() {
    let it = Installation::new().await;
    let truth = it.path("truth.jsonl");
    let demo = it.start(&["demo", "--ground-truth", truth.to_str().unwrap()]);
    let key = Some(demo.fact("api_key"));
    let goals = demo.get("/v1/goals", key).1;
    for status in ["active", "paused", "completed", "cancelled"] {
        assert!(goals.to_string().contains(status), "{goals}");
    }
    let shown = demo.get("/v1/accounts", key).1.to_string();
    let all = demo.get("/v1/accounts?status=all&include_hidden=true", key).1.to_string();
    assert!(!shown.contains("\"hidden\":true") && all.contains("\"hidden\":true"));
    assert!(all.contains("\"status\":\"closed\""));
    assert_eq!(demo.get("/v1/investments", key).0, 200);
    assert!(fs::read_to_string(&truth).unwrap().lines().count() > 1_000);
    demo.stop();
    it.run(&["doctor"]).succeeded();
}

#[tokio::test]
async fn load_data_has_the_requested_size_and_a_key_for_each_person() {
    let it = Installation::new().await;
    let demo = it.start(&["demo", "--users", "3", "--transactions", "10000"]);
    let keys = fs::read_to_string(it.data_dir().join("keys.txt")).unwrap();
    let keys: Vec<&str> = keys.lines().collect();
    assert_eq!((keys.len(), keys[0]), (3, demo.fact("api_key")));
    let total = |key: &&str| {
        let (_, answer) = demo.get("/v1/transactions?limit=1", Some(key));
        answer["pagination"]["total_count"].as_i64().unwrap()
    };
    assert_eq!(keys.iter().map(total).collect::<Vec<_>>(), [3_334, 3_333, 3_333]);
    demo.stop();
}

#[tokio::test]
async fn the_demo_refuses_a_database_with_real_accounts() {
    let it = Installation::new().await;
    it.run(&["user", "create", "robin@example.com"]).succeeded();
    // The second attempt must not mistake what the first one left behind for its own data.
    for _ in 0..2 {
        let error = it.run(&["demo", "--listen", "127.0.0.1:0"]).failed();
        assert!(error.starts_with("this database has real accounts"), "{error}");
    }
    assert_eq!(it.run(&["user", "list", "--json"]).json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_household_shows_every_kind_of_insight_on_any_seed() {
    for seed in ["1", "23"] {
        let it = Installation::new().await;
        let mut command = it.command(&["demo", "--seed", seed]);
        command.args(["--listen", "127.0.0.1:0"]).env("EVENKEEL_DEMO__FEED_SECONDS", "0");
        let mut demo = launch(command, &it.path(""));
        demo.wait_until_ready();
        let data = |path: &str| {
            let (status, answer) = demo.get(path, Some(demo.fact("api_key")));
            assert_eq!(status, 200, "{path}: {answer}");
            answer["data"].clone()
        };
        let today = data("/v1/scores")["observation_date"].as_str().unwrap().to_owned();
        let streams = data("/v1/recurring?status=all")["streams"].as_array().unwrap().clone();
        let some = |test: &dyn Fn(&Value) -> bool| streams.iter().any(test);
        let is = |name: &'static str, word: &'static str| move |it: &Value| it[name] == word;
        let rose = |it: &Value| !it["price_changes"].as_array().unwrap().is_empty();
        assert!(
            some(&|it| is("stream_type", "subscription")(it) && rose(it)),
            "there is no price rise"
        );
        assert!(some(&|it| is("status", "ended")(it) && is("stream_type", "subscription")(it)));
        let overdue =
            |it: &Value| it["next_expected_date"].as_str().is_some_and(|on| on < &today[..]);
        assert!(
            some(&|it| is("stream_type", "bill")(it) && overdue(it)),
            "there is no missed bill"
        );
        assert!(some(&is("stream_type", "income")));
        let expiring = data("/v1/benefits/expiring?days=60");
        assert!(expiring["count"].as_u64().unwrap() > 0, "{expiring}");
        assert!(data("/v1/income")["monthly_income"].as_f64().unwrap() > 1_000.0);
        assert!(data("/v1/me/summary")["scores"]["evenkeel"].is_number());
        let accounts = data("/v1/accounts")["accounts"].as_array().unwrap().clone();
        let unexplained = accounts.iter().any(|account| {
            let id = account["id"].as_str().unwrap();
            let days = data(&format!("/v1/accounts/{id}/balances?start_date=2024-12-01"));
            let days = days["balances"].as_array().unwrap();
            days.iter().any(|it| !it["unexplained_change"].is_null())
        });
        assert!(unexplained, "no balance has an unexplained change");
        let page = data("/v1/transactions?limit=100");
        let page = page.as_array().unwrap();
        assert!(page.iter().any(|it| it["is_internal_transfer"] == true));
        let named = page.iter().filter(|it| it["category_tier1"].is_string()).count();
        assert!(named >= 80, "{named} of 100 have a category");
        demo.stop();
    }
}
