//! Exports: everything of one person and nothing of another, in a ZIP file that other programs can read.

use std::collections::BTreeMap;
use std::io::Read as _;

use demo::Household;
use flate2::read::DeflateDecoder;
use serde_json::Value;
use service::access::images;
use service::classify::overrides::Override;
use service::classify::rules::{self, NewRule};
use service::ingest::imports::files;
use service::ledger::{accounts, attachments};
use service::platform::audit;
use service::{App, Caller, exports, insights};
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, new_key};

use crate::is_not_found;

type Files = BTreeMap<String, Vec<u8>>;

async fn export(app: &App, caller: &Caller) -> Files {
    unzip(&exported(app, caller).await)
}

async fn exported(app: &App, caller: &Caller) -> Vec<u8> {
    let mut export = exports::start(app, caller).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(chunk) = export.next().await.unwrap() {
        bytes.extend_from_slice(&chunk);
    }
    bytes
}

/// Reads the directory at the end of the file, as unpacking programs do, and checks lengths and checksums.
fn unzip(bytes: &[u8]) -> Files {
    let number = |at: usize, count: usize| {
        bytes[at..at + count].iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    let end = bytes.len() - 22;
    assert_eq!(&bytes[end..end + 4], b"PK\x05\x06");
    let (count, mut at) = (number(end + 10, 2), number(end + 16, 4));
    let mut files = Files::new();
    for _ in 0..count {
        assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
        let (crc, packed, length) = (number(at + 16, 4), number(at + 20, 4), number(at + 24, 4));
        let (name_length, start) = (number(at + 28, 2), number(at + 42, 4));
        let name = String::from_utf8(bytes[at + 46..at + 46 + name_length].to_vec()).unwrap();
        assert_eq!(&bytes[start..start + 4], b"PK\x03\x04");
        let content = start + 30 + number(start + 26, 2) + number(start + 28, 2);
        let mut plain = Vec::new();
        let packed = &bytes[content..content + packed];
        DeflateDecoder::new(packed).read_to_end(&mut plain).unwrap();
        assert_eq!((plain.len(), crc32fast::hash(&plain) as usize), (length, crc), "{name}");
        files.insert(name, plain);
        at += 46 + name_length;
    }
    assert_eq!(at, end);
    files
}

fn json(files: &Files, name: &str) -> Value {
    serde_json::from_slice(&files[&format!("{name}.json")]).unwrap()
}

fn csv(files: &Files, name: &str) -> String {
    String::from_utf8(files[&format!("{name}.csv")].clone()).unwrap()
}

async fn household(world: &World) -> Person {
    let robin = world.person("robin@example.com").await;
    let mut account = checking("Everyday");
    for day in 1..=9 {
        let on = format!("2026-03-0{day}");
        account = account.with(txn(&on, -1_000 - day, "=HYPERLINK(\"http://evil\")"));
    }
    robin.import(statement([account, checking("Hidden")])).await;
    insights::pipeline::run_all(&world.app).await.unwrap();
    robin
}

#[tokio::test]
async fn an_export_has_everything_as_json_and_csv_with_a_readme() {
    let world = World::new().await;
    let robin = household(&world).await;
    let hidden = robin.account("Hidden").await;
    accounts::set_hidden(&world.app, &robin.caller, hidden, true).await.unwrap();
    let key = robin.key(new_key()).await;
    let correction = Override { counterparty: Some("Corner shop".to_owned()), category: None };
    let rule = NewRule { words: Some("CORNER".to_owned()), sets: correction, ..NewRule::default() };
    rules::create(&world.app, &robin.caller, rule).await.unwrap();
    let rows = crate::listed::all(&world.app, &robin.caller, &Default::default()).await;
    let receipt = ("../Receipt.pdf", "%PDF-1.7 of mine".into());
    attachments::add(&world.app, &robin.caller, rows[0].id, receipt).await.unwrap();
    let files = export(&world.app, &robin.caller).await;

    let readme = String::from_utf8(files["README.txt"].clone()).unwrap();
    for name in [
        "profile",
        "accounts",
        "balances",
        "transactions",
        "investments",
        "goals",
        "recurring",
        "income",
        "scores",
        "benefits",
        "rules",
        "corrections",
        "attachments",
        "refund_links",
        "transfer_decisions",
        "api_keys",
        "connected_apps",
        "audit_trail",
    ] {
        assert!(readme.contains(name), "{name}");
        json(&files, name);
        csv(&files, name);
    }
    assert_eq!(json(&files, "profile")["email"], "robin@example.com");
    assert_eq!(
        json(&files, "accounts").as_array().unwrap().len(),
        2,
        "hidden accounts are included"
    );
    assert_eq!(json(&files, "transactions").as_array().unwrap().len(), 9);
    assert_eq!(csv(&files, "transactions").lines().count(), 10);
    assert_eq!(json(&files, "rules")[0]["words"], "CORNER");
    let attached = &json(&files, "attachments")[0];
    assert_eq!((&attached["name"], &attached["size"]), (&"Receipt.pdf".into(), &16.into()));
    let name = format!("attachment_{}.pdf", attached["id"].as_str().unwrap());
    assert_eq!(files[&name], b"%PDF-1.7 of mine");
    assert_eq!(json(&files, "api_keys")[0]["name"], "A script");
    assert!(csv(&files, "income").starts_with("name,value\r\n"));
    let trail = csv(&files, "audit_trail");
    assert!(trail.contains("data.export") && trail.contains("key.create"), "{trail}");
    for (name, content) in &files {
        let text = String::from_utf8_lossy(content);
        assert!(!text.contains(&key.secret[3..30]), "a secret is in {name}");
    }
}

#[tokio::test]
async fn file_names_cannot_leave_the_folder_that_the_export_is_unpacked_in() {
    let world = World::new().await;
    let robin = household(&world).await;
    let files = export(&world.app, &robin.caller).await;
    let plain =
        |it: &String| it.chars().all(|one| one.is_ascii_alphanumeric() || "._".contains(one));
    assert!(files.keys().all(plain), "{:?}", files.keys());
    assert!(files.keys().all(|it| !it.starts_with('.') && !it.contains("..")));
}

#[tokio::test]
async fn bank_text_does_not_become_a_spreadsheet_formula() {
    let world = World::new().await;
    let robin = household(&world).await;
    let files = export(&world.app, &robin.caller).await;
    let sheet = csv(&files, "transactions");
    assert!(sheet.contains("'=HYPERLINK"), "{sheet}");
    assert!(!sheet.contains(",=HYPERLINK") && !sheet.contains(",\"=HYPERLINK"), "{sheet}");
    assert!(sheet.contains(",-10.01,"), "amounts stay numbers: {sheet}");
    let rows = json(&files, "transactions");
    assert_eq!(rows[0]["original_description"], "=HYPERLINK(\"http://evil\")");
}

#[tokio::test]
async fn an_export_has_nothing_of_another_person_and_a_key_cannot_start_one() {
    let world = World::new().await;
    let robin = household(&world).await;
    let kim = world.person("kim@example.com").await;
    kim.import(statement([checking("Kim's own").with(txn("2026-03-01", -7, "KIM'S SHOP"))])).await;
    kim.key(new_key()).await;
    for (name, content) in export(&world.app, &robin.caller).await {
        assert!(!String::from_utf8_lossy(&content).to_lowercase().contains("kim"), "{name}");
    }
    let key = robin.key(new_key()).await;
    is_not_found(exports::start(&world.app, &key.caller).await.map(|_| ()));
    let entries = audit::list(&world.app, &robin.caller, None, 10).await.unwrap();
    let count = entries.iter().filter(|it| it.action == "data.export").count();
    assert_eq!(count, 1, "the refused export is not audited");
}

#[tokio::test]
async fn rows_of_several_pages_are_exported_without_a_gap() {
    let world = World::new().await;
    let robin = world.someone().await;
    let mut account = checking("Busy");
    for number in 0..2_345 {
        account = account.with(txn("2026-03-01", -number - 1, "SHOP"));
    }
    robin.import(statement([account, checking("Quiet")])).await;
    let files = export(&world.app, &robin.caller).await;
    let rows = json(&files, "transactions");
    let mut ids: Vec<&str> =
        rows.as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 2_345);
    assert_eq!(csv(&files, "transactions").lines().count(), 2_346);
}

