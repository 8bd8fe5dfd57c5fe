//! A restore brings back data, but no access that ended after the backup was made.

use base::Entropy;
use db::params;
use service::access::sessions::{self, Method, Visit};
use service::access::users::Role;
use service::access::{invitations, keys, sign_ins, users};
use service::backup::{self, RestoredAccess};
use service::chains;
use service::ledger::transactions;
use service::platform::audit::{self, Verdict};
use service::platform::cursors::Page;
use service::platform::installation::Key;
use service::schema::MIGRATIONS;
use service::{App, Caller, webhooks};
use testkit::draft::{checking, statement, txn};
use testkit::{Database, IssuedKey, World, new_key};

use crate::{PASSWORD, with_password};

/// The installation key of every test world.
pub(crate) fn installation_key() -> Key {
    Key::generate(&Entropy::seeded(1))
}

async fn back_up(world: &World) -> Vec<u8> {
    let (key, now) = (installation_key(), world.clock.now());
    backup::write(&world.app.db, &key, now, Vec::new(), |_| {}).await.unwrap().0
}

pub(crate) async fn restore(world: &World, app: &App, bytes: Vec<u8>) -> RestoredAccess {
    let contents = backup::check(bytes.as_slice()).unwrap();
    let input = std::io::Cursor::new(bytes);
    let now = world.clock.now();
    backup::restore(&app.db, contents, input, now, |_| {}).await.unwrap()
}

/// A person with every kind of access, a backup, and a key that was revoked after the backup.
struct RestoreFixture {
    world: World,
    robin: Caller,
    session: String,
    invitation: String,
    portal: String,
    kept: IssuedKey,
    revoked: IssuedKey,
    backup: Vec<u8>,
}

impl RestoreFixture {
    async fn new() -> RestoreFixture {
        let world = World::new().await;
        let user = users::create(&world.app, with_password("robin@example.com")).await.unwrap();
        let (app, robin) = (&world.app, user.owner());
        let session = sessions::create(app, &user, Method::Password, Visit::default());
        let session = session.await.unwrap();
        let (_, invitation) = invitations::create(app, &robin, None).await.unwrap();
        let issue = async |name: &str| {
            let new = keys::NewKey { name: name.to_owned(), ..new_key() };
            let (key, secret) = keys::create(app, &robin, new).await.unwrap();
            let caller = keys::authenticate(app, &secret, None).await.unwrap();
            IssuedKey { id: key.id, secret, caller }
        };
        let (kept, revoked) = (issue("Kept").await, issue("Lost laptop").await);
        let portal = {
            let (mine, caller) = (app.clone(), kept.caller.clone());
            let make = move |tx: &mut db::Tx<'_>| webhooks::portal::create_link(&mine, tx, &caller);
            app.db.write(make).await.unwrap()
        };
        let backup = back_up(&world).await;
        world.advance_seconds(60);
        keys::revoke(app, &robin, revoked.id).await.unwrap();
        RestoreFixture {
            robin,
            session,
            invitation,
            portal: portal.0,
            kept,
            revoked,
            backup,
            world,
        }
    }

    /// Asserts that sessions, invitations and portal links have ended, that the password still works, and that the
    /// audit trail is intact.
    async fn assert_access_ended(&self, app: &App) {
        assert!(sessions::find(app, &self.session, None).await.unwrap().is_none());
        assert!(invitations::find(app, &self.invitation).await.unwrap().is_none());
        assert!(!webhooks::portal::is_link_valid(app, &self.portal).await.unwrap());
        let visit = Visit::default();
        sign_ins::by_password(app, "robin@example.com", PASSWORD, visit).await.unwrap();
        let newest = audit::list(app, &self.robin, None, 2).await.unwrap();
        assert_eq!(newest[1].action, "backup.restore");
        let verdict = audit::verify(app, &self.robin).await.unwrap();
        assert!(matches!(verdict, Verdict::Intact { unanchored: 0, .. }), "{verdict:?}");
    }
}

#[tokio::test]
async fn a_revoked_key_stays_revoked_if_the_target_database_knows_it() {
    let fixture = RestoreFixture::new().await;
    // A restore requires a database without people.
    users::delete(&fixture.world.app, fixture.robin.user).await.unwrap();
    let app = fixture.world.other_process().await;
    let access = restore(&fixture.world, &app, fixture.backup.clone()).await;
    assert_eq!((access.sessions_ended, access.kept_revoked), (1, 1));
    let names: Vec<&str> = access.keys.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["Kept"]);
    assert_eq!(access.keys[0].email, "robin@example.com");
    keys::authenticate(&app, &fixture.kept.secret, None).await.unwrap();
    let lost = keys::authenticate(&app, &fixture.revoked.secret, None).await;
    assert!(lost.is_err(), "a revoked key works again");
    fixture.assert_access_ended(&app).await;
    // The revocation is kept by one more backup and restore.
    let key = installation_key();
    let again = backup::write(&app.db, &key, fixture.world.clock.now(), Vec::new(), |_| {}).await;
    let again = again.unwrap().0;
    users::delete(&app, fixture.robin.user).await.unwrap();
    let access = restore(&fixture.world, &app, again).await;
    assert_eq!((access.keys.len(), access.kept_revoked), (1, 0));
}

