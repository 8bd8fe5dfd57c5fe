//! Importing files, and undoing an import.

use db::params;
use http::StatusCode;
use service::ledger::accounts::{self, Filter, Status};
use testkit::{Person, World};

use super::{TABLE, groceries, import, ofx, robin, upload};
use crate::browser::Browser;

async fn names(world: &World, person: &Person) -> Vec<String> {
    let all = Filter { status: Status::All, include_hidden: true };
    let all = accounts::list(&world.app, &person.caller, all).await.unwrap();
    all.into_iter().map(|it| it.name).collect()
}

#[tokio::test]
async fn an_import_shows_its_result_and_the_same_file_again_adds_nothing() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    let changes = [("name_0", "Everyday")];
    assert_eq!(import(&mut browser, &at, &changes).await.location(), at);
    let page = browser.get(&at).await.good();
    for text in ["2 new transactions imported", "Skipped", "Everyday", "Undo import"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(names(&world, &robin).await, ["Everyday"]);
    // Pressing the button again leads to the same page.
    assert_eq!(browser.post(&format!("{at}/commit"), &[]).await.location(), at);

    let at = upload(&mut browser, "march again.ofx", &groceries()).await;
    let page = browser.get(&at).await.good();
    assert!(
        page.contains("Nothing new in this file") && page.contains("Already imported"),
        "{page}"
    );
    assert!(browser.get("/import").await.good().contains("Nothing new"));
    assert_eq!(import(&mut browser, &at, &[]).await.location(), at);
    assert!(browser.get(&at).await.good().contains("Nothing new in this file."));
    let page = browser.get("/transactions").await.good();
    assert_eq!(page.matches("name=\"id\"").count(), 2, "{page}");
}

#[tokio::test]
async fn a_statement_that_does_not_add_up_says_so_before_it_is_imported() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let statement = |closing: &str| {
        format!(
            ":20:A\n:25:DE00123456780000001234\n:28C:1\n:60F:C260301USD10,00\n\
             :61:260302D2,00NTRFNONREF\n:86:Coffee\n:62F:C260302USD{closing}\n-\n"
        )
    };
    let at = upload(&mut browser, "wrong.sta", &statement("5,00")).await;
    let page = browser.get(&at).await.good();
    let (warning, button) = ("This file may be incomplete", "Import 1 new transaction");
    let [warned_at, button_at] = [warning, button].map(|it| page.find(it));
    assert!(warned_at.is_some() && warned_at < button_at, "{page}");
    assert!(page.contains("The statement does not add up"), "{page}");
    let at = upload(&mut browser, "right.sta", &statement("8,00")).await;
    let page = browser.get(&at).await.good();
    assert!(!page.contains(warning) && page.contains(button), "{page}");
}

#[tokio::test]
async fn an_import_can_be_undone_and_shows_what_was_removed() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    import(&mut browser, &at, &[]).await;
    let page = browser.get("/import").await.good();
    let undo = page.split_once("action=\"/imports/").unwrap().1.split_once('"').unwrap().0;
    let undo = format!("/imports/{undo}");
    let kim = world.person("kim@example.com").await;
    let other = Browser::of(&world, &kim).await.post(&undo, &[]).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
    let page = browser.submit(&undo, &[]).await.good();
    assert!(page.contains("2 transactions removed, 0 transactions restored."), "{page}");
    assert!(page.contains("1 account was also removed.") && page.contains("Undone"), "{page}");
    assert!(names(&world, &robin).await.is_empty());
    assert!(browser.get(&at).await.good().contains("This import was undone"));
    assert_eq!(browser.post(&undo, &[]).await.status, StatusCode::CONFLICT);
    assert_eq!(browser.post("/imports/imp_1/undo", &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn all_ready_files_are_imported_together_and_create_an_account_once() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let token = browser.form_token();
    let (march, april) = (groceries(), ofx(&[("20260228", "-7.00", "KIOSK")]).replace("F0", "F9"));
    let files =
        [("a.ofx", march.as_str()), ("b.ofx", &april), ("odd.bin", "odd"), ("c.csv", TABLE)];
    browser.upload_files(&token, &files).await;
    let page = browser.submit("/import/all", &[]).await.good();
    // The table names no account, and by then there is one that it could belong to.
    assert!(page.contains("2 files imported. 2 files need your input"), "{page}");
    assert!(page.contains("Needs your input"), "{page}");
    assert_eq!(names(&world, &robin).await.len(), 1);
    let page = browser.get("/transactions?dates=all").await.good();
    assert_eq!(page.matches("name=\"id\"").count(), 3, "{page}");
}

#[tokio::test]
async fn a_preview_from_before_its_account_existed_creates_no_second_one() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let first = upload(&mut browser, "a.ofx", &groceries()).await;
    let second = upload(&mut browser, "b.ofx", &ofx(&[("20260228", "-7.00", "KIOSK")])).await;
    let open = browser.get(&second).await.good();
    import(&mut browser, &first, &[]).await;
    let fields = super::form_of(&open);
    let sent = browser.post(&format!("{second}/commit"), &super::pairs(&fields)).await;
    assert_eq!(sent.location(), second);
    assert_eq!(names(&world, &robin).await.len(), 1);
}

