//! Words that have one place to be, or none.

use super::source::{Source, lines_with, words};
use super::{File, assert_no_breaches, files, rust_files};

/// A breach for each bad line of code in the files that the rule looks at.
fn breaches(looks_at: impl Fn(&str) -> bool, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
    let judged: Vec<File> = rust_files().into_iter().filter(|it| looks_at(&it.path)).collect();
    assert!(!judged.is_empty(), "the rule looks at no file at all");
    judged.iter().flat_map(|it| within(&it.path, &Source::parse(&it.text).code, &is_bad)).collect()
}

/// A breach for each bad line of one text.
fn within(path: &str, text: &str, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
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
            let strings = Source::parse(&file.text).strings;
            let sql = strings.iter().filter(|(_, text)| is_sql(text));
            found.extend(sql.map(|(line, _)| format!("{}:{line}: a statement", file.path)));
        }
    }
    assert_no_breaches(
        "Ask `service` for it: SQL is written only there, in `webhooks` and in `db`.",
        &found,
    );
}

/// Sentences may begin with the same words, but they are capitalized, and lack the second word.
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

#[test]
fn service_and_webhooks_know_no_http() {
    let folders = ["crates/service/src/", "crates/webhooks/src/"];
    let found = breaches(|path| is_in(path, &folders), speaks_http);
    assert_no_breaches(
        "Move it to `web`, or to `net`: `service` is also called by commands and jobs.",
        &found,
    );
}

fn speaks_http(line: &str) -> bool {
    line.contains("http::") || words(line).any(|it| ["axum", "hyper", "maud"].contains(&it))
}

#[test]
fn every_request_leaves_through_net() {
    let is_outside = |path: &str| is_in(path, &["crates/net/", "crates/testkit/"]);
    let is_ours = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    let found = breaches(|path| is_ours(path) && !is_outside(path), goes_out);
    assert_no_breaches(
        "Send it through `net::HttpClient`, which bounds it and vets the address.",
        &found,
    );
}

fn goes_out(line: &str) -> bool {
    ["TcpStream::connect", "UdpSocket::", "lookup_host", "hyper::client", "reqwest"]
        .iter()
        .any(|it| line.contains(it))
}

#[test]
fn the_environment_is_read_in_one_place() {
    // The tests of `db` look for their PostgreSQL themselves, because `testkit` is built on `db`.
    let places = ["crates/app/src/config", "crates/db/tests/", "crates/testkit/", "xtask/"];
    let found = breaches(|path| !is_in(path, &places), reads_environment);
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
    // How long something took is no date, but only the outermost layers have a reason to ask, whoever keeps
    // connections open (they grow old by the runtime's clock, which its tests move), and what stops slow reads.
    let measuring = [
        "crates/web/",
        "crates/app/",
        "crates/net/",
        "crates/db/src/",
        "crates/testkit/",
        "e2e/",
        "xtask/",
        // How long ago a background loop of this process made its last step.
        "crates/service/src/platform/background.rs",
    ];
    assert_no_breaches(
        "Take the time from `base::Clock`, or measure from outside.",
        &breaches(|path| !is_in(path, &measuring), |line| line.contains("Instant::now")),
    );
}

/// A test that needs a certain port fails where somebody else listens on it: another test, or the Evenkeel of whoever
/// runs the tests.
#[test]
fn no_test_needs_a_certain_port() {
    let is_test = |path: &str| {
        path.contains("/tests/") || is_in(path, &["crates/testkit/", "e2e/", "xtask/"])
    };
    let mut found = Vec::new();
    for file in rust_files().iter().filter(|it| is_test(&it.path) && !it.path.contains("/tidy/")) {
        let lines = lines_with(&file.text, needs_a_port).into_iter();
        found.extend(lines.map(|(number, line)| format!("{}:{number}: {line}", file.path)));
    }
    assert_no_breaches("Listen on port 0 and ask which one it became.", &found);
}

/// True for a line of code that binds or names a fixed port.
fn needs_a_port(line: &str) -> bool {
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
fn a_port_is_told_from_other_numbers() {
    for line in [
        "TcpListener::bind(\"127.0.0.1:4680\")",
        "TcpListener::bind((\"127.0.0.1\", 4680))",
        "bind(\"0.0.0.0:80\")",
        "bind(\"[::]:80\")",
        "it.run(&[\"serve\", \"--listen\", \"localhost:4680\"])",
    ] {
        assert!(needs_a_port(line), "{line}");
    }
    for line in [
        "TcpListener::bind(\"127.0.0.1:0\")",
        "TcpListener::bind((\"127.0.0.1\", 0))",
        "command.args([\"--listen\", &format!(\"127.0.0.1:{port}\")])",
        "assert_eq!(url, \"http://127.0.0.1:4680\")",
        "it.run(&[\"listen\", \"--listen\", \"4691\"])",
    ] {
        assert!(!needs_a_port(line), "{line}");
    }
}

fn reads_clock(line: &str) -> bool {
    ["Timestamp::now", "Zoned::now", "SystemTime::now"].iter().any(|it| line.contains(it))
}

#[test]
fn no_float_comes_near_money() {
    let money = ["base", "calc", "wire", "db", "sources", "webhooks", "service"]
        .map(|it| format!("crates/{it}/src/"));
    let mut found = Vec::new();
    for file in rust_files() {
        let source = Source::parse(&file.text);
        let judged = money.iter().any(|it| file.path.starts_with(it));
        if judged && !source.code.contains("clippy::float_arithmetic") {
            let uses_float = |line: &str| words(line).any(is_float);
            found.extend(within(&file.path, &source.code, uses_float));
        }
    }
    assert_no_breaches(
        "Use `Money`, `Fixed9` or `Percent`. Where no money is meant, say so with \
         `#[expect(clippy::float_arithmetic, reason = ...)]`.",
        &found,
    );
}

/// Types, methods such as `as_f64`, and literals such as `1f64`, but not the hexadecimal 0xf64.
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

#[test]
fn nothing_is_left_for_later() {
    let mut found = breaches(|_| true, |line| line.contains("#[ignore") || line.contains("dbg!("));
    for file in rust_files() {
        found.extend(within(&file.path, &Source::parse(&file.text).comments, is_left_over));
    }
    for file in files("migrations", ".sql") {
        found.extend(within(&file.path, &file.text, is_left_over));
    }
    assert_no_breaches("Do it now, or write it down where it will be read: in an issue.", &found);
}

fn is_left_over(line: &str) -> bool {
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
fn words_are_found_in_code_and_only_as_whole_words() {
    assert!(speaks_http("use axum::Router;") && speaks_http("fn f(it: http::Uri)"));
    assert!(!speaks_http("let hyperbole = \"\";") && !speaks_http("fn https()"));
    assert!(goes_out("let it = TcpStream::connect(host);") && goes_out("use hyper::client::conn;"));
    assert!(!goes_out("client.send(HttpRequest::get(url), LIMITS)"));
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
    assert!(is_left_over("// TODO: later") && !is_left_over("// todos are a list"));
}
