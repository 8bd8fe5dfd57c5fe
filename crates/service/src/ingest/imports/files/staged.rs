//! Staged files: uploaded files that wait for the person to preview and commit them.

use base::{FileId, ImportId, Timestamp};
use bytes::Bytes;
use db::{Tx, params};
use sources::files::{BYTES_MAX, FileError};

use super::choices::Choices;
use super::preview_summary::{self, PreviewSummary};
use super::stored_bytes;
use crate::access::users;
use crate::platform::processes::holder_is_dead;
use crate::{App, Caller, Error, Result};

/// Staged files are deleted after a day; they can be uploaded again.
const KEPT_SECONDS: i64 = 86_400;
/// Enough for years of statements of many accounts at once.
const STAGED_MAX: i64 = 100;
const NAME_MAX: usize = 200;

base::words!(State {
    Open => "open",
    Committing => "committing",
    Done => "done",
});
db::word_columns!(State);

/// An uploaded file.
#[derive(Debug, Clone)]
pub struct StagedFile {
    pub id: FileId,
    pub name: String,
    pub size: i64,
    pub state: State,
    /// The import that it became.
    pub import: Option<ImportId>,
    pub created_at: Timestamp,
    /// The result of the last preview, if there was one.
    pub preview: Option<PreviewSummary>,
}

/// Stages an uploaded file until the person commits or discards it.
pub async fn stage(
    app: &App,
    caller: &Caller,
    name: &str,
    content: impl Into<Bytes>,
) -> Result<FileId> {
    caller.require_owner("import")?;
    let content = content.into();
    if content.is_empty() {
        return Err(Error::invalid("file", "This file is empty. Choose another one."));
    }
    if content.len() > BYTES_MAX {
        return Err(Error::invalid("file", FileError::TooLarge.to_string()));
    }
    let (user, now) = (caller.user, app.clock.now());
    let id: FileId = app.ids.make();
    let (name, limits) = (plain_name(name), app.import_limits);
    let stage = move |tx: &mut Tx<'_>| {
        // The lock covers the files of one person. Two people at the same moment may exceed the limit for all by a file.
        users::lock(tx, user)?;
        let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
        let (count, of_person) = tx.first(WAITING, params![user], read)?.unwrap_or_default();
        if count >= STAGED_MAX {
            let message = "Too many files are waiting. Import or discard some of them first.";
            return Err(Error::invalid("file", message));
        }
        let of_all = tx.first(WAITING_IN_ALL, &[], |row| row.get::<i64>(0))?.unwrap_or(0);
        let size = content.len() as i64;
        if let Some(message) = limits.refusal(size, of_person, of_all) {
            return Err(Error::invalid("file", message));
        }
        tx.execute(STAGE, params![user, id, &name, size, now])?;
        stored_bytes::insert(tx, user, id, &content)
    };
    app.db.write(stage).await?;
    Ok(id)
}

/// The file's name without folders and control characters.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let plain: String = last.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
    if plain.trim().is_empty() { "file".to_owned() } else { plain.trim().to_owned() }
}

/// Files that wait for the person and files committed today, in the order in which they were uploaded.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<StagedFile>> {
    caller.require_owner("import")?;
    let values = params![caller.user, app.db.now().await?, STAGED_MAX * 2];
    Ok(app.db.all(LIST, values, read_file).await?)
}

pub async fn get(app: &App, caller: &Caller, id: FileId) -> Result<StagedFile> {
    caller.require_owner("import")?;
    let now = app.db.now().await?;
    let found = app.db.first(GET, params![caller.user, now, id], read_file).await?;
    found.ok_or(Error::NotFound("file"))
}

/// Deletes a staged file without importing it.
pub async fn discard(app: &App, caller: &Caller, id: FileId) -> Result<()> {
    caller.require_owner("import")?;
    let user = caller.user;
    let delete = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        match tx.execute(DISCARD, params![user, id, now])? {
            0 => Err(Error::NotFound("file")),
            _ => Ok(()),
        }
    };
    app.db.write(delete).await
}

/// Saves the person's choices for a file.
pub async fn choose(app: &App, caller: &Caller, id: FileId, choices: Choices) -> Result<()> {
    caller.require_owner("import")?;
    let text = serde_json::to_string(&choices)
        .map_err(|error| Error::internal(format!("choices cannot be serialized: {error}")))?;
    let user = caller.user;
    let save = move |tx: &mut Tx<'_>| {
        let now = tx.now()?;
        match tx.execute(CHOOSE, params![user, id, &text, now])? {
            0 => Err(Error::NotFound("file")),
            _ => Ok(()),
        }
    };
    app.db.write(save).await
}

/// Deletes staged files that are older than a day; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    let before = app.clock.now().as_microsecond() - KEPT_SECONDS * 1_000_000;
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![before])?);
    Ok(app.db.write(forget).await? as usize)
}

fn read_file(row: &db::Row<'_>) -> db::Result<StagedFile> {
    Ok(StagedFile {
        id: row.get(0)?,
        name: row.get(1)?,
        size: row.get(2)?,
        state: row.get(3)?,
        import: row.get(4)?,
        created_at: row.get(5)?,
        preview: preview_summary::parse(row.get(6)?),
    })
}

/// The columns of a file. A file is open again when the lease of a failed commit has expired.
macro_rules! files {
    ($and:literal) => {
        concat!(
            "select id, name, size,
            case when state = 'committing' and (leased_until <= $2 or ",
            holder_is_dead!("process_id", "$2"),
            ") then 'open' else state end,
            import_id, created_at, preview from import_files where user_id = $1",
            $and
        )
    };
}
const WAITING: &str = "select cast(count(*) as bigint), cast(coalesce(sum(size), 0) as bigint)
    from import_files where user_id = $1 and state <> 'done'";
const WAITING_IN_ALL: &str =
    "select cast(coalesce(sum(size), 0) as bigint) from import_files where state <> 'done'";
const STAGE: &str = "insert into import_files (user_id, id, name, size, choices, state, created_at)
    values ($1, $2, $3, $4, '{}', 'open', $5)";
const LIST: &str = files!(" order by id limit $3");
const GET: &str = files!(" and id = $3");
const DISCARD: &str = concat!(
    "delete from import_files where user_id = $1 and id = $2
    and (state <> 'committing' or leased_until <= $3 or ",
    holder_is_dead!("process_id", "$3"),
    ")"
);
// A commit whose lease has expired read other choices, so it loses the file.
const CHOOSE: &str = concat!(
    "update import_files set choices = $3, preview = null, state = 'open',
    leased_until = null where user_id = $1 and id = $2
    and (state = 'open' or state = 'committing' and (leased_until <= $4 or ",
    holder_is_dead!("process_id", "$4"),
    "))"
);
const FORGET: &str = "delete from import_files where created_at < $1";

pub(super) const STATEMENTS: &[&str] =
    &[WAITING, WAITING_IN_ALL, STAGE, LIST, GET, DISCARD, CHOOSE, FORGET];
