//! Settling what transactions are: all of a person's, or those that a touched row could influence.

mod pairs;
mod view;

use std::collections::{BTreeSet, HashMap};

use base::category::Category;
use base::{Currency, Date, Timestamp, TransactionId, UserId, days_from_date};
use calc::enrich::{Cleaned, Enriched};
use calc::transfers::{self, Found, Kind, Leg, Pair, REACH_DAYS, pair_in_components};
use db::{Param, Tx, params};

use self::view::{ROW, Row, Stored, View, told};
use super::Desk;
use crate::classify::recompute::{Recompute, RecomputeScope};
use crate::ledger::accounts;
use crate::platform::dirty_queue::DirtyTransaction;
use crate::platform::person_lock;
use crate::{App, Result};

/// How much is read beyond what the touched rows reach at once; most groups are closed within it.
const MARGIN_DAYS: i64 = 10;

pub(crate) fn settle(tx: &mut Tx<'_>, run: &mut Recompute) -> Result<()> {
    let desk = Desk::open(tx, run.user)?;
    let decided = pairs::decided(tx, run)?;
    let accounts: Vec<transfers::Account> = run.accounts.iter().map(pairing_account).collect();
    let days = match &run.scope {
        RecomputeScope::Everything => None,
        RecomputeScope::Around(touched) => {
            let days = || touched.iter().map(|it| it.posted_on_days);
            let (Some(first), Some(last)) = (days().min(), days().max()) else { return Ok(()) };
            Some((first - REACH_DAYS, last + REACH_DAYS))
        }
    };
    let mut margin = REACH_DAYS + MARGIN_DAYS;
    loop {
        let read = days.map(|(first, last)| (first - margin, last + margin));
        let view = View::load(tx, run, (&desk, &decided), read)?;
        let (legs, rows) = view.legs();
        let say = |leg: usize| view.said(rows[leg], &desk, run);
        let convert =
            |minor: i64, from: Currency, to: Currency, _: Date| run.rates.convert(minor, from, to);
        let (found, groups) = pair_in_components(&accounts, &legs, &say, &decided, &convert);
        let Some(days) = days else {
            let concerned = Concerned { ids: None, first_days: i64::MIN, last_days: i64::MAX };
            return write(tx, run, &desk, &view, (found, concerned));
        };
        let concerned = concerned(&legs, groups, days);
        if concerned.reaches_into(days.0 - margin, days.1 + margin) {
            // A chain of candidates leaves the part that was read: read more.
            margin *= 4;
            continue;
        }
        return write(tx, run, &desk, &view, (found, concerned));
    }
}

/// Classifies the given transactions again at once, so that the person sees the effect of their correction. The rest
/// of the pipeline follows from the dirty queue.
pub(crate) fn reclassify(
    tx: &mut Tx<'_>,
    app: &App,
    user: UserId,
    transactions: &[TransactionId],
) -> Result<()> {
    person_lock::lock(tx, user)?;
    let mut touched = BTreeSet::new();
    for id in transactions {
        let touch = |row: &db::Row<'_>| {
            let merchant_key: Option<String> = row.get(1)?;
            Ok(DirtyTransaction {
                account: row.get(0)?,
                merchant_key: merchant_key.unwrap_or_default(),
                posted_on_days: row.get(2)?,
                amount_minor: row.get(3)?,
            })
        };
        touched.extend(tx.first(DIRTY, params![user, *id], touch)?);
    }
    let mut run = Recompute::new(tx, app, user, RecomputeScope::Around(touched))?;
    run.corrected = transactions.iter().copied().collect();
    settle(tx, &mut run)?;
    run.publish_events(tx)
}

/// The rows whose outcome may differ, and the days they span.
struct Concerned {
    /// All of them when absent.
    ids: Option<BTreeSet<TransactionId>>,
    first_days: i64,
    last_days: i64,
}

impl Concerned {
    fn has(&self, id: TransactionId) -> bool {
        self.ids.as_ref().is_none_or(|it| it.contains(&id))
    }

    /// Whether something outside of what was read could still bear on them.
    fn reaches_into(&self, read_from: i64, read_to: i64) -> bool {
        self.first_days - REACH_DAYS < read_from || self.last_days + REACH_DAYS > read_to
    }
}

fn concerned(legs: &[Leg], groups: Vec<Vec<usize>>, (first, last): (i64, i64)) -> Concerned {
    let near = |leg: &Leg| (first..=last).contains(&days_from_date(leg.on));
    let mut ids: BTreeSet<TransactionId> =
        legs.iter().filter(|it| near(it)).map(|it| it.id).collect();
    let (mut first_days, mut last_days) = (first, last);
    for group in groups {
        if !group.iter().any(|leg| near(&legs[*leg])) {
            continue;
        }
        for leg in group {
            let day = days_from_date(legs[leg].on);
            (first_days, last_days) = (first_days.min(day), last_days.max(day));
            ids.insert(legs[leg].id);
        }
    }
    Concerned { ids: Some(ids), first_days, last_days }
}

