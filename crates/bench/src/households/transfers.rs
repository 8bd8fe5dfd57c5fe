//! Transfers between a household's own accounts, as both banks report them.

use super::accounts::Role;
use super::builder::{HouseholdBuilder, Payment, Plan};
use super::calendar::{Cadence, in_month, month_of, on_or_after};
use super::descriptions::{Channel, fill_template};
use super::merchants::category;
use super::rng::Rng;
use super::{Amounts, Noise, Region, TransferKind, Truth, phrases};

/// Source and destination of a transfer, and how many days later the second leg may be posted.
#[derive(Clone, Copy)]
pub(super) struct Legs {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: TransferKind,
    pub(super) lag: (i64, i64),
}

pub(super) struct Movement {
    minor: i64,
    /// Kept by the intermediary, so that less arrives.
    fee_minor: i64,
}

impl Movement {
    pub(super) fn plain(minor: i64) -> Movement {
        Movement { minor, fee_minor: 0 }
    }
}

/// The templates that both banks print for one order, each with whether it has a hint.
struct TransferTexts {
    out: (&'static str, bool),
    into: (&'static str, bool),
}

impl HouseholdBuilder {
    fn texts(&self, rng: &mut Rng, legs: &Legs) -> TransferTexts {
        let phrases = match self.region {
            Region::America => &phrases::AMERICAN,
            Region::Europe => &phrases::EUROPEAN,
        };
        let card = legs.kind == TransferKind::CardPayment;
        let hinting_out = *rng.pick(if card { phrases.card_out } else { phrases.out });
        let hinting_in = *rng.pick(if card { phrases.card_in } else { phrases.into });
        let (vague_out, vague_in) = (*rng.pick(phrases.vague_out), *rng.pick(phrases.vague_in));
        let percent = self.profile.hints_percent;
        let (hints_out, hints_in) = (rng.chance(percent), rng.chance(percent));
        TransferTexts {
            out: if hints_out { (hinting_out, true) } else { (vague_out, false) },
            into: if hints_in { (hinting_in, true) } else { (vague_in, false) },
        }
    }

    /// The text and truth of one leg. `other` is the account of the other leg.
    fn leg(
        &self,
        rng: &mut Rng,
        (template, hinted): (&str, bool),
        other: usize,
        code: &str,
    ) -> (String, Truth) {
        let other = &self.accounts[other];
        let given = [
            ("WORD", other.bank.short_name),
            ("mask", other.mask()),
            ("name", other.draft.name.as_str()),
        ];
        let mut truth = Truth::of(other.bank.name, category(code));
        if !hinted {
            truth.noise.push(Noise::NoHint);
        }
        (fill_template(template, &given, rng), truth)
    }

    /// Adds both legs, posted on the given days. Returns their row indices.
    fn move_money(
        &mut self,
        rng: &mut Rng,
        legs: &Legs,
        texts: &TransferTexts,
        days: (i64, i64),
        movement: &Movement,
    ) -> [usize; 2] {
        let pair = self.pairs;
        self.pairs += 1;
        let (out_code, in_code) = codes(legs.kind);
        let (out_text, out_truth) = self.leg(rng, texts.out, legs.to, out_code);
        let (in_text, in_truth) = self.leg(rng, texts.into, legs.from, in_code);
        let index = self.rows.len();
        let arrives = movement.minor - movement.fee_minor;
        let out_truth = out_truth.with_transfer(pair, legs.kind);
        self.add(legs.from, days.0, -movement.minor, out_text, out_truth);
        self.add(legs.to, days.1, arrives, in_text, in_truth.with_transfer(pair, legs.kind));
        if movement.fee_minor > 0 {
            self.rows[index].tag(Noise::Fee);
            self.rows[index + 1].tag(Noise::Fee);
        }
        [index, index + 1]
    }

    pub(super) fn once(&mut self, rng: &mut Rng, legs: &Legs, on: i64, movement: &Movement) {
        let texts = self.texts(rng, legs);
        let arrives = on + rng.between(legs.lag.0, legs.lag.1);
        self.move_money(rng, legs, &texts, (on, arrives), movement);
    }

    /// Transfers by a plan: each leg is a stream of its account. Nothing is transferred if the amount is zero.
    pub(super) fn standing_order(
        &mut self,
        rng: &mut Rng,
        legs: &Legs,
        plan: Plan,
        mut movement: impl FnMut(&mut Rng, usize) -> Movement,
    ) {
        let texts = self.texts(rng, legs);
        let lags = legs.lag;
        let arrivals: Vec<i64> =
            plan.days.iter().map(|day| day + rng.between(lags.0, lags.1)).collect();
        let Plan { cadence, amounts, ref days } = plan;
        let into = Plan { cadence, amounts, days: arrivals };
        let (out_code, in_code) = codes(legs.kind);
        let name = |builder: &HouseholdBuilder, account: usize| builder.accounts[account].bank.name;
        let out_truth = Truth::of(name(self, legs.to), category(out_code));
        let in_truth = Truth::of(name(self, legs.from), category(in_code));
        let streams =
            [self.stream(legs.from, &out_truth, &plan), self.stream(legs.to, &in_truth, &into)];
        for (index, (day, arrival)) in days.iter().zip(&into.days).enumerate() {
            let due = movement(rng, index);
            if *day.min(arrival) <= self.last && due.minor > 0 {
                let rows = self.move_money(rng, legs, &texts, (*day, *arrival), &due);
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

pub(super) fn savings(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let Some(to) = builder.find(Role::Savings) else { return };
    let legs = Legs { from: builder.checking(), to, kind: TransferKind::Savings, lag: (0, 1) };
    let minor = 2_500 * rng.between(1, 16);
    let cadence = if rng.chance(70) { Cadence::Biweekly } else { Cadence::Monthly };
    let due = cadence.due(builder.first + rng.between(0, 13), builder.first, builder.horizon());
    let days = due.into_iter().map(|it| on_or_after(it, builder.region)).collect();
    if rng.chance(80) {
        let plan = Plan { cadence, amounts: Amounts::Fixed, days };
        builder.standing_order(rng, &legs, plan, |_, _| Movement::plain(minor));
    }
    // Sometimes part of the savings is transferred back.
    let back = Legs { from: to, to: legs.from, ..legs };
    for month in month_of(builder.first)..=month_of(builder.last) {
        let on = on_or_after(in_month(month, rng.between(1, 28)), builder.region);
        let minor =
            if rng.chance(50) { 10_000 * rng.between(1, 9) } else { rng.lognormal(23_000, 500) };
        if rng.chance(15) {
            builder.once(rng, &back, on, &Movement::plain(minor));
        }
    }
}

pub(super) fn brokerage(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let Some(to) = builder.find(Role::Broker) else { return };
    let legs = Legs { from: builder.checking(), to, kind: TransferKind::Investment, lag: (0, 3) };
    let minor = 5_000 * rng.between(1, 20);
    let due =
        Cadence::Monthly.due(builder.first + rng.between(0, 29), builder.first, builder.horizon());
    let days = due.into_iter().map(|it| on_or_after(it, builder.region)).collect();
    if rng.chance(65) {
        let plan = Plan { cadence: Cadence::Monthly, amounts: Amounts::Fixed, days };
        builder.standing_order(rng, &legs, plan, |_, _| Movement::plain(minor));
    }
}

/// Two transfers of one amount on one day to two accounts, which only their texts distinguish.
pub(super) fn equal_pair(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let (Some(savings), Some(joint)) =
        (builder.find(Role::Savings), builder.find(Role::SecondChecking))
    else {
        return;
    };
    let from = builder.checking();
    for month in month_of(builder.first)..=month_of(builder.last) {
        let on = on_or_after(in_month(month, rng.between(1, 28)), builder.region);
        let movement = Movement::plain(5_000 * rng.between(1, 8));
        if rng.chance(20) {
            for (to, kind) in [(savings, TransferKind::Savings), (joint, TransferKind::Between)] {
                builder.once(rng, &Legs { from, to, kind, lag: (0, 1) }, on, &movement);
            }
        }
    }
}

/// A wallet is funded with exactly the amount it then pays. Only the funding is a transfer.
pub(super) fn wallet_hop(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let Some(wallet) = builder.find(Role::Wallet) else { return };
    let shops = builder.usual_payees(rng, "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES", 3);
    let kind = TransferKind::Between;
    let legs = Legs { from: builder.checking(), to: wallet, kind, lag: (-1, 1) };
    for month in month_of(builder.first)..=month_of(builder.last) {
        let shop = rng.pick(&shops);
        let minor = rng.lognormal(shop.merchant.typical_minor, 500);
        let on = in_month(month, rng.between(1, 28));
        if rng.chance(45) {
            builder.once(rng, &legs, on, &Movement::plain(minor));
            let payment = Payment { account: wallet, payee: shop, channel: Channel::Online };
            builder.pay(rng, &payment, on, -minor);
        }
    }
}

/// Instant withdrawals from the wallet, for a fee.
pub(super) fn cash_out(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    let Some(wallet) = builder.find(Role::Wallet) else { return };
    let kind = TransferKind::Between;
    let legs = Legs { from: wallet, to: builder.checking(), kind, lag: (0, 1) };
    for month in month_of(builder.first)..=month_of(builder.last) {
        let minor = rng.lognormal(9_000, 500).max(1_000);
        let on = in_month(month, rng.between(1, 28));
        let fee_minor = if rng.chance(60) { (minor * 175 / 10_000).max(25) } else { 0 };
        if rng.chance(20) {
            builder.once(rng, &legs, on, &Movement { minor, fee_minor });
        }
    }
}

/// Each card is paid once a month, with the sum of purchases until its statement closed.
pub(super) fn card_autopay(builder: &mut HouseholdBuilder, rng: &mut Rng) {
    for card in builder.cards() {
        let closing = rng.between(1, 28);
        let grace = rng.between(21, 25);
        let in_full = rng.chance(85);
        let fixed = 10_000 * rng.between(1, 5);
        let before = rng.lognormal(30_000, 400);
        let region = builder.region;
        let months: Vec<i64> = (month_of(builder.first) - 2..=month_of(builder.last) + 1).collect();
        let days: Vec<i64> =
            months.iter().map(|it| on_or_after(in_month(*it, closing) + grace, region)).collect();
        let statements: Vec<i64> = months
            .iter()
            .map(|month| {
                let (from, to) = (in_month(*month - 1, closing), in_month(*month, closing));
                let bought = builder.rows.iter().filter(|it| it.account == card && !it.pending);
                let seen: i64 =
                    bought.filter(|it| from < it.on && it.on <= to).map(|it| -it.minor).sum();
                // Purchases before the window are on the first statement too.
                if from < builder.first { seen + before } else { seen }
            })
            .collect();
        let (from, kind) = (builder.checking(), TransferKind::CardPayment);
        let legs = Legs { from, to: card, kind, lag: (-1, 2) };
        let amounts = if in_full { Amounts::Varying } else { Amounts::Fixed };
        let plan = Plan { cadence: Cadence::Monthly, amounts, days };
        builder.standing_order(rng, &legs, plan, |_, index| {
            Movement::plain(if in_full { statements[index] } else { fixed })
        });
    }
}
