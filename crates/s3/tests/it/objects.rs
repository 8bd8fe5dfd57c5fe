//! Objects are written, listed, read and deleted.

use s3::{Error, Location, Settings, upload_channel};
use std::io::Write as _;
use std::time::Duration;
use testkit::object_store::{Fault, ObjectStore};

use crate::{content, download, impatient_store, open, store, upload};

#[tokio::test]
async fn objects_of_every_size_are_read_as_they_were_written() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    for length in [1, 999, 1_000, 1_001, 2_000, 2_001, 5_500] {
        let uploaded = upload(&store, "it", content(length)).await.unwrap();
        assert_eq!(uploaded.bytes, length as u64);
        assert_eq!(server.object("home/it").unwrap(), content(length), "{length}");
        let (bytes, read) = download(&store, "it").await.unwrap();
        assert!(bytes == content(length) && read == uploaded, "{length}");
        assert_eq!(server.unfinished_uploads(), 0);
    }
    // An object of one part takes one request.
    let puts = server.requests().iter().filter(|it| it.as_str() == "PUT /money/home/it").count();
    assert_eq!(puts, 3);
}

#[tokio::test]
async fn a_list_has_all_pages_and_only_names_that_begin_alike() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    server.set_page(3);
    for number in 0..10 {
        server.put(&format!("home/one-{number}"), content(number));
        server.put(&format!("other/one-{number}"), content(number));
    }
    server.put("home/two", "x");
    let names: Vec<String> =
        store.list("one-").await.unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, (0..10).map(|it| format!("one-{it}")).collect::<Vec<_>>());
    assert_eq!(store.list("one-7").await.unwrap()[0].bytes, 7);
    assert_eq!(store.list("three").await.unwrap(), []);
    store.delete("two").await.unwrap();
    store.delete("two").await.unwrap();
    assert_eq!(server.object("home/two"), None);
}

#[tokio::test]
async fn a_writer_that_stops_early_leaves_nothing() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    for length in [10, 3_500] {
        let (mut writer, parts) = upload_channel(&store);
        let writing = tokio::task::spawn_blocking(move || writer.write_all(&content(length)));
        assert_eq!(store.upload("it", parts).await, Err(Error::Incomplete));
        writing.await.unwrap().unwrap();
    }
    assert!(server.keys().is_empty());
    assert_eq!(server.unfinished_uploads(), 0);
}

#[tokio::test]
async fn a_request_is_tried_again_when_the_network_or_the_store_fails() {
    let server = ObjectStore::start().await;
    // One request reaches the limit. The others may too on a busy machine, and are then repeated.
    let store = impatient_store(&server, Duration::from_secs(2));
    for (text, fault) in [
        ("POST /money/home/it?uploads", Fault::Cut),
        ("partNumber=2", Fault::Cut),
        ("partNumber=2", Fault::Response(503, &[], String::new())),
        ("partNumber=3", Fault::CutAfter),
        ("partNumber=4", Fault::Hold),
        // The object was made, and nobody said so.
        ("POST /money/home/it?uploadId", Fault::CutAfter),
        ("GET /money/home/it", Fault::Response(500, &[], "oops".to_owned())),
    ] {
        server.fail_next(text, fault);
    }
    let uploaded = upload(&store, "it", content(4_200)).await.unwrap();
    let (bytes, read) = download(&store, "it").await.unwrap();
    assert!(bytes == content(4_200) && read == uploaded);
}

#[tokio::test]
async fn a_network_that_stays_away_leaves_no_object() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    for _ in 0..4 {
        server.fail_next("partNumber=2", Fault::Cut);
    }
    let error = upload(&store, "it", content(2_500)).await.unwrap_err().to_string();
    assert!(error.contains("connection broke") && error.contains("check endpoint"), "{error}");
    assert!(server.keys().is_empty());
    assert_eq!(server.unfinished_uploads(), 0, "the parts were deleted");
}

#[tokio::test]
async fn unfinished_uploads_are_found_and_ended() {
    let server = ObjectStore::start().await;
    let store = store(&server);
    server.begin_upload("home/one");
    server.begin_upload("other/one");
    let found = store.list_unfinished("o").await.unwrap();
    assert_eq!(found.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["one"]);
    store.give_up(&found[0]).await.unwrap();
    store.give_up(&found[0]).await.unwrap();
    assert_eq!(server.unfinished_uploads(), 1);
}

#[tokio::test]
async fn a_location_is_another_bucket_of_the_same_store() {
    let server = ObjectStore::start().await;
    let location = Location::parse("s3://money/elsewhere/it").unwrap();
    let store = open(Settings { bucket: "another".to_owned(), ..server.settings() }).unwrap();
    assert_eq!(store.list("").await, Err(Error::NoBucket("another".to_owned())));
    let there = store.with_bucket_of(&location);
    there.put(&location.key, "x").await.unwrap();
    assert_eq!(server.keys(), ["elsewhere/it"]);
    assert_eq!(there.shown(&location.key), "s3://money/elsewhere/it");
}

#[tokio::test]
async fn names_that_cannot_be_addressed_are_refused() {
    let server = ObjectStore::start().await;
    for bucket in ["", "ab", "a/b/c", "a b c", "bücket", "..."] {
        let settings = Settings { bucket: bucket.to_owned(), ..server.settings() };
        assert_eq!(open(settings).err(), Some(Error::BadBucket), "{bucket}");
    }
    for prefix in ["/x", "a b", "ü", "a?b", "a%b"] {
        let settings = Settings { prefix: prefix.to_owned(), ..server.settings() };
        assert_eq!(open(settings).err(), Some(Error::BadPrefix), "{prefix}");
    }
}
