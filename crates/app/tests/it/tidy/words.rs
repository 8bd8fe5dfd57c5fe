//! Code that is allowed only in certain crates or files, or nowhere.

use super::source::{Source, lines_with, words};
use super::{File, assert_no_breaches, files, rust_files};

/// A breach for each bad line of code in the files that the rule applies to.
fn breaches(applies_to: impl Fn(&str) -> bool, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
    let checked: Vec<File> = rust_files().into_iter().filter(|it| applies_to(&it.path)).collect();
    assert!(!checked.is_empty(), "the rule applies to no file");
    checked
        .iter()
        .flat_map(|it| breaches_in(&it.path, &Source::parse(&it.text).code, &is_bad))
        .collect()
}

/// A breach for each bad line of a text.
fn breaches_in(path: &str, text: &str, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = lines_with(text, is_bad).into_iter();
    lines.map(|(number, line)| format!("{path}:{number}: {line}")).collect()
}

fn is_in(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|it| path.starts_with(it))
}

#[test]
fn sql_is_written_only_in_service_webhooks_and_db() {
    let mut found = Vec::new();
    for name in ["base", "calc", "wire", "net", "sources", "web", "app"] {
        for file in files(&format!("crates/{name}/src"), ".rs") {
            let strings = &Source::parse(&file.text).strings;
            let sql = strings.iter().filter(|(_, text)| is_sql(text));
            found.extend(sql.map(|(line, _)| format!("{}:{line}: a statement", file.path)));
        }
    }
    assert_no_breaches(
        "Ask `service` for it: SQL is written only there, in `webhooks` and in `db`.",
        &found,
    );
}

/// Whether the text is a statement. Sentences may begin with the same word, but are capitalized or lack the second
/// keyword.
fn is_sql(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has = |word: &str| words.iter().any(|it| it.eq_ignore_ascii_case(word));
    let second = words.get(1).copied().unwrap_or_default();
    match words.first().copied().unwrap_or_default() {
        "select" | "SELECT" => has("from") || second.starts_with(|it: char| it.is_ascii_digit()),
        "insert" | "INSERT" => has("into"),
        "update" | "UPDATE" => has("set"),
        "delete" | "DELETE" => has("from"),
        "with" | "WITH" => has("as") && has("select") || text.contains("(select"),
        "create" | "CREATE" | "alter" | "ALTER" | "drop" | "DROP" => has("table") || has("index"),
        _ => false,
    }
}

/// Names that were metaphors, and the words that replaced them.
const OLD_NAMES: &[(&str, &str)] = &[
    ("Seats", "DeliveryLimiter"),
    ("SendWay", "SendPermit"),
    ("Letter", "DeliveryDetail"),
    ("Story", "EventDetail"),
    ("Told", "a noun of the domain"),
    ("Desk", "Classifier, or a fixture"),
    ("Settling", "SyncResult"),
    ("Remark", "Notice"),
    ("Doubt", "OpenQuestion"),
    ("Door", "HttpClient"),
    ("bell", "changes"),
    ("keeper", "admin"),
    ("giver", "provenance"),
    ("say_later", "pipeline"),
    ("open_or_complain", "decrypt_or_log"),
];

#[test]
fn old_names_do_not_come_back() {
    let is_old = |line: &str| words(line).any(|it| OLD_NAMES.iter().any(|(old, _)| *old == it));
    let found = breaches(|path| !path.contains("/tidy/"), is_old);
    assert_no_breaches("Use the word the field uses; OLD_NAMES has one for each.", &found);
}

#[test]
fn service_and_webhooks_do_not_use_http_types() {
    let folders = ["crates/service/src/", "crates/webhooks/src/"];
    let found = breaches(|path| is_in(path, &folders), uses_http);
    assert_no_breaches(
        "Move it to `web` or `net`: `service` is also called by commands and jobs.",
        &found,
    );
}

fn uses_http(line: &str) -> bool {
    line.contains("http::") || words(line).any(|it| ["axum", "hyper", "maud"].contains(&it))
}

/// Files with sockets that send no requests, each with their use.
const OTHER_SOCKETS: &[(&str, &str)] =
    &[("crates/app/src/serve.rs", "listens, with a longer queue than the default")];

#[test]
fn outgoing_requests_are_sent_only_by_net() {
    // Test clients send to the servers that they have started.
    let is_allowed = |path: &str| is_in(path, &["crates/net/", "crates/testkit/", "crates/storm/"]);
    let is_ours = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    let is_exempt = |path: &str| OTHER_SOCKETS.iter().any(|(it, _)| *it == path);
    let is_checked = |path: &str| is_ours(path) && !is_allowed(path) && !is_exempt(path);
    let found = breaches(is_checked, sends_requests);
    assert_no_breaches(
        "Send it through `net::HttpClient`, which bounds it and vets the address.",
        &found,
    );
}

