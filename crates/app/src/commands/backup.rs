//! `evenkeel backup` and `evenkeel restore`.

use std::fs::{self, File};
use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use base::Clock;
use service::backup::{self, Contents, LiveEndpoint, LiveKey, RestoredAccess};
use service::platform::installation::{self, Key};
use service::schema;

use super::print;
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};
use crate::progress::{Progress, grouped};
use crate::{data_dir, serve};

pub(crate) async fn write(config: &Config, args: &cli::Backup) -> Result<()> {
    let path = &args.file;
    if path.exists() && !args.force {
        bail!("{} already exists; choose another name, or replace it with --force", path.display());
    }
    // The finished file is renamed to this path, which must not replace a device or a folder.
    if path.exists() && !path.is_file() {
        bail!("{} is not a regular file; choose another name", path.display());
    }
    let (db, key) = open::database(config, IfMissing::Fail).await?;
    // A backup with the wrong installation key could not be restored.
    installation::claim(&db, &key).await?;
    let (temporary, file) = data_dir::create_temporary(path)?;
    let mut progress = Progress::new("Backing up", None);
    let now = Clock::System.now();
    let written = backup::write(&db, &key, now, file, move |rows| progress.show(rows)).await;
    let placed = written.map_err(anyhow::Error::from).and_then(|(file, rows)| {
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        fs::rename(&temporary, path)?;
        Ok((rows, bytes))
    });
    let (rows, bytes) = placed.inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })?;
    print(&format!(
        "{}: {} rows in {} bytes. It contains the installation key: keep it as safe as the \
            original.\n",
        path.display(),
        grouped(rows.into()),
        grouped(bytes.into())
    ))
}

pub(crate) async fn restore(config: &Config, path: &Path) -> Result<()> {
    let open = || File::open(path).with_context(|| format!("cannot read {}", path.display()));
    if std::io::stderr().is_terminal() {
        eprintln!("Checking {}", path.display());
    }
    let file = open()?;
    let contents = tokio::task::spawn_blocking(move || backup::check(file)).await??;

    data_dir::create(&config.data_dir)?;
    let _lock = serve::lock(config)?;
    data_dir::create_database_file(config)?;
    let db = open::connect(config).await?;
    schema::migrate(&db).await?;
    backup::must_be_empty(&db).await?;
    let old_key = write_backup_key(config, &contents.key)?;
    let (made_at, total) = (contents.made_at().to_owned(), contents.rows);
    let restored = restore_rows(&db, contents, open()?).await;
    if restored.is_err() {
        restore_old_key(config, old_key)?;
    }
    let access = restored?;
    print(&format!("Restored {} rows from {made_at}.\n", grouped(total.into())))?;
    print(&access_text(&access, &made_at))
}

async fn restore_rows(db: &db::Db, contents: Contents, file: File) -> Result<RestoredAccess> {
    let mut progress = Progress::new("Restoring", Some(contents.rows));
    let now = Clock::System.now();
    Ok(backup::restore(db, contents, file, now, move |rows| progress.show(rows)).await?)
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