fn write(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    desk: &Desk,
    view: &View,
    (found, concerned): (Found, Concerned),
) -> Result<()> {
    let mut of_leg: HashMap<TransactionId, &Pair> = HashMap::new();
    for pair in &found.pairs {
        of_leg.insert(pair.outflow, pair);
        of_leg.insert(pair.inflow, pair);
    }
    let (mut touched, mut recounted) = (BTreeSet::new(), BTreeSet::new());
    for row in &view.rows {
        if row.posted && !concerned.has(row.id) {
            continue;
        }
        let pair = of_leg.get(&row.id).copied();
        // Around what was touched only moves can be other ones: what else a row is was judged as it came in, and what
        // bears on that (a word of the person's, an account's name, our tables) asks for everything. What the person
        // just spoke of is not left to that.
        if row.holds && row.is_settled(pair) && !run.corrected.contains(&row.id) {
            continue;
        }
        if let Some(enriched) = save(tx, run, desk, (row, view.cleaned(row)), pair)? {
            if row.hidden != row.is_to_hide(&enriched) {
                recounted.insert(row.account);
            }
            touched.insert(DirtyTransaction {
                account: row.account,
                merchant_key: enriched.key,
                posted_on_days: row.on_days,
                amount_minor: row.amount_minor,
            });
        }
    }
    for account in recounted {
        accounts::recount(tx, run.user, account)?;
    }
    pairs::save(tx, run, view, &found, &concerned)?;
    // What now reads differently bears on the streams of its merchant.
    if let RecomputeScope::Around(all) = &mut run.scope {
        all.append(&mut touched);
    }
    Ok(())
}

/// Stores what a row is, and hands that back, if it is news.
fn save(
    tx: &mut Tx<'_>,
    run: &mut Recompute,
    desk: &Desk,
    (row, cleaned): (&Row, &Cleaned),
    pair: Option<&Pair>,
) -> Result<Option<Enriched>> {
    let kind = pair.map(|it| it.kind);
    let judged = tx.first(ROW, params![run.user, row.id], |stored| {
        let enriched = desk.judge(run, &told(row, stored.get(11)?), cleaned, kind);
        let stored = Stored::of(stored)?;
        Ok((stored.is(&enriched), stored.reads_as(&enriched), enriched))
    })?;
    let Some((is_same, reads_alike, enriched)) = judged else { return Ok(None) };
    let hidden = row.is_to_hide(&enriched);
    if is_same && row.is_settled(pair) && row.hidden == hidden {
        return Ok(None);
    }
    let reads_alike =
        reads_alike && row.transfer.is_some() == pair.is_some() && row.hidden == hidden;
    let updated_at: Option<Timestamp> = (!reads_alike).then_some(run.now);
    tx.execute(
        SAVE,
        &[
            run.user.into(),
            row.id.into(),
            (&enriched.counterparty).into(),
            enriched.category.map(Category::detailed).into(),
            enriched.stage.as_str().into(),
            (&enriched.key).into(),
            pair.map(|it| it.outflow).into(),
            Param::Text(kind.map(Kind::as_str)),
            updated_at.into(),
            state(row.posted, hidden).into(),
        ],
    )?;
    // For whoever only sees lists, what is hidden is gone, and nothing happens to it.
    match (reads_alike, row.hidden, hidden) {
        (true, ..) | (false, true, true) => {}
        (false, false, true) => run.hidden.entry(row.account).or_default().push(row.id),
        (false, _, false) => run.updated.entry(row.account).or_default().push(row.id),
    }
    Ok(Some(enriched))
}

/// The word for what is seen of a transaction.
pub(crate) fn state(posted: bool, hidden: bool) -> &'static str {
    match (posted, hidden) {
        (false, _) => "pending",
        (true, false) => "posted",
        (true, true) => "hidden",
    }
}

fn pairing_account(account: &crate::ledger::accounts::Account) -> transfers::Account {
    transfers::Account {
        id: account.id,
        kind: account.kind,
        subtype: account.subtype.clone(),
        institution: account.institution_name.clone(),
        name: account.bank_name.clone(),
        mask: account.mask.clone(),
        manual: account.source == "manual",
    }
}

const DIRTY: &str = "select account_id, merchant_key, posted_on, amount_minor from transactions
    where user_id = $1 and id = $2 and state <> 'removed'";
const SAVE: &str = "update transactions set counterparty = $3, category = $4, category_stage = $5,
    merchant_key = $6, transfer_id = $7, transfer_kind = $8, updated_at = coalesce($9, updated_at),
    state = $10
    where user_id = $1 and id = $2";
pub(super) const STATEMENTS: [&[&str]; 3] = [&[DIRTY, SAVE], view::STATEMENTS, pairs::STATEMENTS];
