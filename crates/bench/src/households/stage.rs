//! Where the entities of one household act: its accounts, its days, and the rows so far.

use base::days_from_date;
use base::{Date, date_from_days};

use super::accounts::{self, Held, Role};
use super::calendar::{Cadence, in_month, month_of};
use super::merchants::{Merchant, category};
use super::preset::{Preset, Profile, Region};
use super::rng::Rng;
use super::words::{Branch, Channel, Words, branch};
use super::{Amounts, Entity, Noise, Stream, TransferKind, Truth};

pub(super) struct Stage {
    pub(super) seed: u64,
    pub(super) preset: Preset,
    pub(super) profile: Profile,
    pub(super) region: Region,
    /// The first and the last day in view.
    pub(super) first: i64,
    pub(super) last: i64,
    /// What one earner brings home in a month.
    pub(super) net_monthly: i64,
    pub(super) accounts: Vec<Held>,
    pub(super) rows: Vec<Row>,
    pub(super) streams: Vec<Stream>,
    pub(super) pairs: u32,
    /// The entity that acts, and how many rows it has made.
    acting: (&'static str, u32, u32),
}

/// A transaction before it is printed for a bank: days as numbers, links by `id`.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) id: u32,
    /// The entity, which of several of its kind, and its how-manieth row: a name that does not
    /// change when others come or go.
    pub(super) origin: (&'static str, u32, u32),
    pub(super) account: usize,
    pub(super) on: i64,
    pub(super) authorized: Option<i64>,
    pub(super) pending: bool,
    pub(super) minor: i64,
    pub(super) text: String,
    pub(super) truth: Truth,
}

/// A merchant as one household knows it: always the same terminal, in the same few places.
pub(super) struct Payee {
    pub(super) merchant: Merchant,
    raws: Vec<String>,
    branches: Vec<Branch>,
}

/// Where, how and to whom.
pub(super) struct Way<'a> {
    pub(super) account: usize,
    pub(super) payee: &'a Payee,
    pub(super) channel: Channel,
}

/// The days on which something is paid, in order, the next one after the window among them if it
/// goes on.
pub(super) struct Plan {
    pub(super) cadence: Cadence,
    pub(super) amounts: Amounts,
    pub(super) days: Vec<i64>,
}

impl Stage {
    pub(super) fn new(preset: Preset, seed: u64, months: u32) -> Stage {
        // The same number means another household in every preset.
        let seed = Rng::named(seed, preset.name()).next();
        let profile = preset.profile();
        let newest = days_from_date(Date::constant(2026, 6, 30));
        let last = newest - Rng::named(seed, "as of").between(0, 364);
        let first = match preset {
            Preset::NewUser60d => last - 59,
            _ => {
                let day = i64::from(date_from_days(last).day());
                in_month(month_of(last) - i64::from(months), day) + 1
            }
        };
        let region = match Rng::named(seed, "region").chance(25) {
            true => Region::Europe,
            false => Region::America,
        };
        Stage {
            seed,
            preset,
            profile,
            region,
            first,
            last,
            net_monthly: Rng::named(seed, "net income").lognormal(450_000, 400).max(120_000),
            accounts: accounts::open(seed, region, &profile),
            rows: Vec::new(),
            streams: Vec::new(),
            pairs: 0,
            acting: ("", 0, 0),
        }
    }

    /// `nth` tells apart several of one kind, such as the coffee of each member of a family.
    pub(super) fn play(&mut self, entity: &Entity, nth: u32) {
        self.act((entity.name, nth), entity.happen);
    }

