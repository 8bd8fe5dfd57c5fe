//! Generated households: contracts, habits, and the noise that banks add.

use super::*;

/// The first day, 2024-01-01: households cover eighteen months.
const START: i64 = 19_723;
pub(super) const END: i64 = START + 548;

/// Noise, in percent of payments or merchants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    pub(super) missing: i64,
    pub(super) broken_keys: i64,
    pub(super) without_category: i64,
}

pub(super) struct Household {
    pub(super) groups: Vec<Group>,
    pub(super) truths: Vec<Truth>,
    noise: Noise,
    random: Random,
    count: usize,
}

pub(super) struct Truth {
    pub(super) group: usize,
    pub(super) frequency: Frequency,
    pub(super) ids: Vec<TransactionId>,
}

/// Splitmix64: a seed reproduces a household.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    fn percent(&mut self, chance: i64) -> bool {
        self.between(0, 99) < chance
    }

    /// A roughly normal value around a mean, with a deviation in thousandths of it, and never below a tenth of it.
    fn around(&mut self, mean: i64, thousandths: i64) -> i64 {
        let dice: i64 = (0..12).map(|_| self.between(0, 1_000)).sum::<i64>() - 6_000;
        (mean + mean * thousandths / 1_000 * dice / 1_000).max(mean / 10)
    }
}

impl Household {
    pub(super) fn of(seed: u64, noise: Noise) -> Household {
        let random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let (groups, truths) = (Vec::new(), Vec::new());
        let mut household = Household { groups, truths, noise, random, count: 0 };
        household.add_wages();
        household.add_housing();
        household.add_subscriptions();
        household.add_insurance();
        household.add_habits();
        household.add_irregular_spending();
        household
    }

    fn add_merchant(&mut self, inflow: bool, payment_kind: PaymentKind) -> usize {
        let unknown = self.random.percent(self.noise.without_category);
        let payment_kind = if unknown { PaymentKind::Other } else { payment_kind };
        self.groups.push(Group { inflow, payment_kind, occurrences: Vec::new() });
        self.groups.len() - 1
    }

    /// The transaction that the bank shows for a payment: it may be missing or have another name.
    fn pay(&mut self, merchant: usize, day: i64, amount_minor: i64) -> Option<TransactionId> {
        self.count += 1;
        let id = id(self.count);
        if !(START..=END).contains(&day) || self.random.percent(self.noise.missing) {
            return None;
        }
        let broken = self.random.percent(self.noise.broken_keys);
        let group = if broken { self.add_merchant(false, PaymentKind::Other) } else { merchant };
        self.groups[group].occurrences.push(Occurrence { id, on_days: day, amount_minor });
        Some(id).filter(|_| !broken)
    }

    fn add_contract(&mut self, group: usize, frequency: Frequency, paid: &[(i64, i64)]) {
        let ids = paid.iter().filter_map(|(day, minor)| self.pay(group, *day, *minor)).collect();
        self.truths.push(Truth { group, frequency, ids });
    }

    fn add_wages(&mut self) {
        let employer = self.add_merchant(true, PaymentKind::Bill);
        let (frequency, days) = match self.random.between(0, 99) {
            0..43 => (Frequency::Biweekly, self.every(14)),
            43..70 => (Frequency::Weekly, self.every(7)),
            70..90 => {
                let early = self.random.between(1, 15);
                let mut days = months(1, early);
                days.extend(months(1, early + 15));
                days.sort_unstable();
                (Frequency::SemiMonthly, days)
            }
            _ => {
                (Frequency::Monthly, months(1, [1, 25, 28, 31][self.random.between(0, 3) as usize]))
            }
        };
        let deviation = if self.random.percent(35) { 80 } else { 3 };
        let (base, bonus) = (self.random.between(90_000, 300_000), self.random.percent(5));
        let mut paid = Vec::new();
        for day in days {
            let mut minor = self.random.around(base, deviation);
            if bonus && [6, 12].contains(&date_from_days(day).month()) {
                minor += minor / 2;
            }
            let early = if self.random.percent(4) { self.random.between(1, 2) } else { 0 };
            paid.push((business_day(day, -1) - early, minor));
        }
        self.add_contract(employer, frequency, &paid);
    }

