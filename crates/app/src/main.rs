//! The binary `evenkeel`: configuration, wiring, commands.

mod cli;
mod commands;
mod config;
mod data_dir;
mod demo;
mod descriptors;
mod listen;
mod logs;
mod loops;
mod open;
mod output;
mod progress;
mod serve;
mod traces;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser as _;
// Links faster memory functions into the static program.
use memops as _;

use cli::{Cli, Command};
use config::{Config, Search};

/// How long abandoned work may take when the program ends.
const STOP_MAX: Duration = Duration::from_millis(500);

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evenkeel: {}", sentence(&error));
            let is_partial = error.is::<commands::import::SkippedRows>()
                || error.is::<commands::migrate::PendingSteps>();
            if is_partial { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// An error and its causes on one line. Causes that repeat the text before them are left out.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            let colon = if text.is_empty() { "" } else { ": " };
            text.push_str(&format!("{colon}{cause}"));
        }
    }
    text.replace(char::is_control, " ")
}

fn run(cli: &Cli) -> Result<()> {
    // SQLite reads run on the runtime's own threads, because moving them to others costs more than most reads take.
    // More threads than cores let the others go on while one waits for the disk.
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads((2 * processors).max(4))
        .enable_all()
        .build()
        .context("cannot start the runtime's threads")?;
    let outcome = runtime.block_on(dispatch(cli));
    // A transaction may still wait for a database that has stopped answering; it is not waited for.
    runtime.shutdown_timeout(STOP_MAX);
    outcome
}

async fn dispatch(cli: &Cli) -> Result<()> {
    let flags = cli.flags();
    match &cli.command {
        Command::Demo(args) => {
            let (config, scratch) = demo::config(&flags)?;
            let _ = logs::start(&config, false);
            return demo::run(&config, args, scratch.is_some()).await;
        }
        Command::Doctor { output } => return commands::doctor::run(&flags, output.json).await,
        Command::Import(args) if args.dry_run => {
            let config = config::load(&flags, Search::DataDir)?;
            return commands::import::dry_run(&config, args);
        }
        Command::Config(args) if args.reference => return commands::print(&config::reference()),
        _ => {}
    }
    let config = config::load(&flags, Search::DataDir)?;
    let level = logs::start(&config, !matches!(cli.command, Command::Serve(_)));
    match &cli.command {
        Command::Serve(serving) => {
            if !serve::is_on_terminal() {
                logs::reload_on_hangup(level, &config, flags)?;
            }
            serve::run(&config, serving).await
        }
        Command::User(command) => commands::user::run(&config, command).await,
        Command::Key(command) => commands::key::run(&config, command).await,
        Command::Connect(command) => commands::connect::run(&config, command).await,
        Command::Sync(args) => commands::sync::run(&config, args).await,
        Command::Benefit(command) => commands::benefit::run(&config, command).await,
        Command::Rates(command) => commands::rates::run(&config, command).await,
        Command::Listen(args) => listen::run(&config, args).await,
        Command::Mcp(args) => commands::mcp_stdio::run(&config, args).await,
        Command::Mail(command) => commands::mail::run(&config, command).await,
        Command::Audit(command) => commands::audit::run(&config, command).await,
        Command::Config(args) => show_config(&config, args.output.json),
        Command::Openapi => commands::print(&web::openapi::document(&openapi_url(&config))),
        Command::Healthy(_) => commands::healthy::run(&config).await,
        Command::Import(args) => commands::import::run(&config, args).await,
        Command::Export(args) => commands::export::run(&config, args).await,
        Command::Migrate(args) => commands::migrate::run(&config, args).await,
        Command::Shard(args) => commands::shard::run(&config, args).await,
        Command::Backup(args) => commands::backup::write(&config, args).await,
        Command::Restore { file: None, .. } => commands::backup::list(&config).await,
        Command::Restore { file: Some(file), drill: true, .. } => {
            commands::backup::drill(&config, file).await
        }
        Command::Restore { file: Some(file), .. } => commands::backup::restore(&config, file).await,
        Command::Demo(_) | Command::Doctor { .. } => Ok(()),
    }
}

fn show_config(config: &Config, as_json: bool) -> Result<()> {
    if as_json {
        commands::print_json(&config.to_json())
    } else {
        commands::print(&config.to_toml())
    }
}

/// The address in the OpenAPI document: the default one unless the operator set another.
fn openapi_url(config: &Config) -> String {
    config.public_url.clone().unwrap_or_else(|| format!("http://{}", config.listen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_without_repeated_causes() {
        let error = anyhow::anyhow!("disk full\nreally").context("disk").context("cannot write");
        assert_eq!(sentence(&error), "cannot write: disk: disk full really");
    }
}
