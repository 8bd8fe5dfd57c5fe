//! Links the credits of a statement to the purchases that caused them, and handles refunds and reversals.

use std::collections::BTreeMap;

use base::{Date, date_from_days, days_from_date};

use super::super::catalog::{Benefit, Card};
use super::super::cycles::{Anniversary, cycle};
use super::super::text::Words;
use super::{Entry, Link};

/// A purchase can be refunded within this many days.
const REFUND_DAYS_MAX: i64 = 120;
/// The number of purchases considered for one credit. More never fit in practice, and without a limit a hostile file
/// would take quadratic time.
const CANDIDATES_MAX: usize = 256;

/// An entry with its words, split once for all benefits.
pub(super) struct Line<'a> {
    entry: &'a Entry,
    description: Words,
    key: Words,
}

impl<'a> Line<'a> {
    /// The lines in statement order.
    pub(super) fn sorted(entries: &[&'a Entry]) -> Vec<Line<'a>> {
        let mut lines: Vec<Line<'a>> = entries
            .iter()
            .map(|entry| Line {
                entry,
                description: Words::of(&entry.description),
                key: Words::of(&entry.key),
            })
            .collect();
        lines.sort_by_key(|it| (it.entry.on, it.entry.id));
        lines
    }

    pub(super) fn on(&self) -> Date {
        self.entry.on
    }

    /// The day of the purchase, which determines its period.
    fn made_on(&self) -> Date {
        self.entry.authorized_on.unwrap_or(self.entry.on)
    }

    /// The words that identify the merchant of a refund.
    fn merchant(&self) -> &Words {
        if self.key.len() > 0 { &self.key } else { &self.description }
    }

    fn is_at(&self, merchant: &Words) -> bool {
        self.key.has_phrase(merchant) || self.description.has_phrase(merchant)
    }
}

/// The observations about one benefit in the statement lines.
#[derive(Default)]
pub(super) struct Observed {
    pub(super) links: Vec<Link>,
    /// Purchases that should trigger a credit and have none so far, oldest first.
    pub(super) waiting: Vec<Link>,
    pub(super) credited: bool,
}

/// Links the lines for each benefit of the card. Each credit belongs to one benefit and is linked once; a purchase
/// may trigger credits of several benefits, but one of each.
pub(super) fn observe(
    card: &Card,
    lines: &[Line<'_>],
    anniversary: Option<Anniversary>,
) -> Vec<Observed> {
    let named: Vec<Vec<usize>> = lines.iter().map(|it| benefits_named(card, it)).collect();
    let purchases: Vec<&Line<'_>> =
        lines.iter().zip(&named).filter(|(_, named)| named.is_empty()).map(|it| it.0).collect();
    let mut ledgers: Vec<BenefitLedger<'_>> =
        card.benefits.iter().map(|it| BenefitLedger::new(it, anniversary, &purchases)).collect();
    for (line, named) in lines.iter().zip(&named) {
        match line.entry.amount_minor {
            minor if minor > 0 && named.is_empty() => {
                ledgers.iter_mut().for_each(|it| it.refund(line));
            }
            minor if minor > 0 => {
                // Versions of a benefit have the same credit text: the linked purchase decides between them, or else
                // the usual day of the purchase.
                let rank = |it: &&usize| {
                    let ledger = &ledgers[**it];
                    let usual = date_from_days(ledger.usual_day(line));
                    (ledger.find(line).is_some(), ledger.benefit.is_valid(usual))
                };
                if let Some(index) = named.iter().max_by_key(rank) {
                    ledgers[*index].link(line);
                }
            }
            _ => {
                if let Some(index) = named.iter().max_by_key(|it| ledgers[**it].last_credit_on()) {
                    ledgers[*index].reverse(line);
                }
            }
        }
    }
    ledgers.into_iter().map(BenefitLedger::observed).collect()
}

/// The benefits that the line is a credit for, by its words, or a reversal of one.
fn benefits_named(card: &Card, line: &Line<'_>) -> Vec<usize> {
    let names = |it: &Benefit| it.credit_patterns.iter().any(|it| line.description.has_all(it));
    (0..card.benefits.len()).filter(|it| names(&card.benefits[*it])).collect()
}

struct Purchase<'a> {
    line: &'a Line<'a>,
    day: i64,
    gross_minor: i64,
    /// The amount less refunds.
    net_minor: i64,
    is_sure: bool,
    is_credited: bool,
}

struct Credit {
    link: Link,
    /// The index of the purchase.
    purchase: Option<usize>,
}

/// The purchases and credits of one benefit while its lines are read in order.
struct BenefitLedger<'a> {
    benefit: &'a Benefit,
    anniversary: Option<Anniversary>,
    /// Sorted by day.
    purchases: Vec<Purchase<'a>>,
    credits: Vec<Credit>,
    /// The credited total of each period, by its first day.
    credited_by_period: BTreeMap<Date, i64>,
}

impl<'a> BenefitLedger<'a> {
    fn new(
        benefit: &'a Benefit,
        anniversary: Option<Anniversary>,
        lines: &[&'a Line<'a>],
    ) -> BenefitLedger<'a> {
        let purchase = |line: &&'a Line<'a>| {
            let gross_minor = line.entry.amount_minor.saturating_neg();
            let is_sure = eligible(benefit, line)?;
            (gross_minor > 0 && benefit.is_valid(line.made_on())).then(|| Purchase {
                line,
                day: days_from_date(line.made_on()),
                gross_minor,
                net_minor: gross_minor,
                is_sure,
                is_credited: false,
            })
        };
        let mut purchases: Vec<Purchase<'a>> = lines.iter().filter_map(purchase).collect();
        purchases.sort_by_key(|it| it.day);
        BenefitLedger {
            benefit,
            anniversary,
            purchases,
            credits: Vec::new(),
            credited_by_period: BTreeMap::new(),
        }
    }

