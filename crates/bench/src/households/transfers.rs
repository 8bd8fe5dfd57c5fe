//! Money that moves between a household's own accounts, as both banks tell it.

use super::accounts::Role;
use super::calendar::{Cadence, in_month, month_of, on_or_after};
use super::merchants::category;
use super::rng::Rng;
use super::stage::{Plan, Stage, Way};
use super::words::{Channel, sentence};
use super::{Amounts, Noise, Region, TransferKind, Truth, phrases};

/// From where to where, and how many days later than the first leg the second may be posted.
#[derive(Clone, Copy)]
pub(super) struct Legs {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: TransferKind,
    pub(super) lag: (i64, i64),
}

pub(super) struct Movement {
    minor: i64,
    /// Kept by whoever moves it, so that less arrives.
    fee_minor: i64,
}

impl Movement {
    pub(super) fn plain(minor: i64) -> Movement {
        Movement { minor, fee_minor: 0 }
    }
}

/// What both banks print for one order, every time the same but for references.
struct Print {
    out: (&'static str, bool),
    into: (&'static str, bool),
}

impl Stage {
    fn print(&self, rng: &mut Rng, legs: &Legs) -> Print {
        let phrases = match self.region {
            Region::America => &phrases::AMERICAN,
            Region::Europe => &phrases::EUROPEAN,
        };
        let card = legs.kind == TransferKind::CardPayment;
        let telling_out = *rng.pick(if card { phrases.card_out } else { phrases.out });
        let telling_in = *rng.pick(if card { phrases.card_in } else { phrases.into });
        let (vague_out, vague_in) = (*rng.pick(phrases.vague_out), *rng.pick(phrases.vague_in));
        let percent = self.profile.hints_percent;
        let (tells, told) = (rng.chance(percent), rng.chance(percent));
        Print {
            out: if tells { (telling_out, true) } else { (vague_out, false) },
            into: if told { (telling_in, true) } else { (vague_in, false) },
        }
    }

    /// What one leg says, and what is true of it. `other` is the account at the far end.
    fn leg(
        &self,
        rng: &mut Rng,
        (template, hinted): (&str, bool),
        other: usize,
        code: &str,
    ) -> (String, Truth) {
        let other = &self.accounts[other];
        let given = [
            ("WORD", other.bank.word),
            ("mask", other.mask()),
            ("name", other.draft.name.as_str()),
        ];
        let mut truth = Truth::of(other.bank.name, category(code));
        if !hinted {
            truth.noise.push(Noise::NoHint);
        }
        (sentence(template, &given, rng), truth)
    }

    /// Both legs; the days are those on which each is posted.
    fn move_money(
        &mut self,
        rng: &mut Rng,
        legs: &Legs,
        print: &Print,
        days: (i64, i64),
        movement: &Movement,
    ) -> [usize; 2] {
        let pair = self.pairs;
        self.pairs += 1;
        let (out_code, in_code) = codes(legs.kind);
        let (out_text, out_truth) = self.leg(rng, print.out, legs.to, out_code);
        let (in_text, in_truth) = self.leg(rng, print.into, legs.from, in_code);
        let index = self.rows.len();
        let arrives = movement.minor - movement.fee_minor;
        let out_truth = out_truth.moving(pair, legs.kind);
        self.add(legs.from, days.0, -movement.minor, out_text, out_truth);
        self.add(legs.to, days.1, arrives, in_text, in_truth.moving(pair, legs.kind));
        if movement.fee_minor > 0 {
            self.rows[index].tag(Noise::Fee);
            self.rows[index + 1].tag(Noise::Fee);
        }
        [index, index + 1]
    }

    pub(super) fn once(&mut self, rng: &mut Rng, legs: &Legs, on: i64, movement: &Movement) {
        let print = self.print(rng, legs);
        let arrives = on + rng.between(legs.lag.0, legs.lag.1);
        self.move_money(rng, legs, &print, (on, arrives), movement);
    }

    /// A movement by plan: each of its legs is a stream of its account. Nothing moves on a day for
    /// which nothing is due.
    pub(super) fn standing_order(
        &mut self,
        rng: &mut Rng,
        legs: &Legs,
        plan: Plan,
        mut movement: impl FnMut(&mut Rng, usize) -> Movement,
    ) {
        let print = self.print(rng, legs);
        let lags = legs.lag;
        let arrivals: Vec<i64> =
            plan.days.iter().map(|day| day + rng.between(lags.0, lags.1)).collect();
        let Plan { cadence, amounts, ref days } = plan;
        let into = Plan { cadence, amounts, days: arrivals };
        let (out_code, in_code) = codes(legs.kind);
        let name = |stage: &Stage, account: usize| stage.accounts[account].bank.name;
        let out_truth = Truth::of(name(self, legs.to), category(out_code));
        let in_truth = Truth::of(name(self, legs.from), category(in_code));
        let streams =
            [self.stream(legs.from, &out_truth, &plan), self.stream(legs.to, &in_truth, &into)];
        for (index, (day, arrival)) in days.iter().zip(&into.days).enumerate() {
            let due = movement(rng, index);
            if *day.min(arrival) <= self.last && due.minor > 0 {
                let rows = self.move_money(rng, legs, &print, (*day, *arrival), &due);
                for (row, stream) in rows.into_iter().zip(streams) {
                    self.rows[row].join(stream, cadence);
                }
            }
        }
    }
}

fn codes(kind: TransferKind) -> (&'static str, &'static str) {
    match kind {
        TransferKind::Between => ("TRANSFER_OUT_ACCOUNT_TRANSFER", "TRANSFER_IN_ACCOUNT_TRANSFER"),
        TransferKind::CardPayment => {
            ("LOAN_PAYMENTS_CREDIT_CARD_PAYMENT", "LOAN_PAYMENTS_CREDIT_CARD_PAYMENT")
        }
        TransferKind::Investment => (
            "TRANSFER_OUT_INVESTMENT_AND_RETIREMENT_FUNDS",
            "TRANSFER_IN_INVESTMENT_AND_RETIREMENT_FUNDS",
        ),
        TransferKind::LoanPayment => {
            ("LOAN_PAYMENTS_MORTGAGE_PAYMENT", "LOAN_PAYMENTS_MORTGAGE_PAYMENT")
        }
        TransferKind::Savings => ("TRANSFER_OUT_SAVINGS", "TRANSFER_IN_SAVINGS"),
    }
}

pub(super) fn savings(stage: &mut Stage, rng: &mut Rng) {
    let Some(to) = stage.find(Role::Savings) else { return };
    let legs = Legs { from: stage.checking(), to, kind: TransferKind::Savings, lag: (0, 1) };
    let minor = 2_500 * rng.between(1, 16);
    let cadence = if rng.chance(70) { Cadence::Biweekly } else { Cadence::Monthly };
    let due = cadence.due(stage.first + rng.between(0, 13), stage.first, stage.horizon());
    let days = due.into_iter().map(|it| on_or_after(it, stage.region)).collect();
    if rng.chance(80) {
        let plan = Plan { cadence, amounts: Amounts::Fixed, days };
        stage.standing_order(rng, &legs, plan, |_, _| Movement::plain(minor));
    }
    // Now and then some of it comes back.
    let back = Legs { from: to, to: legs.from, ..legs };
    for month in month_of(stage.first)..=month_of(stage.last) {
        let on = on_or_after(in_month(month, rng.between(1, 28)), stage.region);
        let minor =
            if rng.chance(50) { 10_000 * rng.between(1, 9) } else { rng.lognormal(23_000, 500) };
        if rng.chance(15) {
            stage.once(rng, &back, on, &Movement::plain(minor));
        }
    }
}

pub(super) fn brokerage(stage: &mut Stage, rng: &mut Rng) {
    let Some(to) = stage.find(Role::Broker) else { return };
    let legs = Legs { from: stage.checking(), to, kind: TransferKind::Investment, lag: (0, 3) };
    let minor = 5_000 * rng.between(1, 20);
    let due = Cadence::Monthly.due(stage.first + rng.between(0, 29), stage.first, stage.horizon());
    let days = due.into_iter().map(|it| on_or_after(it, stage.region)).collect();
    if rng.chance(65) {
        let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
        stage.standing_order(rng, &legs, plan, |_, _| Movement::plain(minor));
    }
}

/// Two transfers of one amount on one day, to two accounts: only words tell which is which.
pub(super) fn equal_pair(stage: &mut Stage, rng: &mut Rng) {
    let (Some(savings), Some(joint)) =
        (stage.find(Role::Savings), stage.find(Role::SecondChecking))
    else {
        return;
    };
    let from = stage.checking();
    for month in month_of(stage.first)..=month_of(stage.last) {
        let on = on_or_after(in_month(month, rng.between(1, 28)), stage.region);
        let movement = Movement::plain(5_000 * rng.between(1, 8));
        if rng.chance(20) {
            for (to, kind) in [(savings, TransferKind::Savings), (joint, TransferKind::Between)] {
                stage.once(rng, &Legs { from, to, kind, lag: (0, 1) }, on, &movement);
            }
        }
    }
}

/// The wallet is filled with just what it then pays: only the first half is a transfer.
pub(super) fn wallet_hop(stage: &mut Stage, rng: &mut Rng) {
    let Some(wallet) = stage.find(Role::Wallet) else { return };
    let shops = stage.haunts(rng, "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", 3);
    let kind = TransferKind::Between;
    let legs = Legs { from: stage.checking(), to: wallet, kind, lag: (-1, 1) };
    for month in month_of(stage.first)..=month_of(stage.last) {
        let shop = rng.pick(&shops);
        let minor = rng.lognormal(shop.merchant.typical_minor, 500);
        let on = in_month(month, rng.between(1, 28));
        if rng.chance(45) {
            stage.once(rng, &legs, on, &Movement::plain(minor));
            let way = Way { account: wallet, payee: shop, channel: Channel::Online };
            stage.pay(rng, &way, on, -minor);
        }
    }
}

/// Out of the wallet at once, for a fee.
pub(super) fn cash_out(stage: &mut Stage, rng: &mut Rng) {
    let Some(wallet) = stage.find(Role::Wallet) else { return };
    let kind = TransferKind::Between;
    let legs = Legs { from: wallet, to: stage.checking(), kind, lag: (0, 1) };
    for month in month_of(stage.first)..=month_of(stage.last) {
        let minor = rng.lognormal(9_000, 500).max(1_000);
        let on = in_month(month, rng.between(1, 28));
        let fee_minor = if rng.chance(60) { (minor * 175 / 10_000).max(25) } else { 0 };
        if rng.chance(20) {
            stage.once(rng, &legs, on, &Movement { minor, fee_minor });
        }
    }
}

/// Each card is paid once a month: what was bought until its statement closed.
pub(super) fn card_autopay(stage: &mut Stage, rng: &mut Rng) {
    for card in stage.cards() {
        let closing = rng.between(1, 28);
        let grace = rng.between(21, 25);
        let in_full = rng.chance(85);
        let fixed = 10_000 * rng.between(1, 5);
        let before = rng.lognormal(30_000, 400);
        let region = stage.region;
        let months: Vec<i64> = (month_of(stage.first) - 2..=month_of(stage.last) + 1).collect();
        let days: Vec<i64> =
            months.iter().map(|it| on_or_after(in_month(*it, closing) + grace, region)).collect();
        let statements: Vec<i64> = months
            .iter()
            .map(|month| {
                let (from, to) = (in_month(*month - 1, closing), in_month(*month, closing));
                let bought = stage.rows.iter().filter(|it| it.account == card && !it.pending);
                let seen: i64 =
                    bought.filter(|it| from < it.on && it.on <= to).map(|it| -it.minor).sum();
                // What was bought before anybody looked is on the first statement too.
                if from < stage.first { seen + before } else { seen }
            })
            .collect();
        let (from, kind) = (stage.checking(), TransferKind::CardPayment);
        let legs = Legs { from, to: card, kind, lag: (-1, 2) };
        let amounts = if in_full { Amounts::Varying } else { Amounts::Fixed };
        let plan = Plan { cadence: Cadence::Monthly, amounts, days };
        stage.standing_order(rng, &legs, plan, |_, index| {
            Movement::plain(if in_full { statements[index] } else { fixed })
        });
    }
}
