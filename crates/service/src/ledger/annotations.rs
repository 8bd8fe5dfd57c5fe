//! The person's own note and tags of a transaction. No import or rule changes them, and a program only with approval.

use std::collections::BTreeSet;

use base::{AccountId, TransactionId, UserId};
use db::{Tx, params};
use serde::{Deserialize, Serialize};
use webhooks::outbox;
use wire::v1::Event;

use super::stamps;
use super::transactions::TransactionState;
use crate::platform::audit::{self, Actor, Note};
use crate::{App, Caller, Error, Result};

pub const NOTE_LENGTH_MAX: usize = 500;
pub const TAGS_MAX: usize = 20;
pub const TAG_LENGTH_MAX: usize = 30;
/// The most combinations of tags that are read to suggest tags.
const COMBINATIONS_MAX: i64 = 1_000;

/// Tags of a transaction: in lower case, each once, in alphabetical order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(BTreeSet<String>);

impl Tags {
    /// Parses tags as people type them: separated by spaces or commas, with or without a number sign.
    pub fn parse(text: &str) -> Result<Tags> {
        let words = text.split(|it: char| it.is_whitespace() || it == ',');
        let tags =
            words.filter(|it| !it.is_empty()).map(parse_tag).collect::<Result<BTreeSet<_>>>()?;
        let tags = Tags(tags);
        tags.check()?;
        Ok(tags)
    }

    /// These tags and others.
    pub(crate) fn with(mut self, others: &Tags) -> Result<Tags> {
        self.0.extend(others.0.iter().cloned());
        self.check()?;
        Ok(self)
    }

    /// These tags without others.
    pub(crate) fn without(mut self, others: &Tags) -> Tags {
        self.0.retain(|it| !others.0.contains(it));
        self
    }

    fn check(&self) -> Result<()> {
        if self.0.len() > TAGS_MAX {
            let message = format!("a transaction can have up to {TAGS_MAX} tags");
            return Err(Error::invalid("tags", message));
        }
        Ok(())
    }

    /// Reads tags as they are stored.
    pub(crate) fn read(stored: Option<&str>) -> Tags {
        let words = stored.unwrap_or_default().split_ascii_whitespace();
        Tags(words.map(str::to_owned).collect())
    }

    /// The tags with a space before and after each one, so that one is found by its whole text. None without tags.
    pub(crate) fn stored(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| format!(" {} ", self.text()))
    }

    /// The tags separated by spaces.
    pub fn text(&self) -> String {
        self.iter().collect::<Vec<_>>().join(" ")
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Parses one tag, with or without a number sign.
pub fn parse_tag(text: &str) -> Result<String> {
    let tag = text.trim().trim_start_matches('#').to_lowercase();
    let is_known = |it: char| it.is_alphanumeric() || "-_./&+".contains(it);
    if tag.is_empty() || tag.chars().count() > TAG_LENGTH_MAX || !tag.chars().all(is_known) {
        let message = format!(
            "a tag has 1 to {TAG_LENGTH_MAX} letters, digits or hyphens and no spaces, such as summer-trip"
        );
        return Err(Error::invalid("tags", message));
    }
    Ok(tag)
}

/// Sets the note and the tags of a transaction. An empty note removes it.
pub async fn set(
    app: &App,
    caller: &Caller,
    id: TransactionId,
    (note, tags): (&str, Tags),
) -> Result<()> {
    caller.require_owner("transaction")?;
    let new = Annotation { note: checked_note(note)?, tags: tags.stored() };
    let (mine, user, actor) = (app.clone(), caller.user, Actor::from(caller));
    app.db.write(move |tx| write_in(&mine, tx, (user, actor), id, |_| Ok(new))).await?;
    Ok(())
}

/// The note and the tags of a transaction as they are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Annotation {
    note: Option<String>,
    tags: Option<String>,
}

/// The note and tags from before a change, to undo the change. Its field names are stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnnotationSnapshot {
    transaction: String,
    before: Annotation,
    /// What was written. A note that differs is the person's own later one, and stays.
    written: Annotation,
}

/// Sets the note of a transaction if one is given, adds tags, and returns both from before.
pub(crate) fn annotate(
    app: &App,
    tx: &mut Tx<'_>,
    by: (UserId, Actor),
    id: TransactionId,
    (note, tags): (Option<&str>, &Tags),
) -> Result<AnnotationSnapshot> {
    write_in(app, tx, by, id, |before| {
        let note = match note {
            Some(note) => checked_note(note)?,
            None => before.note.clone(),
        };
        let all = Tags::read(before.tags.as_deref()).with(tags)?;
        Ok(Annotation { note, tags: all.stored() })
    })
}

