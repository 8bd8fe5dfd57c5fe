//! Files that a person drops: held for a look, read by what they say of them, and taken in when they agree.

mod choices;
mod content;
mod landing;
mod limits;
mod look;
mod summary;
mod take;

use base::{FileId, ImportId, Timestamp};
use bytes::Bytes;
use db::{Tx, params};

pub use choices::{AccountChoice, Choices, DestinationChoice};
pub use landing::Destination;
pub use limits::Limits;
pub(crate) use limits::ReadingSlots;
pub use look::{AccountPreview, Preview, RowPreview, RowStatus, preset, preview};
pub use sources::files::csv;
pub use sources::files::{BYTES_MAX, Charges, DateOrder, Doubt, FileError, Format, Rejections};
pub use sources::files::{Hints, Limits as ReadingLimits, Reading, Rejected, read};
pub use summary::{PreviewOutcome, PreviewSummary, refresh};
pub(crate) use take::UnderWay;
pub use take::{CommitOutcome, commit, progress};

use crate::access::users;
use crate::{App, Caller, Error, Result};

/// Files that wait for the person are forgotten after a day; they can be dropped again.
const KEPT_SECONDS: i64 = 86_400;
/// Enough for years of statements of many accounts at once.
const HELD_MAX: i64 = 100;
const NAME_MAX: usize = 200;

base::words!(State {
    Open => "open",
    Committing => "committing",
    Done => "done",
});

/// A file that was dropped.
#[derive(Debug, Clone)]
pub struct StagedFile {
    pub id: FileId,
    pub name: String,
    pub size: i64,
    pub state: State,
    /// The batch it became.
    pub import: Option<ImportId>,
    pub created_at: Timestamp,
    /// What the last preview found, if there was one.
    pub preview: Option<PreviewSummary>,
}

/// Keeps a file until the person has looked at it.
pub async fn stage(
    app: &App,
    caller: &Caller,
    name: &str,
    content: impl Into<Bytes>,
) -> Result<FileId> {
    caller.require_owner("import")?;
    let content = content.into();
    if content.is_empty() {
        return Err(Error::invalid("file", "the file is empty; choose another one"));
    }
    if content.len() > BYTES_MAX {
        return Err(Error::invalid("file", FileError::TooLarge.to_string()));
    }
    let (user, now) = (caller.user, app.clock.now());
    let id: FileId = app.ids.make();
    let (name, limits) = (plain_name(name), app.import_limits);
    let keep = move |tx: &mut Tx<'_>| {
        // Files of one person are counted one after the other. Two people at the same moment may go over the bound
        // for all by a file.
        users::lock(tx, user)?;
        let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
        let (count, of_person) = tx.first(WAITING, params![user], read)?.unwrap_or_default();
        if count >= HELD_MAX {
            let message = "too many files are waiting; import or discard some of them first";
            return Err(Error::invalid("file", message));
        }
        let of_all = tx.first(WAITING_IN_ALL, &[], |row| row.get::<i64>(0))?.unwrap_or(0);
        let size = content.len() as i64;
        if let Some(message) = limits.refusal(size, of_person, of_all) {
            return Err(Error::invalid("file", message));
        }
        tx.execute(HOLD, params![user, id, &name, size, now])?;
        content::store(tx, user, id, &content)
    };
    app.db.write(keep).await?;
    Ok(id)
}

/// A name as it is shown: without folders, and without what has no business in a line of text.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let plain: String = last.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
    if plain.trim().is_empty() { "file".to_owned() } else { plain.trim().to_owned() }
}

/// What waits for the person, and what was taken in today, in the order in which it was dropped.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<StagedFile>> {
    caller.require_owner("import")?;
    let values = params![caller.user, app.clock.now(), HELD_MAX * 2];
    Ok(app.db.all(HELD, values, read_held).await?)
}

