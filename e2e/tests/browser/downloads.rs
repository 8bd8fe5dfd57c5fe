//! Downloads of files, which are compressed in transit because every browser accepts that.

use std::fs;

use e2e::{Browser, Program, until};
use serde_json::json;
use tempfile::TempDir;

/// The content of the file with this extension in a folder, if it has arrived.
fn downloaded(folder: &TempDir, ending: &str) -> Option<String> {
    let files = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path());
    let file = files.into_iter().find(|it| it.extension().is_some_and(|it| it == ending))?;
    Some(fs::read_to_string(file).unwrap())
}

#[test]
fn all_transactions_can_be_downloaded_as_csv_and_json() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let folder = tempfile::tempdir().unwrap();
    let to = json!({"behavior": "allow", "downloadPath": folder.path()});
    browser.session.command("Browser.setDownloadBehavior", to);
    browser.go("/transactions?dates=all");
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
    browser.assert_clean();
}
