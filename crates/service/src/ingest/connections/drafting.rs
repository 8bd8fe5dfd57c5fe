//! From an answer to what imports take in: only what the person took, under names that tell who said it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use base::draft::{AccountDraft, AccountKind, Source, TransactionDraft, id_source};
use base::{AccountId, Currency, Date, Timestamp, date_from_days, days_from_date};
use db::{Row, Tx, params};
use sources::simplefin::{self, AccountSet};

use super::Owed;
use super::asking::Turn;
use super::attention::{Doubt, Place};
use crate::Result;
use crate::ingest::imports::{self, About, Delivery, Incoming, Progress};

/// What the names of all givers that are SimpleFIN's begin with.
const GIVERS: &str = "sf:";
/// A pending transaction that is not listed any more is waited for this long: it may post under another id.
const PENDING_DAYS: i64 = 8;

/// An account that the person took.
pub(super) struct Taken {
    pub(super) external_id: String,
    pub(super) login: Option<String>,
    pub(super) asked_as: String,
    pub(super) institution: Option<String>,
    pub(super) own_name: Option<String>,
    pub(super) seen_at: Timestamp,
    /// When all of it was last told.
    pub(super) good_at: Option<Timestamp>,
    /// Where it goes; none before its first sync.
    pub(super) account: Option<AccountId>,
    currency: Option<Currency>,
    choice: simplefin::Choice,
}

impl Taken {
    pub(super) fn place(&self) -> Place<'_> {
        let (login, institution) = (self.login.as_deref(), self.institution.as_deref());
        Place { login, asked_as: &self.asked_as, institution }
    }

    /// Whose words its rows are; without a blank, which ends it in their ids.
    fn giver(&self) -> Arc<str> {
        let name = self.external_id.replace(char::is_whitespace, "_");
        format!("{GIVERS}{name}").into()
    }
}

/// Everything taken of a connection. An account whose import was taken back is open to be chosen again.
pub(super) fn taken(tx: &mut Tx<'_>, turn: &Turn) -> Result<Vec<Taken>> {
    let key = params![turn.user, turn.id];
    tx.execute(REOPEN, key)?;
    Ok(tx.all(TAKEN, key, read)?)
}

/// What goes in, and the taken accounts of which something was said that cannot be.
pub(super) struct Drafted {
    pub(super) delivery: Delivery,
    /// For each account of the delivery its place in `taken`.
    pub(super) places: Vec<usize>,
    pub(super) unusable: HashSet<usize>,
}

/// Drafts of what was taken and is listed. `settles` says whether pending ones were asked for, so that those which are
/// gone are told as removed.
pub(super) fn draft(
    tx: &mut Tx<'_>,
    turn: &Turn,
    taken: &[Taken],
    set: &AccountSet,
    (now, settles): (Timestamp, bool),
) -> Result<Drafted> {
    let choices: BTreeMap<String, simplefin::Choice> =
        taken.iter().map(|it| (it.external_id.clone(), it.choice.clone())).collect();
    let delivery = |accounts| Delivery {
        source: Source::Simplefin,
        connection: turn.id.to_string(),
        institution: None,
        as_of: now,
        accounts,
        rates: Vec::new(),
        about: About { rejected: set.rejected.len(), ..About::default() },
        progress: Progress::default(),
    };
    let (mut accounts, mut places, mut unusable) = (Vec::new(), Vec::new(), HashSet::new());
    for draft in simplefin::drafts(set, &choices, now) {
        let Some(place) = taken.iter().position(|it| it.external_id == draft.external_id) else {
            continue;
        };
        let one = &taken[place];
        if one.currency.is_some_and(|it| it != draft.currency) {
            unusable.insert(place);
            continue;
        }
        let mut incoming = named(one, draft);
        if settles && one.place().doubt(set).is_none() {
            incoming.draft.removed = vanished(tx, turn, one, &incoming.draft.transactions, now)?;
        }
        // One account that makes no sense must not keep the others from coming in.
        match imports::prepared(delivery(vec![incoming])) {
            Ok(mut alone) => {
                accounts.append(&mut alone.accounts);
                places.push(place);
            }
            Err(_) => {
                unusable.insert(place);
            }
        }
    }
    Ok(Drafted { delivery: delivery(accounts), places, unusable })
}