fn sends_requests(line: &str) -> bool {
    [
        "TcpStream::connect",
        "TcpSocket",
        "UnixStream",
        "UdpSocket::",
        "lookup_host",
        "hyper::client",
        "hyper_util::client",
        "reqwest",
    ]
    .iter()
    .any(|it| line.contains(it))
}

#[test]
fn the_environment_is_read_in_one_place() {
    // The tests of `db` find their PostgreSQL without `testkit`, because `testkit` depends on `db`, and those of `s3` a
    // server that the gate has started.
    let allowed = [
        "crates/app/src/config",
        "crates/db/tests/",
        "crates/s3/tests/",
        "crates/testkit/",
        "xtask/",
    ];
    let found = breaches(|path| !is_in(path, &allowed), reads_environment);
    assert_no_breaches("Hand the setting in from crates/app/src/config.", &found);
}

fn reads_environment(line: &str) -> bool {
    line.contains("env::var")
        || line.contains("env::{") && words(line).any(|it| it.starts_with("var"))
}

#[test]
fn the_clock_is_read_in_one_place() {
    let elsewhere = |path: &str| path != "crates/base/src/time.rs";
    assert_no_breaches("Take the time from `base::Clock`.", &breaches(elsewhere, reads_clock));
    // Durations may be measured by the outermost layers, by the code that keeps connections open (it ages them by the
    // runtime's clock, which its tests move), and by the code that stops slow reads.
    let measuring = [
        "crates/web/",
        "crates/app/",
        "crates/net/",
        "crates/db/src/",
        "crates/testkit/",
        "crates/storm/",
        "e2e/",
        "xtask/",
        // Measures the time since the last step of each background loop of this process.
        "crates/service/src/platform/background.rs",
        // Measures the steps of a recompute, which benchmarks print. The clock of their app stands still.
        "crates/service/src/platform/meters.rs",
    ];
    assert_no_breaches(
        "Take the time from `base::Clock`, or measure from outside.",
        &breaches(|path| !is_in(path, &measuring), |line| line.contains("Instant::now")),
    );
}

/// A test that needs a fixed port fails if another process listens on it, such as another test or the developer's own
/// Evenkeel.
#[test]
fn no_test_needs_a_fixed_port() {
    let is_test = |path: &str| {
        path.contains("/tests/") || is_in(path, &["crates/testkit/", "e2e/", "xtask/"])
    };
    let mut found = Vec::new();
    for file in rust_files().iter().filter(|it| is_test(&it.path) && !it.path.contains("/tidy/")) {
        let lines = lines_with(&file.text, needs_a_fixed_port).into_iter();
        found.extend(lines.map(|(number, line)| format!("{}:{number}: {line}", file.path)));
    }
    assert_no_breaches("Listen on port 0 and read which port was assigned.", &found);
}

/// Whether a line of code listens on a fixed port.
fn needs_a_fixed_port(line: &str) -> bool {
    let listens =
        ["bind(", "\"--listen\"", "\"EVENKEEL_LISTEN\""].iter().any(|it| line.contains(it));
    let is_port = |text: &str| text.starts_with(|it: char| it.is_ascii_digit() && it != '0');
    let named = |before: &str| {
        let parts = line.split(before).skip(1);
        parts.into_iter().any(|it| is_port(it.trim_start()))
    };
    listens && (named("1:") || named("0:") || named("]:") || named("localhost:") || named("\","))
}

#[test]
fn fixed_ports_are_found_and_other_numbers_are_not() {
    for line in [
        "TcpListener::bind(\"127.0.0.1:4680\")",
        "TcpListener::bind((\"127.0.0.1\", 4680))",
        "bind(\"0.0.0.0:80\")",
        "bind(\"[::]:80\")",
        "it.run(&[\"serve\", \"--listen\", \"localhost:4680\"])",
    ] {
        assert!(needs_a_fixed_port(line), "{line}");
    }
    for line in [
        "TcpListener::bind(\"127.0.0.1:0\")",
        "TcpListener::bind((\"127.0.0.1\", 0))",
        "command.args([\"--listen\", &format!(\"127.0.0.1:{port}\")])",
        "assert_eq!(url, \"http://127.0.0.1:4680\")",
        "it.run(&[\"listen\", \"--listen\", \"4691\"])",
    ] {
        assert!(!needs_a_fixed_port(line), "{line}");
    }
}

fn reads_clock(line: &str) -> bool {
    ["Timestamp::now", "Zoned::now", "SystemTime::now"].iter().any(|it| line.contains(it))
}

#[test]
fn money_is_never_a_float() {
    let money = ["base", "calc", "wire", "db", "sources", "webhooks", "service"]
        .map(|it| format!("crates/{it}/src/"));
    let mut found = Vec::new();
    for file in rust_files() {
        let source = Source::parse(&file.text);
        let checked = money.iter().any(|it| file.path.starts_with(it));
        if checked && !source.code.contains("clippy::float_arithmetic") {
            let uses_float = |line: &str| words(line).any(is_float);
            found.extend(breaches_in(&file.path, &source.code, uses_float));
        }
    }
    assert_no_breaches(
        "Use `Money`, `Fixed9` or `Percent`. Where no money is meant, say so with \
         `#[expect(clippy::float_arithmetic, reason = ...)]`.",
        &found,
    );
}

