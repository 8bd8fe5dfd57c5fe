//! `evenkeel export`: one person's data as a zip file, the same as the download in the web app.

use std::fs;
use std::io::Write as _;

use anyhow::{Context as _, Result, bail};
use service::exports;

use super::{named_or_only_person, print};
use crate::config::Config;
use crate::open::{self, IfMissing};
use crate::progress::grouped;
use crate::{cli, data_dir};

pub(crate) async fn run(config: &Config, args: &cli::Export) -> Result<()> {
    let path = &args.out;
    if path.exists() && !(args.force && path.is_file()) {
        bail!("{} already exists; choose another name, or replace it with --force", path.display());
    }
    let app = open::app(config, IfMissing::Fail).await?;
    let user = named_or_only_person(&app, args.person.user.as_deref()).await?;
    let mut export = exports::start(&app, &user.owner()).await?;
    let (temporary, mut file) = data_dir::create_temporary(path)?;
    let written = async {
        let mut bytes = 0;
        while let Some(chunk) = export.next().await? {
            bytes += chunk.len();
            file.write_all(&chunk)?;
        }
        file.sync_all()?;
        fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))?;
        anyhow::Ok(bytes)
    };
    let bytes = written.await.inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })?;
    print(&format!(
        "{}: the data of {} in {} bytes, unencrypted. Keep it safe.\n",
        path.display(),
        user.email,
        grouped(bytes as u128)
    ))
}
