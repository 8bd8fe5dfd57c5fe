//! Anchors: the length and the last hash of each hash chain, stored apart from the chain and signed with the
//! installation key. Somebody who edits a chain in the database cannot sign the anchor that would match it.
//!
//! An anchor advances in the transaction that appends to its chain, and only if it matched the chain before. So a chain
//! that was tampered with is not anchored again by later entries.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base::{Timestamp, UserId};
use db::params;

use crate::platform::installation;
use crate::{App, Error, Result, Tx};

/// The name of the audit trail's chain. The chain of a paper account is named by the account's id.
pub(crate) const AUDIT: &str = "audit";

/// The end of a chain: the number of entries, and the hash of the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChainEnd {
    pub(crate) number: i64,
    pub(crate) hash: Vec<u8>,
}

/// A stored anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) end: ChainEnd,
    seal: Vec<u8>,
    /// How many entries the chain had when it was first anchored. Entries removed before that leave no trace.
    pub(crate) since_number: i64,
    pub(crate) since_at: Timestamp,
    since_seal: Vec<u8>,
}

/// The reason why a chain does not match its anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnchorMismatch {
    /// Entries are missing at the end.
    Truncated { entries: i64, anchored: i64 },
    /// The chain has entries that this installation did not write, or the anchor is an older one.
    Ahead { entries: i64, anchored: i64 },
    /// The entry differs from the one that was anchored.
    Replaced { number: i64 },
    /// There is no anchor.
    Missing,
    /// The anchor was not signed with the installation key.
    Forged,
}

impl fmt::Display for AnchorMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnchorMismatch::Truncated { entries, anchored } => {
                let missing = anchored - entries;
                write!(f, "it has {entries} entries, but its anchor says {anchored}: ")?;
                write!(f, "the last {missing} are missing")
            }
            AnchorMismatch::Ahead { entries, anchored } => {
                write!(f, "it has {entries} entries, but its anchor says {anchored}: ")?;
                write!(f, "this installation did not write the rest, or the anchor is an old one")
            }
            AnchorMismatch::Replaced { number } => {
                write!(f, "entry {number} is not the one that was anchored")
            }
            AnchorMismatch::Missing => f.write_str(
                "its anchor is missing, so missing entries at the end cannot be detected",
            ),
            AnchorMismatch::Forged => {
                f.write_str("its anchor was not signed with this installation's key")
            }
        }
    }
}

/// The function that signs anchors: an HMAC with a key derived from the installation key.
pub fn signer(key: &installation::Key) -> db::Signer {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key.derive("anchors"));
    Arc::new(move |bytes: &[u8]| {
        let mut seal = [0; 32];
        seal.copy_from_slice(hmac::sign(&key, bytes).as_ref());
        seal
    })
}

fn end_bytes(user: UserId, chain: &str, end: &ChainEnd) -> Vec<u8> {
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
    tx.sign(bytes).ok_or_else(|| Error::internal("the database was opened without a signing key"))
}

/// Anchors a chain for the first time, at its current end. An existing anchor stays as it is.
pub(crate) fn create(
    tx: &mut Tx<'_>,
    user: UserId,
    chain: &str,
    end: &ChainEnd,
    at: Timestamp,
) -> Result<()> {
    let seal = signed(tx, &end_bytes(user, chain, end))?;
    let since = signed(tx, &since_bytes(user, chain, end.number, at))?;
    let values = params![user, chain, end.number, &end.hash, &seal[..], at, &since[..]];
    tx.execute(INSERT, values)?;
    Ok(())
}

/// Moves an anchor from one end of its chain to the next. An anchor that does not match `before` stays unchanged, so
/// that `check` reports it.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    user: UserId,
    chain: &str,
    before: &ChainEnd,
    after: &ChainEnd,
) -> Result<()> {
    let old = signed(tx, &end_bytes(user, chain, before))?;
    let new = signed(tx, &end_bytes(user, chain, after))?;
    let values = params![user, chain, &old[..], after.number, &after.hash, &new[..]];
    if tx.execute(ADVANCE, values)? == 0 {
        tracing::error!(%user, chain, "chain does not match its anchor; run `evenkeel audit verify`");
    }
    Ok(())
}

