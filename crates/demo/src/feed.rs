//! The live feed. Time is divided into slots with one small event each; every sixteen slots form a cycle that returns
//! all balances to where they began, so that a demo can run for weeks without going broke.

use std::collections::BTreeMap;

use base::draft::{Statement, TransactionDraft};
use base::{Money, Timestamp, date_from_days};

use super::accounts::Account;
use super::calendar::Day;
use super::draw::{Draw, USUAL};
use super::entry::Entry;
use super::merchants::{CAFES, GROCERS, LUNCHES, MARKETPLACES, Merchant, RESTAURANTS, RIDES};
use super::statements::{self, booked, external_id};
use super::world::World;

/// The time range of a feed request: after one moment, up to and including another.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) after: Timestamp,
    pub(super) until: Timestamp,
    pub(super) every_seconds: u32,
}

/// Events of one cycle, after which all balances are as before it.
const SLOTS_PER_CYCLE: i64 = 16;
/// The first slots of a cycle are purchases; the last three are the pay and the payments of the cards.
const PURCHASE_SLOTS: i64 = 13;
/// Slots for which a transaction stays pending.
const PENDING_SLOTS: i64 = 2;
/// Slots that are replayed after a gap, at most.
const REPLAYED_SLOTS_MAX: i64 = 64;

const ACCOUNTS: [Account; 3] = [Account::Gold, Account::Freedom, Account::Checking];
const PURCHASE_KINDS: [(&[Merchant], i64); 6] = [
    (&CAFES, 5_60),
    (&LUNCHES, 13_40),
    (&GROCERS, 48_00),
    (&RESTAURANTS, 46_00),
    (&MARKETPLACES, 27_00),
    (&RIDES, 17_00),
];

/// A transaction and the slot in which it is published.
struct PublishedTransaction {
    slot: i64,
    account: Account,
    draft: TransactionDraft,
}

type Rows = BTreeMap<Account, Vec<TransactionDraft>>;

pub(super) fn statements(world: &World, hints: bool, window: Window) -> Vec<Statement> {
    let feed = Feed::new(world, hints, window.every_seconds);
    let mut rows = Rows::new();
    for slot in feed.slots(window) {
        let published = feed.cycle(feed.cycle_start(slot)).into_iter();
        for it in published.filter(|it| it.slot == slot) {
            rows.entry(it.account).or_default().push(it.draft);
        }
    }
    for entry in world.book.iter().filter(|it| statements::is_pending(world, it)) {
        let at = settles_at(entry);
        if window.after < at && at <= window.until {
            let settles = Some(external_id(world, entry));
            let draft = TransactionDraft { settles, ..booked(entry, hints) };
            rows.entry(entry.account).or_default().push(draft);
        }
    }
    feed.group(rows, window.until)
}

struct Feed<'a> {
    world: &'a World,
    hints: bool,
    every: i64,
    /// The first slot after the household's `as_of`; cycles are counted from it.
    origin: i64,
}

