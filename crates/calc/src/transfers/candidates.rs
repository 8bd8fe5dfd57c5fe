//! Finds outflows and inflows that could be the legs of one transfer, with the evidence.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::draft::AccountKind;
use base::{AccountId, Currency, Money, TransactionId, days_from_date};

use super::evidence::{Evidence, NAMING_HALVES, Naming, REPEATED_HALVES, Side, of_leg};
use super::naming::{AccountWords, Text};
use super::{Account, Convert, EARLIEST_LAG, EARLIEST_SILENT_LAG, LATEST_LAG, Leg, LegText};
use super::{
    LegTextReader, RARE_DAYS, REPEAT_DAYS, SUGGEST_HALVES, TransferKind, TransferOverrides,
};

/// Transfers closer together than this are more likely one that could be paired in two ways.
const REPEAT_DAYS_LEAST: i64 = 6;
/// How many other transfers make a standing order.
const REPEATS: usize = 2;

/// Amount thresholds are in minor units: currencies without decimals have smaller units, so the thresholds are of
/// comparable value everywhere.
const ROUND_MINOR: u64 = 500;
const LEAST_RARE_MINOR: u64 = 2_500;
/// If an outflow could match more inflows than this, nothing distinguishes them; and without a limit a file of equal
/// amounts would take hours.
pub(super) const CROWD: usize = 32;

/// Two legs that might belong together, as indexes in the list of legs, with at least the points of a suggestion.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) outflow: usize,
    pub(super) inflow: usize,
    pub(super) basis: Basis,
    pub(super) kind: TransferKind,
    pub(super) points_halves: i32,
    /// Days between the legs, by authorization dates if both have one, else by posting dates.
    pub(super) gap_days: u64,
    pub(super) evidence: Vec<Evidence>,
    pub(super) fee_minor: i64,
}

/// How the amounts agree, the most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Basis {
    Confirmed,
    Exact,
    Fee,
    Exchange,
}

impl Candidate {
    pub(super) fn legs(&self) -> [usize; 2] {
        [self.outflow, self.inflow]
    }
}

pub(super) fn candidates(
    accounts: &[Account],
    legs: &[Leg],
    read_text: &LegTextReader,
    overrides: &TransferOverrides,
    convert: &Convert,
) -> Vec<Candidate> {
    let mut search = Search::new(accounts, legs, read_text, overrides);
    search.confirmed();
    search.exact();
    search.repeated();
    search.unequal(convert);
    search.found
}

/// Sorted so that equal amounts are adjacent: outflows first, then inflows, by day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    currency: Currency,
    magnitude: u64,
    is_inflow: bool,
    day: i64,
    leg: usize,
}

pub(super) struct Search<'a> {
    accounts: &'a [Account],
    words: Vec<AccountWords>,
    pub(super) legs: &'a [Leg],
    /// The account index of each leg open to pairing: none if the account is unknown or the
    /// person said that the leg is not a transfer.
    pub(super) owners: Vec<Option<usize>>,
    pub(super) days: Vec<i64>,
    read_text: &'a LegTextReader<'a>,
    /// The texts of the legs, each loaded only if a candidate needs it. Boxed, because most are never loaded.
    leg_texts: Vec<OnceCell<Box<LegText>>>,
    texts: Vec<OnceCell<Box<Text>>>,
    overrides: &'a TransferOverrides,
    /// The days of the outflows of confirmed pairs, for finding standing orders.
    confirmed_days: BTreeMap<Route, Vec<i64>>,
    found: Vec<Candidate>,
}

/// Transfers of one amount from one account to another, by the indexes of the accounts.
type Route = (usize, usize, Currency, u64);

