//! `evenkeel audit`: lists and verifies somebody's audit trail.

use anyhow::{Result, bail};
use serde_json::json;
use service::App;
use service::platform::audit::{self, AuditEntry, Verdict};
use service::trading::paper;

use super::{instant, named_or_only_person, print, print_json};
use crate::cli;
use crate::config::Config;
use crate::open::{self, IfMissing};

pub(crate) async fn run(config: &Config, command: &cli::Audit) -> Result<()> {
    let app = open::app(config, IfMissing::Fail).await?;
    match command {
        cli::Audit::List { person, limit, output } => list(&app, person, *limit, output.json).await,
        cli::Audit::Verify { person, output } => verify(&app, person, output.json).await,
    }
}

async fn list(app: &App, person: &cli::PersonArgs, limit: u32, as_json: bool) -> Result<()> {
    let user = named_or_only_person(app, person.user.as_deref()).await?;
    let entries = audit::list(app, &user.owner(), None, limit as usize).await?;
    if as_json {
        return print_json(&entries.iter().map(json_of).collect());
    }
    if entries.is_empty() {
        return print("The audit trail is empty.\n");
    }
    let line = |it: &AuditEntry| {
        let from = it.actor.address.as_deref().map_or(String::new(), |it| format!(" from {it}"));
        format!("{:>6}  {}  {}{from}  {}\n", it.number, it.at, it.actor.kind.as_str(), it.details)
    };
    print(&entries.iter().map(line).collect::<String>())
}

async fn verify(app: &App, person: &cli::PersonArgs, as_json: bool) -> Result<()> {
    let user = named_or_only_person(app, person.user.as_deref()).await?;
    let verdict = audit::verify(app, &user.owner()).await?;
    let ledgers = paper::verify(app, &user.owner()).await?;
    match verdict {
        Verdict::Intact { .. } if !ledgers.faults.is_empty() => {
            if as_json {
                print_json(&json!({ "sound": false, "ledger_faults": ledgers.faults }))?;
            }
            bail!(
                "the paper ledgers of {} are not consistent: {}",
                user.email,
                ledgers.faults.join("; ")
            )
        }
        Verdict::Intact { entries, unanchored, anchored_at } if as_json => {
            let ledger = json!({ "accounts": ledgers.accounts, "entries": ledgers.entries });
            print_json(&json!({
                "sound": true,
                "entries": entries,
                "anchored_at": instant(anchored_at),
                "unanchored_entries": unanchored,
                "paper_ledgers": ledger,
            }))
        }
        Verdict::Intact { entries, unanchored, anchored_at } => {
            let mut text =
                format!("The audit trail of {} is intact: {entries} entries.\n", user.email);
            if unanchored > 0 {
                text += &format!(
                    "It has been anchored since {anchored_at}, when it had {unanchored} entries. \
                     Entries removed from its end before that cannot be detected.\n"
                );
            }
            if ledgers.accounts > 0 {
                text += &format!(
                    "The paper ledgers are consistent: {} entries in {} accounts.\n",
                    ledgers.entries, ledgers.accounts
                );
            }
            print(&text)
        }
        Verdict::Broken { number } => {
            if as_json {
                print_json(&json!({ "sound": false, "broken_at": number }))?;
            }
            bail!(
                "the audit trail of {} is broken at entry {number}: this entry or the one before it \
                 was changed or removed",
                user.email
            )
        }
        Verdict::AnchorMismatch(mismatch) => {
            if as_json {
                print_json(&json!({ "sound": false, "anchor": mismatch.to_string() }))?;
            }
            bail!("the audit trail of {} does not match its anchor: {mismatch}", user.email)
        }
    }
}

fn json_of(entry: &AuditEntry) -> serde_json::Value {
    json!({
        "number": entry.number,
        "at": entry.at.to_string(),
        "actor": entry.actor.kind.as_str(),
        "actor_id": entry.actor.id,
        "address": entry.actor.address,
        "action": entry.action,
        "subject": entry.subject,
        "details": entry.details,
        "method": entry.method,
    })
}
