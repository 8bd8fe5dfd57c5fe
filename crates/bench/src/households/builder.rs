//! Builds one household: its accounts, its days, and the rows that entities have generated so far.

use base::days_from_date;
use base::{Date, date_from_days};

use super::accounts::{self, LinkedAccount, Role};
use super::calendar::{Cadence, in_month, month_of};
use super::descriptions::{Branch, Channel, DescriptionParts, branch};
use super::merchants::{Merchant, category};
use super::preset::{Preset, Profile, Region};
use super::rng::Rng;
use super::{Amounts, Entity, Noise, Stream, TransferKind, Truth};

pub(super) struct HouseholdBuilder {
    pub(super) seed: u64,
    pub(super) preset: Preset,
    pub(super) profile: Profile,
    pub(super) region: Region,
    /// The first and the last day of the window.
    pub(super) first: i64,
    pub(super) last: i64,
    /// The net monthly income of one earner.
    pub(super) net_monthly: i64,
    pub(super) accounts: Vec<LinkedAccount>,
    pub(super) rows: Vec<Row>,
    pub(super) streams: Vec<Stream>,
    pub(super) pairs: u32,
    /// The entity that is running, its number, and how many rows it has generated.
    current_entity: (&'static str, u32, u32),
}

/// A transaction under construction: days as numbers, links by `id`.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) id: u32,
    /// The name and number of the entity, and the number of the row within it. Adding or removing other entities does
    /// not change it.
    pub(super) origin: (&'static str, u32, u32),
    pub(super) account: usize,
    pub(super) on: i64,
    pub(super) authorized: Option<i64>,
    pub(super) pending: bool,
    pub(super) minor: i64,
    pub(super) text: String,
    pub(super) truth: Truth,
}

/// A merchant as one household uses it: always the same processor, in the same few branches.
pub(super) struct Payee {
    pub(super) merchant: Merchant,
    raws: Vec<String>,
    branches: Vec<Branch>,
}

/// The account, payee and channel of a payment.
pub(super) struct Payment<'a> {
    pub(super) account: usize,
    pub(super) payee: &'a Payee,
    pub(super) channel: Channel,
}

/// The days on which something is paid, in order. If it continues, they include the first one after the window.
pub(super) struct Plan {
    pub(super) cadence: Cadence,
    pub(super) amounts: Amounts,
    pub(super) days: Vec<i64>,
}

impl HouseholdBuilder {
    pub(super) fn new(preset: Preset, seed: u64, months: u32) -> HouseholdBuilder {
        // The same seed gives a different household in every preset.
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
        HouseholdBuilder {
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
            current_entity: ("", 0, 0),
        }
    }

    /// Runs an entity. `nth` distinguishes several of one kind, such as the coffee of each member of a family.
    pub(super) fn run(&mut self, entity: &Entity, nth: u32) {
        self.run_named((entity.name, nth), entity.generate);
    }

    pub(super) fn run_named(
        &mut self,
        (name, nth): (&'static str, u32),
        generate: impl FnOnce(&mut HouseholdBuilder, &mut Rng),
    ) {
        self.current_entity = (name, nth, 0);
        let mut rng = Rng::named(self.seed, &format!("{name} {nth}"));
        generate(self, &mut rng);
    }

    /// The first account with the role.
    pub(super) fn find(&self, role: Role) -> Option<usize> {
        self.accounts.iter().position(|it| it.role == role)
    }

    pub(super) fn checking(&self) -> usize {
        self.find(Role::Checking).unwrap_or(0)
    }

    pub(super) fn cards(&self) -> Vec<usize> {
        (0..self.accounts.len()).filter(|it| self.accounts[*it].role == Role::Card).collect()
    }

    /// The account of a purchase: mostly a card, otherwise checking.
    pub(super) fn spending_account(&self, rng: &mut Rng) -> usize {
        if rng.chance(70) { *rng.pick(&self.cards()) } else { self.checking() }
    }

    pub(super) fn payee(&self, rng: &mut Rng, merchant: Merchant) -> Payee {
        // A small shop uses one payment processor, whose prefix is on every row.
        let prefixes: &[&str] = match self.region {
            Region::America => &["", "SQ *", "TST* ", "PY *", "SP "],
            Region::Europe => &["", "SumUp *", "ZETTLE_*", "PAYPAL *"],
        };
        let prefix = if merchant.small { *rng.pick(prefixes) } else { "" };
        let raws = merchant.raw.split('|').map(|raw| format!("{prefix}{raw}")).collect();
        let branches = (0..rng.between(1, 3)).map(|_| branch(rng, self.region)).collect();
        Payee { merchant, raws, branches }
    }

    /// Adds the row of an ordinary payment. Negative amounts are outflows.
    pub(super) fn pay(
        &mut self,
        rng: &mut Rng,
        payment: &Payment,
        on: i64,
        minor: i64,
    ) -> &mut Row {
        let payee = payment.payee;
        let mut raw = rng.pick(&payee.raws).clone();
        if raw.ends_with('*') {
            raw.push_str(&format!("{:X}", rng.between(0x1000_0000, 0xffff_ffff)));
        }
        let name = payee.merchant.name;
        let description_parts =
            DescriptionParts { name, raw: &raw, branch: rng.pick(&payee.branches), on };
        let text = description_parts.print(
            &self.accounts[payment.account].printer(),
            payment.channel,
            rng,
        );
        let category = category(payee.merchant.category);
        self.add(payment.account, on, minor, text, Truth::of(name, category))
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
        let origin = self.current_entity;
        self.current_entity.2 += 1;
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

    /// Adds the payments of a plan, and records them as a stream.
    pub(super) fn series(
        &mut self,
        rng: &mut Rng,
        payment: &Payment,
        plan: Plan,
        mut minor: impl FnMut(&mut Rng, i64) -> i64,
    ) {
        let truth =
            Truth::of(payment.payee.merchant.name, category(payment.payee.merchant.category));
        let stream = self.stream(payment.account, &truth, &plan);
        let last = self.last;
        for day in plan.days.into_iter().filter(|it| *it <= last) {
            let amount = minor(rng, day);
            self.pay(rng, payment, day, amount).join(stream, plan.cadence);
        }
    }

    /// Adds what the bank itself pays or charges by a plan, always with the same text.
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

    /// Far enough after the window to include the next due day of every cadence.
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

    pub(super) fn with_transfer(mut self, pair: u32, kind: TransferKind) -> Truth {
        self.pair = Some(pair);
        self.transfer = Some(kind);
        self
    }
}