#[tokio::test]
async fn the_profile_image_is_exported() {
    let world = World::new().await;
    let robin = world.someone().await;
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0".to_vec();
    images::set(&world.app, &robin.caller, png.clone()).await.unwrap();
    assert_eq!(export(&world.app, &robin.caller).await["profile_image.png"], png);
}

/// The given members of all rows, sorted: members that do not depend on the person or the time.
fn select_members(files: &Files, name: &str, members: &[&str]) -> Vec<String> {
    let rows = json(files, name);
    let pick = |row: &Value| members.iter().map(|it| format!("{it}={} ", row[it])).collect();
    let mut rows: Vec<String> = rows.as_array().unwrap().iter().map(pick).collect();
    rows.sort();
    rows
}

const ACCOUNTS: &[&str] = &[
    "name",
    "mask",
    "type",
    "subtype",
    "status",
    "currency",
    "balance_current",
    "balance_available",
    "balance_limit",
    "institution_name",
    "interest_rate_percentage",
    "next_payment_due_date",
    "as_of",
];
const TRANSACTIONS: &[&str] = &[
    "account_name",
    "amount",
    "currency",
    "date_posted",
    "date_authorized",
    "pending",
    "category_tier2",
    "counterparty_name",
    "original_description",
    "is_internal_transfer",
];
const HOLDINGS: &[&str] = &[
    "account_name",
    "symbol",
    "name",
    "security_type",
    "asset_class",
    "quantity",
    "last_price",
    "current_value",
    "cost_basis_total",
];

#[tokio::test]
async fn an_export_can_be_imported_with_the_same_result() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    for statement in Household::new(1, world.app.clock.now()).statements() {
        robin.import(statement).await;
    }
    insights::pipeline::run_all(&world.app).await.unwrap();
    let bytes = exported(&world.app, &robin.caller).await;
    let kim = world.person("kim@example.com").await;
    let file = files::stage(&world.app, &kim.caller, "all.zip", bytes.clone()).await.unwrap();
    let committed = files::commit(&world.app, &kim.caller, file).await.unwrap();
    assert_eq!(committed.rejected, 0);
    insights::pipeline::run_all(&world.app).await.unwrap();
    let (one, other) = (unzip(&bytes), export(&world.app, &kim.caller).await);
    for (name, members) in [
        ("accounts", ACCOUNTS),
        ("transactions", TRANSACTIONS),
        ("investments", HOLDINGS),
        ("balances", &["date", "currency", "balance_current"][..]),
    ] {
        let (one, other) =
            (select_members(&one, name, members), select_members(&other, name, members));
        let lost: Vec<_> = one.iter().filter(|it| other.binary_search(it).is_err()).collect();
        assert!(lost.is_empty() && one.len() == other.len(), "{name}: {} {lost:#?}", lost.len());
    }
    // Importing it into the same person changes nothing.
    let file = files::stage(&world.app, &robin.caller, "all.zip", bytes).await.unwrap();
    let committed = files::commit(&world.app, &robin.caller, file).await.unwrap();
    assert_eq!((committed.summary.new, committed.summary.changed), (0, 0));
}
