//! Uploads: several files at once, hostile names, oversized files, and requests without a valid token.

use http::{Method, StatusCode};
use service::ingest::imports::files;
use testkit::World;

use super::{TABLE, groceries, ofx, robin, upload};
use crate::browser::Browser;
use crate::pages::{HOSTILE, assert_escaped};

#[tokio::test]
async fn several_files_are_uploaded_at_once_and_listed() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let page = browser.get("/import").await.good();
    for text in ["OFX, QFX, QIF, CSV, CAMT.053 or MT940", "stay on this server", "Up to 64 MB"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let token = browser.form_token();
    let (one, odd) = (groceries(), "no file that anybody knows");
    let files = [("march.ofx", one.as_str()), ("bank.csv", TABLE), ("odd.bin", odd)];
    assert_eq!(browser.upload_files(&token, &files).await.location(), "/import");
    let page = browser.get("/import").await.good();
    for text in [
        "3 files ready to review",
        "march.ofx",
        "OFX, ",
        "1 account: 2 new",
        "bank.csv",
        "Can't be read",
        "Import all ready files",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[tokio::test]
async fn one_file_redirects_to_its_page_and_a_script_gets_the_path() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    let page = browser.get(&at).await.good();
    for text in [
        "march.ofx",
        "KROGER 339",
        "-$42.10",
        "+$2,500.00",
        ">New<",
        "$1,234.56",
        "Checking ...1234",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(page.contains("Import 2 new transactions"), "{page}");

    let (token, one) = (browser.form_token(), groceries());
    browser.accept = Some("application/json");
    let response = browser.upload_files(&token, &[("a.ofx", &one)]).await.good();
    assert!(response.starts_with("{\"next\":\"/import/file_"), "{response}");
    let response = browser.upload_files(&token, &[("a.ofx", &one), ("b.ofx", &one)]).await.good();
    assert_eq!(response, "{\"next\":\"/import\"}");
    browser.accept = None;
    assert!(browser.get("/import").await.good().contains("2 files ready to review"));
}

#[tokio::test]
async fn names_and_contents_with_markup_are_escaped() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let statement = ofx(&[("20260301", "-5.00", "&lt;script&gt;alert(1)&lt;/script&gt;\"'&gt;")]);
    let title = HOSTILE.replace('"', "\"\"");
    let table =
        format!("Date,Amount,Description,\"{title}\"\n2026-03-13,-1.00,\"{title}\",\"{title}\"\n");
    for content in [statement.as_str(), table.as_str(), HOSTILE] {
        let at = upload(&mut browser, &format!("{HOSTILE}.csv"), content).await;
        for path in [at.as_str(), "/import"] {
            let page = browser.get(path).await.good();
            assert_escaped(&page);
            assert!(page.contains("&lt;/script&gt;") || page.contains("script&gt;"), "{page}");
        }
    }
}

#[tokio::test]
async fn an_upload_without_the_token_or_a_file_is_refused() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let one = groceries();
    let sent = browser.upload_files("0", &[("march.ofx", one.as_str())]).await;
    assert_eq!(sent.status, StatusCode::FORBIDDEN);
    let token = browser.form_token();
    let stranger = Browser::new(&world).upload_files(&token, &[("march.ofx", one.as_str())]).await;
    assert_eq!(stranger.location(), "/sign-in");
    for (files, message) in [
        (&[][..], "Choose at least one file."),
        (&[("", "")][..], "Choose at least one file."),
        (&[("empty.csv", "")][..], "“empty.csv”: This file is empty. Choose another one."),
    ] {
        let sent = browser.upload_files(&token, files).await;
        assert_eq!(sent.status, StatusCode::BAD_REQUEST, "{}", sent.text);
        assert!(sent.text.contains(message), "{message}: {}", sent.text);
    }
    assert!(files::list(&world.app, &robin.caller).await.unwrap().is_empty());
}

#[tokio::test]
async fn oversized_uploads_are_refused_on_a_page() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let token = browser.form_token();
    let large = "x".repeat(files::BYTES_MAX + 1);
    let sent = browser.upload_files(&token, &[("a.csv", &large)]).await;
    assert!(sent.text.contains("64 MiB at most"), "{}", sent.text);
    let larger = "x".repeat(files::BYTES_MAX / 2 + 1_024 * 1_024);
    let sent = browser.upload_files(&token, &[("a.csv", &larger), ("b.csv", &larger)]).await;
    assert_eq!(sent.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(sent.text.contains("These files are too large"), "{}", sent.text);
}

#[tokio::test]
async fn another_persons_files_are_not_found() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    let kim = world.person("kim@example.com").await;
    let mut other = Browser::of(&world, &kim).await;
    assert_eq!(other.get(&at).await.status, StatusCode::NOT_FOUND);
    for verb in ["", "/commit", "/discard"] {
        let sent = other.post(&format!("{at}{verb}"), &[]).await;
        assert_eq!(sent.status, StatusCode::NOT_FOUND, "{verb}");
    }
    assert!(!other.get("/import").await.good().contains("march.ofx"));
    for path in ["/import/file_1", "/import/x"] {
        assert_eq!(other.get(path).await.status, StatusCode::NOT_FOUND);
    }
    let sent = other.send(Method::POST, &at, String::new()).await;
    assert_eq!(sent.status, StatusCode::FORBIDDEN);
    browser.get(&at).await.good();
}
