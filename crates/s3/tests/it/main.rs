//! The client against a simulated store, well-behaved and hostile.
#![expect(clippy::unwrap_used, reason = "a failed step of a test should panic")]

mod hostile;
mod objects;
mod real;

use std::io::Write as _;
use std::time::Duration;

use base::Clock;
use net::{Guard, HttpClient, Policy};
use s3::{Error, Pace, Settings, Store, Uploaded, upload_channel};
use testkit::object_store::ObjectStore;

/// Small parts and short pauses, so that tests are quick. The limit of a request is longer than a busy machine takes.
const PACE: Pace = Pace {
    part_bytes: 1_000,
    request_max: Duration::from_secs(60),
    retry_after: Duration::from_millis(1),
};

fn open(settings: Settings) -> Result<Store, Error> {
    Ok(open_with(settings, Clock::frozen_at("2026-03-01T12:00:00Z"))?.with_pace(PACE))
}

fn open_with(settings: Settings, clock: Clock) -> Result<Store, Error> {
    let client = HttpClient::new(Policy { guard: Guard::Any, extra_ca: None }).unwrap();
    Store::new(client, clock, settings)
}

fn store(server: &ObjectStore) -> Store {
    open(server.settings()).unwrap()
}

/// A client for tests in which a request does reach its limit.
fn impatient_store(server: &ObjectStore, request_max: Duration) -> Store {
    store(server).with_pace(Pace { request_max, ..PACE })
}

/// Bytes that differ at every place.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|it| (it * 31 % 251) as u8).collect()
}

async fn upload(store: &Store, name: &str, bytes: Vec<u8>) -> Result<Uploaded, Error> {
    let (mut writer, parts) = upload_channel(store);
    let writing = tokio::task::spawn_blocking(move || {
        // An upload that fails ends the writing, too.
        let _ = writer.write_all(&bytes).and_then(|()| writer.finish());
    });
    let uploaded = store.upload(name, parts).await;
    writing.await.unwrap();
    uploaded
}

async fn download(store: &Store, name: &str) -> Result<(Vec<u8>, Uploaded), Error> {
    let mut download = store.download(name);
    let mut bytes = Vec::new();
    while let Some(range) = download.next().await? {
        assert!(!range.is_empty());
        bytes.extend_from_slice(&range);
    }
    Ok((bytes, download.finish()))
}
