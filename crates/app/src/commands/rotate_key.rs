//! `evenkeel key rotate-installation`: replaces the installation key.
//!
//! The new key is in a file before anything is encrypted with it, and takes the place of the old one after the commit. If
//! the command is interrupted in between, running it again finishes.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use base::Entropy;
use service::key_rotation;
use service::platform::installation::{self, Key};

use super::print;
use crate::config::Config;
use crate::data_dir;
use crate::open::{self, IfMissing};

pub(crate) async fn run(config: &Config, new_key_file: Option<&Path>) -> Result<()> {
    let _lock = data_dir::lock(config)?;
    if let Some(path) = new_key_file {
        let new = data_dir::read_key(path)?;
        let new = new.with_context(|| format!("{} does not exist", path.display()))?;
        rotate(config, &new).await?;
        return print("Now set installation_key to the new key, and start the server.\n");
    }
    if config.installation_key.is_some() {
        bail!(
            "the setting installation_key holds the key; write the new one, 64 hexadecimal digits, \
             to a file and name it with --new-key-file"
        );
    }
    let next = data_dir::next_key_file(config);
    if let Some(new) = data_dir::read_key(&next)? {
        let (db, _) = open::database(config, IfMissing::Fail).await?;
        if installation::is_bound_to(&db, &new).await? {
            return finish(config, &next);
        }
    }
    let new = Key::generate(&Entropy::System);
    data_dir::write_private(&next, format!("{}\n", new.to_hex()).as_bytes())?;
    rotate(config, &new).await?;
    finish(config, &next)
}

async fn rotate(config: &Config, new: &Key) -> Result<()> {
    let app = open::app(config, IfMissing::Fail).await?;
    let done = key_rotation::rotate(&app, new).await?;
    print(&format!(
        "Encrypted {} secrets and signed {} anchors with the new key.\n",
        done.secrets, done.anchors
    ))?;
    if done.unreadable > 0 {
        print(&format!(
            "{} could not be read with the old key and stay as they are; see `evenkeel doctor` and \
             `evenkeel audit verify`.\n",
            done.unreadable
        ))?;
    }
    Ok(())
}

fn finish(config: &Config, next: &Path) -> Result<()> {
    let path = data_dir::key_file(config);
    fs::rename(next, &path).with_context(|| format!("cannot write {}", path.display()))?;
    print(&format!(
        "{} holds the new key. Make a backup: older ones hold the old key, and restore it.\n",
        path.display()
    ))
}
