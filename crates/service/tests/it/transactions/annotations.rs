//! The person's note and tags of a transaction.

use base::TransactionId;
use service::ingest::imports;
use service::ledger::annotations::{self, Tags};
use service::ledger::transactions::{self, Change, Filter, index_once};
use service::platform::cursors::Page;
use testkit::draft::{checking, statement, txn};
use testkit::{Person, World, new_key};

use super::everything;
use crate::{is_not_found, param, trail};

async fn household(world: &World) -> Person {
    let robin = world.someone().await;
    let everyday = checking("Everyday")
        .with(txn("2026-03-01", -4_210, "KROGER #339").id("a"))
        .with(txn("2026-03-02", -900, "CORNER CAFE").id("b"))
        .with(txn("2026-03-07", -1_500, "BOOKS AND MORE").id("c"));
    robin.import(statement([everyday])).await;
    robin
}

/// The descriptions, notes and tags of the rows that a filter finds.
async fn rows(world: &World, robin: &Person, filter: &Filter) -> Vec<(String, String, String)> {
    let (mut rows, page) = (Vec::new(), Page { cursor: None, limit: 100 });
    transactions::list(&world.app, &robin.caller, filter, page, |row| {
        let note = row.note.unwrap_or_default().to_owned();
        rows.push((row.description.to_owned(), note, row.tags.trim().to_owned()));
    })
    .await
    .unwrap();
    rows
}

async fn names(world: &World, robin: &Person, filter: &Filter) -> Vec<String> {
    rows(world, robin, filter).await.into_iter().map(|it| it.0).collect()
}

async fn id_of(world: &World, robin: &Person, text: &str) -> TransactionId {
    let (mut found, page) = (None, Page { cursor: None, limit: 100 });
    transactions::list(&world.app, &robin.caller, &everything(), page, |row| {
        if row.description == text {
            found = Some(row.id);
        }
    })
    .await
    .unwrap();
    found.unwrap()
}

async fn annotate(world: &World, robin: &Person, text: &str, note: &str, tags: &str) {
    let id = id_of(world, robin, text).await;
    let tags = Tags::parse(tags).unwrap();
    annotations::set(&world.app, &robin.caller, id, (note, tags)).await.unwrap();
}

fn tagged(tag: &str) -> Filter {
    Filter { tag: Some(tag.to_owned()), ..everything() }
}

fn containing(text: &str) -> Filter {
    Filter { q: Some(text.to_owned()), ..everything() }
}

#[tokio::test]
async fn a_tag_is_found_by_its_whole_text_and_counted() {
    let world = World::new().await;
    let robin = household(&world).await;
    annotate(&world, &robin, "KROGER #339", "", "work summer-trip").await;
    annotate(&world, &robin, "CORNER CAFE", "With Kim", "#Work workshop").await;
    assert_eq!(names(&world, &robin, &tagged("work")).await, ["CORNER CAFE", "KROGER #339"]);
    assert_eq!(names(&world, &robin, &tagged("workshop")).await, ["CORNER CAFE"]);
    assert_eq!(names(&world, &robin, &tagged("shop")).await, [""; 0]);
    let both = Filter { q: Some("kim".to_owned()), ..tagged("work") };
    assert_eq!(names(&world, &robin, &both).await, ["CORNER CAFE"]);
    let totals = transactions::totals(&world.app, &robin.caller, &tagged("work")).await.unwrap();
    assert_eq!((totals[0].count, totals[0].out_minor), (2, -5_110));
    let page = Page { cursor: None, limit: 1 };
    let end = transactions::list(&world.app, &robin.caller, &tagged("work"), page, |_| {}).await;
    assert_eq!(end.unwrap().total_count, Some(2));
    let tags = annotations::list_tags(&world.app, &robin.caller).await.unwrap();
    assert_eq!(tags.text(), "summer-trip work workshop");
    let kim = world.someone().await;
    assert!(annotations::list_tags(&world.app, &kim.caller).await.unwrap().is_empty());
    assert_eq!(names(&world, &kim, &tagged("work")).await, [""; 0]);
}