impl Feed<'_> {
    fn new(world: &World, hints: bool, every_seconds: u32) -> Feed<'_> {
        let every = i64::from(every_seconds.max(1));
        let origin = world.as_of.as_second().div_euclid(every) + 1;
        Feed { world, hints, every, origin }
    }

    fn slot_of(&self, at: Timestamp) -> i64 {
        at.as_second().div_euclid(self.every)
    }

    fn cycle_start(&self, slot: i64) -> i64 {
        slot - (slot - self.origin).rem_euclid(SLOTS_PER_CYCLE)
    }

    /// The slots to publish for the window. After a long gap these are the rest of the interrupted cycle and the last
    /// two cycles; the whole cycles between have no net effect and are left out.
    fn slots(&self, window: Window) -> Vec<i64> {
        let first = (self.slot_of(window.after) + 1).max(self.origin);
        let last = self.slot_of(window.until);
        if last - first < REPLAYED_SLOTS_MAX {
            return (first..=last).collect();
        }
        let interrupted = first..self.cycle_start(first) + SLOTS_PER_CYCLE;
        interrupted.chain(self.cycle_start(last) - SLOTS_PER_CYCLE..=last).collect()
    }

    fn day(&self, slot: i64) -> Day {
        (slot * self.every).div_euclid(86_400)
    }

    /// All transactions of a cycle, determined by its first slot alone.
    fn cycle(&self, start: i64) -> Vec<PublishedTransaction> {
        let mut draw = self.world.draw(&format!("feed/{}/{start}", self.every));
        let mut published = Vec::new();
        let mut spent = BTreeMap::new();
        for offset in 0..PURCHASE_SLOTS {
            // The first three purchases make sure that each account takes part.
            let account = match ACCOUNTS.get(offset as usize) {
                Some(account) => *account,
                None => *draw.pick(&ACCOUNTS),
            };
            let slot = start + offset;
            let entry = purchase(self.world, &mut draw, account, self.day(slot));
            *spent.entry(account).or_insert(0) -= entry.minor;
            let draft = booked(&entry, self.hints);
            let pending_id = draw.id();
            if !draw.permille(650) {
                published.push(PublishedTransaction { slot, account, draft });
                continue;
            }
            let seen = TransactionDraft {
                external_id: Some(pending_id.clone()),
                pending: true,
                amount: Money::new(entry.pending_minor, account.currency()),
                ..draft.clone()
            };
            published.push(PublishedTransaction { slot, account, draft: seen });
            let posted_on = date_from_days(self.day(slot + PENDING_SLOTS));
            let draft = TransactionDraft { settles: Some(pending_id), posted_on, ..draft };
            published.push(PublishedTransaction { slot: slot + PENDING_SLOTS, account, draft });
        }
        for (offset, mut entry) in settle_up(self.world, &mut draw, &spent) {
            let slot = start + offset;
            entry.posted_on = self.day(slot);
            let draft = booked(&entry, self.hints);
            published.push(PublishedTransaction { slot, account: entry.account, draft });
        }
        published
    }

    /// One statement for each bank that has new transactions.
    fn group(&self, rows: Rows, until: Timestamp) -> Vec<Statement> {
        let mut new_statements: Vec<Statement> = Vec::new();
        for (account, transactions) in rows {
            let bank = account.facts().bank;
            let mut draft = statements::bare_account(self.world, account);
            let (signed, held) = self.balance(account, until);
            draft.balance = Some(statements::balance(account, until, signed, held));
            draft.transactions = transactions;
            match new_statements
                .iter_mut()
                .find(|it| it.institution.as_deref() == Some(bank.name()))
            {
                Some(statement) => statement.accounts.push(draft),
                None => {
                    let mut statement = statements::empty(self.world, bank, until);
                    statement.accounts.push(draft);
                    new_statements.push(statement);
                }
            }
        }
        new_statements
    }

    /// The booked balance, and the total of pending debits as a negative number. The booked balance includes the
    /// household's own pending rows that have settled since, and the current cycle up to `until`.
    fn balance(&self, account: Account, until: Timestamp) -> (i64, i64) {
        let mut signed = self.world.balance(account, self.world.today);
        let mut held = 0;
        for entry in statements::pending(self.world, account) {
            match settles_at(entry) <= until {
                true => signed += entry.minor,
                false => held += entry.pending_minor.min(0),
            }
        }
        let last = self.slot_of(until);
        let mut waiting = BTreeMap::new();
        let published = self.cycle(self.cycle_start(last)).into_iter();
        for it in published.filter(|it| it.account == account && it.slot <= last) {
            let minor = it.draft.amount.minor();
            if it.draft.pending {
                waiting.insert(it.draft.external_id, minor.min(0));
            } else {
                waiting.remove(&it.draft.settles);
                signed += minor;
            }
        }
        (signed, held + waiting.values().sum::<i64>())
    }
}

/// A pending transaction settles early in the morning of the day on which it is booked.
fn settles_at(entry: &Entry) -> Timestamp {
    Timestamp::from_second(entry.posted_on * 86_400 + 5 * 3600).unwrap_or(Timestamp::MAX)
}

fn purchase(world: &World, draw: &mut Draw, account: Account, on: Day) -> Entry {
    let (merchants, median) = *draw.pick(&PURCHASE_KINDS);
    let (merchant, price) = (draw.pick(merchants), draw.around(median, &USUAL));
    let mut entry = world.purchase(draw, account, merchant, on, price);
    entry.posted_on = on;
    let tipped = merchant.category == "FOOD_AND_DRINK_RESTAURANT";
    if tipped { entry.settled_for(-price - price * 18 / 100) } else { entry }
}

