//! Attachments of transactions: pictures and PDF files, such as receipts. They are stored in the database, so that every
//! process sees them and backups have them (docs/decisions/0030-attachments.md).

mod media_type;

use base::{AccountId, AttachmentId, Timestamp, TransactionId};
use bytes::Bytes;
use db::{Tx, params};
use wire::json::Moment;
use wire::v1::{self, Scope};

use super::stamps;
use crate::platform::audit::{self, Note};
use crate::{App, Caller, Error, Result};

pub use media_type::MediaType;

/// The most bytes of one file, of a transaction's files by their number, and of all files of a person.
pub const BYTES_MAX: usize = 10 << 20;
pub const COUNT_MAX: i64 = 10;
pub const PERSON_BYTES_MAX: i64 = 500 << 20;
const PART_BYTES: usize = 1 << 20;
const NAME_MAX: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub id: AttachmentId,
    pub transaction_id: TransactionId,
    /// The name of the uploaded file.
    pub name: String,
    pub media_type: MediaType,
    pub byte_count: i64,
    pub created_at: Timestamp,
}

impl Attachment {
    /// How many parts its bytes are stored in.
    fn part_count(&self) -> i64 {
        (self.byte_count + PART_BYTES as i64 - 1) / PART_BYTES as i64
    }
}

impl From<&Attachment> for v1::Attachment {
    fn from(it: &Attachment) -> v1::Attachment {
        v1::Attachment {
            id: it.id.to_string(),
            transaction_id: it.transaction_id.to_string(),
            name: it.name.clone(),
            media_type: it.media_type.as_str(),
            size: it.byte_count,
            created_at: Moment(it.created_at),
        }
    }
}

/// Attaches a file to a transaction.
pub async fn add(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
    (name, content): (&str, Bytes),
) -> Result<AttachmentId> {
    caller.require_owner("transaction")?;
    let media_type = check(&content)?;
    let (mine, caller, id) = (app.clone(), caller.clone(), app.ids.make());
    let name = plain_name(name);
    let write = move |tx: &mut Tx<'_>| {
        let (user, now) = (caller.user, mine.clock.now());
        // Locks the person, so that two uploads do not exceed the limits together.
        stamps::next(tx, user, now)?;
        tx.first(TRANSACTION, params![user, transaction], |row| row.get::<i64>(0))?
            .ok_or(Error::NotFound("transaction"))?;
        check_room(tx, &caller, transaction, content.len() as i64)?;
        let size = content.len() as i64;
        let values = params![user, id, transaction, &name, media_type.as_str(), size, now];
        tx.execute(INSERT, values)?;
        for (part, bytes) in (0_i64..).zip(content.chunks(PART_BYTES)) {
            tx.execute(INSERT_PART, params![user, id, part, bytes])?;
        }
        let note = Note::new(&caller, "attachment.create", "Attached a file to a transaction");
        audit::note(tx, user, now, note.about(transaction))
    };
    app.db.write(write).await?;
    Ok(id)
}

fn check(content: &[u8]) -> Result<MediaType> {
    let wrong = |message: String| Err(Error::invalid("file", message));
    if content.is_empty() {
        return wrong("choose a file that is not empty".to_owned());
    }
    if content.len() > BYTES_MAX {
        return wrong(format!("a file can have up to {} MB", BYTES_MAX >> 20));
    }
    match MediaType::detect(content) {
        Some(media_type) => Ok(media_type),
        None => wrong("the file must be a PDF, or a JPEG, PNG, WebP or HEIC picture".to_owned()),
    }
}

fn check_room(
    tx: &mut Tx<'_>,
    caller: &Caller,
    transaction: TransactionId,
    size: i64,
) -> Result<()> {
    let read = |row: &db::Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
    let of_person = tx.first(USED, params![caller.user], read)?.unwrap_or_default().1;
    let here = tx.first(USED_BY, params![caller.user, transaction], read)?.unwrap_or_default().0;
    if here >= COUNT_MAX {
        let message = format!("a transaction can have up to {COUNT_MAX} files; delete one first");
        return Err(Error::invalid("file", message));
    }
    if of_person + size > PERSON_BYTES_MAX {
        let most = PERSON_BYTES_MAX >> 20;
        let message =
            format!("all your files together can have up to {most} MB; delete some first");
        return Err(Error::invalid("file", message));
    }
    Ok(())
}

/// The file's name without folders and characters that have a meaning in paths and headers.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let is_plain = |it: &char| !it.is_control() && !"\"<>:|?*".contains(*it);
    let plain: String = last.chars().filter(is_plain).collect();
    let plain = plain.trim().trim_start_matches('.');
    // The end of a long name is kept, because it has the ending.
    let skipped = plain.chars().count().saturating_sub(NAME_MAX);
    let plain: String = plain.chars().skip(skipped).collect();
    if plain.is_empty() { "file".to_owned() } else { plain }
}

/// The attachments of a transaction, in the order in which they were added.
pub async fn list(
    app: &App,
    caller: &Caller,
    transaction: TransactionId,
) -> Result<Vec<Attachment>> {
    caller.require(Scope::TransactionsRead)?;
    let account: Option<AccountId> =
        app.db.first(ACCOUNT, params![caller.user, transaction], |row| row.get(0)).await?;
    account.filter(|it| caller.may_see(*it)).ok_or(Error::NotFound("transaction"))?;
    let params = params![caller.user, transaction, COUNT_MAX];
    Ok(app.db.all(LIST, params, read).await?)
}

