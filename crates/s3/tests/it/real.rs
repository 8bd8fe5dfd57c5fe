//! The client against a real S3 server that checks signatures. The step `servers` of `cargo xtask test` starts it; without
//! one these tests have nothing to do.

use s3::{Error, Pace, Settings, Store};

use crate::{content, download, open_with, upload};

/// The server's address.
const SERVER: &str = "EVENKEEL_TEST_S3";
/// As in xtask/src/servers.rs.
const REGION: &str = "eu-central-1";
const ACCESS_KEY_ID: &str = "AKIDOFTHETESTS";
const SECRET_ACCESS_KEY: &str = "secret/of+the=tests";
const BUCKET: &str = "evenkeel-tests";

/// S3's own limit of parts, and short waits.
fn settings(endpoint: String, prefix: &str) -> Settings {
    Settings {
        endpoint,
        region: REGION.to_owned(),
        bucket: BUCKET.to_owned(),
        prefix: prefix.to_owned(),
        addressing: s3::Addressing::Path,
        access_key_id: ACCESS_KEY_ID.to_owned(),
        secret_access_key: SECRET_ACCESS_KEY.to_owned(),
    }
}

fn server() -> Option<String> {
    Some(std::env::var_os(SERVER)?.into_string().unwrap())
}

fn store(settings: Settings) -> Store {
    let pace = Pace { part_bytes: 5 << 20, ..Pace::default() };
    open_with(settings, base::Clock::System).unwrap().with_pace(pace)
}

#[tokio::test]
async fn objects_in_one_and_in_several_parts_are_read_as_they_were_written() {
    let Some(server) = server() else { return };
    let store = store(settings(server, "real/objects"));
    for length in [1, 70_000, (5 << 20) + 1, 11 << 20] {
        let uploaded = upload(&store, "it (1) & ü~", content(length)).await.unwrap();
        let (bytes, read) = download(&store, "it (1) & ü~").await.unwrap();
        assert!(bytes == content(length) && read == uploaded, "{length}");
    }
    let listed = store.list("it").await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].name.as_str(), listed[0].bytes), ("it (1) & ü~", 11 << 20));
    store.delete("it (1) & ü~").await.unwrap();
    assert_eq!(store.list("it").await.unwrap(), []);
    assert_eq!(store.list_unfinished("").await.unwrap(), []);
    assert_eq!(download(&store, "it (1) & ü~").await, Err(Error::NotFound));
}

#[tokio::test]
async fn a_list_has_more_than_one_page() {
    let Some(server) = server() else { return };
    let store = store(settings(server, "real/pages"));
    for number in 0..1_003 {
        store.put(&format!("{number:04}"), "x").await.unwrap();
    }
    let names: Vec<String> = store.list("").await.unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, (0..1_003).map(|it| format!("{it:04}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_wrong_setting_is_named() {
    let Some(server) = server() else { return };
    let right = settings(server, "real/wrong");
    let secret_access_key = "another secret".to_owned();
    let wrong = store(Settings { secret_access_key, ..right.clone() });
    assert_eq!(wrong.list("").await, Err(Error::BadSignature));
    let wrong = store(Settings { access_key_id: "OTHER".to_owned(), ..right.clone() });
    assert_eq!(wrong.put("x", "x").await, Err(Error::UnknownKey));
    let wrong = store(Settings { region: "us-west-1".to_owned(), ..right.clone() });
    assert_eq!(wrong.list("").await, Err(Error::BadSignature));
    let wrong = store(Settings { bucket: "no-such-bucket".to_owned(), ..right });
    assert_eq!(wrong.list("").await, Err(Error::NoBucket("no-such-bucket".to_owned())));
}
