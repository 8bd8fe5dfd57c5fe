//! Data for load tests: many people, generated and imported in parallel.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, ensure};
use base::Timestamp;
use base::draft::{AccountDraft, Statement};
use service::App;
use service::ingest::imports;
use tokio::task::JoinSet;

use super::state::{Size, State};
use super::{Access, claim, credentials, find_or_create, make_key};
use crate::config::Config;
use crate::data_dir;
use crate::progress::{Progress, REDRAW, grouped};

/// People imported at once: enough to keep SQLite's one writer and PostgreSQL's several busy.
const AT_ONCE: usize = 8;
/// Rows per database transaction, so that other writers do not wait long.
const BATCH: usize = 10_000;
/// The most transactions of one person; more would begin before the first date of the calendar.
const EACH_MAX: u64 = 1_000_000;

pub(super) async fn seed(config: &Config, app: &App, state: State, size: Size) -> Result<Access> {
    ensure!(
        size.transactions / size.users <= EACH_MAX,
        "this is more than {} transactions per person; increase --users",
        grouped(EACH_MAX.into())
    );
    claim(config, app, &state, &email(0)).await?;
    let again = state.complete;
    let plan = Arc::new(Plan {
        seed: state.seed(),
        as_of: state.as_of()?,
        size,
        complete: state.complete,
        rows: AtomicU64::new(0),
    });
    let keys = import_everyone(app, &plan).await?;
    let lines: String = keys.iter().map(|it| format!("{it}\n")).collect();
    data_dir::write_private(&config.data_dir.join("keys.txt"), lines.as_bytes())?;
    state.finish(config)?;
    let (user, _) = find_or_create(app, &email(0), "").await?;
    let access = credentials(config, app, &user, again).await?;
    let api_key = keys.into_iter().next().context("there are no people")?;
    Ok(Access { api_key, same: false, ..access })
}

/// State that the tasks share.
struct Plan {
    seed: u64,
    as_of: Timestamp,
    size: Size,
    /// Whether the rows were imported by an earlier start.
    complete: bool,
    rows: AtomicU64,
}

/// Creates all people, and returns an API key for each, in order.
async fn import_everyone(app: &App, plan: &Arc<Plan>) -> Result<Vec<String>> {
    let mut progress = Progress::new("Making data", Some(plan.size.transactions));
    let mut keys = vec![String::new(); usize::try_from(plan.size.users)?];
    let mut waiting = 0..plan.size.users;
    let mut tasks = JoinSet::new();
    loop {
        for index in waiting.by_ref().take(AT_ONCE - tasks.len()) {
            let (app, plan) = (app.clone(), plan.clone());
            tasks.spawn(
                async move { import_person(&app, &plan, index).await.map(|key| (index, key)) },
            );
        }
        if tasks.is_empty() {
            return Ok(keys);
        }
        // Updates the progress line even while no person is finished.
        if let Ok(Some(done)) = tokio::time::timeout(REDRAW, tasks.join_next()).await {
            let (index, key) = done??;
            keys[usize::try_from(index)?] = key;
        }
        progress.show(plan.rows.load(Ordering::Relaxed));
    }
}

async fn import_person(app: &App, plan: &Plan, index: u64) -> Result<String> {
    let (user, _) = find_or_create(app, &email(index), &format!("Person {}", index + 1)).await?;
    if !plan.complete {
        let caller = user.owner();
        let (seed, as_of) = (plan.seed, plan.as_of);
        let rows = usize::try_from(share(plan.size, index))?;
        // Generating rows needs a core, so it runs on another thread than the database's tasks.
        let making = tokio::task::spawn_blocking(move || {
            ::demo::load(seed, index, rows, as_of).into_iter().flat_map(split).collect()
        });
        let statements: Vec<Statement> = making.await?;
        for statement in statements {
            let rows: usize = statement.accounts.iter().map(|it| it.transactions.len()).sum();
            imports::commit(app, &caller, statement).await?;
            plan.rows.fetch_add(rows as u64, Ordering::Relaxed);
        }
    }
    make_key(app, &user).await
}

fn email(index: u64) -> String {
    format!("person-{}@example.com", index + 1)
}

/// Divides rows evenly; the first people get the remainder.
fn share(size: Size, index: u64) -> u64 {
    size.transactions / size.users + u64::from(index < size.transactions % size.users)
}

/// Splits a long statement into parts of bounded size, the oldest rows first.
fn split(mut statement: Statement) -> Vec<Statement> {
    let rows: usize = statement.accounts.iter().map(|it| it.transactions.len()).sum();
    if rows <= BATCH {
        return vec![statement];
    }
    let accounts = std::mem::take(&mut statement.accounts);
    let mut parts = Vec::new();
    for mut account in accounts {
        let transactions = std::mem::take(&mut account.transactions);
        let mut rest = transactions.into_iter().peekable();
        loop {
            let part: Vec<_> = rest.by_ref().take(BATCH).collect();
            let account = AccountDraft { transactions: part, ..account.clone() };
            parts.push(Statement { accounts: vec![account], ..statement.clone() });
            if rest.peek().is_none() {
                break;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_add_up() {
        let size = Size { users: 3, transactions: 10 };
        assert_eq!([0, 1, 2].map(|it| share(size, it)), [4, 3, 3]);
    }

    #[test]
    fn a_long_statement_is_split_without_losing_a_row() {
        let as_of: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for rows in [0, 9_000, 90_000] {
            let whole = ::demo::load(1, 0, rows, as_of);
            let parts: Vec<Statement> = whole.iter().cloned().flat_map(split).collect();
            let size = |it: &Statement| it.accounts.iter().map(|it| it.transactions.len()).sum();
            assert!(parts.iter().map(size).all(|it: usize| it <= BATCH));
            let ids = |statements: &[Statement]| -> Vec<Option<String>> {
                let accounts = statements.iter().flat_map(|it| &it.accounts);
                let rows = accounts.flat_map(|it| &it.transactions);
                rows.map(|it| it.external_id.clone()).collect()
            };
            assert_eq!(ids(&parts), ids(&whole));
            assert_eq!(ids(&whole).len(), rows);
        }
    }
}
