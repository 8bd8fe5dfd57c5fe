//! Scheduled backups in an S3-compatible store: a backup counts only if it was read back, whatever fails on the way.

use std::time::Duration;

use base::Clock;
use net::{Guard, HttpClient, Policy};
use s3::{Pace, Store};
use service::backup::{self, Encryption, Keep, Plan, Secrets, Target};
use service::platform::processes;
use testkit::World;
use testkit::object_store::{Fault, ObjectStore};

use crate::{is_not_found, signed_in};

const HOUR: Duration = Duration::from_secs(3_600);
const PASSPHRASE: &str = "correct horse battery";

fn store(server: &ObjectStore, clock: &Clock) -> Store {
    let client = HttpClient::new(Policy { guard: Guard::Any, extra_ca: None }).unwrap();
    // Small parts, so that every backup is uploaded in several.
    let pace = Pace {
        part_bytes: 2_000,
        request_max: Duration::from_secs(60),
        retry_after: Duration::from_millis(1),
    };
    Store::new(client, clock.clone(), server.settings()).unwrap().with_pace(pace)
}

fn plan(server: &ObjectStore, world: &World, encryption: Option<Encryption>) -> Plan {
    Plan {
        target: Target::Store(store(server, &world.clock)),
        every_hours: 24,
        hour: 3,
        keep: Keep { daily: 3, weekly: 2, monthly: 1 },
        encryption,
    }
}

/// The backups that have a mark beside them, by the keys of their objects.
fn good(server: &ObjectStore) -> Vec<String> {
    let keys = server.keys();
    let marks = keys.iter().filter_map(|it| it.strip_suffix(".checked"));
    marks.map(str::to_owned).filter(|it| keys.contains(it)).collect()
}

#[tokio::test]
async fn a_backup_is_written_once_for_each_day_and_only_our_old_ones_are_deleted() {
    let mut world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let server = ObjectStore::start().await;
    let others = [
        "home/evenkeel-0a0b0c0d-20200101T000000Z.backup",
        "home/evenkeel-0a0b0c0d-20200101T000000Z.backup.checked",
        "home/notes.txt",
        "evenkeel-x",
    ];
    others.iter().for_each(|it| server.put(it, "others"));
    server.set_page(4);
    world.app = world.with_backups(plan(&server, &world, None));
    let app = &world.app;
    let status = async || backup::status(app, &admin).await.unwrap().unwrap();
    assert_eq!(status().await.files, None, "the store was not read yet");
    for _ in 0..20 {
        assert_eq!(backup::run_once(app).await.unwrap(), 1);
        let requests = server.requests().len();
        assert_eq!(backup::run_once(app).await.unwrap(), 0);
        assert_eq!(server.requests().len(), requests, "the list is known");
        world.clock.advance(24 * HOUR);
    }
    let found = status().await;
    let files = found.files.unwrap();
    assert!((3..=6).contains(&files.len()) && !found.is_late, "{files:?}");
    assert_eq!(found.place, "s3://money/home/");
    assert_eq!(server.keys().len(), 2 * files.len() + others.len());
    let newest = server.object(&format!("home/{}", files[0].name)).unwrap();
    assert_eq!(newest.len() as u64, files[0].bytes);
    assert!(newest.len() > 4_000, "there were several parts");
    let input = backup::open(std::io::Cursor::new(newest), &Secrets::default()).unwrap();
    assert!(backup::check(input).unwrap().rows > 0);
    world.clock.advance(13 * HOUR);
    assert!(status().await.is_late);
    // For an operator who lost the installation, those of others are listed, too.
    let any = plan(&server, &world, None).target.list_any().await.unwrap();
    assert_eq!(any.len(), files.len() + 1);
    let (_, member) = signed_in(&world, "kim@example.com").await;
    is_not_found(backup::status(app, &member).await);
}

#[tokio::test]
async fn an_encrypted_backup_is_read_back_with_its_passphrase() {
    let mut world = World::new().await;
    signed_in(&world, "robin@example.com").await;
    let server = ObjectStore::start().await;
    let encryption = Encryption::Passphrase(PASSPHRASE.to_owned());
    world.app = world.with_backups(plan(&server, &world, Some(encryption)));
    assert_eq!(backup::run_once(&world.app).await.unwrap(), 1);
    let keys = good(&server);
    assert!(keys.len() == 1 && keys[0].ends_with(".backup.age"), "{keys:?}");
    let object = server.object(&keys[0]).unwrap();
    assert!(object.starts_with(b"age-encryption.org/v1\n-> scrypt "));
    let secrets = Secrets { passphrase: Some(PASSPHRASE.to_owned()), ..Secrets::default() };
    let input = backup::open(std::io::Cursor::new(object), &secrets).unwrap();
    assert!(backup::check(input).unwrap().rows > 0);
}

