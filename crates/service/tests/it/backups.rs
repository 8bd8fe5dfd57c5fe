//! Scheduled backups: written when they are due, checked, and deleted when newer ones have taken their place.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use service::backup::{self, Encryption, Identity, Keep, Plan, Secrets, Target};
use testkit::World;

use crate::metrics::metric;
use crate::{is_not_found, signed_in};

const HOUR: Duration = Duration::from_secs(3_600);
const PASSPHRASE: &str = "correct horse battery";
const RECIPIENT: &str = "age1sg3lyq9xhm9whlqrz0h8qww6gaaaqxglyyeg4c5jvjyqxdrnkq9skcft66";
const IDENTITY: &str = "AGE-SECRET-KEY-1ESF7UAVLARZQ4735X8S6TG7KNM4RJJZYF9PSD5ZP8JDK0UKQ69SQDMV3UD";

fn plan(folder: &Path, encryption: Option<Encryption>) -> Plan {
    Plan {
        target: Target::Folder(folder.to_owned()),
        every_hours: 24,
        hour: 3,
        keep: Keep { daily: 3, weekly: 2, monthly: 1 },
        encryption,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|it| !it.starts_with('.')).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_backup_is_written_once_for_each_day_and_old_ones_are_deleted() {
    let mut world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    assert!(backup::status(&world.app, &admin).await.unwrap().is_none());
    let folder = tempfile::tempdir().unwrap();
    world.app = world.with_backups(plan(folder.path(), None));
    let app = &world.app;
    assert!(backup::status(app, &admin).await.unwrap().unwrap().is_late);
    assert!(!backup::is_late_for_admin(app, &admin).await.unwrap(), "the first one comes soon");
    assert_eq!(metric(app, "backup_late", &[]).await, 0);
    fs::write(folder.path().join("evenkeel-0a0b0c0d-20200101T000000Z.backup"), "others").unwrap();
    for _ in 0..20 {
        assert_eq!(backup::run_once(app).await.unwrap(), 1);
        assert_eq!(backup::run_once(app).await.unwrap(), 0);
        world.clock.advance(24 * HOUR);
    }
    let status = backup::status(app, &admin).await.unwrap().unwrap();
    let files = status.files.unwrap();
    // Three days, perhaps the week before, and perhaps the month before.
    assert!((3..=6).contains(&files.len()), "{files:?}");
    assert!(files.is_sorted_by(|a, b| a.made_at > b.made_at) && !status.is_late);
    assert_eq!(names(folder.path()).len(), files.len() + 1, "another installation's file");
    let newest = folder.path().join(&files[0].name);
    assert_eq!(fs::metadata(&newest).unwrap().permissions().mode() & 0o777, 0o600);
    let input = backup::open(File::open(&newest).unwrap(), &Secrets::default()).unwrap();
    assert!(backup::check(input).unwrap().rows > 0);
    assert_eq!(metric(app, "backup_late", &[]).await, 0);
    let made_at = files[0].made_at.as_microsecond() / 1_000_000;
    assert_eq!(metric(app, "backup_last_good_timestamp_seconds", &[]).await, made_at);
    world.clock.advance(13 * HOUR);
    assert!(backup::status(app, &admin).await.unwrap().unwrap().is_late);
    assert_eq!(metric(app, "backup_late", &[]).await, 1);
    assert!(backup::is_late_for_admin(app, &admin).await.unwrap());
    let (_, member) = signed_in(&world, "kim@example.com").await;
    assert!(!backup::is_late_for_admin(app, &member).await.unwrap(), "a member cannot mend it");
}

#[tokio::test]
async fn an_encrypted_backup_opens_with_its_passphrase_alone() {
    let mut world = World::new().await;
    signed_in(&world, "robin@example.com").await;
    let folder = tempfile::tempdir().unwrap();
    world.app = world
        .with_backups(plan(folder.path(), Some(Encryption::Passphrase(PASSPHRASE.to_owned()))));
    backup::run_once(&world.app).await.unwrap();
    let file = folder.path().join(&names(folder.path())[0]);
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n-> scrypt "));
    let open = |passphrase: Option<&str>| {
        let secrets = Secrets { passphrase: passphrase.map(str::to_owned), ..Secrets::default() };
        backup::open(File::open(&file).unwrap(), &secrets)
    };
    assert!(backup::check(open(Some(PASSPHRASE)).unwrap()).unwrap().rows > 0);
    let error = |passphrase| open(passphrase).err().unwrap().to_string();
    assert!(error(None).contains("set backups.passphrase"));
    assert!(error(Some("another horse battery")).contains("another passphrase"));
    // A truncated file is not taken for a complete one.
    fs::write(&file, &bytes[..bytes.len() - 100]).unwrap();
    assert!(backup::check(open(Some(PASSPHRASE)).unwrap()).is_err());
}

#[tokio::test]
async fn a_backup_for_recipients_is_checked_without_their_secret_keys() {
    let mut world = World::new().await;
    signed_in(&world, "robin@example.com").await;
    let folder = tempfile::tempdir().unwrap();
    let recipients = Encryption::Recipients(vec![RECIPIENT.parse().unwrap()]);
    world.app = world.with_backups(plan(folder.path(), Some(recipients)));
    assert_eq!(backup::run_once(&world.app).await.unwrap(), 1);
    let file = folder.path().join(&names(folder.path())[0]);
    assert!(fs::read(&file).unwrap().starts_with(b"age-encryption.org/v1\n-> X25519 "));
    let identities = Identity::parse_file(IDENTITY).unwrap();
    let secrets = Secrets { identities, ..Secrets::default() };
    let input = backup::open(File::open(&file).unwrap(), &secrets).unwrap();
    assert!(backup::check(input).unwrap().rows > 0);
    let refused = backup::open(File::open(&file).unwrap(), &Secrets::default()).err().unwrap();
    assert!(refused.to_string().contains("set backups.identity"), "{refused}");
}

#[tokio::test]
async fn a_failure_is_shown_until_the_next_good_backup() {
    let mut world = World::new().await;
    let (_, admin) = signed_in(&world, "robin@example.com").await;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("disk");
    world.app = world.with_backups(plan(&folder, None));
    let app = &world.app;
    let error = backup::run_once(app).await.unwrap_err().to_string();
    assert!(error.contains("cannot be read") && error.contains("mount its disk"), "{error}");
    assert!(!folder.exists(), "a disk that is not mounted must not become a folder");
    // The next try waits, so that a full disk is not written to all the time.
    assert_eq!(backup::run_once(app).await.unwrap(), 0);
    fs::create_dir(&folder).unwrap();
    assert_eq!(backup::run_once(app).await.unwrap(), 0);
    let failure = backup::status(app, &admin).await.unwrap().unwrap().failure.unwrap();
    assert_eq!(failure.reason, error);
    world.clock.advance(Duration::from_secs(900));
    assert_eq!(backup::run_once(app).await.unwrap(), 1);
    assert_eq!(backup::status(app, &admin).await.unwrap().unwrap().failure, None);
}

#[tokio::test]
async fn two_processes_with_one_folder_write_one_backup() {
    let world = World::new().await;
    signed_in(&world, "robin@example.com").await;
    let folder = tempfile::tempdir().unwrap();
    let one = world.with_backups(plan(folder.path(), None));
    let other = world.with_backups(plan(folder.path(), None));
    let (first, second) = tokio::join!(backup::run_once(&one), backup::run_once(&other));
    assert_eq!(first.unwrap() + second.unwrap(), 1);
    assert_eq!(names(folder.path()).len(), 1);
}

#[tokio::test]
async fn only_an_admin_sees_the_backups() {
    let mut world = World::new().await;
    signed_in(&world, "robin@example.com").await;
    let (_, member) = signed_in(&world, "kim@example.com").await;
    let folder = tempfile::tempdir().unwrap();
    world.app = world.with_backups(plan(folder.path(), None));
    is_not_found(backup::status(&world.app, &member).await);
}
