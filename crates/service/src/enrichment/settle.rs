//! Settling what transactions are: all of a person's, or those that a touched row could influence.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use base::category::Category;
use base::{AccountId, Currency, Date, Timestamp, TransactionId, date_from_days, days_from_date};
use calc::enrich::{self, Cleaned, Enriched, Stage};
use calc::transfers::{
    self, Decided, EARLIEST_LAG, Found, Kind, LATEST_LAG, Leg, Pair, REACH_DAYS, Said, Words,
    pair_in_components,
};
use db::{Param, Tx, params};

use super::{Desk, Told};
use crate::insights::{Run, Scope, Touch};
use crate::{Result, accounts};

/// How much is read beyond what the touched rows reach at once; most groups are closed within it.
const MARGIN_DAYS: i64 = 10;

/// A transaction as far as pairing looks at it. There may be a hundred thousand, so what is stored beside is compared
/// while it is read, and read again in the few places where it is to change.
struct Row {
    id: TransactionId,
    account: AccountId,
    on_days: i64,
    /// Seen or hidden: what is hidden still moved, and its other leg is neither earned nor spent.
    posted: bool,
    hidden: bool,
    amount_minor: i64,
    currency: Currency,
    authorized_on: Option<Date>,
    /// A place in the texts of the view.
    text: usize,
    told_category: Option<Category>,
    transfer: Option<TransactionId>,
    transfer_kind: Option<Kind>,
    /// Whether the rest of what is stored is what would be judged of it as that half of that move, or was not asked for.
    holds: bool,
}

impl Row {
    /// What is pending is in sight until it is posted: its text may still change.
    fn is_to_hide(&self, enriched: &Enriched) -> bool {
        self.posted && enriched.hidden
    }

    /// Whether it is stored as half of just this move, or of none.
    fn is_settled(&self, pair: Option<&Pair>) -> bool {
        self.transfer == pair.map(|it| it.outflow) && self.transfer_kind == pair.map(|it| it.kind)
    }
}

pub(crate) fn settle(tx: &mut Tx<'_>, run: &mut Run) -> Result<()> {
    let desk = Desk::open(tx, run.user)?;
    let decided = decided(tx, run)?;
    let accounts: Vec<transfers::Account> = run.accounts.iter().map(pairing_account).collect();
    let days = match &run.scope {
        Scope::Everything => None,
        Scope::Around(touched) => {
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

/// A bank's text, read once at most, however many rows have it: banks repeat themselves, and reading costs most.
struct Text {
    description: Arc<str>,
    cleaned: OnceCell<Cleaned>,
}

/// The rows that were read and matter.
#[derive(Default)]
struct View {
    rows: Vec<Row>,
    texts: Vec<Text>,
    text_places: HashMap<Arc<str>, usize>,
}

impl View {
    /// The rows of some days; or all there are, which are judged as they come.
    fn load(
        tx: &mut Tx<'_>,
        run: &Run,
        (desk, decided): (&Desk, &Decided),
        days: Option<(i64, i64)>,
    ) -> Result<View> {
        let mut view = View::default();
        let Some((from, to)) = days else {
            let judge = Some((desk, run));
            tx.each(ROWS, params![run.user], |row| view.add(row, judge))?;
            return Ok(view);
        };
        tx.each(LEGS, params![run.user, from, to], |row| view.add(row, None))?;
        // A pair that the person confirmed may lie far apart.
        if !decided.confirmed.is_empty() {
            let there: BTreeSet<TransactionId> = view.rows.iter().map(|it| it.id).collect();
            for (outflow, inflow) in &decided.confirmed {
                for (id, other) in [(outflow, inflow), (inflow, outflow)] {
                    if there.contains(other) && !there.contains(id) {
                        tx.each(ROW, params![run.user, *id], |row| view.add(row, None))?;
                    }
                }
            }
        }
        Ok(view)
    }

    fn add(&mut self, stored: &db::Row<'_>, judge: Option<(&Desk, &Run)>) -> db::Result<()> {
        let mut row = read(stored, self.place_of(stored.get(7)?))?;
        if let Some((desk, run)) = judge {
            let told = told(&row, stored.get(11)?);
            let enriched = desk.judge(run, &told, self.cleaned(&row), row.transfer_kind);
            row.holds =
                Stored::of(stored)?.is(&enriched) && row.hidden == row.is_to_hide(&enriched);
        }
        self.rows.push(row);
        Ok(())
    }

    fn place_of(&mut self, description: &str) -> usize {
        if let Some(place) = self.text_places.get(description) {
            return *place;
        }
        let description: Arc<str> = description.into();
        self.text_places.insert(Arc::clone(&description), self.texts.len());
        self.texts.push(Text { description, cleaned: OnceCell::new() });
        self.texts.len() - 1
    }

    fn cleaned(&self, row: &Row) -> &Cleaned {
        let text = &self.texts[row.text];
        text.cleaned.get_or_init(|| enrich::clean(&text.description))
    }

    /// What is posted, each with the place of its row.
    fn legs(&self) -> (Vec<Leg>, Vec<usize>) {
        let mut legs = Vec::with_capacity(self.rows.len());
        let mut places = Vec::with_capacity(self.rows.len());
        for (place, row) in self.rows.iter().enumerate().filter(|(_, row)| row.posted) {
            places.push(place);
            legs.push(Leg {
                id: row.id,
                account: row.account,
                on: date_from_days(row.on_days),
                authorized_on: row.authorized_on,
                amount_minor: row.amount_minor,
                currency: row.currency,
            });
        }
        (legs, places)
    }

    fn said(&self, place: usize, desk: &Desk, run: &Run) -> Said {
        let row = &self.rows[place];
        let cleaned = self.cleaned(row);
        // The name that the source gives has no part in the category.
        let enriched = desk.judge(run, &told(row, None), cleaned, None);
        Said {
            description: self.texts[row.text].description.to_string(),
            category: enriched.category.filter(|_| !is_echo(&enriched)),
            merchant: cleaned.merchant.is_some_and(sells),
            words: Words {
                transfer: cleaned.transfer_words,
                refund: cleaned.refund_words,
                person: cleaned.person,
            },
        }
    }
}

fn told<'a>(row: &Row, counterparty: Option<&'a str>) -> Told<'a> {
    Told {
        id: Some(row.id),
        account: row.account,
        amount_minor: row.amount_minor,
        counterparty,
        category: row.told_category,
    }
}

/// What is stored of a row, beside the move it is half of.
struct Stored<'a> {
    counterparty: Option<&'a str>,
    category: Option<Category>,
    stage: Option<Stage>,
    merchant_key: Option<&'a str>,
}

