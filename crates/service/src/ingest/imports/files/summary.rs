//! What the last preview of a staged file found, kept so that a list of files reads none of them.

use db::{Tx, params};
use serde::{Deserialize, Serialize};
use sources::files::Format;

use super::{Preview, StagedFile, State, list, preview};
use crate::{App, Caller, Error, Result};

/// What is read at once for a list; larger files are read when their own page is opened.
const REFRESHED_BYTES_MAX: i64 = 8 * 1_024 * 1_024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewSummary {
    pub outcome: PreviewOutcome,
    /// Why it cannot be read.
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    pub accounts: usize,
    #[serde(default)]
    pub new: usize,
    #[serde(default)]
    pub seen: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewOutcome {
    Ready,
    /// All of it is there already.
    NothingNew,
    /// The person has to answer something first.
    NeedsAnswer,
    Unreadable,
}

impl PreviewSummary {
    pub fn format(&self) -> Option<Format> {
        self.format.as_deref().and_then(Format::parse)
    }

    fn of(look: &Preview) -> PreviewSummary {
        let tally = look.tally();
        PreviewSummary {
            outcome: match look {
                _ if look.error.is_some() => PreviewOutcome::Unreadable,
                _ if look.is_nothing_new() => PreviewOutcome::NothingNew,
                _ if look.is_ready() => PreviewOutcome::Ready,
                _ => PreviewOutcome::NeedsAnswer,
            },
            error: look.error.clone(),
            format: look.format.map(|it| it.as_str().to_owned()),
            accounts: look.accounts.len(),
            new: tally.new,
            seen: tally.seen,
        }
    }
}

/// A summary that this version does not understand is as good as none.
pub(super) fn parse(text: Option<&str>) -> Option<PreviewSummary> {
    text.and_then(|it| serde_json::from_str(it).ok())
}

/// Remembers what a preview found. Nothing depends on it, so a failure is only logged.
pub(super) async fn keep(app: &App, caller: &Caller, look: &Preview) {
    let found = PreviewSummary::of(look);
    if look.file.preview.as_ref() == Some(&found) {
        return;
    }
    let (user, id) = (caller.user, look.file.id);
    let kept = match serde_json::to_string(&found) {
        Ok(text) => {
            let write = move |tx: &mut Tx<'_>| {
                Ok::<_, Error>(tx.execute(KEEP, params![user, id, &text]).map(drop)?)
            };
            app.db.write(write).await
        }
        Err(error) => Err(Error::internal(error.to_string())),
    };
    if let Err(error) = kept {
        tracing::warn!(%error, file = %id, "what a preview found could not be kept");
    }
}

/// Previews the small files that wait for the person, so that a list tells what is in them as things stand now. Files
/// that cannot be read at the moment stay as they are.
pub async fn refresh(app: &App, caller: &Caller) -> Result<()> {
    let mut left = REFRESHED_BYTES_MAX;
    let open = |it: &StagedFile| it.state == State::Open;
    for file in list(app, caller).await?.into_iter().filter(open) {
        left -= file.size;
        if left < 0 {
            break;
        }
        match preview(app, caller, file.id).await {
            Ok(_) | Err(Error::NotFound(_) | Error::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

const KEEP: &str = "update import_files set preview = $3
    where user_id = $1 and id = $2 and state <> 'done'";

pub(super) const STATEMENTS: &[&str] = &[KEEP];