/// The pay for everything that was spent, and the card payments. They return all balances to those before the cycle.
fn settle_up(world: &World, draw: &mut Draw, spent: &BTreeMap<Account, i64>) -> Vec<(i64, Entry)> {
    let words = format!("SQ *INSTANT TRANSFER {} SQUARE INC PPD ID: 9424300002", draw.digits(8));
    let pay = Entry::posted(draw, Account::Checking, 0, spent.values().sum(), words);
    let mut rows = vec![(PURCHASE_SLOTS, pay.by("Square", "INCOME_GIG_ECONOMY"))];
    for (offset, card) in
        [(PURCHASE_SLOTS + 1, Account::Gold), (PURCHASE_SLOTS + 2, Account::Freedom)]
    {
        let minor = spent.get(&card).copied().unwrap_or(0);
        let (bank, pair) = (card.facts().bank.name(), draw.id());
        let out = format!("Payment to {bank} card ending in {}", world.mask(card));
        let into = "Payment Thank You-Mobile".to_owned();
        for (account, minor, words) in [(Account::Checking, -minor, out), (card, minor, into)] {
            let entry = Entry::posted(draw, account, 0, minor, words);
            let mut entry = entry.by(bank, "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT");
            entry.label.pair = Some(pair.clone());
            rows.push((offset, entry));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use base::draft::{AccountDraft, Statement};
    use base::{Timestamp, days_from_date};

    use crate::Household;

    const START: i64 = 1_773_500_007;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(START + seconds).unwrap()
    }

    fn accounts(statements: Vec<Statement>) -> Vec<AccountDraft> {
        statements.into_iter().flat_map(|it| it.accounts).collect()
    }

    fn owned(account: &AccountDraft) -> i64 {
        let current = account.balance.unwrap().current_minor;
        if account.kind.is_debt() { -current } else { current }
    }

    /// Consumes the feed in the given windows and checks ids and balances as a bank would.
    fn consume(household: &Household, moments: &[i64]) -> (BTreeMap<String, i64>, usize) {
        let mut booked: BTreeMap<String, i64> = BTreeMap::new();
        let mut ids: BTreeSet<String> = BTreeSet::new();
        let mut pending: BTreeSet<String> = BTreeSet::new();
        for account in accounts(household.statements()) {
            booked.insert(account.external_id.clone(), owned(&account));
            let rows = account.transactions.into_iter();
            let seen: Vec<_> = rows.map(|it| (it.external_id.unwrap(), it.pending)).collect();
            pending.extend(seen.iter().filter(|it| it.1).map(|it| it.0.clone()));
            ids.extend(seen.into_iter().map(|it| it.0));
        }
        let before = ids.len();
        for window in moments.windows(2) {
            let statements = household.feed(at(window[0]), at(window[1]), 10);
            for account in accounts(statements) {
                let balance = booked.get_mut(&account.external_id).unwrap();
                for row in &account.transactions {
                    let id = row.external_id.clone().unwrap();
                    assert!(ids.insert(id.clone()), "an id appears twice");
                    assert!(days_from_date(row.posted_on) * 86_400 <= START + window[1]);
                    match row.pending {
                        true => assert!(pending.insert(id)),
                        false => *balance += row.amount.minor(),
                    }
                    if let Some(settles) = &row.settles {
                        assert!(pending.remove(settles), "a row settles an unknown pending row");
                    }
                }
                assert_eq!(*balance, owned(&account), "{}", account.name);
                assert!(account.transactions.iter().all(|it| it.amount.minor() != 0));
            }
        }
        (booked, ids.len() - before)
    }

    #[test]
    fn every_slot_has_new_rows_and_balances_match_to_the_cent() {
        let household = Household::new(11, at(0));
        let moments: Vec<i64> = (0..500).map(|it| it * 10).collect();
        let (_, count) = consume(&household, &moments);
        assert!(count > 700, "{count} rows in 500 slots");
    }

    #[test]
    fn windows_of_any_length_give_the_same_balances_and_long_gaps_are_shortened() {
        let household = Household::new(12, at(0));
        let (whole, _) = consume(&household, &[0, 4_000]);
        let (parts, _) = consume(&household, &[0, 7, 19, 20, 333, 400, 1_000, 3_999, 4_000]);
        assert_eq!(whole, parts);
        let (_, count) = consume(&household, &[0, 95, 40_000, 40_020, 3_000_000, 3_000_300]);
        assert!(count < 500, "{count} rows published at once");
    }

    #[test]
    fn pending_rows_settle_within_days() {
        let household = Household::new(13, at(0));
        let statements = household.feed(at(0), at(5 * 86_400), 600);
        let known: BTreeSet<String> = accounts(household.statements())
            .iter()
            .flat_map(|it| &it.transactions)
            .filter(|it| it.pending)
            .filter_map(|it| it.external_id.clone())
            .collect();
        let settled = accounts(statements)
            .iter()
            .flat_map(|it| &it.transactions)
            .filter(|it| it.settles.as_ref().is_some_and(|id| known.contains(id)))
            .count();
        assert_eq!(settled, known.len());
    }

    #[test]
    fn a_window_without_a_slot_has_no_rows() {
        let household = Household::new(14, at(0)).without_hints();
        assert!(household.feed(at(3), at(4), 3_600).is_empty());
        assert!(household.feed(at(-90), at(-10), 10).is_empty());
        let rows = accounts(household.feed(at(0), at(400), 10));
        assert!(rows.iter().flat_map(|it| &it.transactions).all(|it| it.category.is_none()));
    }
}