    fn every(&mut self, days: i64) -> Vec<i64> {
        let start = START + self.random.between(0, days - 1);
        (0..).map(|it| start + it * days).take_while(|it| *it <= END).collect()
    }

    /// Rent, a loan and utilities.
    fn add_housing(&mut self) {
        let landlord = self.add_merchant(false, PaymentKind::Bill);
        let (rent, rise) = (self.random.between(90_000, 220_000), self.random.between(102, 108));
        let rises_on = START + self.random.between(60, 400);
        let price = |day: i64| if day < rises_on { rent } else { rent * rise / 100 };
        let paid: Vec<_> =
            months(1, 1).iter().map(|it| (business_day(*it, 1), price(*it))).collect();
        self.add_contract(landlord, Frequency::Monthly, &paid);
        for _ in 0..self.random.between(2, 3) {
            let utility = self.add_merchant(false, PaymentKind::Bill);
            let (day, base) = (self.random.between(1, 28), self.random.between(4_000, 16_000));
            let (swing, phase) = (self.random.between(15, 35), self.random.between(0, 11));
            let mut paid = Vec::new();
            for due in months(1, day) {
                let month = (i64::from(date_from_days(due).month()) + phase) as usize % 12;
                let season = base + base * swing * SINE[month] / 10_000;
                let minor = self.random.around(season, 40);
                paid.push((due + self.random.between(-2, 2), minor));
            }
            self.add_contract(utility, Frequency::Monthly, &paid);
        }
    }

    fn add_subscriptions(&mut self) {
        let mut merchant = self.add_merchant(false, PaymentKind::Bill);
        for index in 0..self.random.between(3, 7) {
            let shared = index == 1 && self.random.percent(40);
            if !shared && index > 0 {
                let payment_kind =
                    if self.random.percent(60) { PaymentKind::Bill } else { PaymentKind::Other };
                merchant = self.add_merchant(false, payment_kind);
            }
            self.add_subscription(merchant);
        }
        if self.random.percent(30) {
            let kit = self.add_merchant(false, PaymentKind::Bill);
            let price = self.random.between(4_000, 9_000);
            let weeks = self.every(7);
            let kept: Vec<_> = weeks
                .into_iter()
                .filter(|_| !self.random.percent(18))
                .map(|it| (it, price))
                .collect();
            self.add_contract(kit, Frequency::Weekly, &kept);
        }
    }

    fn add_subscription(&mut self, merchant: usize) {
        let day = if self.random.percent(25) {
            self.random.between(29, 31)
        } else {
            self.random.between(1, 28)
        };
        let mut price = self.random.between(299, 4_999);
        let rises = self.random.percent(70).then(|| self.random.between(0, 17));
        let runs = match self.random.between(0, 99) {
            0..12 => self.random.between(2, 12)..=17,
            12..25 => 0..=self.random.between(4, 14),
            _ => 0..=17,
        };
        let (trial, jitters) = (self.random.percent(10), self.random.percent(33));
        let mut paid = Vec::new();
        for (index, due) in (0..).zip(months(1, day)) {
            if rises == Some(index) {
                price = price * self.random.between(108, 130) / 100;
            }
            if runs.contains(&index) {
                let jitter = if jitters { self.random.between(0, 1) } else { 0 };
                let first = index == *runs.start();
                paid.push((due + jitter, if first && trial { 100 } else { price }));
            }
        }
        self.add_contract(merchant, Frequency::Monthly, &paid);
    }

    /// Policies at one insurer or several, and yearly fees.
    fn add_insurance(&mut self) {
        let insurer = self.add_merchant(false, PaymentKind::Bill);
        for (every, frequency) in
            [(3, Frequency::Quarterly), (6, Frequency::SemiAnnually), (12, Frequency::Annually)]
        {
            if self.random.percent(50) {
                let price = self.random.between(8_000, 90_000);
                let days = months(every, self.random.between(1, 31));
                let skip = self.random.between(0, (every - 1).min(5)) as usize;
                let late = |it: i64| it + 30 * skip as i64;
                let paid: Vec<_> = days.iter().map(|it| (late(*it), price)).collect();
                self.add_contract(insurer, frequency, &paid);
            }
        }
        if self.random.percent(60) {
            let club = self.add_merchant(false, PaymentKind::Other);
            let first = START + self.random.between(0, 170);
            let price = self.random.between(2_000, 15_000);
            self.add_contract(
                club,
                Frequency::Annually,
                &[(first, price), (first + 365, price * 104 / 100)],
            );
        }
    }

