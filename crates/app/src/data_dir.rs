//! The data directory: the installation key, the lock, and files readable by their owner only.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use base::Entropy;
use service::platform::installation::Key;

use crate::config::Config;

const ADDRESS: &str = "address";

/// Creates the folder, accessible to its owner only, if it does not exist.
pub(crate) fn create(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot create the data directory {}", path.display()))
}

pub(crate) fn database_file(config: &Config) -> PathBuf {
    config.data_dir.join("evenkeel.db")
}

/// Creates the database file readable by its owner only. SQLite would make it readable by everyone, and gives its
/// journal files the same permissions.
pub(crate) fn create_database_file(config: &Config) -> Result<()> {
    if config.database_url.is_some() {
        return Ok(());
    }
    let path = database_file(config);
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
    made.map(drop).with_context(|| format!("cannot write {}", path.display()))
}

/// The address where the server of this directory last listened, for commands that print one.
pub(crate) fn save_address(config: &Config, web_url: &str) -> Result<()> {
    create(&config.data_dir)?;
    write_private(&config.data_dir.join(ADDRESS), web_url.as_bytes())
}

pub(crate) fn saved_address(config: &Config) -> Option<String> {
    std::fs::read_to_string(config.data_dir.join(ADDRESS)).ok().filter(|it| it.starts_with("http"))
}

pub(crate) fn key_file(config: &Config) -> PathBuf {
    config.data_dir.join("installation.key")
}

/// The installation key from the settings or from its file, if there is one.
pub(crate) fn find_key(config: &Config) -> Result<Option<Key>> {
    if let Some(key) = &config.installation_key {
        return Ok(Some(key.clone()));
    }
    read_key(&key_file(config))
}

/// The key that replaces the present one. It is written before anything is encrypted with it.
pub(crate) fn next_key_file(config: &Config) -> PathBuf {
    config.data_dir.join("installation.key.next")
}

/// A key in a file, if the file exists.
pub(crate) fn read_key(path: &Path) -> Result<Option<Key>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    };
    match Key::parse(&text) {
        Some(key) => Ok(Some(key)),
        None => bail!(
            "{} does not hold 64 hexadecimal digits; put the right file back from a backup",
            path.display()
        ),
    }
}

/// The installation key, created at first use.
pub(crate) fn find_or_create_key(config: &Config) -> Result<Key> {
    if let Some(key) = find_key(config)? {
        return Ok(key);
    }
    let path = key_file(config);
    let text = format!("{}\n", Key::generate(&Entropy::System).to_hex());
    write_once(&path, text.as_bytes())?;
    find_key(config)?.with_context(|| format!("{} was deleted by another process", path.display()))
}

/// The lock of the one process that serves this data directory, released when the process ends.
pub(crate) struct Lock(
    #[expect(dead_code, reason = "the lock lasts as long as the file is open")] File,
);

pub(crate) fn lock(config: &Config) -> Result<Lock> {
    let path = config.data_dir.join("evenkeel.lock");
    let cannot = || format!("cannot open {}", path.display());
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(&path).with_context(cannot)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&path).unwrap_or_default();
            let holder = match holder.trim() {
                "" => String::new(),
                pid => format!(" (process {pid})"),
            };
            bail!(
                "another evenkeel{holder} is using {}; stop it first, or give this one a \
                 --data-dir of its own",
                config.data_dir.display()
            );
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
    }
    file.set_len(0).with_context(cannot)?;
    writeln!(file, "{}", std::process::id()).with_context(cannot)?;
    Ok(Lock(file))
}

/// Writes a file readable by its owner only, atomically.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = write_temporary(path, bytes)?;
    fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file readable by its owner only, unless it exists: of two first starts at once, both use the file that one
/// of them wrote.
pub(crate) fn write_once(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = write_temporary(path, bytes)?;
    // A link fails if the name exists, while a rename would replace the file.
    let linked = fs::hard_link(&temporary, path);
    let _ = fs::remove_file(&temporary);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot write {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn write_temporary(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let (temporary, mut file) = create_temporary(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(temporary)
}

/// A temporary file beside `path`, renamed once it is complete. Its name is random, because processes of two containers
/// that share the folder can have the same process id.
pub(crate) fn create_temporary(path: &Path) -> Result<(PathBuf, File)> {
    let mut name = path.file_name().context("the file needs a name")?.to_owned();
    name.push(format!(".{:016x}.new", u64::from_ne_bytes(Entropy::System.bytes())));
    let temporary = path.with_file_name(name);
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(&temporary);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    Ok((temporary, file))
}

/// A temporary folder, deleted when dropped.
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    pub(crate) fn new(purpose: &str) -> Result<TemporaryFolder> {
        let number = u32::from_ne_bytes(Entropy::System.bytes());
        let path = std::env::temp_dir().join(format!("evenkeel-{purpose}-{number:08x}"));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot create the folder {}", path.display()))?;
        Ok(TemporaryFolder(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("evenkeel: cannot remove {}: {error}", self.0.display());
        }
    }
}