impl<'a> Search<'a> {
    fn new(
        accounts: &'a [Account],
        legs: &'a [Leg],
        read_text: &'a LegTextReader<'a>,
        overrides: &'a TransferOverrides,
    ) -> Search<'a> {
        let account_indexes: HashMap<AccountId, usize> =
            accounts.iter().enumerate().map(|(at, it)| (it.id, at)).collect();
        let owner = |leg: &Leg| {
            let index = account_indexes.get(&leg.account).copied();
            index.filter(|_| !overrides.not_transfers.contains(&leg.id))
        };
        Search {
            accounts,
            words: accounts.iter().map(AccountWords::of).collect(),
            legs,
            owners: legs.iter().map(owner).collect(),
            days: legs.iter().map(|it| days_from_date(it.on)).collect(),
            read_text,
            leg_texts: legs.iter().map(|_| OnceCell::new()).collect(),
            texts: legs.iter().map(|_| OnceCell::new()).collect(),
            overrides,
            confirmed_days: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    /// Adds the pairs that the person confirmed, unless also refused. Their legs are no longer open in either case.
    fn confirmed(&mut self) {
        let confirmed = &self.overrides.confirmed;
        if confirmed.is_empty() {
            return;
        }
        let named: BTreeSet<TransactionId> = confirmed.iter().flat_map(|it| [it.0, it.1]).collect();
        let legs = self.legs.iter().enumerate().filter(|(_, it)| named.contains(&it.id));
        let leg_indexes: BTreeMap<TransactionId, usize> =
            legs.map(|(at, it)| (it.id, at)).collect();
        for (outflow, inflow) in confirmed.difference(&self.overrides.refused) {
            if let (Some(outflow), Some(inflow)) =
                (leg_indexes.get(outflow), leg_indexes.get(inflow))
                && self.owners_of(*outflow, *inflow).is_some()
                && self.legs[*outflow].amount_minor < 0
                && self.legs[*inflow].amount_minor > 0
            {
                self.add(*outflow, *inflow, Basis::Confirmed, vec![Evidence::Confirmed]);
                self.count_confirmed(*outflow, *inflow);
            }
        }
        leg_indexes.into_values().for_each(|leg| self.owners[leg] = None);
    }

    /// Counts a confirmed pair among the repetitions of its route, if a search could have found it: of one amount, and
    /// no farther apart than `REACH_DAYS` allows for.
    fn count_confirmed(&mut self, outflow: usize, inflow: usize) {
        let [sent, arrived] = [outflow, inflow].map(|it| &self.legs[it]);
        let is_equal = sent.currency == arrived.currency
            && sent.amount_minor.unsigned_abs() == arrived.amount_minor.unsigned_abs();
        let lag = self.days[inflow] - self.days[outflow];
        if is_equal
            && (EARLIEST_LAG..=LATEST_LAG).contains(&lag)
            && let Some(route) = self.route(outflow, inflow)
        {
            self.confirmed_days.entry(route).or_default().push(self.days[outflow]);
        }
    }

    fn exact(&mut self) {
        let amount = |it: &Leg| (it.currency, it.amount_minor.unsigned_abs());
        let inflows = self.legs.iter().filter(|it| it.amount_minor > 0);
        let mut arrived: Vec<(Currency, u64)> = inflows.map(amount).collect();
        arrived.sort_unstable();
        arrived.dedup();
        // Most outflows have an amount that never arrived anywhere, and need not be sorted.
        let may_pair =
            |it: &Leg| it.amount_minor != 0 && arrived.binary_search(&amount(it)).is_ok();
        let mut rows: Vec<Row> = Vec::new();
        for (leg, it) in self.legs.iter().enumerate().filter(|(_, it)| may_pair(it)) {
            rows.push(Row {
                currency: it.currency,
                magnitude: it.amount_minor.unsigned_abs(),
                is_inflow: it.amount_minor > 0,
                day: self.days[leg],
                leg,
            });
        }
        rows.sort_unstable();
        for equal in rows.chunk_by(|a, b| (a.currency, a.magnitude) == (b.currency, b.magnitude)) {
            let (outflows, inflows) = equal.split_at(equal.partition_point(|it| !it.is_inflow));
            for outflow in outflows {
                let near = between(inflows, outflow.day + EARLIEST_LAG, outflow.day + LATEST_LAG);
                if near.len() > CROWD {
                    continue;
                }
                for inflow in near {
                    let is_rare = || is_rare(outflow, inflow, outflows, inflows);
                    self.consider(outflow.leg, inflow.leg, Basis::Exact, is_rare);
                }
            }
        }
    }

    /// Adds the pair if no rule forbids it and the evidence is at least enough for a suggestion.
    pub(super) fn consider(
        &mut self,
        outflow: usize,
        inflow: usize,
        basis: Basis,
        is_rare: impl FnOnce() -> bool,
    ) {
        let Some((from, to)) = self.owners_of(outflow, inflow) else { return };
        let lag = self.days[inflow] - self.days[outflow];
        let earliest = if self.accounts[to].kind.is_debt() { EARLIEST_LAG } else { 0 };
        if !(earliest..=LATEST_LAG).contains(&lag) || self.is_forbidden(outflow, inflow, basis) {
            return;
        }
        let reaches = self.accounts[to].kind;
        let rare = is_rare().then_some(Evidence::RareAmount);
        let evidence = [Some(Evidence::Lag(lag)), rare].into_iter().flatten();
        let evidence = evidence.chain(of_leg(self.leg_text(outflow), Side::Outflow, reaches));
        let evidence = evidence.chain(of_leg(self.leg_text(inflow), Side::Inflow, reaches));
        let least = match basis {
            // Repetition may still be added.
            Basis::Exact => SUGGEST_HALVES - REPEATED_HALVES,
            _ => SUGGEST_HALVES,
        };
        // Searching texts for names costs most, so a pair that no name could save is dropped before.
        if sum(evidence.clone()) + 2 * NAMING_HALVES < least {
            return;
        }
        let mut evidence: Vec<Evidence> = evidence.collect();
        evidence.extend(self.naming(outflow, Side::Outflow, to, from));
        evidence.extend(self.naming(inflow, Side::Inflow, from, to));
        let is_explained = lag >= EARLIEST_SILENT_LAG || evidence.iter().any(|it| it.is_payment());
        if is_explained && sum(evidence.iter().copied()) >= least {
            self.add(outflow, inflow, basis, evidence);
        }
    }

    /// Adds repetition as evidence to transfers of one amount between the same accounts, and drops the pairs that are
    /// still too weak for a suggestion.
    fn repeated(&mut self) {
        let mut days_of = std::mem::take(&mut self.confirmed_days);
        for it in self.found.iter().filter(|it| it.basis == Basis::Exact) {
            if let Some(route) = self.route(it.outflow, it.inflow) {
                days_of.entry(route).or_default().push(self.days[it.outflow]);
            }
        }
        for days in days_of.values_mut() {
            days.sort_unstable();
            days.dedup();
        }
        let mut found = std::mem::take(&mut self.found);
        let mut partners = vec![0_u32; self.legs.len()];
        found.iter().flat_map(Candidate::legs).for_each(|leg| partners[leg] += 1);
        for it in found.iter_mut().filter(|it| it.basis == Basis::Exact) {
            // If a leg could pair with several others, repetition supports all of them equally.
            if it.legs().iter().any(|leg| partners[*leg] > 1) {
                continue;
            }
            let route = self.route(it.outflow, it.inflow);
            let Some(days) = route.and_then(|route| days_of.get(&route)) else { continue };
            if is_repeated(days, self.days[it.outflow]) {
                it.evidence.push(Evidence::Repeated);
                it.points_halves += REPEATED_HALVES;
            }
        }
        found.retain(|it| it.points_halves >= SUGGEST_HALVES || it.basis == Basis::Confirmed);
        self.found = found;
    }

    /// The route on which a pair is counted as a repetition. Small amounts repeat by chance, and have none.
    fn route(&self, outflow: usize, inflow: usize) -> Option<Route> {
        let leg = &self.legs[outflow];
        let (from, to) = self.owners_of(outflow, inflow)?;
        let magnitude = leg.amount_minor.unsigned_abs();
        (magnitude >= LEAST_RARE_MINOR).then_some((from, to, leg.currency, magnitude))
    }

    /// The indexes of the source and target accounts, if both legs are open and the accounts differ.
    fn owners_of(&self, outflow: usize, inflow: usize) -> Option<(usize, usize)> {
        self.owners[outflow].zip(self.owners[inflow]).filter(|(from, to)| from != to)
    }

    fn is_forbidden(&self, outflow: usize, inflow: usize, basis: Basis) -> bool {
        let Some((from, to)) = self.owners_of(outflow, inflow) else { return true };
        let (from, to) = (&self.accounts[from], &self.accounts[to]);
        if self.overrides.refused.contains(&(self.legs[outflow].id, self.legs[inflow].id)) {
            return true;
        }
        // A manual account has no currency exchange.
        if basis == Basis::Exchange && (from.manual || to.manual) {
            return true;
        }
        if from.kind != AccountKind::Credit {
            return false;
        }
        // An outflow of a card is a purchase, and the inflow a refund or a friend's share, unless the text says that
        // it is a cash advance.
        let mentions =
            |phrase| [outflow, inflow].iter().any(|leg| self.text(*leg).has_phrase(phrase));
        let lends = mentions(&["BALANCE", "TRANSFER"])
            || to.kind != AccountKind::Credit && mentions(&["CASH", "ADVANCE"]);
        !lends
    }

    /// How a leg on the account `own` names the account `other`.
    fn naming(&self, leg: usize, side: Side, other: usize, own: usize) -> Option<Evidence> {
        let text = self.text(leg);
        let by = self.words[other].named_in(text, side, &self.words[own])?;
        // ALLY 2222 names Ally, but no other account there.
        let means_another = by == Naming::Institution
            && self.words.iter().enumerate().any(|(at, it)| {
                at != other && it.is_sibling_of(&self.words[other]) && it.is_identified_in(text)
            });
        (!means_another).then_some(Evidence::NamesOther(side, by))
    }

    pub(super) fn leg_text(&self, leg: usize) -> &LegText {
        self.leg_texts[leg].get_or_init(|| Box::new((self.read_text)(leg)))
    }

    fn text(&self, leg: usize) -> &Text {
        self.texts[leg].get_or_init(|| Box::new(Text::of(&self.leg_text(leg).description)))
    }

    fn add(&mut self, outflow: usize, inflow: usize, basis: Basis, mut evidence: Vec<Evidence>) {
        let Some((from, to)) = self.owners_of(outflow, inflow) else { return };
        let (sent, arrived) = (&self.legs[outflow], &self.legs[inflow]);
        let is_one_currency = sent.currency == arrived.currency;
        // Their signs differ, so this stays within 64 bits.
        let lost_minor = -(sent.amount_minor + arrived.amount_minor);
        let fee_minor = if is_one_currency { lost_minor } else { 0 };
        match basis {
            Basis::Fee => evidence.push(Evidence::Fee(Money::new(fee_minor, sent.currency))),
            Basis::Exchange => evidence.push(Evidence::ExchangeRate),
            Basis::Confirmed | Basis::Exact => {}
        }
        let authorized = sent.authorized_on.zip(arrived.authorized_on);
        let gap_days = match authorized {
            Some((left, came)) => days_from_date(came).abs_diff(days_from_date(left)),
            None => self.days[inflow].abs_diff(self.days[outflow]),
        };
        self.found.push(Candidate {
            outflow,
            inflow,
            basis,
            kind: TransferKind::between(&self.accounts[from], &self.accounts[to]),
            points_halves: sum(evidence.iter().copied()),
            gap_days,
            evidence,
            fee_minor,
        });
    }
}

fn sum(evidence: impl Iterator<Item = Evidence>) -> i32 {
    evidence.map(Evidence::points_halves).sum()
}

/// The rows have one amount and direction, so they are sorted by day.
fn between(rows: &[Row], first: i64, last: i64) -> &[Row] {
    let start = rows.partition_point(|it| it.day < first);
    let end = rows.partition_point(|it| it.day <= last);
    &rows[start..end]
}

/// Whether a sorted list of days has enough others at the distances of a standing order.
fn is_repeated(days: &[i64], day: i64) -> bool {
    let within = |from: i64, to: i64| {
        let first = days.partition_point(|it| *it < from);
        days.partition_point(|it| *it <= to).saturating_sub(first)
    };
    let before = within(day - REPEAT_DAYS, day - REPEAT_DAYS_LEAST);
    let after = within(day + REPEAT_DAYS_LEAST, day + REPEAT_DAYS);
    before + after >= REPEATS
}

/// Whether the amount is too unusual to match by chance, and only these two legs have it.
fn is_rare(outflow: &Row, inflow: &Row, outflows: &[Row], inflows: &[Row]) -> bool {
    let amount = outflow.magnitude;
    if amount < LEAST_RARE_MINOR || amount.is_multiple_of(ROUND_MINOR) {
        return false;
    }
    let first = outflow.day.min(inflow.day) - RARE_DAYS;
    let last = outflow.day.max(inflow.day) + RARE_DAYS;
    between(outflows, first, last).len() == 1 && between(inflows, first, last).len() == 1
}
