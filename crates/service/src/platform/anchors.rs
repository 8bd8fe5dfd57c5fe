//! Anchors: how far each chain of a person goes and how it ends, kept apart from the chain and sealed with the
//! installation key. Whoever cuts or extends a chain in the database cannot make the anchor that fits.
//!
//! An anchor moves with its chain in one transaction, and only if it fitted the chain before: a chain that was tampered
//! with is never anchored anew by what is appended later.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base::{Timestamp, UserId};
use db::params;

use crate::platform::{audit, installation};
use crate::trading::paper;
use crate::{App, Error, Result, Tx};

/// The chain of the audit trail; other chains are named by the id of their account.
pub(crate) const AUDIT: &str = "audit";
/// Chains that are anchored in one transaction when an older database is first opened.
const BATCH: i64 = 200;

/// The end of a chain: how many entries it has, and the hash of the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) number: i64,
    pub(crate) hash: Vec<u8>,
}

/// An anchor as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) end: End,
    seal: Vec<u8>,
    /// How many entries the chain had when it was first anchored. What was cut before that cannot be told.
    pub(crate) since_number: i64,
    pub(crate) since_at: Timestamp,
    since_seal: Vec<u8>,
}

/// Why a chain does not fit its anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// Entries are missing at the end.
    Cut { entries: i64, anchored: i64 },
    /// There are entries that this installation did not write, or the anchor is an older one.
    Ahead { entries: i64, anchored: i64 },
    /// That entry is not the one that was anchored.
    Replaced { number: i64 },
    /// The anchor is gone.
    Missing,
    /// The anchor was not made with the installation key.
    Forged,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Cut { entries, anchored } => {
                let missing = anchored - entries;
                write!(f, "it ends at entry {entries}, but {anchored} were written: ")?;
                write!(f, "the last {missing} are missing")
            }
            Misfit::Ahead { entries, anchored } => {
                write!(f, "it has {entries} entries, but its anchor says {anchored}: ")?;
                write!(f, "the others were not written by this installation, or the anchor is old")
            }
            Misfit::Replaced { number } => {
                write!(f, "entry {number} is not the one that was written")
            }
            Misfit::Missing => f.write_str(
                "its anchor is gone, so nobody can tell whether entries are missing at the end",
            ),
            Misfit::Forged => {
                f.write_str("its anchor was not made with the key of this installation")
            }
        }
    }
}

/// What the database signs anchors with: an HMAC by a key that follows from the installation key.
pub fn signer(key: &installation::Key) -> db::Signer {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key.derive("anchors"));
    Arc::new(move |bytes: &[u8]| {
        let mut seal = [0; 32];
        seal.copy_from_slice(hmac::sign(&key, bytes).as_ref());
        seal
    })
}

fn end_bytes(user: UserId, chain: &str, end: &End) -> Vec<u8> {
    let number = end.number.to_be_bytes();
    let parts: [&[u8]; 6] =
        [b"end ", user.as_bytes(), chain.as_bytes(), &[0], &number, end.hash.as_slice()];
    parts.concat()
}

fn since_bytes(user: UserId, chain: &str, number: i64, at: Timestamp) -> Vec<u8> {
    let (number, at) = (number.to_be_bytes(), at.as_microsecond().to_be_bytes());
    let parts: [&[u8]; 6] = [b"since ", user.as_bytes(), chain.as_bytes(), &[0], &number, &at];
    parts.concat()
}

fn signed(tx: &Tx<'_>, bytes: &[u8]) -> Result<[u8; 32]> {
    tx.sign(bytes).ok_or_else(|| Error::internal("this database was opened without a key to sign"))
}

/// Anchors a chain for the first time, at its present end. One that has an anchor keeps it.
pub(crate) fn create(
    tx: &mut Tx<'_>,
    user: UserId,
    chain: &str,
    end: &End,
    at: Timestamp,
) -> Result<()> {
    let seal = signed(tx, &end_bytes(user, chain, end))?;
    let since = signed(tx, &since_bytes(user, chain, end.number, at))?;
    let values = params![user, chain, end.number, &end.hash, &seal[..], at, &since[..]];
    tx.execute(INSERT, values)?;
    Ok(())
}

/// Moves an anchor from one end of its chain to the next. One that does not fit stays where it is, and `judge` tells.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    user: UserId,
    chain: &str,
    before: &End,
    after: &End,
) -> Result<()> {
    let old = signed(tx, &end_bytes(user, chain, before))?;
    let new = signed(tx, &end_bytes(user, chain, after))?;
    let values = params![user, chain, &old[..], after.number, &after.hash, &new[..]];
    if tx.execute(ADVANCE, values)? == 0 {
        tracing::error!(%user, chain, "a chain does not fit its anchor; run `evenkeel audit verify`");
    }
    Ok(())
}

/// Where a chain ended when it was last written.
pub(crate) fn end_in(tx: &mut Tx<'_>, user: UserId, chain: &str) -> Result<Option<End>> {
    Ok(tx.first(FIND, params![user, chain], read)?.map(|it| it.end))
}

pub(crate) async fn find(app: &App, user: UserId, chain: &str) -> Result<Option<Anchor>> {
    Ok(app.db.first(FIND, params![user, chain], read).await?)
}