    /// Habits with a rhythm, which make detection hard.
    fn add_habits(&mut self) {
        let grocer = self.add_merchant(false, PaymentKind::Habit);
        let (parking, coffee) = (
            self.add_merchant(false, PaymentKind::Habit),
            self.add_merchant(false, PaymentKind::Habit),
        );
        let fare = self.add_merchant(false, PaymentKind::Habit);
        let prices = [425, 475, 550];
        for day in START..=END {
            let weekday = date_from_days(day).weekday().to_monday_zero_offset();
            if weekday == 5 && self.random.percent(92) {
                let minor = self.random.around(9_500, 350);
                let sunday = i64::from(self.random.percent(15));
                self.pay(grocer, day + sunday, minor);
            }
            if weekday == 5 && self.random.percent(50) {
                self.pay(parking, day, 1_200);
            }
            if weekday < 5 && self.random.percent(60) {
                let price = prices[self.random.between(0, 2) as usize];
                self.pay(coffee, day, price);
            }
            if weekday < 5 && self.random.percent(45) {
                self.pay(fare, day, 290);
            }
        }
        for (low, high, deviation, payment_kind) in [
            (6, 13, 200, PaymentKind::Habit),
            (30, 44, 60, PaymentKind::Habit),
            (25, 40, 0, PaymentKind::Habit),
            (80, 110, 150, PaymentKind::Other),
            (12, 18, 350, PaymentKind::Other),
        ] {
            let merchant = self.add_merchant(false, payment_kind);
            let base = self.random.between(2_000, 9_000);
            let mut day = START + self.random.between(0, high);
            while day <= END {
                let minor = self.random.around(base, deviation);
                self.pay(merchant, day, minor);
                day += self.random.between(low, high);
            }
        }
    }

    /// Spending without a rhythm: shops, cash, friends, and many merchants seen a few times.
    fn add_irregular_spending(&mut self) {
        let kinds = [
            (PaymentKind::Habit, 120, 3),
            (PaymentKind::Habit, 70, 5),
            (PaymentKind::Other, 25, 2),
            (PaymentKind::Other, 14, 2),
        ];
        for (payment_kind, visits, spread) in kinds {
            let merchant = self.add_merchant(false, payment_kind);
            for _ in 0..visits {
                let minor = self.random.around(3_500, 150 * spread);
                let day = START + self.random.between(0, 548);
                self.pay(merchant, day, minor);
            }
        }
        let cash = self.add_merchant(false, PaymentKind::Habit);
        for _ in 0..28 {
            let minor = 2_000 * self.random.between(1, 5);
            let day = START + self.random.between(0, 548);
            self.pay(cash, day, minor);
        }
        for _ in 0..30 {
            let inflow = self.random.percent(15);
            let payment_kind =
                if self.random.percent(40) { PaymentKind::Other } else { PaymentKind::Habit };
            let merchant = self.add_merchant(inflow, payment_kind);
            let base = self.random.between(500, 12_000);
            for _ in 0..self.random.between(2, 7) {
                let minor = self.random.around(base, 250);
                let day = START + self.random.between(0, 548);
                self.pay(merchant, day, minor);
            }
        }
    }
}

const SINE: [i64; 12] = [0, 50, 87, 100, 87, 50, 0, -50, -87, -100, -87, -50];

/// The given day of every n-th month, or the month's last day if it is shorter.
fn months(every: i64, day: i64) -> Vec<i64> {
    let dates = (0..18).step_by(every as usize).map(|it| {
        let first = date_from_days(START + 15).first_of_month();
        let month = first.checked_add(jiff::Span::new().months(it)).unwrap();
        days_from_date(month) + day.min(i64::from(month.days_in_month())) - 1
    });
    dates.collect()
}

/// The day itself, or the nearest business day before or after.
fn business_day(day: i64, side: i64) -> i64 {
    let is_weekend = |it: &i64| date_from_days(*it).weekday().to_monday_zero_offset() >= 5;
    (0..3).map(|it| day + it * side).find(|it| !is_weekend(it)).unwrap_or(day)
}
