//! `evenkeel migrate`: brings the schema of the database up to date, or shows what is pending.

use anyhow::{Result, bail};
use db::{PendingStep, SchemaState};
use serde_json::json;
use service::schema;

use super::{print, print_json};
use crate::cli::Migrate;
use crate::config::Config;
use crate::{data_dir, open};

/// Steps are pending. The exit code is 2.
#[derive(Debug, thiserror::Error)]
#[error("{0} of the migrations are pending; run `evenkeel migrate`")]
pub(crate) struct PendingSteps(usize);

/// Neither reads nor creates the installation key: where the schema is migrated, the key may not be at hand.
pub(crate) async fn run(config: &Config, args: &Migrate) -> Result<()> {
    let is_missing = config.database_url.is_none() && !data_dir::database_file(config).exists();
    if is_missing && args.check {
        let path = data_dir::database_file(config);
        bail!("{} does not exist; `evenkeel migrate` creates it", path.display());
    }
    if is_missing {
        data_dir::create(&config.data_dir)?;
        data_dir::create_database_file(config)?;
    }
    let db = open::connect(config).await?;
    let before = schema::state(&db).await?;
    if !args.check {
        open::copy_before_migration(&db, config).await?;
    }
    let applied = if args.check { 0 } else { schema::migrate(&db).await? };
    let after = if args.check { before.clone() } else { schema::state(&db).await? };
    if args.output.json {
        print_json(&as_json(&before, &after, applied))?;
    } else {
        print(&as_text(&before, &after, args.check))?;
    }
    match after.pending.len() {
        0 => Ok(()),
        pending => Err(PendingSteps(pending).into()),
    }
}

fn as_json(before: &SchemaState, after: &SchemaState, applied: usize) -> serde_json::Value {
    let pending: Vec<_> = after.pending.iter().map(step_json).collect();
    json!({
        "version_before": before.found, "version": after.found, "known": after.known,
        "applied": applied, "pending": pending,
    })
}

fn step_json(step: &PendingStep) -> serde_json::Value {
    json!({
        "version": step.version, "name": step.name, "is_begun": step.is_begun,
        "concurrent_indexes": step.indexes, "keeps_older_programs": step.keeps_older_programs,
    })
}

fn as_text(before: &SchemaState, after: &SchemaState, is_check: bool) -> String {
    let verb = if is_check { "pending" } else { "applied" };
    let line = |step: &PendingStep| {
        let indexes = match step.indexes.len() {
            0 => String::new(),
            count => format!("; indexes that PostgreSQL builds while others write: {count}"),
        };
        let begun = if step.is_begun { "; begun before" } else { "" };
        let may_go_on = step.keeps_older_programs || before.found.is_none();
        let stop = if may_go_on { "" } else { "; stop older programs first" };
        format!("{verb:8} {:4} {}{begun}{indexes}{stop}\n", step.version, step.name)
    };
    let mut text: String = before.pending.iter().map(line).collect();
    let found = after.found.unwrap_or(0);
    text += &match after {
        it if it.is_newer() => format!(
            "The schema is at version {found}, from a newer Evenkeel. This program knows version {} and can use it.\n",
            it.known
        ),
        it if it.pending.is_empty() => {
            format!("The schema is at version {found}, as this program expects.\n")
        }
        it => format!(
            "The schema is at version {found}. This program expects version {}.\n",
            it.known
        ),
    };
    text
}
