//! `evenkeel backup` and `evenkeel restore`.

use std::fs::{self, File};
use std::io::{IsTerminal as _, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use base::{Clock, Entropy};
use db::{Db, Target};
use s3::{Location, Store};
use service::backup::{self, Contents, LiveEndpoint, LiveKey, RestoredAccess};
use service::platform::health;
use service::platform::installation::{self, Key};
use service::schema;

use super::print;
use crate::cli;
use crate::config::Config;
use crate::data_dir::TemporaryFolder;
use crate::open::{self, IfMissing};
use crate::progress::{Progress, grouped};
use crate::{data_dir, serve};

pub(crate) async fn write(config: &Config, args: &cli::Backup) -> Result<()> {
    let place = args.file.display().to_string();
    let (rows, bytes) = match find_object(config, &args.file)? {
        Some(object) => write_object(config, &object, args.force).await?,
        None => write_file(config, &args.file, args.force).await?,
    };
    let advice = match &config.backup_encryption {
        Some(backup::Encryption::Passphrase(_)) => {
            "It is encrypted with backups.passphrase: keep that elsewhere, too."
        }
        Some(backup::Encryption::Recipients(_)) => {
            "It is encrypted for backups.recipients: only their secret keys open it."
        }
        None => "It contains the installation key: keep it as safe as the original.",
    };
    let (rows, bytes) = (grouped(rows.into()), grouped(bytes.into()));
    print(&format!("{place}: {rows} rows in {bytes} bytes. {advice}\n"))
}

/// Returns the number of rows and the length of the file.
async fn write_file(config: &Config, path: &Path, is_forced: bool) -> Result<(u64, u64)> {
    if path.exists() && !is_forced {
        bail!("{} already exists; choose another name, or replace it with --force", path.display());
    }
    // The finished file is renamed to this path, which must not replace a device or a folder.
    if path.exists() && !path.is_file() {
        bail!("{} is not a regular file; choose another name", path.display());
    }
    let (db, key) = open_claimed(config).await?;
    let (temporary, file) = data_dir::create_temporary(path)?;
    let encryption = config.backup_encryption.as_ref();
    let output = backup::Output::new(file, encryption, &Entropy::System)?;
    let mut progress = Progress::new("Backing up", None);
    let now = Clock::System.now();
    let written = backup::write(&db, &key, now, output, move |rows| progress.show(rows)).await;
    let placed = written.map_err(anyhow::Error::from).and_then(|(output, rows)| {
        let file = output.finish()?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        Ok((rows, file.metadata()?.len()))
    });
    placed.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// The database and its key. A backup with the wrong installation key could not be restored.
async fn open_claimed(config: &Config) -> Result<(Db, Key)> {
    let (db, key) = open::database(config, IfMissing::Fail).await?;
    installation::claim(&db, &key).await?;
    Ok((db, key))
}

/// An object in a store.
struct Object {
    store: Store,
    name: String,
}

/// The object that a path such as `s3://bucket/name` means; `None` if it means a file.
fn find_object(config: &Config, path: &Path) -> Result<Option<Object>> {
    let text = path.to_string_lossy();
    if !Location::is_s3_url(&text) {
        return Ok(None);
    }
    let location = Location::parse(&text).context("an object looks like s3://bucket/name")?;
    let store = open::backup_store(config)?.with_bucket_of(&location);
    Ok(Some(Object { store, name: location.key }))
}

async fn write_object(config: &Config, object: &Object, is_forced: bool) -> Result<(u64, u64)> {
    let Object { store, name } = object;
    let found = store.list(name).await.map_err(backup::unusable)?;
    if found.iter().any(|it| it.name == *name) && !is_forced {
        bail!(
            "{} already exists; choose another name, or replace it with --force",
            store.shown(name)
        );
    }
    let (db, key) = open_claimed(config).await?;
    let mut progress = Progress::new("Backing up", None);
    let snapshot = backup::Snapshot {
        db: &db,
        key: &key,
        entropy: &Entropy::System,
        now: Clock::System.now(),
    };
    let encryption = config.backup_encryption.as_ref();
    let on_rows = move |rows| progress.show(rows);
    let written = backup::write_to_store(snapshot, encryption, store, name, on_rows).await?;
    Ok((written.rows, written.bytes))
}

/// Lists the backups of all installations in the folder or the store.
pub(crate) async fn list(config: &Config) -> Result<()> {
    let plan = open::backup_plan(config)?;
    let plan = plan.context("no place of backups is set; set backups.folder or backups.s3")?;
    let files = plan.target.list_any().await?;
    if files.is_empty() {
        return print(&format!("{} has no backups.\n", plan.target.shown()));
    }
    let line = |file: &backup::BackupFile| {
        let path = match &plan.target {
            backup::Target::Folder(folder) => folder.join(&file.name).display().to_string(),
            backup::Target::Store(store) => store.shown(&file.name),
        };
        format!("{}  {} bytes  {path}\n", file.made_at, grouped(file.bytes.into()))
    };
    print(&files.iter().map(line).collect::<String>())
}

/// Opens the file twice, because it is checked before it is restored. An object is downloaded once for that.
struct Source<'a> {
    path: PathBuf,
    secrets: &'a backup::Secrets,
    _download: Option<TemporaryFolder>,
}

impl<'a> Source<'a> {
    async fn new(config: &'a Config, path: &Path) -> Result<Source<'a>> {
        let secrets = &config.backup_secrets;
        let Some(object) = find_object(config, path)? else {
            return Ok(Source { path: path.to_owned(), secrets, _download: None });
        };
        let folder = TemporaryFolder::new("restore")?;
        let path = folder.path().join("download.backup");
        download(&object, &path).await?;
        Ok(Source { path, secrets, _download: Some(folder) })
    }

    fn open(&self) -> Result<Box<dyn Read + Send>> {
        let file = File::open(&self.path);
        let file = file.with_context(|| format!("cannot read {}", self.path.display()))?;
        Ok(backup::open(file, self.secrets)?)
    }

    async fn check(&self) -> Result<Contents> {
        if std::io::stderr().is_terminal() {
            eprintln!("Checking {}", self.path.display());
        }
        let input = self.open()?;
        Ok(tokio::task::spawn_blocking(move || backup::check(input)).await??)
    }
}

async fn download(object: &Object, path: &Path) -> Result<()> {
    let Object { store, name } = object;
    if std::io::stderr().is_terminal() {
        eprintln!("Downloading {}", store.shown(name));
    }
    let mut file = File::create_new(path)?;
    let mut download = store.download(name);
    let unusable = |error: s3::Error| match error {
        s3::Error::NotFound => anyhow::anyhow!(
            "{} does not exist; `evenkeel restore --list` lists the backups",
            store.shown(name)
        ),
        error => backup::unusable(error).into(),
    };
    while let Some(range) = download.next().await.map_err(unusable)? {
        file.write_all(&range).with_context(|| {
            format!("cannot write {}; set TMPDIR to a folder with more space", path.display())
        })?;
    }
    Ok(())
}

/// Restores into a temporary database and examines it, so that the operator knows that the backup is good for something.
pub(crate) async fn drill(config: &Config, path: &Path) -> Result<()> {
    let source = Source::new(config, path).await?;
    let contents = source.check().await?;
    let folder = TemporaryFolder::new("drill")?;
    let db = Db::open(&Target::sqlite(&folder.path().join("evenkeel.db"))).await?;
    schema::migrate(&db).await?;
    let (made_at, rows) = (contents.made_at().to_owned(), contents.rows);
    let access = restore_rows(&db, contents, source.open()?).await?;
    let damage = health::find_damage(&db).await?;
    ensure!(damage.is_empty(), "the restored database is damaged: {}", damage.join("; "));
    let miscounted = health::count_miscounted_accounts(&db).await?;
    ensure!(miscounted == 0, "the transaction counts of {miscounted} accounts are wrong");
    print(&format!(
        "{} is good: {} rows from {made_at} were restored into a temporary database, which has no damage. Active API \
         keys: {}, webhook endpoints: {}.\n",
        path.display(),
        grouped(rows.into()),
        access.keys.len(),
        access.endpoints.len()
    ))
}

pub(crate) async fn restore(config: &Config, path: &Path) -> Result<()> {
    let source = Source::new(config, path).await?;
    let contents = source.check().await?;

    data_dir::create(&config.data_dir)?;
    let _lock = serve::lock(config)?;
    data_dir::create_database_file(config)?;
    let db = open::connect(config).await?;
    schema::migrate(&db).await?;
    backup::must_be_empty(&db).await?;
    let old_key = write_backup_key(config, &contents.key)?;
    let (made_at, total) = (contents.made_at().to_owned(), contents.rows);
    let restored = restore_rows(&db, contents, source.open()?).await;
    if restored.is_err() {
        restore_old_key(config, old_key)?;
    }
    let access = restored?;
    print(&format!("Restored {} rows from {made_at}.\n", grouped(total.into())))?;
    print(&access_text(&access, &made_at))
}

async fn restore_rows(
    db: &Db,
    contents: Contents,
    input: Box<dyn Read + Send>,
) -> Result<RestoredAccess> {
    let mut progress = Progress::new("Restoring", Some(contents.rows));
    let now = Clock::System.now();
    Ok(backup::restore(db, contents, input, now, move |rows| progress.show(rows)).await?)
}

/// Describes the keys and webhook endpoints that work after a restore, and what to do about them.
fn access_text(access: &RestoredAccess, made_at: &str) -> String {
    let mut text = format!(
        "\nEveryone is signed out. Unused invitations, tokens of connected apps and links to \
            the webhook portal no longer work.\nPasswords, passkeys and recovery codes are as of \
            {made_at}: people who changed one since then must change it again.\n"
    );
    if access.kept_revoked > 0 {
        let count = access.kept_revoked;
        text += &format!("API keys that were revoked here since then stay revoked: {count}.\n");
    }
    if !access.keys.is_empty() {
        text += "\nThese API keys are active. Keys that were revoked since then are active \
            again: revoke them with\n`evenkeel key revoke KEY --user EMAIL`.\n";
        text.extend(access.keys.iter().map(key_line));
    }
    if !access.endpoints.is_empty() {
        text += "\nThese webhook endpoints receive events. Endpoints that were deleted or \
            changed since then\nreceive events again: delete them under Settings, Webhooks.\n";
        let line = |it: &LiveEndpoint| format!("  {}  {}\n", it.email, it.url);
        text.extend(access.endpoints.iter().map(line));
    }
    text
}

fn key_line(key: &LiveKey) -> String {
    let used = match (key.last_used_at, &key.last_used_address) {
        (Some(at), Some(address)) => format!("last used {at} from {address}"),
        (Some(at), None) => format!("last used {at}"),
        (None, _) => "never used".to_owned(),
    };
    format!("  {}  {}  \"{}\"  {used}\n", key.id, key.email, key.name)
}

/// The key file as it was before the restore.
enum OldKey {
    Same,
    None,
    Kept,
}

/// Writes the backup's installation key before any row: after an interruption, the next try finds the key in place and
/// the database still empty.
fn write_backup_key(config: &Config, key: &Key) -> Result<OldKey> {
    let path = data_dir::key_file(config);
    let known = data_dir::find_key(config)?.map(|it| it.to_hex());
    if known.as_deref() == Some(key.to_hex().as_str()) {
        return Ok(OldKey::Same);
    }
    if config.installation_key.is_some() {
        bail!(
            "installation_key differs from the backup's; unset it for the restore, which writes \
                {}",
            path.display()
        );
    }
    let old = if known.is_some() {
        if config.database_url.is_some() && data_dir::database_file(config).exists() {
            bail!(
                "{} belongs to another installation; restore with another --data-dir",
                config.data_dir.display()
            );
        }
        fs::rename(&path, path.with_extension("key.old"))?;
        OldKey::Kept
    } else {
        OldKey::None
    };
    data_dir::write_private(&path, format!("{}\n", key.to_hex()).as_bytes())?;
    Ok(old)
}

fn restore_old_key(config: &Config, old: OldKey) -> Result<()> {
    let path = data_dir::key_file(config);
    match old {
        OldKey::Same => Ok(()),
        OldKey::None => Ok(fs::remove_file(&path)?),
        OldKey::Kept => Ok(fs::rename(path.with_extension("key.old"), &path)?),
    }
}
