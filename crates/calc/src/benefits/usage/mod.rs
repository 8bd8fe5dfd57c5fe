//! How much of each benefit an account has used, with the purchases and credits that show it.

mod linking;
#[cfg(test)]
mod tests;

use base::category::Category;
use base::{Date, TransactionId, days_from_date};

use super::catalog::{Benefit, Card};
use super::cycles::{Anniversary, Cycle, cycle};
use super::text::Words;
use linking::{Line, Observed, observe};

/// The known details of the account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    pub opened_on: Option<Date>,
    /// The day of the month on which statements close.
    pub closing_day: Option<i8>,
    pub closed_on: Option<Date>,
}

/// A posted transaction of the account, in its currency.
#[derive(Debug, Clone)]
pub struct Entry {
    pub id: TransactionId,
    pub on: Date,
    pub authorized_on: Option<Date>,
    /// Positive is money into the account.
    pub amount_minor: i64,
    /// The bank's description.
    pub description: String,
    /// The merchant key; empty if there is none.
    pub key: String,
    pub category: Option<Category>,
}

/// The person's statement about a benefit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub benefit: String,
    /// A day of the period it refers to.
    pub on: Date,
    pub what: MarkValue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkValue {
    /// Enrolled, or past the required spending, from that day on.
    Activated,
    /// This amount was used in the period, or all of it.
    Used(Option<i64>),
}

#[derive(Debug, Clone)]
pub struct Usage<'a> {
    pub anniversary: Option<Anniversary>,
    /// The annual fee in force.
    pub annual_fee_minor: i64,
    /// One for each benefit, in its current period.
    pub current: Vec<BenefitState<'a>>,
    /// Periods that ended in this calendar year while the account was known, newest first.
    pub ended: Vec<BenefitState<'a>>,
}

#[derive(Debug, Clone)]
pub struct BenefitState<'a> {
    pub benefit: &'a Benefit,
    pub cycle: Cycle,
    /// The last day to use it: that of the period, or of the benefit itself if earlier.
    pub expires_on: Date,
    pub total_minor: i64,
    pub used_minor: i64,
    /// Credits expected from eligible purchases that have not arrived yet. Still part of the remaining amount.
    pub pending_minor: i64,
    pub remaining_minor: i64,
    /// The part of the use in this calendar year.
    pub captured_minor: i64,
    pub annual_value_minor: i64,
    pub status: Status,
    pub activation_required: bool,
    /// Whether a credit was ever seen, or the person confirmed it.
    pub activated: bool,
    pub evidence: Vec<Link>,
}

base::words!(
    Status {
        Available => "available",
        PartiallyUsed => "partially_used",
        Used => "used",
        Expired => "expired",
        /// Not yet valid, or locked behind a spending requirement that was not reached. A benefit that only needs
        /// enrollment is available: a click activates it, and until then it is being lost.
        NotUsable => "not_usable",
    }
);

/// Evidence of a use: a credit and the purchase that caused it, or one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub purchase: Option<TransactionId>,
    /// None while the credit is only expected.
    pub credit: Option<TransactionId>,
    pub amount_minor: i64,
    /// The day that determines the period: the purchase's, or an estimate if none was found.
    pub on: Date,
}

/// The state of every benefit of the card on a day; later entries are ignored. Credits are recognized by their words
/// and belong to the period of the purchase that caused them. Refunded and reversed amounts do not count as used.
/// Uses that no statement shows count only if the person marked them; if both exist, the larger counts, so that a
/// mark and its credit are not counted twice. A closed account has no benefits.
pub fn usage<'a>(
    card: &'a Card,
    account: &Account,
    entries: &[Entry],
    marks: &[Mark],
    as_of: Date,
) -> Usage<'a> {
    let known: Vec<&Entry> = entries.iter().filter(|it| it.on <= as_of).collect();
    let anniversary = account
        .opened_on
        .map(Anniversary::opened_on)
        .or_else(|| infer(card, known.iter().copied()))
        .map(|it| account.closing_day.map_or(it, |day| it.with_closing_day(day)));
    let mut usage =
        Usage { anniversary, annual_fee_minor: 0, current: Vec::new(), ended: Vec::new() };
    if account.closed_on.is_some_and(|it| it <= as_of) {
        return usage;
    }
    usage.annual_fee_minor = card.fee_minor(as_of);
    let lines = Line::sorted(&known);
    let observed = observe(card, &lines, anniversary);
    let first_entry_on = lines.iter().map(Line::on).min();
    for (benefit, observed) in card.benefits.iter().zip(&observed) {
        let of_benefit = |it: &&Mark| it.benefit == benefit.id && it.on <= as_of;
        let marks: Vec<&Mark> = marks.iter().filter(of_benefit).collect();
        let view = BenefitView { benefit, observed, marks, anniversary, as_of };
        if benefit.valid_to.is_none_or(|it| as_of <= it) {
            usage.current.push(view.state(cycle(benefit, as_of, anniversary)));
        }
        usage.ended.extend(view.ended(account.opened_on, first_entry_on));
    }
    usage.ended.sort_by_key(|it| std::cmp::Reverse(it.expires_on));
    usage
}

/// The anniversary, estimated from the last annual fee. A charge of exactly the card's fee is preferred, because
/// additional cards have fees of their own.
pub fn infer_anniversary(card: &Card, entries: &[Entry]) -> Option<Anniversary> {
    infer(card, entries.iter())
}

fn infer<'e>(card: &Card, entries: impl Iterator<Item = &'e Entry>) -> Option<Anniversary> {
    let is_fee = |it: &&Entry| {
        let words = Words::of(&it.description);
        let named = words.has("FEE") && (words.has("MEMBERSHIP") || words.has("ANNUAL"));
        it.amount_minor < 0 && named
    };
    let is_of_card = |it: &Entry| {
        card.fees.iter().any(|fee| fee.amount_minor.checked_neg() == Some(it.amount_minor))
    };
    let last = entries.filter(is_fee).max_by_key(|it| (is_of_card(it), it.on))?;
    Some(Anniversary::charged_on(last.on))
}