fn named(one: &Taken, mut draft: AccountDraft) -> Incoming {
    let giver = one.giver();
    for row in &mut draft.transactions {
        row.external_id = row.external_id.take().map(|id| format!("{giver} {id}"));
    }
    Incoming { draft, giver, into: None, known_as: None }
}

/// Pending ones of ours that the answer does not list any more and that had their time.
fn vanished(
    tx: &mut Tx<'_>,
    turn: &Turn,
    one: &Taken,
    listed: &[TransactionDraft],
    now: Timestamp,
) -> Result<Vec<String>> {
    let Some(account) = one.account else { return Ok(Vec::new()) };
    let today = now.as_second().div_euclid(86_400);
    let before: Date = date_from_days(today - PENDING_DAYS);
    let values = params![turn.user, account, days_from_date(before)];
    let mut waiting: Vec<(String, i64)> =
        tx.all(PENDING, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    // One that came under the account's former id keeps it, and is recognised by its amount.
    waiting.retain(|(id, minor)| {
        let is_listed = |it: &TransactionDraft| {
            it.external_id.as_ref() == Some(id) || it.pending && it.amount.minor() == *minor
        };
        id_source(id).starts_with(GIVERS) && !listed.iter().any(is_listed)
    });
    Ok(waiting.into_iter().map(|(id, _)| id).collect())
}

/// Makes the accounts that were put under this connection its own, so that it says what they are called.
pub(super) fn adopt(tx: &mut Tx<'_>, turn: &Turn, taken: &[Taken], now: Timestamp) -> Result<()> {
    for one in taken {
        let values = params![turn.user, one.account, turn.id, &one.external_id, now];
        tx.execute(ADOPT, values)?;
    }
    Ok(())
}

/// What is wrong with a taken account after an answer, if anything is.
pub(super) fn doubt_of(
    one: &Taken,
    set: &AccountSet,
    is_unusable: bool,
    now: Timestamp,
) -> Option<Doubt> {
    const UNLISTED_SECONDS: i64 = 2 * 86_400;
    let unseen = now.as_second() - one.seen_at.as_second();
    match one.place().doubt(set) {
        _ if is_unusable => Some(Doubt::Unusable),
        None if unseen > UNLISTED_SECONDS => Some(Doubt::Unlisted),
        doubt => doubt,
    }
}

fn read(row: &Row<'_>) -> db::Result<Taken> {
    let (kind, owed): (&str, &str) = (row.get(7)?, row.get(9)?);
    let bad = |column, word: &str| db::Error::Decode { column, reason: format!("unknown {word}") };
    Ok(Taken {
        external_id: row.get(0)?,
        login: row.get(1)?,
        asked_as: row.get(2)?,
        institution: row.get(3)?,
        own_name: row.get(4)?,
        seen_at: row.get(5)?,
        good_at: row.get(6)?,
        choice: simplefin::Choice {
            kind: AccountKind::parse(kind).ok_or_else(|| bad(7, kind))?,
            subtype: row.get(8)?,
            owed: Owed::parse(owed).ok_or_else(|| bad(9, owed))?,
        },
        account: row.get(10)?,
        currency: row.get(11)?,
    })
}

const REOPEN: &str =
    "update offered_accounts set choice = 'open', account_id = null, good_at = null
    where user_id = $1 and connection_id = $2 and choice = 'taken' and account_id is not null
    and not exists (select 1 from accounts a
        where a.user_id = $1 and a.id = offered_accounts.account_id)";
// What an account is was settled when it was made; later words of its kind are not heard.
const TAKEN: &str = "select o.external_id, o.login, o.asked_as, o.institution_name, o.own_name,
    o.seen_at, o.good_at, coalesce(a.kind, o.kind), coalesce(a.subtype, o.subtype), o.owed, a.id,
    a.currency
    from offered_accounts o left join accounts a on a.user_id = o.user_id and a.id = o.account_id
    where o.user_id = $1 and o.connection_id = $2 and o.choice = 'taken' order by o.external_id";
const PENDING: &str = "select external_id, amount_minor from transactions
    where user_id = $1 and account_id = $2 and state = 'pending' and posted_on < $3
    and external_id is not null";
const ADOPT: &str = "update accounts set connection_id = $3, external_id = $4, updated_at = $5
    where user_id = $1 and id = $2 and (connection_id <> $3 or external_id <> $4)";

pub(super) const STATEMENTS: &[&str] = &[REOPEN, TAKEN, PENDING, ADOPT];
