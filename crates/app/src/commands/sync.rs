//! `evenkeel sync`: fetches new transactions of connections, and the rest of their history.

use anyhow::{Context as _, Result, bail};
use base::ConnectionId;
use base::draft::Source;
use serde_json::json;
use service::ingest::connections::{self, State};
use service::ingest::imports::Summary;
use service::{App, Caller};

use super::{named_or_only_person, print, print_json};
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};
use crate::progress::Progress;

pub(crate) async fn run(config: &Config, args: &cli::Sync) -> Result<()> {
    let app = open::app(config, IfMissing::Fail).await?;
    let user = named_or_only_person(&app, args.person.user.as_deref()).await?;
    let caller = user.owner();
    let ids = match &args.connection {
        Some(id) => vec![connection_id(id)?],
        None => {
            let all = connections::list(&app, &caller).await?;
            let asked = all
                .iter()
                .filter(|it| it.source == Source::Simplefin && it.state != State::Disconnected);
            asked.map(|it| it.id).collect()
        }
    };
    if ids.is_empty() {
        bail!("{} has no connections; add one with `evenkeel connect simplefin`", user.email);
    }
    sync_and_print(&app, &caller, &ids, args.output.json).await
}

/// Parses the id of a connection.
pub(super) fn connection_id(id: &str) -> Result<ConnectionId> {
    let unknown = || format!("{id} is not a connection id; see `evenkeel connect list`");
    ConnectionId::parse(id).with_context(unknown)
}

/// Syncs each connection even if another fails, and fails at the end if one did.
pub(super) async fn sync_and_print(
    app: &App,
    caller: &Caller,
    ids: &[ConnectionId],
    as_json: bool,
) -> Result<()> {
    let mut results = Vec::new();
    let mut failed = 0;
    for id in ids {
        let result = sync(app, caller, *id).await;
        failed += usize::from(result.is_err());
        results.push((*id, result));
    }
    match as_json {
        true => print_json(&results.iter().map(json_of).collect())?,
        false => print(&results.iter().map(text_of).collect::<String>())?,
    }
    match failed {
        0 => Ok(()),
        _ => bail!("{failed} of {} connections could not be synced", ids.len()),
    }
}

struct SyncCounts {
    summary: Summary,
    attention: Option<String>,
    accounts_with_problems: usize,
}

async fn sync(app: &App, caller: &Caller, id: ConnectionId) -> service::Result<SyncCounts> {
    let mut progress = Progress::new("requests", None);
    progress.show(1);
    let synced = connections::sync(app, caller, id).await?;
    let (mut summary, mut requests) = (synced.summary, 1);
    while let Some(more) = connections::sync_history(app, caller, id).await? {
        requests += 1;
        progress.show(requests);
        summary.new += more.summary.new;
        summary.changed += more.summary.changed;
        summary.seen += more.summary.seen;
        summary.removed += more.summary.removed;
    }
    let (attention, accounts_with_problems) = (synced.attention, synced.accounts_with_problems);
    Ok(SyncCounts { summary, attention, accounts_with_problems })
}

type SyncOutcome = (ConnectionId, service::Result<SyncCounts>);

fn text_of((id, ended): &SyncOutcome) -> String {
    let counts = match ended {
        Ok(counts) => counts,
        Err(error) => return format!("{id}  failed: {error}\n"),
    };
    let Summary { new, changed, removed, .. } = counts.summary;
    let mut text = match (new, changed, removed) {
        (0, 0, 0) => format!("{id}  nothing new\n"),
        _ => format!("{id}  {new} new, {changed} changed, {removed} removed\n"),
    };
    if let Some(attention) = &counts.attention {
        text.push_str(&format!("  ! {attention}\n"));
    }
    if counts.accounts_with_problems > 0 {
        text.push_str("  ! Some accounts need your attention; see `evenkeel connect list`.\n");
    }
    text
}

fn json_of((id, ended): &SyncOutcome) -> serde_json::Value {
    match ended {
        Ok(SyncCounts { summary, attention, accounts_with_problems }) => json!({
            "id": id.to_string(),
            "new": summary.new,
            "changed": summary.changed,
            "seen": summary.seen,
            "removed": summary.removed,
            "attention": attention,
            "accounts_in_doubt": accounts_with_problems,
            "error": null,
        }),
        Err(error) => json!({ "id": id.to_string(), "error": error.to_string() }),
    }
}
