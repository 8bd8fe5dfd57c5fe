//! The example household: its statements are imported like real ones, then the settings a person would make follow.

use std::collections::HashMap;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use ::demo::{GoalSeed, Household};
use anyhow::{Context as _, Result};
use base::{AccountId, Money};
use service::access::users::User;
use service::ingest::imports;
use service::ledger::accounts;
use service::ledger::goals::{self, NewGoal};
use service::{App, Caller, insights};

use super::state::State;
use super::{Access, claim, credentials, find_or_create};
use crate::config::Config;

pub(super) async fn seed(
    config: &Config,
    app: &App,
    state: State,
    household: &Household,
) -> Result<(User, Access)> {
    let person = household.person();
    claim(config, app, &state, &person.email).await?;
    let (user, again) = find_or_create(app, &person.email, &person.preferred_name).await?;
    if !state.complete {
        fill(app, &user.owner(), household).await?;
        state.finish(config)?;
    }
    let access = credentials(config, app, &user, again).await?;
    Ok((user, access))
}

async fn fill(app: &App, caller: &Caller, household: &Household) -> Result<()> {
    let mut names = HashMap::new();
    for statement in household.statements() {
        for draft in &statement.accounts {
            let name = (draft.name.clone(), draft.mask.clone());
            names.insert(name, draft.external_id.clone());
        }
        imports::commit(app, caller, statement).await?;
    }
    let known = by_external_id(app, caller, &names).await?;
    for external_id in household.hidden_accounts() {
        let id = find(&known, &external_id)?;
        accounts::set_hidden(app, caller, id, true).await?;
    }
    let there = goals::list(app, caller, None).await?;
    for seed in household.goals() {
        if there.iter().all(|it| it.name != seed.name) {
            goals::create(app, caller, new_goal(&seed, &known)?).await?;
        }
    }
    // Recomputes at once instead of in the background, so that the first page is complete.
    insights::pipeline::run_all(app).await?;
    Ok(())
}

/// Our ids of the household's accounts, by name: the API does not show the source's ids.
async fn by_external_id(
    app: &App,
    caller: &Caller,
    names: &HashMap<(String, Option<String>), String>,
) -> Result<HashMap<String, AccountId>> {
    let filter = accounts::Filter { status: accounts::Status::All, include_hidden: true };
    let accounts = accounts::list(app, caller, filter).await?;
    let named = accounts.into_iter().filter_map(|account| {
        let external_id = names.get(&(account.name, account.mask))?;
        Some((external_id.clone(), account.id))
    });
    Ok(named.collect())
}

fn find(known: &HashMap<String, AccountId>, external_id: &str) -> Result<AccountId> {
    let id = known.get(external_id).copied();
    id.with_context(|| format!("the household has no account {external_id}"))
}

fn new_goal(seed: &GoalSeed, known: &HashMap<String, AccountId>) -> Result<NewGoal> {
    let accounts = seed.account_external_ids.iter().map(|it| find(known, it));
    Ok(NewGoal {
        name: seed.name.to_owned(),
        kind: goals::Kind::parse(seed.goal_type).context("a goal of an unknown kind")?,
        status: goals::Status::parse(seed.status).context("a goal of an unknown status")?,
        target: Money::new(seed.target_minor, seed.currency),
        saved_minor: 0,
        target_on: seed.target_on,
        accounts: accounts.collect::<Result<_>>()?,
    })
}

/// Writes the true category of each transaction as JSON lines, to measure classification against.
pub(super) fn write_truth(path: &Path, household: &Household) -> Result<()> {
    let write = || -> Result<()> {
        let mut file = BufWriter::new(std::fs::File::create(path)?);
        for row in household.truth() {
            serde_json::to_writer(&mut file, &row)?;
            file.write_all(b"\n")?;
        }
        Ok(file.flush()?)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