#[tokio::test]
async fn whatever_fails_leaves_no_backup_that_looks_good() {
    let mut world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let server = ObjectStore::start().await;
    world.app = world.with_backups(plan(&server, &world, None));
    let app = &world.app;
    let refused = || Fault::Response(403, &[], String::new());
    for (text, fault, reason) in [
        ("GET /money?list-type", refused(), "allow it to list the bucket"),
        ("POST /money/home/evenkeel", refused(), "may not do this"),
        ("partNumber=2", refused(), "may not do this"),
        (
            "POST /money/home/evenkeel-",
            Fault::Response(404, &[], "<Error><Code>NoSuchBucket</Code></Error>".to_owned()),
            "correct bucket",
        ),
        // It was stored, and another byte comes back, or not all of it.
        ("GET /money/home/evenkeel", Fault::Corrupt, ""),
        ("GET /money/home/evenkeel", Fault::Shortened, "not S3"),
        ("GET /money/home/evenkeel", refused(), "may not do this"),
        // It was read back, and the mark cannot be written.
        (".checked", refused(), "may not do this"),
    ] {
        server.fail_next(text, fault);
        let error = backup::run_once(app).await.unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
        assert_eq!(good(&server), Vec::<String>::new(), "{text}");
        assert_eq!(server.unfinished_uploads(), 0, "{text}");
        let status = backup::status(app, &admin).await.unwrap().unwrap();
        assert_eq!(status.failure.unwrap().reason, error);
        assert_eq!(backup::run_once(app).await.unwrap(), 0, "the next try waits");
        world.clock.advance(Duration::from_secs(900));
    }
    assert_eq!(backup::run_once(app).await.unwrap(), 1);
    assert_eq!(good(&server).len(), 1);
    assert_eq!(backup::status(app, &admin).await.unwrap().unwrap().failure, None);
}

#[tokio::test]
async fn what_a_killed_server_left_is_deleted_after_a_day() {
    let mut world = World::new().await;
    signed_in(&world, "robin@example.com").await;
    let server = ObjectStore::start().await;
    world.app = world.with_backups(plan(&server, &world, None));
    // The mark of this one could not be written.
    server.fail_next(".checked", Fault::Response(403, &[], String::new()));
    backup::run_once(&world.app).await.unwrap_err();
    let left = server.keys();
    assert_eq!(left.len(), 1);
    server.begin_upload(&left[0]);
    server.begin_upload("home/other");
    world.clock.advance(Duration::from_secs(900));
    assert_eq!(backup::run_once(&world.app).await.unwrap(), 1);
    assert!(server.keys().contains(&left[0]), "another process could still be writing it");
    world.clock.advance(25 * HOUR);
    assert_eq!(backup::run_once(&world.app).await.unwrap(), 1);
    assert!(!server.keys().contains(&left[0]));
    assert_eq!(server.unfinished_uploads(), 1, "only ours was ended");
}

#[tokio::test]
async fn of_two_processes_the_one_that_runs_longest_writes() {
    let world = World::new().await;
    signed_in(&world, "robin@example.com").await;
    let server = ObjectStore::start().await;
    let one = world.with_backups(plan(&server, &world, None));
    let other = world.with_backups(plan(&server, &world, None));
    processes::register(&one).await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    processes::register(&other).await.unwrap();
    assert_eq!(backup::run_once(&other).await.unwrap(), 0);
    assert_eq!(backup::run_once(&one).await.unwrap(), 1);
    assert_eq!(backup::run_once(&other).await.unwrap(), 0);
    // The other takes over when the first one is gone.
    processes::leave(&one).await.unwrap();
    world.clock.advance(24 * HOUR);
    processes::renew_once(&other).await.unwrap();
    assert_eq!(backup::run_once(&other).await.unwrap(), 1);
    assert_eq!(good(&server).len(), 2);
}
