//! Hostile files: the list is shown without reading them, and no page shows more of them than a person can read.

use std::io::Write as _;
use std::time::Duration;

use base::Timestamp;
use db::params;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use http::StatusCode;
use service::ingest::imports::files::{self, State};
use testkit::World;

use super::{TABLE, groceries, import, robin, upload};

/// Deletes the contents of all staged files, so that none can be read.
async fn lose_contents(world: &World) {
    let lose = |tx: &mut db::Tx<'_>| tx.execute("delete from import_file_parts", &[]);
    assert!(world.app.db.write(lose).await.unwrap() > 0);
}

#[tokio::test]
async fn the_list_is_shown_without_reading_a_file() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let (token, one) = (browser.form_token(), groceries());
    browser.upload_files(&token, &[("march.ofx", &one), ("odd.bin", "nobody knows")]).await;
    lose_contents(&world).await;
    // The results of the previews at the upload are still shown.
    let page = browser.get("/import").await.good();
    for text in ["march.ofx", "1 account: 2 new", "odd.bin", "Can't be read"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // A file that cannot be opened can still be discarded.
    let staged = files::list(&world.app, &robin_caller(&world).await).await.unwrap();
    for file in staged {
        let at = format!("/import/{}", file.id);
        let page = browser.submit(&format!("{at}/discard"), &[]).await.good();
        assert!(page.contains("File discarded."), "{page}");
    }
}

async fn robin_caller(world: &World) -> service::Caller {
    let found =
        service::access::users::find_by_email(&world.app, "robin@example.com").await.unwrap();
    found.unwrap().owner()
}

#[tokio::test]
async fn files_staged_before_a_restart_are_listed_without_a_preview() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    files::stage(&world.app, &robin.caller, "old.ofx", groceries()).await.unwrap();
    let page = browser.get("/import").await.good();
    assert!(page.contains("old.ofx") && page.contains("Not reviewed yet"), "{page}");
    let staged = files::list(&world.app, &robin.caller).await.unwrap();
    assert_eq!(staged[0].preview, None, "the list must not read a file");
}

#[tokio::test]
async fn rows_that_another_import_added_are_no_longer_new_on_the_list() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let (token, one) = (browser.form_token(), groceries());
    browser.upload_files(&token, &[("a.ofx", &one), ("b.ofx", &one)]).await;
    let page = browser.get("/import").await.good();
    assert_eq!(page.matches("2 new").count(), 2, "{page}");
    let at = page.split_once("href=\"/import/file_").unwrap().1.split_once('"').unwrap().0;
    let at = format!("/import/file_{at}");
    // On a busy machine the import goes on after the request, and the address says so.
    assert!(import(&mut browser, &at, &[]).await.location().starts_with(&at));
    let mut page = String::new();
    for _ in 0..300 {
        page = browser.get("/import").await.good();
        if page.contains("2 already imported") && page.contains("Nothing new") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the rows are still new: {page}");
}

#[tokio::test]
async fn a_cell_of_half_a_megabyte_makes_a_small_page() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let long = "x".repeat(1 << 19);
    let table =
        format!("{TABLE}2026-02-16,-1.00,{long},{long},1806.50\n2026-02-17,{long},K,five,\n");
    let titled = TABLE.replace("Words", &long);
    let account =
        format!("Date,Account Name,Amount\n2026-02-16,{long},-1.00\n2026-02-17,{long},2.00\n");
    let quoted =
        format!("Date,Amount,Description\n2026-02-16,-1.00,\"{}\"\n", "\"\"".repeat(1 << 18));
    let qif = format!("!Type:Bank\nD2/16'26\nT-1.00\nP{long}\nM{long}\n^\n!Type:{long}\n^\n");
    let mut read = 0;
    for content in [table, titled, account, quoted, qif] {
        let at = upload(&mut browser, "long.csv", &content).await;
        // A table with such long titles cannot be read.
        let is_read = browser.get(&at).await.good().contains("data-preview");
        read += usize::from(is_read);
        for path in [at.as_str(), "/import"] {
            let page = browser.get(path).await.good();
            assert!(page.len() < 300_000, "{path}: {}", page.len());
        }
        if is_read {
            let answers = [("charges", "negative"), ("sign", "negative")];
            let sent = import(&mut browser, &at, &answers).await;
            assert!(sent.text.len() < 300_000, "{}", sent.text.len());
        }
        for path in ["/import", "/transactions", "/accounts"] {
            let page = browser.get(path).await.good();
            assert!(page.len() < 300_000, "{path}: {}", page.len());
        }
    }
    assert_eq!(read, 4);
}

/// A small zip file of an export whose list of transactions unpacks to these bytes.
fn export(transactions: &[u8]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    let names = ["accounts.json", "balances.json", "transactions.json", "investments.json"];
    for name in names {
        let content = if name == "transactions.json" { transactions } else { b"[]" };
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content).unwrap();
        let packed = packed.finish().unwrap();
        let mut head = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        head.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        // The stated size of the unpacked file is wrong.
        head.extend_from_slice(&[1, 0, 0, 0, name.len() as u8, 0, 0, 0]);
        list.extend_from_slice(b"PK\x01\x02\x14\x00");
        list.extend_from_slice(&head);
        list.extend_from_slice(&[0; 10]);
        list.extend_from_slice(&(out.len() as u32).to_le_bytes());
        list.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&head);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&packed);
    }
    let starts_at = (out.len() as u32).to_le_bytes();
    out.extend_from_slice(&list);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0\x04\0\x04\0");
    out.extend_from_slice(&(list.len() as u32).to_le_bytes());
    out.extend_from_slice(&starts_at);
    out.extend_from_slice(&[0, 0]);
    out
}

#[tokio::test]
async fn a_file_that_unpacks_to_too_much_says_so_and_can_be_discarded() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let bomb = export(&[b"[".as_slice(), &b" ".repeat(65 << 20), b"]"].concat());
    assert!(bomb.len() < 1 << 20);
    let id = files::stage(&world.app, &robin.caller, "export.zip", bomb).await.unwrap();
    let page = browser.get(&format!("/import/{id}")).await.good();
    assert!(page.contains("This file unpacks to more than 64 MiB"), "{page}");
    let page = browser.get("/import").await.good();
    assert!(page.contains("Can't be read") && page.contains("fewer years at a time"), "{page}");
    let page = browser.submit(&format!("/import/{id}/discard"), &[]).await.good();
    assert!(page.contains("File discarded."), "{page}");
}

#[tokio::test]
async fn a_file_whose_commit_died_can_be_opened_changed_and_discarded_after_its_lease() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    let until: Timestamp = "2026-03-10T11:59:00Z".parse().unwrap();
    let lease = move |tx: &mut db::Tx<'_>| {
        let text = "update import_files set state = 'committing', leased_until = $1";
        tx.execute(text, params![until])
    };
    world.app.db.write(lease).await.unwrap();
    assert!(browser.get(&at).await.good().contains("KROGER 339"));
    assert_eq!(browser.post(&at, &[("name_0", "Holidays")]).await.location(), at);
    assert!(browser.get(&at).await.good().contains("Holidays"));
    assert_eq!(files::list(&world.app, &robin.caller).await.unwrap()[0].state, State::Open);
    world.app.db.write(lease).await.unwrap();
    let page = browser.submit(&format!("{at}/discard"), &[]).await.good();
    assert!(page.contains("File discarded."), "{page}");
    assert_eq!(browser.get(&at).await.status, StatusCode::NOT_FOUND);
}
