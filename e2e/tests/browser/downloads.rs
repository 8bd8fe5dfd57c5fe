//! Files that a browser downloads, compressed on the way as every browser asks for.

use std::fs;

use e2e::{Browser, Program, until};
use serde_json::json;
use tempfile::TempDir;

/// The content of the one file in a folder whose name ends like this, once it is complete.
fn downloaded(folder: &TempDir, ending: &str) -> Option<String> {
    let files = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path());
    let file = files.into_iter().find(|it| it.extension().is_some_and(|it| it == ending))?;
    Some(fs::read_to_string(file).unwrap())
}

#[test]
fn transactions_are_downloaded_whole_as_csv_and_as_json() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let folder = tempfile::tempdir().unwrap();
    let to = json!({"behavior": "allow", "downloadPath": folder.path()});
    browser.session.command("Browser.setDownloadBehavior", to);
    browser.go("/transactions");
    for (link, ending) in [("Download as CSV", "csv"), ("JSON", "json")] {
        browser.follow(link);
        until(&format!("the {ending} file has arrived"), || downloaded(&folder, ending));
    }
    let csv = downloaded(&folder, "csv").unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&downloaded(&folder, "json").unwrap()).unwrap();
    let rows = json.as_array().unwrap().len();
    assert!(rows > 3_000, "{rows}");
    assert_eq!(csv.lines().count(), rows + 1);
    browser.is_clean();
}