#[tokio::test]
async fn a_discarded_file_is_deleted_and_imports_nothing() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    let page = browser.submit(&format!("{at}/discard"), &[]).await.good();
    assert!(page.contains("File discarded.") && !page.contains("march.ofx"), "{page}");
    assert_eq!(browser.get(&at).await.status, StatusCode::NOT_FOUND);
    assert!(names(&world, &robin).await.is_empty());
}

#[tokio::test]
async fn unreadable_lines_are_listed_and_skipped() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let table =
        format!("{TABLE}2026-02-16,many,KIOSK,four,\n2026-02-17,-1.00,KIOSK,five,1806.50\n");
    let at = upload(&mut browser, "bank.csv", &table).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("1 line can't be read") && page.contains("Line 5"), "{page}");
    import(&mut browser, &at, &[]).await;
    let page = browser.get(&at).await.good();
    assert!(page.contains("<dt>Skipped</dt><dd>1</dd>"), "{page}");
}

/// Leases the files until this time, as a process does that imports them, even if it died.
async fn lease(world: &World, until: &str) {
    let until: base::Timestamp = until.parse().unwrap();
    let lease = move |tx: &mut db::Tx<'_>| {
        let text = "update import_files set state = 'committing', leased_until = $1";
        tx.execute(text, params![until])
    };
    world.app.db.write(lease).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_being_imported_is_locked_until_its_lease_ends() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    lease(&world, "2026-03-10T12:05:00Z").await;
    let refreshed = "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>";
    for path in [at.as_str(), "/import"] {
        let page = browser.get(path).await.good();
        assert!(page.contains("Importing") && page.contains("Reading file"), "{page}");
        assert!(page.contains(refreshed) && page.contains("data-commit"), "{page}");
    }
    // A preview that was open meanwhile changes nothing.
    assert_eq!(browser.post(&at, &[("dates", "day_first")]).await.location(), at);
    let page = browser.submit(&format!("{at}/discard"), &[]).await.good();
    assert!(page.contains("Wait until it finishes, then undo the import."), "{page}");
    let refused = browser.post(&format!("{at}/commit"), &[]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        refused.text.contains("is being imported right now. Wait a moment"),
        "{}",
        refused.text
    );
    assert!(names(&world, &robin).await.is_empty());

    lease(&world, "2026-03-10T11:59:00Z").await;
    assert_eq!(browser.post(&format!("{at}/commit"), &[]).await.location(), at);
    assert_eq!(names(&world, &robin).await.len(), 1);
}

#[tokio::test]
async fn a_page_that_waited_for_a_failed_import_says_that_nothing_changed() {
    let world = World::new().await;
    let (_, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march.ofx", &groceries()).await;
    assert!(!browser.get(&at).await.good().contains("The import failed"));
    let page = browser.get(&format!("{at}?waited")).await.good();
    assert!(page.contains("The import failed and nothing was changed."), "{page}");
}

#[tokio::test]
async fn the_transactions_of_a_file_are_moved_to_a_new_account() {
    let world = World::new().await;
    let (robin, mut browser) = robin(&world).await;
    let at = upload(&mut browser, "march <b>.ofx", &groceries()).await;
    import(&mut browser, &at, &[("name_0", "Everyday")]).await;
    let account = robin.account("Everyday").await;
    let page = browser.get(&format!("/accounts/{account}")).await.good();
    let path = format!("/accounts/{account}/split");
    assert!(page.contains(&format!("href=\"{path}\"")), "{page}");
    let page = browser.get(&path).await.good();
    assert!(page.contains("march &lt;b&gt;.ofx: 2 transactions from"), "{page}");
    let empty = browser.post(&path, &[]).await;
    assert_eq!(empty.status, StatusCode::BAD_REQUEST);
    for message in ["Choose at least one import.", "Enter a name for the new account."] {
        assert!(empty.text.contains(message), "{message}: {}", empty.text);
    }
    let import = page.split_once("name=\"import\" value=\"").unwrap().1;
    let import = import.split_once('"').unwrap().0;
    let page = browser.submit(&path, &[("import", import), ("name", "Joint")]).await.good();
    assert!(
        page.contains("2 transactions moved here.") && page.contains("<h1>Joint</h1>"),
        "{page}"
    );
    assert_eq!(names(&world, &robin).await, ["Everyday", "Joint"]);
    let page = browser.get(&path).await.good();
    assert!(page.contains("No imported files"), "{page}");
    let kim = world.someone().await;
    let mut other = Browser::of(&world, &kim).await;
    assert_eq!(other.get(&path).await.status, StatusCode::NOT_FOUND);
}
