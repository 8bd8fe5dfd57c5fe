//! The state of the simulation: people, place, time range, and the transactions generated so far.

use base::Timestamp;

use super::accounts::Account;
use super::calendar::{Cadence, Day, day_of};
use super::draw::Draw;
use super::entry::Entry;
use super::merchants::Merchant;
use super::places::{PEOPLE, People, TOWNS, Town};
use super::portfolio::Portfolio;
use super::wording;

/// Two years plus the final day.
const SPAN: Day = 730;

#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) external_id: String,
    pub(super) mask: String,
}

/// A balance change that the bank reports no transaction for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unreported {
    pub(super) account: Account,
    pub(super) on: Day,
    pub(super) minor: i64,
}

pub(super) struct World {
    pub(super) seed: u64,
    pub(super) as_of: Timestamp,
    pub(super) start: Day,
    pub(super) today: Day,
    pub(super) people: &'static People,
    pub(super) town: &'static Town,
    pub(super) book: Vec<Entry>,
    pub(super) unreported: Option<Unreported>,
    pub(super) college_closed_on: Day,
    pub(super) portfolio: Portfolio,
    identities: Vec<Identity>,
    /// The balance of each account before the first day. Debts are negative.
    openings: [i64; Account::ALL.len()],
}

/// Both legs of a transfer between own accounts.
pub(super) struct Transfer<'a> {
    pub(super) from: Account,
    pub(super) to: Account,
    pub(super) minor: i64,
    pub(super) leaves_on: Day,
    pub(super) arrives_on: Day,
    pub(super) kind: &'static str,
    pub(super) words: (String, String),
    pub(super) categories: (&'static str, &'static str),
    pub(super) stream: Option<(&'a str, Cadence)>,
}

impl World {
    pub(super) fn new(seed: u64, as_of: Timestamp) -> World {
        let today = day_of(as_of);
        let identities = Account::ALL.map(|account| {
            let mut draw = Draw::new(seed, 0, account.entity());
            Identity { external_id: draw.id(), mask: draw.digits(4) }
        });
        World {
            seed,
            as_of,
            start: today - SPAN,
            today,
            people: Draw::new(seed, 0, "people").pick(&PEOPLE),
            town: Draw::new(seed, 0, "town").pick(&TOWNS),
            book: Vec::with_capacity(5_000),
            unreported: None,
            college_closed_on: today,
            portfolio: Portfolio::default(),
            identities: identities.into(),
            openings: [0; Account::ALL.len()],
        }
    }

    pub(super) fn draw(&self, entity: &str) -> Draw {
        Draw::new(self.seed, 0, entity)
    }

    pub(super) fn identity(&self, account: Account) -> &Identity {
        &self.identities[account as usize]
    }

    pub(super) fn mask(&self, account: Account) -> &str {
        &self.identity(account).mask
    }

    pub(super) fn open(&mut self, account: Account, minor: i64) {
        self.openings[account as usize] = minor;
    }

    pub(super) fn add(&mut self, entry: Entry) {
        // A transaction that the bank first sees after the last day does not exist yet; one booked before the first
        // day is part of the opening balance.
        let seen_on = entry.authorized_on.unwrap_or(entry.posted_on);
        if entry.posted_on >= self.start && seen_on <= self.today {
            self.book.push(entry);
        }
    }

    /// A card purchase: authorized on the day, booked up to three days later.
    pub(super) fn purchase(
        &self,
        draw: &mut Draw,
        account: Account,
        merchant: &Merchant,
        on: Day,
        price_minor: i64,
    ) -> Entry {
        let garbled = draw.permille(25);
        let words = match garbled {
            true => wording::garble(draw, merchant),
            false => wording::purchase(draw, self.town, account, merchant, on),
        };
        let lag = match account {
            Account::Freedom | Account::Gold => *draw.pick(&[1, 1, 1, 2, 2, 3]),
            _ => *draw.pick(&[0, 0, 1, 1, 2]),
        };
        let entry = Entry::posted(draw, account, on + lag, -price_minor, words);
        let entry = entry.by(merchant.name, merchant.category).authorized(on);
        if garbled { entry.tag("broken_key") } else { entry }
    }

    /// Adds both legs, or none if one lies outside the two years.
    pub(super) fn transfer(&mut self, draw: &mut Draw, transfer: Transfer<'_>) {
        let Transfer { from, to, minor, leaves_on, arrives_on, kind, .. } = transfer;
        let inside = |day: Day| (self.start..=self.today).contains(&day);
        if !inside(leaves_on) || !inside(arrives_on) || minor <= 0 {
            return;
        }
        let pair = draw.id();
        let (out, into) = transfer.words;
        let legs = [
            (from, leaves_on, -minor, out, transfer.categories.0, "out"),
            (to, arrives_on, minor, into, transfer.categories.1, "in"),
        ];
        for (account, on, minor, words, code, side) in legs {
            let mut entry = Entry::posted(draw, account, on, minor, words);
            entry = entry.by(other_bank_name(from, to, side), code);
            if let Some((stream, cadence)) = transfer.stream {
                entry = entry.stream(&format!("{stream}/{side}"), cadence);
            }
            entry.label.pair = Some(pair.clone());
            entry.label.transfer_kind = Some(kind);
            self.add(entry);
        }
    }

    /// The booked balance at the end of a day; debts are negative.
    pub(super) fn balance(&self, account: Account, day: Day) -> i64 {
        let rows = self.book.iter().filter(|it| it.account == account && it.posted_on <= day);
        self.openings[account as usize]
            + rows.map(|it| it.minor).sum::<i64>()
            + self.unreported_until(account, day)
    }

    /// Booked balances at the end of every day, beginning with the day before the first.
    pub(super) fn daily_balances(&self, account: Account) -> Vec<i64> {
        let mut changes = vec![0; (self.today - self.start + 2) as usize];
        changes[0] = self.openings[account as usize];
        for entry in self.book.iter().filter(|it| it.account == account) {
            if let Some(change) = changes.get_mut((entry.posted_on - self.start + 1) as usize) {
                *change += entry.minor;
            }
        }
        if let Some(it) = self.unreported.filter(|it| it.account == account) {
            changes[(it.on - self.start + 1) as usize] += it.minor;
        }
        let mut balance = 0;
        for change in &mut changes {
            balance += *change;
            *change = balance;
        }
        changes
    }

    fn unreported_until(&self, account: Account, day: Day) -> i64 {
        self.unreported.filter(|it| it.account == account && it.on <= day).map_or(0, |it| it.minor)
    }
}

/// The name of the other leg's bank, which each leg carries as its merchant.
fn other_bank_name(from: Account, to: Account, side: &str) -> &'static str {
    if side == "out" { to.facts().bank.name() } else { from.facts().bank.name() }
}