/// The chains of somebody but the audit trail.
pub(crate) async fn ledgers(app: &App, user: UserId) -> Result<Vec<String>> {
    Ok(app.db.all(LEDGERS, params![user], |row| row.get(0)).await?)
}

/// A chain as it was followed: its end, and the hash of the entry that the anchor named before it was followed.
#[derive(Default)]
pub(crate) struct Followed {
    pub(crate) end: End,
    at_anchor: Vec<u8>,
}

impl Followed {
    pub(crate) fn step(&mut self, end: End, anchored: i64) {
        if end.number == anchored {
            self.at_anchor.clone_from(&end.hash);
        }
        self.end = end;
    }
}

/// Holds a chain against its anchor, which was read `before` the chain was followed and again `after`: entries may
/// have been appended meanwhile.
pub(crate) fn judge(
    app: &App,
    (user, chain): (UserId, &str),
    (before, after): (Option<&Anchor>, Option<&Anchor>),
    found: &Followed,
) -> Option<Misfit> {
    let (Some(before), Some(after)) = (before, after) else { return Some(Misfit::Missing) };
    if ![before, after].iter().all(|it| it.is_genuine(app, user, chain)) {
        return Some(Misfit::Forged);
    }
    let (entries, anchored) = (found.end.number, before.end.number);
    if entries < anchored {
        Some(Misfit::Cut { entries, anchored })
    } else if found.at_anchor != before.end.hash {
        Some(Misfit::Replaced { number: anchored })
    } else if entries > after.end.number {
        Some(Misfit::Ahead { entries, anchored: after.end.number })
    } else if entries == after.end.number && found.end.hash != after.end.hash {
        Some(Misfit::Replaced { number: entries })
    } else {
        None
    }
}

impl Anchor {
    fn is_genuine(&self, app: &App, user: UserId, chain: &str) -> bool {
        let since = since_bytes(user, chain, self.since_number, self.since_at);
        let pairs = [(end_bytes(user, chain, &self.end), &self.seal), (since, &self.since_seal)];
        pairs.iter().all(|(bytes, seal)| {
            let wanted = app.db.sign(bytes);
            wanted.is_some_and(|it| verify_slices_are_equal(&it, seal).is_ok())
        })
    }
}

/// Anchors the chains of a database that was written before there were anchors: once, at the first start. Afterwards a
/// chain without an anchor is a fault, and stays one.
pub async fn create_missing(app: &App) -> Result<()> {
    if app.db.first(ALL_ANCHORED, &[], |_| Ok(())).await?.is_some() {
        return Ok(());
    }
    let now = app.clock.now();
    // Not all in one transaction: others wait behind it, and there may be many people.
    while app.db.write(move |tx| anchor_some(tx, now)).await? > 0 {}
    app.db.write(move |tx| create_missing_in(tx, now)).await
}

/// The same in one transaction, for a database that nobody else uses yet.
pub(crate) fn create_missing_in(tx: &mut Tx<'_>, now: Timestamp) -> Result<()> {
    if tx.first(ALL_ANCHORED, &[], |_| Ok(()))?.is_none() {
        while anchor_some(tx, now)? > 0 {}
        tx.execute(SET_ALL_ANCHORED, params![now.to_string().as_str()])?;
    }
    Ok(())
}

fn anchor_some(tx: &mut Tx<'_>, now: Timestamp) -> Result<usize> {
    let people = tx.all(UNANCHORED, params![BATCH], |row| row.get::<UserId>(0))?;
    for user in &people {
        let end = audit::end_in(tx, *user)?;
        create(tx, *user, AUDIT, &end, now)?;
        paper::anchor_ledgers(tx, *user, now)?;
    }
    Ok(people.len())
}

fn read(row: &db::Row<'_>) -> db::Result<Anchor> {
    Ok(Anchor {
        end: End { number: row.get(0)?, hash: row.get(1)? },
        seal: row.get(2)?,
        since_number: row.get(3)?,
        since_at: row.get(4)?,
        since_seal: row.get(5)?,
    })
}

const INSERT: &str = "insert into anchors
    (user_id, chain, number, hash, seal, since_number, since_at, since_seal)
    values ($1, $2, $3, $4, $5, $3, $6, $7) on conflict (user_id, chain) do nothing";
const ADVANCE: &str = "update anchors set number = $4, hash = $5, seal = $6
    where user_id = $1 and chain = $2 and seal = $3";
const FIND: &str = "select number, hash, seal, since_number, since_at, since_seal from anchors
    where user_id = $1 and chain = $2";
const LEDGERS: &str = "select chain from anchors where user_id = $1 and chain <> 'audit'
    order by chain limit 1000";
const ALL_ANCHORED: &str = "select value from installation where name = 'anchored_at'";
const SET_ALL_ANCHORED: &str = "insert into installation (name, value) values ('anchored_at', $1)
    on conflict (name) do nothing";
const UNANCHORED: &str = "select id from users where not exists
    (select 1 from anchors where anchors.user_id = users.id and chain = 'audit')
    order by id limit $1";

pub(crate) const STATEMENTS: &[&str] =
    &[INSERT, ADVANCE, FIND, LEDGERS, ALL_ANCHORED, SET_ALL_ANCHORED, UNANCHORED];