#[tokio::test]
async fn keys_that_work_again_are_listed_if_the_target_database_is_new() {
    let fixture = RestoreFixture::new().await;
    let database = Database::migrated().await;
    let app = fixture.world.other_process_on(database.open().await);
    let access = restore(&fixture.world, &app, fixture.backup.clone()).await;
    assert_eq!((access.sessions_ended, access.kept_revoked), (1, 0));
    let mut names: Vec<&str> = access.keys.iter().map(|it| it.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Kept", "Lost laptop"]);
    fixture.assert_access_ended(&app).await;
    drop(app);
}

#[tokio::test]
async fn a_backup_without_anchors_is_anchored_when_it_is_restored() {
    let fixture = RestoreFixture::new().await;
    let forget = |tx: &mut db::Tx<'_>| {
        tx.execute("delete from installation where name = 'anchored_at'", &[])?;
        Ok::<_, service::Error>(tx.execute("delete from anchors", &[])?)
    };
    fixture.world.app.db.write(forget).await.unwrap();
    let old = back_up(&fixture.world).await;
    let database = Database::migrated().await;
    let app = fixture.world.other_process_on(database.open().await);
    restore(&fixture.world, &app, old).await;
    let verdict = audit::verify(&app, &fixture.robin).await.unwrap();
    let Verdict::Intact { entries, unanchored, .. } = verdict else { panic!("{verdict:?}") };
    assert_eq!(entries, unanchored + 1, "the restore itself is anchored");
    chains::anchor_missing(&app).await.unwrap();
    assert_eq!(audit::verify(&app, &fixture.robin).await.unwrap(), verdict);
    drop(app);
}

/// The restore brings back older rows, whose stamps a client may have passed.
#[tokio::test]
async fn cursors_of_the_change_feed_from_before_a_restore_are_refused() {
    let world = World::new().await;
    let robin = world.person("robin@example.com").await;
    robin.import(statement([checking("Everyday").with(txn("2026-03-01", -1, "A"))])).await;
    let read = async |app: &App, cursor: Option<&str>| {
        let page = Page { cursor, limit: 10 };
        transactions::changes(app, &robin.caller, page, |_| {}).await
    };
    let cursor = read(&world.app, None).await.unwrap().next_cursor;
    let old = back_up(&world).await;
    let database = Database::migrated().await;
    let app = world.other_process_on(database.open().await);
    restore(&world, &app, old).await;
    assert_eq!(crate::param(read(&app, Some(&cursor)).await), "cursor");
    let anew = read(&app, None).await.unwrap();
    assert_eq!(anew.count, 1);
    assert_eq!(read(&app, Some(&anew.next_cursor)).await.unwrap().count, 0);
    drop(app);
}

/// An admin as versions before migration 11 stored it.
const OLD_ADMIN: &str = "insert into users (id, email, base_currency, role, created_at, updated_at)
    values ($1, 'robin@example.com', 'USD', 'keeper', 1, 1)";

async fn with_an_old_admin(world: &World, database: &Database) -> (base::UserId, db::Db) {
    let db = database.open().await;
    db.migrate(&MIGRATIONS[..10]).await.unwrap();
    let user = world.app.ids.make::<base::kinds::User>();
    let insert = move |tx: &mut db::Tx<'_>| tx.execute(OLD_ADMIN, params![user]);
    db.write(insert).await.unwrap();
    (user, db)
}

#[tokio::test]
async fn the_admin_of_an_older_database_is_admin_after_the_migration() {
    let (world, database) = (World::new().await, Database::empty().await);
    let (user, db) = with_an_old_admin(&world, &database).await;
    assert_eq!(db.migrate(MIGRATIONS).await.unwrap(), MIGRATIONS.len() - 10);
    let app = world.other_process_on(db);
    assert_eq!(
        users::get(&app, &Caller::owner(user, base::TimeZone::utc())).await.unwrap().role,
        Role::Admin
    );
    drop(app);
}

#[tokio::test]
async fn the_admin_of_an_older_backup_is_admin_after_the_restore() {
    let (world, database) = (World::new().await, Database::empty().await);
    let (user, db) = with_an_old_admin(&world, &database).await;
    let (key, now) = (installation_key(), world.clock.now());
    let old = backup::write(&db, &key, now, Vec::new(), |_| {}).await.unwrap().0;
    assert_eq!(backup::check(old.as_slice()).unwrap().schema(), 10);
    let fresh = Database::migrated().await;
    let app = world.other_process_on(fresh.open().await);
    restore(&world, &app, old).await;
    let admin = Caller::owner(user, base::TimeZone::utc());
    assert_eq!(users::get(&app, &admin).await.unwrap().role, Role::Admin);
    invitations::create(&app, &admin, None).await.unwrap();
    drop(app);
}

#[tokio::test]
async fn an_unknown_role_is_an_error_that_names_it() {
    let world = World::new().await;
    let robin = world.someone().await;
    let change = |tx: &mut db::Tx<'_>| tx.execute("update users set role = 'warden'", &[]);
    world.app.db.write(change).await.unwrap();
    let error = users::get(&world.app, &robin.caller).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("\"warden\" is not a known Role"), "{source}");
}
