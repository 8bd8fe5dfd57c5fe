//! Assistants made with the SDKs of the protocol's authors: from the consent to a decision, as a person sees it.
//! `cargo xtask test` installs the SDKs; the step `mcp` alone does so too.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use e2e::{Browser, Program};

/// A running assistant. It prints what it needs the person for, a line each.
pub(crate) struct Assistant {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Assistant {
    pub(crate) fn start(mut command: Command) -> Assistant {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Assistant { child, lines }
    }

    /// The rest of the next line, which must begin with this word.
    #[track_caller]
    pub(crate) fn expect(&mut self, word: &str) -> String {
        let line = self.lines.next().unwrap_or_else(|| panic!("it ended before {word}")).unwrap();
        let rest = line.strip_prefix(word).unwrap_or_else(|| panic!("{word} and not {line}"));
        rest.trim().to_owned()
    }
}

impl Drop for Assistant {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder of the installed SDKs, in the target folder of this binary.
pub(crate) fn installed(what: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let mut folders = own.ancestors().skip(1).map(|it: &Path| it.join("mcp").join(what));
    let found = folders.find(|it| it.exists());
    found.expect("the SDKs are not installed: run `cargo xtask test --only mcp` first")
}

pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtask/mcp").join(name)
}

pub(crate) fn python(address: &str) -> Command {
    let mut command = Command::new(installed("python/venv/bin/python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(script("assistant.py")).arg(address);
    command
}

fn typescript(address: &str) -> Command {
    let modules = installed("node/node_modules");
    let mut command = Command::new(modules.join(".bin/node"));
    command.arg(script("assistant.mjs")).arg(address).arg(modules);
    command
}

/// Lets an assistant in, approves what it proposes, and checks that nothing happened before.
fn assist(name: &str, program: &Program, mut assistant: Assistant) {
    let browser = Browser::start(program.origin());
    browser.sign_in(program);
    browser.go(&assistant.expect("AUTHORIZE"));
    browser.sees(name);
    // The host that the person's browser returns to.
    browser.sees("127.0.0.1");
    browser.press("Allow");
    let tools = assistant.expect("TOOLS");
    assert!(tools.contains("search_transactions") && !tools.contains("propose_"), "{tools}");
    assert!(assistant.expect("ASKED").starts_with("net_worth "));

    // It began with reading, so for a proposal it asks again.
    browser.go(&assistant.expect("AUTHORIZE"));
    browser.sees(name);
    browser.press("Allow");
    browser.go(&assistant.expect("APPROVE"));
    browser.sees(name);
    browser.sees("You asked.");
    assert_eq!(shares(program), None);
    browser.press("Buy 1 AAPL");
    browser.sees("It's done.");
    let decided = assistant.expect("DECIDED");
    assert!(decided.contains("paper_trade.create") && decided.contains("executed"), "{decided}");
    assert_eq!(shares(program), Some("1".to_owned()));

    browser.go(&assistant.expect("AUTHORIZE"));
    browser.press("Allow");
    browser.go(&assistant.expect("APPROVE"));
    browser.sees("Corrected by the test");
    assert!(!newest(program).contains("Corrected by the test"));
    browser.press("Approve");
    browser.sees("It's done.");
    let decided = assistant.expect("DECIDED");
    assert!(decided.contains("transaction.rename") && decided.contains("executed"), "{decided}");
    assert!(newest(program).contains("Corrected by the test"));

    browser.go("/settings/assistants");
    browser.sees(name);
    browser.assert_accessible();
}

/// The shares of Apple in the paper account.
fn shares(program: &Program) -> Option<String> {
    let key = program.fact("api_key");
    let accounts = program.get("/v1/paper-trading/accounts", key).json();
    let account = accounts["data"]["accounts"][0]["id"].as_str().unwrap().to_owned();
    let held = program.get(&format!("/v1/paper-trading/accounts/{account}/holdings"), key).json();
    let held = held["data"]["holdings"].as_array().unwrap();
    held.iter().find(|it| it["symbol"] == "AAPL").map(|it| it["quantity"].to_string())
}

fn newest(program: &Program) -> String {
    program.get("/v1/transactions?limit=1", program.fact("api_key")).json().to_string()
}

#[test]
fn the_python_sdk_reads_and_proposes_and_the_person_decides() {
    let program = Program::demo();
    let assistant = Assistant::start(python(&format!("{}/mcp", program.origin())));
    assist("Python assistant", &program, assistant);
}

#[test]
fn the_typescript_sdk_reads_and_proposes_and_the_person_decides() {
    let program = Program::demo();
    let assistant = Assistant::start(typescript(&format!("{}/mcp", program.origin())));
    assist("TypeScript assistant", &program, assistant);
}