/// An attachment without its bytes.
pub async fn get(app: &App, caller: &Caller, id: AttachmentId) -> Result<Attachment> {
    caller.require(Scope::TransactionsRead)?;
    let read = |row: &db::Row<'_>| Ok((read(row)?, row.get::<AccountId>(6)?));
    let found = app.db.first(GET, params![caller.user, id], read).await?;
    let found = found.filter(|(_, account)| caller.may_see(*account));
    found.map(|(it, _)| it).ok_or(Error::NotFound("attachment"))
}

/// One part of the bytes of an attachment. None after the last one.
pub async fn read_part(
    app: &App,
    caller: &Caller,
    attachment: &Attachment,
    part: i64,
) -> Result<Option<Vec<u8>>> {
    caller.require(Scope::TransactionsRead)?;
    if part >= attachment.part_count() {
        return Ok(None);
    }
    let params = params![caller.user, attachment.id, part];
    let bytes = app.db.first(PART, params, |row| row.get::<Vec<u8>>(0)).await?;
    // It may have been deleted in between.
    bytes.map(Some).ok_or(Error::NotFound("attachment"))
}

/// All attachments of a person after one, in the order of their ids, for an export.
pub(crate) async fn find_after(
    app: &App,
    caller: &Caller,
    after: Option<AttachmentId>,
) -> Result<Option<Attachment>> {
    let after = after.unwrap_or(AttachmentId::from_bytes([0; 16]));
    Ok(app.db.first(NEXT, params![caller.user, after], read).await?)
}

pub async fn delete(app: &App, caller: &Caller, id: AttachmentId) -> Result<()> {
    caller.require_owner("attachment")?;
    let (caller, now) = (caller.clone(), app.clock.now());
    let delete = move |tx: &mut Tx<'_>| {
        if tx.execute(DELETE, params![caller.user, id])? == 0 {
            return Err(Error::NotFound("attachment"));
        }
        let note = Note::new(&caller, "attachment.delete", "Deleted a file of a transaction");
        audit::note(tx, caller.user, now, note.about(id))
    };
    app.db.write(delete).await
}

fn read(row: &db::Row<'_>) -> db::Result<Attachment> {
    Ok(Attachment {
        id: row.get(0)?,
        transaction_id: row.get(1)?,
        name: row.get(2)?,
        media_type: row.get(3)?,
        byte_count: row.get(4)?,
        created_at: row.get(5)?,
    })
}

const TRANSACTION: &str =
    "select posted_on from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const ACCOUNT: &str =
    "select account_id from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const USED: &str =
    "select cast(count(*) as bigint), cast(coalesce(sum(byte_count), 0) as bigint) from attachments
    where user_id = $1";
const USED_BY: &str =
    "select cast(count(*) as bigint), cast(coalesce(sum(byte_count), 0) as bigint) from attachments
    where user_id = $1 and transaction_id = $2";
const INSERT: &str =
    "insert into attachments (user_id, id, transaction_id, name, media_type, byte_count, created_at)
    values ($1, $2, $3, $4, $5, $6, $7)";
const INSERT_PART: &str = "insert into attachment_parts (user_id, attachment_id, part, content)
    values ($1, $2, $3, $4)";
const LIST: &str = "select id, transaction_id, name, media_type, byte_count, created_at
    from attachments where user_id = $1 and transaction_id = $2 order by id limit $3";
const GET: &str =
    "select a.id, a.transaction_id, a.name, a.media_type, a.byte_count, a.created_at, t.account_id
    from attachments a join transactions t on t.user_id = a.user_id and t.id = a.transaction_id
    where a.user_id = $1 and a.id = $2 and t.state <> 'removed'";
const NEXT: &str = "select id, transaction_id, name, media_type, byte_count, created_at
    from attachments where user_id = $1 and id > $2 order by id limit 1";
const PART: &str = "select content from attachment_parts
    where user_id = $1 and attachment_id = $2 and part = $3";
const DELETE: &str = "delete from attachments where user_id = $1 and id = $2";

pub(crate) const STATEMENTS: &[&str] =
    &[TRANSACTION, ACCOUNT, USED, USED_BY, INSERT, INSERT_PART, LIST, GET, NEXT, PART, DELETE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_paths_and_headers() {
        for (name, plain) in [
            ("receipt.pdf", "receipt.pdf"),
            ("C:\\Users\\me\\a b.jpg", "a b.jpg"),
            ("../../etc/passwd", "passwd"),
            ("..", "file"),
            ("a\"b\r\nc.png", "abc.png"),
            ("Quittung März.pdf", "Quittung März.pdf"),
            ("", "file"),
        ] {
            assert_eq!(plain_name(name), plain, "{name:?}");
        }
        let long = format!("{}.pdf", "x".repeat(300));
        assert!(plain_name(&long).ends_with("x.pdf") && plain_name(&long).len() == NAME_MAX);
    }
}