/// Signs the anchors of a person with another key, the second signer. An anchor that the first one did not sign stays as
/// it is, so that `check` goes on to report it. Returns how many were signed, and how many were not.
pub(crate) fn sign_again(
    tx: &mut Tx<'_>,
    user: UserId,
    [old, new]: &[db::Signer; 2],
) -> Result<(usize, usize)> {
    let read_named = |row: &db::Row<'_>| Ok((read(row)?, row.get::<String>(6)?));
    let (mut signed, mut refused) = (0, 0);
    for (anchor, chain) in tx.all(LIST, params![user], read_named)? {
        if !anchor.is_signed_by(user, &chain, old) {
            refused += 1;
            continue;
        }
        let [seal, since] = anchor.signed_bytes(user, &chain).map(|bytes| new(&bytes));
        tx.execute(SIGN, params![user, &chain, &seal[..], &since[..]])?;
        signed += 1;
    }
    Ok((signed, refused))
}

/// The end of a chain as its anchor has it.
pub(crate) fn anchored_end(tx: &mut Tx<'_>, user: UserId, chain: &str) -> Result<Option<ChainEnd>> {
    Ok(tx.first(FIND, params![user, chain], read)?.map(|it| it.end))
}

pub(crate) async fn find(app: &App, user: UserId, chain: &str) -> Result<Option<Anchor>> {
    Ok(app.db.first(FIND, params![user, chain], read).await?)
}

/// The names of a person's chains except the audit trail.
pub(crate) async fn list_ledgers(app: &App, user: UserId) -> Result<Vec<String>> {
    Ok(app.db.all(LIST_LEDGERS, params![user], |row| row.get(0)).await?)
}

/// The state of walking along a chain: the end reached so far, and the hash of the entry that the anchor names.
#[derive(Default)]
pub(crate) struct ChainWalk {
    pub(crate) end: ChainEnd,
    at_anchor: Vec<u8>,
}

impl ChainWalk {
    pub(crate) fn step(&mut self, end: ChainEnd, anchored: i64) {
        if end.number == anchored {
            self.at_anchor.clone_from(&end.hash);
        }
        self.end = end;
    }
}

/// Compares a chain with its anchor. The anchor is read before the walk and again after it, because entries may be
/// appended during the walk.
pub(crate) fn check(
    app: &App,
    (user, chain): (UserId, &str),
    (before, after): (Option<&Anchor>, Option<&Anchor>),
    found: &ChainWalk,
) -> Option<AnchorMismatch> {
    let (Some(before), Some(after)) = (before, after) else { return Some(AnchorMismatch::Missing) };
    if ![before, after].iter().all(|it| it.is_genuine(app, user, chain)) {
        return Some(AnchorMismatch::Forged);
    }
    let (entries, anchored) = (found.end.number, before.end.number);
    if entries < anchored {
        Some(AnchorMismatch::Truncated { entries, anchored })
    } else if found.at_anchor != before.end.hash {
        Some(AnchorMismatch::Replaced { number: anchored })
    } else if entries > after.end.number {
        Some(AnchorMismatch::Ahead { entries, anchored: after.end.number })
    } else if entries == after.end.number && found.end.hash != after.end.hash {
        Some(AnchorMismatch::Replaced { number: entries })
    } else {
        None
    }
}

impl Anchor {
    fn is_genuine(&self, app: &App, user: UserId, chain: &str) -> bool {
        self.signed_bytes(user, chain).iter().zip([&self.seal, &self.since_seal]).all(
            |(bytes, seal)| {
                let expected = app.db.sign(bytes);
                expected.is_some_and(|it| verify_slices_are_equal(&it, seal).is_ok())
            },
        )
    }

    fn is_signed_by(&self, user: UserId, chain: &str, signer: &db::Signer) -> bool {
        let seals = [&self.seal, &self.since_seal];
        let mut pairs = self.signed_bytes(user, chain).into_iter().zip(seals);
        pairs.all(|(bytes, seal)| verify_slices_are_equal(&signer(&bytes), seal).is_ok())
    }

    /// The bytes that its two seals sign.
    fn signed_bytes(&self, user: UserId, chain: &str) -> [Vec<u8>; 2] {
        let since = since_bytes(user, chain, self.since_number, self.since_at);
        [end_bytes(user, chain, &self.end), since]
    }
}

fn read(row: &db::Row<'_>) -> db::Result<Anchor> {
    Ok(Anchor {
        end: ChainEnd { number: row.get(0)?, hash: row.get(1)? },
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
const LIST: &str =
    "select number, hash, seal, since_number, since_at, since_seal, chain from anchors
    where user_id = $1 order by chain limit 100000";
const SIGN: &str =
    "update anchors set seal = $3, since_seal = $4 where user_id = $1 and chain = $2";
const LIST_LEDGERS: &str = "select chain from anchors where user_id = $1 and chain <> 'audit'
    order by chain limit 1000";

pub(crate) const STATEMENTS: &[&str] = &[INSERT, ADVANCE, FIND, LIST, SIGN, LIST_LEDGERS];
