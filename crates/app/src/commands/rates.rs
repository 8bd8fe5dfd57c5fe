//! `evenkeel rates`: imports exchange rates for everyone, and shows how old they are.

use std::path::Path;

use anyhow::{Context as _, Result};
use service::App;
use service::ledger::reference_rates;

use super::print;
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};

/// The whole history since 1999 has about 3 MB.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(crate) async fn run(config: &Config, command: &cli::Rates) -> Result<()> {
    let app = open::app(config, IfMissing::Fail).await?;
    match command {
        cli::Rates::Import { file } => import(&app, file).await,
        cli::Rates::Show => show(config, &app).await,
    }
}

async fn import(app: &App, file: &Path) -> Result<()> {
    let bytes = read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let done = reference_rates::import(app, &bytes).await?;
    print(&format!(
        "{} rates of {} currencies, {} to {}; {} are new or changed.\n",
        done.rates, done.currencies, done.first_on, done.last_on, done.changed
    ))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let length = std::fs::metadata(file)?.len();
    anyhow::ensure!(length <= BYTES_MAX, "the file is larger than 64 MiB");
    Ok(std::fs::read(file)?)
}

async fn show(config: &Config, app: &App) -> Result<()> {
    let newest = match reference_rates::newest_day(app).await? {
        Some(on) => format!("The newest exchange rates are of {on}.\n"),
        None => {
            "There are no exchange rates. Import some with `evenkeel rates import`.\n".to_owned()
        }
    };
    let fetched = match &config.rates_url {
        Some(url) => format!("The server fetches them from {url}.\n"),
        None => "The server fetches none: exchange_rates.fetch is false.\n".to_owned(),
    };
    print(&format!("{newest}{fetched}"))
}