/// One benefit with its observations and marks.
struct BenefitView<'a, 'b> {
    benefit: &'a Benefit,
    observed: &'b Observed,
    marks: Vec<&'b Mark>,
    anniversary: Option<Anniversary>,
    as_of: Date,
}

impl<'a> BenefitView<'a, '_> {
    /// Periods that ended in this year before today. Those before the account was opened are left out; if the opening
    /// is unknown, those that began before the first entry are.
    fn ended(
        &self,
        opened_on: Option<Date>,
        first_entry_on: Option<Date>,
    ) -> Vec<BenefitState<'a>> {
        let mut ended = Vec::new();
        let year = self.as_of.year();
        let last_valid = self.benefit.valid_to.filter(|it| *it < self.as_of);
        let mut before = match last_valid {
            Some(last) => Some(last),
            None => self.cycle(self.as_of).start.yesterday().ok(),
        };
        while let Some(day) = before
            && day.year() == year
            && self.benefit.valid_from.is_none_or(|it| it <= day)
        {
            let cycle = self.cycle(day);
            let known = match (opened_on, first_entry_on) {
                (Some(opened), _) => opened <= day,
                (None, Some(first)) => first <= cycle.start,
                (None, None) => false,
            };
            if !known {
                break;
            }
            ended.push(self.state(cycle));
            before = cycle.start.yesterday().ok();
        }
        ended
    }

    fn cycle(&self, on: Date) -> Cycle {
        cycle(self.benefit, on, self.anniversary)
    }

    fn state(&self, cycle: Cycle) -> BenefitState<'a> {
        let total = cycle.amount_minor;
        let expires_on = self.benefit.valid_to.map_or(cycle.end, |it| it.min(cycle.end));
        let (mut evidence, uses) = self.uses(&cycle);
        let sum = |until: Option<Date>| {
            let counts = |it: &&(Date, i64)| until.is_none_or(|until| it.0 < until);
            let sum: i128 = uses.iter().filter(counts).map(|it| i128::from(it.1)).sum();
            sum.clamp(0, i128::from(total)) as i64
        };
        let used = sum(None);
        let activated = self.observed.credited || !self.marks.is_empty();
        let mut pending = 0;
        if activated || !self.benefit.activation_required() {
            for link in self.expected(&cycle, total - used) {
                pending += link.amount_minor;
                evidence.push(link);
            }
        }
        BenefitState {
            benefit: self.benefit,
            cycle,
            expires_on,
            total_minor: total,
            used_minor: used,
            pending_minor: pending,
            remaining_minor: total - used,
            captured_minor: used - sum(Some(self.as_of.first_of_year())),
            annual_value_minor: self.benefit.annual_value_minor(),
            status: self.status(&cycle, used, activated, expires_on),
            activation_required: self.benefit.activation_required(),
            activated,
            evidence,
        }
    }

    /// The links of the period, and the days and amounts that count: those of the links, or those of the marks if
    /// they are larger.
    fn uses(&self, cycle: &Cycle) -> (Vec<Link>, Vec<(Date, i64)>) {
        let in_period = |it: &&Link| cycle.contains(it.on) && it.amount_minor > 0;
        let links: Vec<Link> = self.observed.links.iter().filter(in_period).copied().collect();
        let seen: Vec<(Date, i64)> = links.iter().map(|it| (it.on, it.amount_minor)).collect();
        let marked_use = |it: &&Mark| match it.what {
            MarkValue::Used(amount) if cycle.contains(it.on) => {
                Some((it.on, amount.unwrap_or(cycle.amount_minor).max(0)))
            }
            _ => None,
        };
        let marked: Vec<(Date, i64)> = self.marks.iter().filter_map(marked_use).collect();
        let sum = |uses: &[(Date, i64)]| uses.iter().map(|it| i128::from(it.1)).sum::<i128>();
        let uses = if sum(&marked) > sum(&seen) { marked } else { seen };
        (links, uses)
    }

    /// The credits still expected from purchases of the period, up to the remaining amount.
    fn expected(&self, cycle: &Cycle, rest: i64) -> Vec<Link> {
        let mut rest = rest;
        let mut expected = Vec::new();
        let a_use = cycle.amount_minor / self.benefit.uses.max(1);
        let today = days_from_date(self.as_of);
        for it in &self.observed.waiting {
            let age = today - days_from_date(it.on);
            if cycle.contains(it.on) && age <= self.benefit.posting_days.max && rest > 0 {
                let amount_minor = it.amount_minor.min(a_use).min(rest);
                rest -= amount_minor;
                expected.push(Link { amount_minor, ..*it });
            }
        }
        expected
    }

    fn status(&self, cycle: &Cycle, used: i64, activated: bool, expires_on: Date) -> Status {
        let marked_used = self
            .marks
            .iter()
            .any(|it| matches!(it.what, MarkValue::Used(_)) && cycle.contains(it.on));
        let is_gated = self.benefit.spend_gate_minor.is_some() && !activated;
        let all_used = match cycle.amount_minor {
            // Without a value in money, only the person's mark counts.
            0 => marked_used,
            total => used >= total,
        };
        match used {
            _ if all_used => Status::Used,
            _ if is_gated || self.benefit.valid_from.is_some_and(|it| self.as_of < it) => {
                Status::NotUsable
            }
            _ if expires_on < self.as_of => Status::Expired,
            0 => Status::Available,
            _ => Status::PartiallyUsed,
        }
    }
}