impl<'a> Stored<'a> {
    fn of(row: &'a db::Row<'_>) -> db::Result<Stored<'a>> {
        let (category, stage): (Option<&str>, Option<&str>) = (row.get(13)?, row.get(14)?);
        Ok(Stored {
            counterparty: row.get(12)?,
            category: category.and_then(Category::parse),
            stage: stage.and_then(Stage::parse),
            merchant_key: row.get(15)?,
        })
    }

    /// Whether nobody who reads the transaction would see a difference.
    fn reads_as(&self, enriched: &Enriched) -> bool {
        self.counterparty == enriched.counterparty.as_deref() && self.category == enriched.category
    }

    fn is(&self, enriched: &Enriched) -> bool {
        self.reads_as(enriched)
            && self.stage == Some(enriched.stage)
            && self.merchant_key == Some(&enriched.key)
    }
}

/// Whether a category only repeats the words of the text, which are evidence already.
fn is_echo(enriched: &Enriched) -> bool {
    let moves = ["TRANSFER_IN", "TRANSFER_OUT", "LOAN_PAYMENTS"];
    let is_move =
        |it: Category| moves.contains(&it.primary()) && it.detailed() != "TRANSFER_OUT_WITHDRAWAL";
    matches!(enriched.stage, Stage::Keyword | Stage::Structure)
        && enriched.category.is_some_and(is_move)
}

/// Whether money for a merchant is money spent: a shop or a service, and no bank, employer or payment app.
fn sells(merchant: &enrich::Merchant) -> bool {
    let moves = ["TRANSFER_IN", "TRANSFER_OUT", "LOAN_PAYMENTS", "INCOME"];
    !merchant.is(enrich::Flag::P2p) && !moves.contains(&merchant.category.primary())
}

