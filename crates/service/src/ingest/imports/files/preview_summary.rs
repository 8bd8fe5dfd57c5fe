//! The stored summary of a file's last preview, so that a list of files need not read any of them.

use base::FileId;
use db::{Tx, params};
use serde::{Deserialize, Serialize};
use sources::files::Format;

use crate::{App, Caller, Error};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewSummary {
    pub outcome: PreviewOutcome,
    /// Why the file cannot be read.
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub(super) format: Option<String>,
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
    /// Every row is stored already.
    NothingNew,
    /// The person has to answer a question first.
    NeedsAnswer,
    Unreadable,
}

impl PreviewSummary {
    pub fn format(&self) -> Option<Format> {
        self.format.as_deref().and_then(Format::parse)
    }
}

/// Reads a stored summary; none if this version cannot.
pub(super) fn parse(text: Option<&str>) -> Option<PreviewSummary> {
    text.and_then(|it| serde_json::from_str(it).ok())
}

/// Saves a summary. Nothing depends on it, so a failure is only logged.
pub(super) async fn save(app: &App, caller: &Caller, id: FileId, summary: &PreviewSummary) {
    let user = caller.user;
    let saved = match serde_json::to_string(summary) {
        Ok(text) => {
            let write = move |tx: &mut Tx<'_>| {
                Ok::<_, Error>(tx.execute(SAVE, params![user, id, &text]).map(drop)?)
            };
            app.db.write(write).await
        }
        Err(error) => Err(Error::internal(error.to_string())),
    };
    if let Err(error) = saved {
        tracing::warn!(%error, file = %id, "saving a preview summary failed");
    }
}

const SAVE: &str = "update import_files set preview = $3
    where user_id = $1 and id = $2 and state <> 'done'";

pub(super) const STATEMENTS: &[&str] = &[SAVE];