/// Whether a word is a float type, a method such as `as_f64`, or a literal such as `1f64`, but not the hexadecimal
/// 0xf64.
fn is_float(word: &str) -> bool {
    ["f32", "f64"].iter().any(|it| match word.strip_suffix(it) {
        Some("") => true,
        Some(before) if word.starts_with(|it: char| it.is_ascii_digit()) => {
            !before.starts_with("0x")
        }
        Some(before) => before.ends_with('_'),
        None => false,
    })
}

/// Functions with two kinds of failure in one `Result`, each with the reason.
const NESTED_RESULTS: &[(&str, &str)] = &[
    (
        "crates/service/src/ingest/connections/fetch.rs",
        "a failure of the bank is stored with the connection; one of the database ends the sync",
    ),
    (
        "crates/service/src/ingest/connections/revocation.rs",
        "a failure of the bank is retried later; one of the database ends the step",
    ),
];

#[test]
fn results_do_not_contain_results() {
    let is_listed = |path: &str| NESTED_RESULTS.iter().any(|(it, _)| *it == path);
    let found = breaches(|path| !is_listed(path), has_nested_result);
    assert_no_breaches("Return an enumeration whose variants name the cases.", &found);
    let is_used = |path: &str| {
        let file = rust_files().into_iter().find(|it| it.path == path);
        file.is_some_and(|it| Source::parse(&it.text).code.lines().any(has_nested_result))
    };
    let unused = NESTED_RESULTS.iter().map(|(path, _)| *path).filter(|it| !is_used(it));
    let unused: Vec<String> = unused.map(str::to_owned).collect();
    assert_no_breaches("Remove these entries of NESTED_RESULTS: nothing needs them.", &unused);
}

fn has_nested_result(line: &str) -> bool {
    line.contains("Result<Result<")
}

#[test]
fn there_are_no_todos_ignored_tests_or_dbg_calls() {
    let mut found = breaches(|_| true, |line| line.contains("#[ignore") || line.contains("dbg!("));
    for file in rust_files() {
        found.extend(breaches_in(&file.path, &Source::parse(&file.text).comments, is_todo));
    }
    for file in files("migrations", ".sql") {
        found.extend(breaches_in(&file.path, &file.text, is_todo));
    }
    assert_no_breaches("Do it now, or open an issue for it.", &found);
}

fn is_todo(line: &str) -> bool {
    words(line).any(|it| ["TODO", "FIXME", "XXX"].contains(&it))
}

#[test]
fn sql_is_recognized_and_sentences_are_not() {
    for sql in [
        "select id from accounts",
        "\n  SELECT 1",
        "insert into keys (id) values ($1)",
        "update keys set revoked_at = $1",
        "delete from keys",
        "with recent as (select id from keys) select * from recent",
        "create table keys (id text)",
    ] {
        assert!(is_sql(sql), "{sql}");
    }
    for sentence in [
        "select",
        "Select a file from your computer",
        "update",
        "updated at",
        "delete this key",
        "with care, as always",
        "create",
        "",
    ] {
        assert!(!is_sql(sentence), "{sentence}");
    }
}

#[test]
fn only_whole_words_in_code_are_found() {
    assert!(uses_http("use axum::Router;") && uses_http("fn f(it: http::Uri)"));
    assert!(!uses_http("let hyperbole = \"\";") && !uses_http("fn https()"));
    assert!(
        sends_requests("let it = TcpStream::connect(host);")
            && sends_requests("use hyper::client::conn;")
            && sends_requests("use tokio::net::{TcpListener, UnixStream};")
    );
    assert!(has_nested_result("fn f() -> Result<Result<u8, Why>> {"));
    assert!(!has_nested_result("fn f(it: Result<u8>) -> Result<Vec<u8>> {"));
    assert!(!sends_requests("client.send(HttpRequest::get(url), LIMITS)"));
    assert!(reads_clock("let now = jiff::Timestamp::now();") && !reads_clock("clock.now()"));
    for reading in ["std::env::var_os(\"A\")", "env::vars()", "use std::env::{self, var};"] {
        assert!(reads_environment(reading), "{reading}");
    }
    assert!(!reads_environment("env!(\"CARGO_PKG_VERSION\"), env::args()"));
    for float in ["f32", "f64", "as_f64", "1f32", "2_f64"] {
        assert!(is_float(float), "{float}");
    }
    for other in ["0xf64", "0xaf32", "leaf64", "u64", "f6"] {
        assert!(!is_float(other), "{other}");
    }
    assert!(is_todo("// TODO: later") && !is_todo("// todos are a list"));
}