fn write(
    tx: &mut Tx<'_>,
    run: &mut Run,
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
        if row.holds && row.is_settled(pair) && !run.spoken_of.contains(&row.id) {
            continue;
        }
        if let Some(enriched) = save(tx, run, desk, (row, view.cleaned(row)), pair)? {
            if row.hidden != row.is_to_hide(&enriched) {
                recounted.insert(row.account);
            }
            touched.insert(Touch {
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
    save_pairs(tx, run, view, &found, &concerned)?;
    // What now reads differently bears on the streams of its merchant.
    if let Scope::Around(all) = &mut run.scope {
        all.append(&mut touched);
    }
    Ok(())
}

/// Stores what a row is, and hands that back, if it is news.
fn save(
    tx: &mut Tx<'_>,
    run: &mut Run,
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

fn save_pairs(
    tx: &mut Tx<'_>,
    run: &Run,
    view: &View,
    found: &Found,
    concerned: &Concerned,
) -> Result<()> {
    type Key = (TransactionId, TransactionId);
    let mine = |key: &Key| concerned.has(key.0) || concerned.has(key.1);
    let mut wanted: BTreeMap<Key, (&'static str, &Pair)> = BTreeMap::new();
    for (state, pairs) in [("paired", &found.pairs), ("suggested", &found.suggestions)] {
        for it in pairs {
            wanted.insert((it.outflow, it.inflow), (state, it));
        }
    }
    wanted.retain(|key, _| mine(key));
    // A pair is kept by the day its money left, which lies near both legs, also when they are gone.
    let is_everything = matches!(run.scope, Scope::Everything);
    let first = concerned.first_days.saturating_sub(LATEST_LAG);
    let last = concerned.last_days.saturating_sub(EARLIEST_LAG);
    let stored = tx.all(PAIRS, params![run.user, first, last], |row| {
        let words: (String, String, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(((row.get(0)?, row.get(1)?), words, row.get::<i64>(5)?))
    })?;
    let keys = || wanted.keys().chain(stored.iter().map(|it| &it.0));
    let named: HashSet<TransactionId> = keys().flat_map(|it| [it.0, it.1]).collect();
    let legs = view.rows.iter().filter(|it| named.contains(&it.id));
    let days: HashMap<TransactionId, i64> = legs.map(|it| (it.id, it.on_days)).collect();
    for (key, (state, kind, evidence), left_on) in stored {
        let same = wanted.get(&key).is_some_and(|(wanted_state, it)| {
            *wanted_state == state
                && it.kind.as_str() == kind
                && reasons(it) == evidence
                && days.get(&key.0) == Some(&left_on)
        });
        // A leg that is not among the rows was taken back.
        let is_gone = !days.contains_key(&key.0) || !days.contains_key(&key.1);
        if same {
            wanted.remove(&key);
        } else if is_everything || is_gone || mine(&key) {
            tx.execute(FORGET_PAIR, params![run.user, key.0, key.1])?;
        }
    }
    for ((outflow, inflow), (state, it)) in wanted {
        let (kind, reasons) = (it.kind.as_str(), reasons(it));
        let left_on = days.get(&outflow).copied().unwrap_or_default();
        let values = params![run.user, outflow, inflow, left_on, state, kind, &reasons, run.now];
        tx.execute(SAVE_PAIR, values)?;
    }
    Ok(())
}

/// Why the two belong together, one reason a line.
fn reasons(pair: &Pair) -> String {
    let lines: Vec<String> = pair.evidence.iter().map(|it| it.text()).collect();
    lines.join("\n")
}

fn pairing_account(account: &crate::accounts::Account) -> transfers::Account {
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

fn decided(tx: &mut Tx<'_>, run: &Run) -> Result<Decided> {
    let confirmed = decisions(tx, run, "confirmed")?;
    Ok(Decided { confirmed, refused: decisions(tx, run, "refused")?, ..Decided::default() })
}

type Pairs = BTreeSet<(TransactionId, TransactionId)>;

fn decisions(tx: &mut Tx<'_>, run: &Run, decision: &str) -> Result<Pairs> {
    let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(tx.all(DECISIONS, params![run.user, decision], read)?.into_iter().collect())
}

fn read(row: &db::Row<'_>, text: usize) -> db::Result<Row> {
    let (told_category, kind): (Option<&str>, Option<&str>) = (row.get(8)?, row.get(10)?);
    let state: &str = row.get(3)?;
    Ok(Row {
        id: row.get(0)?,
        account: row.get(1)?,
        on_days: row.get(2)?,
        posted: matches!(state, "posted" | "hidden"),
        hidden: state == "hidden",
        amount_minor: row.get(4)?,
        currency: row.get(5)?,
        authorized_on: row.get(6)?,
        text,
        told_category: told_category.and_then(Category::parse),
        transfer: row.get(9)?,
        transfer_kind: kind.and_then(Kind::parse),
        holds: true,
    })
}

const LEGS: &str =
    "select id, account_id, posted_on, state, amount_minor, currency, authorized_on, description,
    told_category, transfer_id, transfer_kind from transactions
    where user_id = $1 and posted_on between $2 and $3 and state <> 'removed'";
// The same, and what is stored of them beside.
const ROWS: &str = "select id, account_id, posted_on, state, amount_minor, currency, authorized_on, description,
    told_category, transfer_id, transfer_kind, told_counterparty, counterparty, category, category_stage,
    merchant_key from transactions where user_id = $1 and state <> 'removed'";
const ROW: &str = "select id, account_id, posted_on, state, amount_minor, currency, authorized_on, description,
    told_category, transfer_id, transfer_kind, told_counterparty, counterparty, category, category_stage,
    merchant_key from transactions where user_id = $1 and id = $2 and state <> 'removed'";
const SAVE: &str = "update transactions set counterparty = $3, category = $4, category_stage = $5,
    merchant_key = $6, transfer_id = $7, transfer_kind = $8, updated_at = coalesce($9, updated_at),
    state = $10
    where user_id = $1 and id = $2";
const PAIRS: &str = "select outflow_id, inflow_id, state, kind, evidence, left_on from transfers
    where user_id = $1 and left_on between $2 and $3";
const FORGET_PAIR: &str =
    "delete from transfers where user_id = $1 and outflow_id = $2 and inflow_id = $3";
const SAVE_PAIR: &str =
    "insert into transfers (user_id, outflow_id, inflow_id, left_on, state, kind, evidence, found_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, outflow_id, inflow_id) do update set
    left_on = excluded.left_on, state = excluded.state, kind = excluded.kind, evidence = excluded.evidence,
    found_at = excluded.found_at";
const DECISIONS: &str =
    "select outflow_id, inflow_id from transfer_decisions where user_id = $1 and decision = $2";

pub(super) const STATEMENTS: &[&str] =
    &[LEGS, ROWS, ROW, SAVE, PAIRS, FORGET_PAIR, SAVE_PAIR, DECISIONS];