/// Restores the note and tags from before a change, unless the person has changed them since.
pub(crate) fn restore(
    app: &App,
    tx: &mut Tx<'_>,
    user: UserId,
    snapshot: &AnnotationSnapshot,
) -> Result<()> {
    let id = TransactionId::parse(&snapshot.transaction)
        .map_err(|_| Error::internal("the stored note of a transaction has an invalid id"))?;
    let AnnotationSnapshot { before, written, .. } = snapshot;
    let restored = write_in(app, tx, (user, Actor::system()), id, |now| {
        Ok(if now == written { before } else { now }.clone())
    });
    match restored {
        Ok(_) | Err(Error::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Replaces the note and tags of a transaction by what follows from them.
fn write_in(
    app: &App,
    tx: &mut Tx<'_>,
    (user, actor): (UserId, Actor),
    id: TransactionId,
    new: impl FnOnce(&Annotation) -> Result<Annotation>,
) -> Result<AnnotationSnapshot> {
    let now = app.clock.now();
    let stamp = stamps::next(tx, user, now)?;
    let found = tx.first(FIND, params![user, id], |row| {
        let of: (AccountId, TransactionState) = (row.get(0)?, row.get(1)?);
        Ok((of, Annotation { note: row.get(2)?, tags: row.get(3)? }))
    })?;
    let ((account, state), before) = found.ok_or(Error::NotFound("transaction"))?;
    let written = new(&before)?;
    let snapshot = AnnotationSnapshot { transaction: id.to_string(), before, written };
    let AnnotationSnapshot { before, written, .. } = &snapshot;
    if before == written {
        return Ok(snapshot);
    }
    tx.execute(SET, params![user, id, &written.note, &written.tags, stamp])?;
    if state != TransactionState::Hidden {
        let event = Event::TransactionsUpdated {
            account_id: account.to_string(),
            transaction_ids: vec![id.to_string()],
            count: 1,
            removed: false,
        };
        outbox::append(&app.webhooks, tx, user, &[event])?;
    }
    let details = "Changed the note or the tags of a transaction";
    audit::note(tx, user, now, Note::new(actor, "transaction.annotate", details).about(id))?;
    Ok(snapshot)
}

/// Checks a note, and returns it without blanks around it; none if it is empty.
pub(crate) fn checked_note(note: &str) -> Result<Option<String>> {
    let note = note.replace("\r\n", "\n");
    let note = note.trim();
    let is_bad = |it: char| it.is_control() && it != '\n';
    if note.chars().count() > NOTE_LENGTH_MAX || note.contains(is_bad) {
        let message = format!("note can have up to {NOTE_LENGTH_MAX} characters");
        return Err(Error::invalid("note", message));
    }
    Ok((!note.is_empty()).then(|| note.to_owned()))
}

/// The tags that the person uses, in alphabetical order.
pub async fn list_tags(app: &App, caller: &Caller) -> Result<Tags> {
    caller.require_owner("transaction")?;
    let mut tags = Tags::default();
    let add = |row: &db::Row<'_>| {
        tags.0.append(&mut Tags::read(row.get(0)?).0);
        Ok(())
    };
    app.db.each(TAGS, params![caller.user, COMBINATIONS_MAX], add).await?;
    Ok(tags)
}

const FIND: &str = "select account_id, state, note, tags from transactions
    where user_id = $1 and id = $2 and state <> 'removed'";
const SET: &str = "update transactions set note = $3, tags = $4, updated_at = $5
    where user_id = $1 and id = $2";
const TAGS: &str =
    "select distinct tags from transactions where user_id = $1 and tags > '' limit $2";

pub(crate) const STATEMENTS: &[&str] = &[FIND, SET, TAGS];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tags_are_read_as_people_type_them() {
        let parse = |text: &str| Tags::parse(text).map(|it| it.text()).ok();
        assert_eq!(parse("#Work, summer-trip  work").as_deref(), Some("summer-trip work"));
        assert_eq!(parse("  ").as_deref(), Some(""));
        assert_eq!(parse("Übung").as_deref(), Some("übung"));
        for bad in ["#", "a\"b", "<b>", "per%cent", &"x".repeat(31)] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        let many: Vec<String> = (0..21).map(|it| format!("t{it}")).collect();
        assert_eq!(parse(&many.join(" ")), None);
    }

    proptest! {
        #[test]
        fn stored_tags_are_read_back_and_each_is_found_by_its_whole_text(
            words in proptest::collection::vec("[a-z0-9ü-]{1,8}", 0..10),
        ) {
            let tags = Tags::parse(&words.join(" ")).unwrap();
            let stored = tags.stored();
            prop_assert_eq!(&Tags::read(stored.as_deref()), &tags);
            let stored = stored.unwrap_or_default();
            for word in &words {
                let whole = format!(" {word} ");
                prop_assert!(stored.contains(&whole));
                let longer = format!(" {word}x ");
                prop_assert_eq!(stored.contains(&longer), tags.iter().any(|it| it == format!("{word}x")));
            }
        }
    }
}