#[tokio::test]
async fn a_note_is_searched_before_and_after_it_is_indexed() {
    let world = World::new().await;
    let robin = household(&world).await;
    while index_once(&world.app).await.unwrap() > 0 {}
    annotate(&world, &robin, "BOOKS AND MORE", "Geschenk für ÖMER\r\nand family", "").await;
    for _ in 0..2 {
        assert_eq!(names(&world, &robin, &containing("für ömer")).await, ["BOOKS AND MORE"]);
        let family = containing("family");
        let totals = transactions::totals(&world.app, &robin.caller, &family).await.unwrap();
        assert_eq!(totals[0].out_minor, -1_500);
        while index_once(&world.app).await.unwrap() > 0 {}
    }
    let stored = rows(&world, &robin, &containing("ömer")).await;
    assert_eq!(stored[0].1, "Geschenk für ÖMER\nand family");
    annotate(&world, &robin, "BOOKS AND MORE", "  ", "").await;
    assert_eq!(names(&world, &robin, &containing("family")).await, [""; 0]);
}

#[tokio::test]
async fn a_changed_note_is_in_the_change_feed_and_the_same_one_is_no_change() {
    let world = World::new().await;
    let robin = household(&world).await;
    let changes = async |cursor: Option<&str>| {
        let (mut seen, page) = (Vec::new(), Page { cursor, limit: 100 });
        let end = transactions::changes(&world.app, &robin.caller, page, |it| {
            if let Change::Added(row) | Change::Updated(row) = it {
                seen.push((row.description.to_owned(), row.note.unwrap_or_default().to_owned()));
            }
        });
        let end = end.await.unwrap();
        (seen, end.next_cursor)
    };
    let (all, cursor) = changes(None).await;
    assert_eq!(all.len(), 3);
    annotate(&world, &robin, "CORNER CAFE", "With Kim", "work").await;
    let (changed, cursor) = changes(Some(&cursor)).await;
    assert_eq!(changed, [("CORNER CAFE".to_owned(), "With Kim".to_owned())]);
    annotate(&world, &robin, "CORNER CAFE", " With Kim ", "WORK").await;
    assert!(changes(Some(&cursor)).await.0.is_empty());
    let audit = trail(&world, &robin.caller).await;
    assert_eq!(audit.iter().filter(|it| *it == "transaction.annotate").count(), 1);
}

#[tokio::test]
async fn imports_and_their_undo_leave_notes_and_tags() {
    let world = World::new().await;
    let robin = household(&world).await;
    annotate(&world, &robin, "KROGER #339", "Party", "kim").await;
    // The bank changes the text, the amount and the day.
    let changed = txn("2026-03-03", -5_000, "KROGER STORE 339").id("a");
    robin.import(statement([checking("Everyday").with(changed)])).await;
    let party = ("KROGER STORE 339".to_owned(), "Party".to_owned(), "kim".to_owned());
    assert_eq!(rows(&world, &robin, &tagged("kim")).await, [party]);
    annotate(&world, &robin, "KROGER STORE 339", "Party of Kim", "kim party").await;
    let newest = imports::list(&world.app, &robin.caller, None, 1).await.unwrap()[0].id;
    imports::undo(&world.app, &robin.caller, newest).await.unwrap();
    let party = ("KROGER #339".to_owned(), "Party of Kim".to_owned(), "kim party".to_owned());
    assert_eq!(rows(&world, &robin, &tagged("kim")).await, [party]);
    assert_eq!(names(&world, &robin, &containing("of kim")).await, ["KROGER #339"]);
}

#[tokio::test]
async fn notes_are_checked_and_belong_to_the_person() {
    let world = World::new().await;
    let robin = household(&world).await;
    let (app, id) = (&world.app, id_of(&world, &robin, "CORNER CAFE").await);
    let set = async |caller: &service::Caller, note: &str| {
        annotations::set(app, caller, id, (note, Tags::default())).await
    };
    assert_eq!(param(set(&robin.caller, &"x".repeat(501)).await), "note");
    assert_eq!(param(set(&robin.caller, "a\0b").await), "note");
    assert!(set(&robin.caller, &"ü".repeat(500)).await.is_ok());
    let kim = world.someone().await;
    is_not_found(set(&kim.caller, "Mine").await);
    let key = robin.key(new_key()).await;
    is_not_found(set(&key.caller, "By a program").await);
}