    /// Indexes of the purchases in the `days` up to and including `day`, newest first.
    fn recent(&self, day: i64, days: i64) -> impl Iterator<Item = usize> {
        let after = self.purchases.partition_point(|it| it.day <= day);
        let first = self.purchases.partition_point(|it| it.day < day - days);
        (first..after).rev().take(CANDIDATES_MAX)
    }

    /// The index of the purchase that a credit is for: the latest that is large enough. Purchases whose period has
    /// room are preferred, then those that surely count, then those that explain its amount.
    fn find(&self, line: &Line<'_>) -> Option<usize> {
        let minor = line.entry.amount_minor;
        let fits = |index: &usize| {
            let it = &self.purchases[*index];
            !it.is_credited && minor <= it.gross_minor
        };
        let rank = |index: &usize| {
            let it = &self.purchases[*index];
            let room = self.room(date_from_days(it.day));
            (minor <= room, it.is_sure, minor == room.min(it.gross_minor), it.day)
        };
        let day = days_from_date(line.entry.on);
        self.recent(day, self.benefit.posting_days.max).filter(fits).max_by_key(rank)
    }

    /// The day of a credit's purchase, assuming the usual delay.
    fn usual_day(&self, line: &Line<'_>) -> i64 {
        days_from_date(line.entry.on) - self.benefit.posting_days.typical
    }

    /// Links a credit to its purchase. Without one, it counts for the usual day.
    fn link(&mut self, line: &Line<'_>) {
        let found = self.find(line);
        if let Some(index) = found {
            self.purchases[index].is_credited = true;
        }
        let on = date_from_days(found.map_or(self.usual_day(line), |it| self.purchases[it].day));
        let link = Link {
            purchase: found.map(|it| self.purchases[it].line.entry.id),
            credit: Some(line.entry.id),
            amount_minor: line.entry.amount_minor,
            on,
        };
        let period = cycle(self.benefit, on, self.anniversary).start;
        let credited = self.credited_by_period.entry(period).or_default();
        *credited = credited.saturating_add(link.amount_minor);
        self.credits.push(Credit { link, purchase: found });
    }

    fn last_credit_on(&self) -> Option<Date> {
        self.credits.last().map(|it| it.link.on)
    }

    fn room(&self, on: Date) -> i64 {
        let cycle = cycle(self.benefit, on, self.anniversary);
        cycle.amount_minor.saturating_sub(*self.credited_by_period.get(&cycle.start).unwrap_or(&0))
    }

    /// Handles the reversal of a credit by the issuer; an equal credit is preferred.
    fn reverse(&mut self, line: &Line<'_>) {
        let mut left = line.entry.amount_minor.saturating_neg();
        let recent = || (0..self.credits.len()).rev().take(CANDIDATES_MAX);
        let equal = recent().find(|it| self.credits[*it].link.amount_minor == left);
        let order: Vec<usize> = equal.into_iter().chain(recent()).collect();
        for index in order {
            let link = &mut self.credits[index].link;
            let reversed = left.min(link.amount_minor);
            link.amount_minor -= reversed;
            left -= reversed;
            let period = cycle(self.benefit, link.on, self.anniversary).start;
            self.credited_by_period
                .entry(period)
                .and_modify(|it| *it = it.saturating_sub(reversed));
        }
    }

    /// Handles a merchant's refund; a purchase with exactly that price is preferred.
    fn refund(&mut self, line: &Line<'_>) {
        let minor = line.entry.amount_minor;
        let fits = |index: &usize| {
            let it = &self.purchases[*index];
            minor <= it.net_minor && it.line.merchant() == line.merchant()
        };
        let rank = |index: &usize| (self.purchases[*index].net_minor == minor, *index);
        let day = days_from_date(line.entry.on);
        if let Some(index) = self.recent(day, REFUND_DAYS_MAX).filter(fits).max_by_key(rank) {
            self.purchases[index].net_minor -= minor;
        }
    }

    fn observed(self) -> Observed {
        let net = |it: &Credit| {
            let most = it.purchase.map_or(i64::MAX, |it| self.purchases[it].net_minor);
            Link { amount_minor: it.link.amount_minor.min(most), ..it.link }
        };
        let awaits_credit = |it: &&Purchase<'_>| it.is_sure && !it.is_credited && it.net_minor > 0;
        let waiting = |it: &Purchase<'_>| Link {
            purchase: Some(it.line.entry.id),
            credit: None,
            amount_minor: it.net_minor,
            on: date_from_days(it.day),
        };
        Observed {
            links: self.credits.iter().map(net).collect(),
            waiting: self.purchases.iter().filter(awaits_credit).map(waiting).collect(),
            credited: !self.credits.is_empty(),
        }
    }
}

/// Whether the purchase surely counts for the benefit: false if only possibly, none if not at all.
fn eligible(benefit: &Benefit, line: &Line<'_>) -> Option<bool> {
    let eligible = &benefit.eligible;
    if eligible.except.iter().any(|it| line.is_at(it)) {
        return None;
    }
    let is_in = |list: &[_]| line.entry.category.is_some_and(|it| list.contains(&it));
    let is_sure = eligible.merchants.iter().any(|it| line.is_at(it)) || is_in(&eligible.categories);
    (is_sure || is_in(&eligible.possible_categories)).then_some(is_sure)
}
