//! Moves between a person's own accounts: the two legs of each, paired by written evidence.

mod candidates;
mod choosing;
mod evidence;
mod naming;
#[cfg(test)]
mod tests;
mod unequal;

use std::collections::{BTreeMap, BTreeSet};

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, Date, TransactionId, words};

use candidates::{Candidate, candidates};
use choosing::choose;
pub use evidence::{Evidence, Naming, Side};

/// How many days an inflow may come before its outflow; only cards and loans show a payment early.
pub const EARLIEST_LAG: i64 = -2;
pub const LATEST_LAG: i64 = 5;
/// An amount is rare only if nothing else has it for this long before and after.
pub const RARE_DAYS: i64 = 30;
/// Moves of one amount between the same accounts speak for each other when they lie this far apart at most.
pub const REPEAT_DAYS: i64 = 70;
/// The farthest that one leg reaches, by being there or not, into the pairs of others: the move it is half of can speak
/// for one `REPEAT_DAYS` away, and at either end a leg may lie `LATEST_LAG` from its outflow.
pub const REACH_DAYS: i64 = REPEAT_DAYS + 2 * LATEST_LAG;

/// Points are counted in halves, so that they stay whole numbers.
pub const ACCEPT_HALVES: i32 = 10;
pub const SUGGEST_HALVES: i32 = 6;

#[derive(Debug, Clone)]
pub struct Account {
    pub id: AccountId,
    pub kind: AccountKind,
    /// Plaid's subtype, such as savings.
    pub subtype: Option<String>,
    pub institution: Option<String>,
    pub name: String,
    /// The last digits of the account's number.
    pub mask: Option<String>,
    /// Kept by hand, so that its days and amounts are not a bank's.
    pub manual: bool,
}

/// A posted transaction as far as pairing looks at it. Pending ones have no place here: their day,
/// amount and text may still change.
#[derive(Debug, Clone)]
pub struct Leg {
    /// Unique among the legs of a call.
    pub id: TransactionId,
    pub account: AccountId,
    pub on: Date,
    pub authorized_on: Option<Date>,
    /// Positive is money into the account.
    pub amount_minor: i64,
    pub currency: Currency,
}

/// What is written on a leg, and what is read from that.
#[derive(Debug, Clone)]
pub struct Said {
    pub description: String,
    /// What the provider or our tables say, before any transfer is known.
    pub category: Option<Category>,
    /// Whether the text names a shop or service of our tables.
    pub merchant: bool,
    pub words: Words,
}

/// What the text of a leg speaks of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Words {
    pub transfer: bool,
    pub refund: bool,
    /// A payment to or from another person.
    pub person: bool,
}

/// What the person decided; nothing found here overrules it. Pairs are (outflow, inflow).
#[derive(Debug, Clone, Default)]
pub struct Decided {
    pub refused: BTreeSet<(TransactionId, TransactionId)>,
    /// Legs that are not half of any transfer.
    pub not_transfers: BTreeSet<TransactionId>,
    /// Their legs may lie any number of days apart, so whoever loads one loads the other.
    pub confirmed: BTreeSet<(TransactionId, TransactionId)>,
}

/// Says what the leg of a place in the list says. Reading texts costs most, so it is asked once at most, and only of legs
/// whose amounts and days make them half of a move.
pub type Say<'a> = dyn Fn(usize) -> Said + 'a;

/// Turns minor units of one currency into another's at the rate of a day, if there is one.
pub type Convert<'a> = dyn Fn(i64, Currency, Currency, Date) -> Option<i64> + 'a;

/// Pairs sorted by their ids. A leg is in at most one of all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub pairs: Vec<Pair>,
    /// Too weak to hide money from the totals, strong enough to ask.
    pub suggestions: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub outflow: TransactionId,
    pub inflow: TransactionId,
    pub kind: Kind,
    /// The sum over the evidence.
    pub points_halves: i32,
    pub evidence: Vec<Evidence>,
    /// Joining its legs otherwise would be just as good, and only the ids decided: that the legs
    /// are internal is sure, which belongs to which is not.
    pub ambiguous: bool,
    /// What left and did not arrive, within one currency: outflow + inflow + fee is zero.
    pub fee_minor: i64,
}

words!(
    /// What a move is for, by the accounts at its ends.
    Kind {
        CardPayment => "card_payment",
        LoanPayment => "loan_payment",
        Investment => "investment",
        Savings => "savings",
        Transfer => "transfer",
    }
);

impl Kind {
    /// A debt is paid by what reaches it; with savings and investments both directions count.
    fn between(from: &Account, to: &Account) -> Kind {
        let is_savings =
            |it: &Account| matches!(it.subtype.as_deref(), Some("savings" | "money market" | "cd"));
        match (to.kind, from.kind) {
            (AccountKind::Credit, _) => Kind::CardPayment,
            (AccountKind::Loan, _) => Kind::LoanPayment,
            (AccountKind::Investment, _) | (_, AccountKind::Investment) => Kind::Investment,
            _ if is_savings(from) || is_savings(to) => Kind::Savings,
            _ => Kind::Transfer,
        }
    }
}

/// Pairs the legs of one person. Accounts have distinct ids; legs of unknown accounts are only
/// counted. The order of accounts and legs does not matter.
pub fn pair(
    accounts: &[Account],
    legs: &[Leg],
    say: &Say,
    decided: &Decided,
    convert: &Convert,
) -> Found {
    choose(candidates(accounts, legs, say, decided, convert), legs)
}

/// The legs that any candidate pair joins, directly or through others, as places in `legs`: each
/// group sorted, the groups by their first. A leg in no group has no pair.
///
/// The pairs inside a group depend on nothing but the legs within `REACH_DAYS` of its legs, so a
/// changed leg can only concern groups that come that near to its old or its new day. Whoever loads
/// only some days gets the pairs of a group right if all legs lie farther than `REACH_DAYS` from
/// the first and the last of these days, and both legs of every confirmed pair are there.
pub fn components(
    accounts: &[Account],
    legs: &[Leg],
    say: &Say,
    decided: &Decided,
    convert: &Convert,
) -> Vec<Vec<usize>> {
    joined(&candidates(accounts, legs, say, decided, convert), legs.len())
}

/// Both of these at the cost of one search.
pub fn pair_in_components(
    accounts: &[Account],
    legs: &[Leg],
    say: &Say,
    decided: &Decided,
    convert: &Convert,
) -> (Found, Vec<Vec<usize>>) {
    let edges = candidates(accounts, legs, say, decided, convert);
    let groups = joined(&edges, legs.len());
    (choose(edges, legs), groups)
}

fn joined(edges: &[Candidate], leg_count: usize) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..leg_count).collect();
    for edge in edges {
        let (a, b) = (lead(&mut leader, edge.outflow), lead(&mut leader, edge.inflow));
        leader[a.max(b)] = a.min(b);
    }
    let joined: BTreeSet<usize> = edges.iter().flat_map(Candidate::legs).collect();
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for leg in joined {
        groups.entry(lead(&mut leader, leg)).or_default().push(leg);
    }
    groups.into_values().collect()
}

/// The first leg of a group, shortening the way there for the next who asks.
fn lead(leader: &mut [usize], mut leg: usize) -> usize {
    while leader[leg] != leg {
        leader[leg] = leader[leader[leg]];
        leg = leader[leg];
    }
    leg
}