pub async fn get(app: &App, caller: &Caller, id: FileId) -> Result<StagedFile> {
    caller.require_owner("import")?;
    let found = app.db.first(GET, params![caller.user, app.clock.now(), id], read_held).await?;
    found.ok_or(Error::NotFound("file"))
}

/// Puts a file away that is not to be imported after all.
pub async fn discard(app: &App, caller: &Caller, id: FileId) -> Result<()> {
    caller.require_owner("import")?;
    let (user, now) = (caller.user, app.clock.now());
    let forget = move |tx: &mut Tx<'_>| match tx.execute(DISCARD, params![user, id, now])? {
        0 => Err(Error::NotFound("file")),
        _ => Ok(()),
    };
    app.db.write(forget).await
}

/// Remembers what the person says of a file.
pub async fn choose(app: &App, caller: &Caller, id: FileId, choices: Choices) -> Result<()> {
    caller.require_owner("import")?;
    let text = serde_json::to_string(&choices)
        .map_err(|error| Error::internal(format!("choices cannot be kept: {error}")))?;
    let (user, now) = (caller.user, app.clock.now());
    let keep = move |tx: &mut Tx<'_>| match tx.execute(CHOOSE, params![user, id, &text, now])? {
        0 => Err(Error::NotFound("file")),
        _ => Ok(()),
    };
    app.db.write(keep).await
}

/// Files that nobody came back for; a background step.
pub async fn forget_once(app: &App) -> Result<usize> {
    let before = app.clock.now().as_microsecond() - KEPT_SECONDS * 1_000_000;
    let forget = move |tx: &mut Tx<'_>| Ok::<_, Error>(tx.execute(FORGET, params![before])?);
    Ok(app.db.write(forget).await? as usize)
}

fn read_held(row: &db::Row<'_>) -> db::Result<StagedFile> {
    let state: &str = row.get(3)?;
    let unknown = || db::Error::Decode { column: 3, reason: format!("unknown state {state}") };
    Ok(StagedFile {
        id: row.get(0)?,
        name: row.get(1)?,
        size: row.get(2)?,
        state: State::parse(state).ok_or_else(unknown)?,
        import: row.get(4)?,
        created_at: row.get(5)?,
        preview: summary::parse(row.get(6)?),
    })
}

/// The columns of a file. One whose commit died is open again when its lease is over.
macro_rules! files {
    ($and:literal) => {
        concat!(
            "select id, name, size,
            case when state = 'committing' and leased_until <= $2 then 'open' else state end,
            import_id, created_at, preview from import_files where user_id = $1",
            $and
        )
    };
}
const WAITING: &str = "select cast(count(*) as bigint), cast(coalesce(sum(size), 0) as bigint)
    from import_files where user_id = $1 and state <> 'done'";
const WAITING_IN_ALL: &str =
    "select cast(coalesce(sum(size), 0) as bigint) from import_files where state <> 'done'";
const HOLD: &str = "insert into import_files (user_id, id, name, size, choices, state, created_at)
    values ($1, $2, $3, $4, '{}', 'open', $5)";
const HELD: &str = files!(" order by id limit $3");
const GET: &str = files!(" and id = $3");
const DISCARD: &str = "delete from import_files where user_id = $1 and id = $2
    and (state <> 'committing' or leased_until <= $3)";
// A commit whose lease is over read other choices, so it loses the file.
const CHOOSE: &str = "update import_files set choices = $3, preview = null, state = 'open',
    leased_until = null where user_id = $1 and id = $2
    and (state = 'open' or state = 'committing' and leased_until <= $4)";
const FORGET: &str = "delete from import_files where created_at < $1";

pub(super) fn statements() -> Vec<&'static str> {
    let own = [WAITING, WAITING_IN_ALL, HOLD, HELD, GET, DISCARD, CHOOSE, FORGET];
    [
        &own[..],
        content::STATEMENTS,
        landing::STATEMENTS,
        look::STATEMENTS,
        summary::STATEMENTS,
        take::STATEMENTS,
    ]
    .concat()
}
