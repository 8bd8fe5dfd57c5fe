//! `evenkeel mail`: tries out the mail server.

use anyhow::{Context as _, Result};
use base::Clock;

use super::print;
use crate::cli;
use crate::config::Config;
use crate::open;

pub(crate) async fn run(config: &Config, command: &cli::Mail) -> Result<()> {
    let mailer = open::mailer(config)?;
    let mailer = mailer.context("no mail server is set; set mail.server and mail.from")?;
    let cli::Mail::Test { address } = command;
    service::mail::send_test(&mailer, address, Clock::System.now()).await?;
    print(&format!("The mail server took a message to {address}.\n"))
}
