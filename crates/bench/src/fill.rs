//! Fills a database with load-test data through the normal import, and samples cursors into it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use base::draft::Statement;
use base::{Currency, TimeZone};
use service::access::keys::{self, NewKey};
use service::access::users::{self, NewUser};
use service::ingest::imports;
use service::ledger::transactions::{self, Filter};
use service::platform::cursors::Page;
use service::{App, Scopes};
use tokio::task::JoinSet;

use crate::open;

/// How many people import at the same time. On SQLite the others prepare what they will write while one writes.
const PEOPLE_AT_ONCE: usize = 3;

pub(crate) async fn fill(
    database: &str,
    keys_file: &Path,
    users: u64,
    rows: usize,
) -> anyhow::Result<()> {
    let app = open(database).await?;
    let as_of = app.clock.now();
    let (batches, mut ready) = tokio::sync::mpsc::channel(4);
    // Rows are generated on another thread while earlier ones are stored.
    std::thread::spawn(move || {
        for index in 0..users {
            let statements = demo::load(1, index, rows / users as usize, as_of);
            if batches.blocking_send((index, statements)).is_err() {
                break;
            }
        }
    });
    let mut imports = JoinSet::new();
    let mut secrets = String::new();
    loop {
        let next = match imports.len() {
            PEOPLE_AT_ONCE => None,
            _ => ready.recv().await,
        };
        match next {
            Some((index, statements)) => {
                imports.spawn(import(app.clone(), index, statements));
            }
            None => match imports.join_next().await {
                Some(secret) => writeln!(secrets, "{}", secret??)?,
                None => break,
            },
        }
    }
    std::fs::write(keys_file, secrets).context("writing the keys")?;
    let seconds = app.clock.now().as_second() - as_of.as_second();
    println!("  {rows} rows stored in {seconds} s");
    Ok(())
}

/// Imports the statements of a new person. Returns the secret of an API key.
async fn import(app: App, index: u64, statements: Vec<Statement>) -> anyhow::Result<String> {
    let caller = users::create(&app, person(index)).await?.owner();
    for statement in statements {
        imports::commit(&app, &caller, statement).await?;
    }
    Ok(keys::create(&app, &caller, key()).await?.1)
}

fn person(index: u64) -> NewUser {
    NewUser {
        email: format!("person{index}@example.com"),
        preferred_name: None,
        base_currency: Currency::USD,
        timezone: TimeZone::utc(),
        password: None,
    }
}

fn key() -> NewKey {
    NewKey { name: "bench".to_owned(), scopes: Scopes::all(), accounts: None, expires_at: None }
}

/// Pages through every person's transactions once, and keeps a few cursors of each.
pub(crate) async fn targets(database: &str, keys: &Path, file: &Path) -> anyhow::Result<()> {
    const CURSORS: usize = 12;
    let app = open(database).await?;
    let mut lines = String::new();
    for secret in std::fs::read_to_string(keys)?.lines() {
        let caller = keys::authenticate(&app, secret, None).await?;
        let mut cursor: Option<String> = None;
        let mut cursors = Vec::new();
        loop {
            let page = Page { cursor: cursor.as_deref(), limit: 100 };
            let end = transactions::list(&app, &caller, &Filter::default(), page, |_| {}).await?;
            let Some(next) = end.next_cursor else { break };
            cursors.push(next.clone());
            cursor = Some(next);
        }
        let step = (cursors.len() / CURSORS).max(1);
        for cursor in cursors.iter().step_by(step) {
            writeln!(lines, "{secret} {cursor}")?;
        }
    }
    std::fs::write(file, lines).context("writing the targets")
}