    pub(super) fn act(
        &mut self,
        (name, nth): (&'static str, u32),
        happen: impl FnOnce(&mut Stage, &mut Rng),
    ) {
        self.acting = (name, nth, 0);
        let mut rng = Rng::named(self.seed, &format!("{name} {nth}"));
        happen(self, &mut rng);
    }

    /// The first account of that role.
    pub(super) fn find(&self, role: Role) -> Option<usize> {
        self.accounts.iter().position(|it| it.role == role)
    }

    pub(super) fn checking(&self) -> usize {
        self.find(Role::Checking).unwrap_or(0)
    }

    pub(super) fn cards(&self) -> Vec<usize> {
        (0..self.accounts.len()).filter(|it| self.accounts[*it].role == Role::Card).collect()
    }

    /// Most is bought by card, the rest from checking.
    pub(super) fn spending_account(&self, rng: &mut Rng) -> usize {
        if rng.chance(70) { *rng.pick(&self.cards()) } else { self.checking() }
    }

    pub(super) fn payee(&self, rng: &mut Rng, merchant: Merchant) -> Payee {
        // A small shop has one processor, and its name then stands before everything.
        let prefixes: &[&str] = match self.region {
            Region::America => &["", "SQ *", "TST* ", "PY *", "SP "],
            Region::Europe => &["", "SumUp *", "ZETTLE_*", "PAYPAL *"],
        };
        let prefix = if merchant.small { *rng.pick(prefixes) } else { "" };
        let raws = merchant.raw.split('|').map(|raw| format!("{prefix}{raw}")).collect();
        let branches = (0..rng.between(1, 3)).map(|_| branch(rng, self.region)).collect();
        Payee { merchant, raws, branches }
    }

    /// One row of an ordinary payment; negative is money out.
    pub(super) fn pay(&mut self, rng: &mut Rng, way: &Way, on: i64, minor: i64) -> &mut Row {
        let payee = way.payee;
        let mut raw = rng.pick(&payee.raws).clone();
        if raw.ends_with('*') {
            raw.push_str(&format!("{:X}", rng.between(0x1000_0000, 0xffff_ffff)));
        }
        let name = payee.merchant.name;
        let words = Words { name, raw: &raw, branch: rng.pick(&payee.branches), on };
        let text = words.print(&self.accounts[way.account].printer(), way.channel, rng);
        let category = category(payee.merchant.category);
        self.add(way.account, on, minor, text, Truth::of(name, category))
    }

    pub(super) fn add(
        &mut self,
        account: usize,
        on: i64,
        minor: i64,
        text: String,
        truth: Truth,
    ) -> &mut Row {
        let index = self.rows.len();
        let origin = self.acting;
        self.acting.2 += 1;
        self.rows.push(Row {
            id: index as u32,
            origin,
            account,
            on,
            authorized: None,
            pending: false,
            minor,
            text,
            truth,
        });
        &mut self.rows[index]
    }

    /// Pays by plan, and remembers it as a stream.
    pub(super) fn series(
        &mut self,
        rng: &mut Rng,
        way: &Way,
        plan: Plan,
        mut minor: impl FnMut(&mut Rng, i64) -> i64,
    ) {
        let truth = Truth::of(way.payee.merchant.name, category(way.payee.merchant.category));
        let stream = self.stream(way.account, &truth, &plan);
        let last = self.last;
        for day in plan.days.into_iter().filter(|it| *it <= last) {
            let amount = minor(rng, day);
            self.pay(rng, way, day, amount).join(stream, plan.cadence);
        }
    }

    /// What the bank itself pays or charges by plan, in words that never change.
    pub(super) fn statement_lines(
        &mut self,
        account: usize,
        text: &str,
        truth: Truth,
        plan: Plan,
        mut minor: impl FnMut(i64) -> i64,
    ) {
        let stream = self.stream(account, &truth, &plan);
        let last = self.last;
        for day in plan.days.into_iter().filter(|it| *it <= last) {
            let row = self.add(account, day, minor(day), text.to_owned(), truth.clone());
            row.join(stream, plan.cadence);
        }
    }

    pub(super) fn stream(&mut self, account: usize, truth: &Truth, plan: &Plan) -> u32 {
        let next = plan.days.iter().find(|it| **it > self.last);
        self.streams.push(Stream {
            account,
            merchant: truth.merchant.clone(),
            category: truth.category,
            cadence: plan.cadence,
            amounts: plan.amounts,
            next_on: next.map(|day| date_from_days(*day)),
            occurrences: 0,
            short: false,
        });
        self.streams.len() as u32 - 1
    }

    /// Far enough to hold the next one of every cadence.
    pub(super) fn horizon(&self) -> i64 {
        self.last + 400
    }
}

impl Row {
    pub(super) fn join(&mut self, stream: u32, cadence: Cadence) -> &mut Row {
        self.truth.stream = Some(stream);
        self.truth.cadence = Some(cadence);
        self
    }

    pub(super) fn tag(&mut self, noise: Noise) -> &mut Row {
        self.truth.noise.push(noise);
        self
    }
}

impl Truth {
    pub(super) fn of(merchant: &str, category: base::category::Category) -> Truth {
        Truth {
            merchant: merchant.to_owned(),
            category,
            stream: None,
            cadence: None,
            pair: None,
            transfer: None,
            income: category.primary() == "INCOME",
            refund_of: None,
            noise: Vec::new(),
        }
    }

    pub(super) fn moving(mut self, pair: u32, kind: TransferKind) -> Truth {
        self.pair = Some(pair);
        self.transfer = Some(kind);
        self
    }
}
