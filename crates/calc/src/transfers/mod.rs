//! Detects transfers between a person's own accounts: pairs their two legs by evidence in texts, amounts and dates.

mod candidates;
mod evidence;
mod linked_debts;
mod naming;
mod selection;
#[cfg(test)]
mod tests;
mod unequal;

use std::collections::{BTreeMap, BTreeSet};

use base::category::Category;
use base::draft::AccountKind;
use base::{AccountId, Currency, Date, TransactionId, words};

use candidates::{Candidate, candidates};
pub use evidence::{Evidence, Naming, Side};
pub use linked_debts::{LinkedDebts, Payee};
use selection::choose;

/// How many days an inflow may precede its outflow; only cards and loans show a payment early.
pub const EARLIEST_LAG: i64 = -4;
/// From this lag on, the text of the outflow must say that it is a payment: a card that shows a payment three or four
/// days early was notified of it, and so the bank that pays names it, too.
const EARLIEST_SILENT_LAG: i64 = -2;
pub const LATEST_LAG: i64 = 5;
/// An amount is rare only if nothing else has it for this long before and after.
pub const RARE_DAYS: i64 = 30;
/// Transfers of one amount between the same accounts support each other if they are at most this far apart.
pub const REPEAT_DAYS: i64 = 70;
/// The largest distance at which a leg can affect the pairs of others: its transfer can support one `REPEAT_DAYS`
/// away, and at either end a leg may be `LATEST_LAG` from its outflow.
pub const REACH_DAYS: i64 = REPEAT_DAYS + 2 * LATEST_LAG;

/// Points are counted in halves, so that they are integers.
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
    /// The last digits of the account number.
    pub mask: Option<String>,
    /// Kept manually, so that its dates and amounts are not a bank's.
    pub manual: bool,
}

/// A posted transaction as needed for pairing. Pending ones are left out, because their date, amount and text may
/// change.
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

/// The text of a leg, and what was derived from it.
#[derive(Debug, Clone)]
pub struct LegText {
    pub description: String,
    /// The category by the provider or our tables, before transfers are known.
    pub category: Option<Category>,
    /// Whether the text names a merchant of our tables.
    pub merchant: bool,
    pub words: TextFlags,
}

/// Keywords found in the text of a leg.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextFlags {
    pub transfer: bool,
    pub refund: bool,
    /// A payment to or from another person.
    pub person: bool,
}

/// The person's decisions, which always take precedence. Pairs are (outflow, inflow).
#[derive(Debug, Clone, Default)]
pub struct TransferOverrides {
    pub refused: BTreeSet<(TransactionId, TransactionId)>,
    /// Legs that are not part of any transfer.
    pub not_transfers: BTreeSet<TransactionId>,
    /// Their legs may be any number of days apart, so a caller that loads one must load the other.
    pub confirmed: BTreeSet<(TransactionId, TransactionId)>,
}

/// Returns the text of the leg with this index. Reading texts costs most, so it is called at most once per leg, and
/// only for legs whose amounts and dates could form a transfer.
pub type LegTextReader<'a> = dyn Fn(usize) -> LegText + 'a;

/// Converts minor units between currencies at the rate of a day, if there is one.
pub type Convert<'a> = dyn Fn(i64, Currency, Currency, Date) -> Option<i64> + 'a;

/// Pairs sorted by their ids. A leg is in at most one pair or suggestion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairingResult {
    pub pairs: Vec<Pair>,
    /// Too weak to exclude money from totals, strong enough to ask the person.
    pub suggestions: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub outflow: TransactionId,
    pub inflow: TransactionId,
    pub kind: TransferKind,
    /// The sum over the evidence.
    pub points_halves: i32,
    pub evidence: Vec<Evidence>,
    /// Pairing its legs differently would be equally good, and the choice was made by id. The legs are certainly
    /// transfers, but which belongs to which is not certain.
    pub ambiguous: bool,
    /// The amount that left and did not arrive, within one currency: outflow + inflow + fee is zero.
    pub fee_minor: i64,
}

words!(
    /// The purpose of a transfer, by its accounts.
    TransferKind {
        CardPayment => "card_payment",
        LoanPayment => "loan_payment",
        Investment => "investment",
        Savings => "savings",
        Transfer => "transfer",
    }
);

impl TransferKind {
    /// The kind of a transfer. A debt counts only as the target; savings and investments count in both directions.
    fn between(from: &Account, to: &Account) -> TransferKind {
        let is_savings =
            |it: &Account| matches!(it.subtype.as_deref(), Some("savings" | "money market" | "cd"));
        match (to.kind, from.kind) {
            (AccountKind::Credit, _) => TransferKind::CardPayment,
            (AccountKind::Loan, _) => TransferKind::LoanPayment,
            (AccountKind::Investment, _) | (_, AccountKind::Investment) => TransferKind::Investment,
            _ if is_savings(from) || is_savings(to) => TransferKind::Savings,
            _ => TransferKind::Transfer,
        }
    }
}

/// Pairs the legs of one person. Account ids must be distinct; legs of unknown accounts are ignored. The order of
/// accounts and legs does not matter.
pub fn pair(
    accounts: &[Account],
    legs: &[Leg],
    read_text: &LegTextReader,
    overrides: &TransferOverrides,
    convert: &Convert,
) -> PairingResult {
    choose(candidates(accounts, legs, read_text, overrides, convert), legs)
}

/// The groups of legs connected by candidate pairs, as indexes in `legs`: each group sorted, the groups by their
/// first leg. A leg in no group has no pair.
///
/// The pairs within a group depend only on the legs within `REACH_DAYS` of its legs, so a changed leg can only affect
/// groups that near to its old or new day. A caller that loads only some days gets the pairs of a group right if all
/// its legs are farther than `REACH_DAYS` from the first and last of these days, and both legs of every confirmed
/// pair are loaded.
pub fn components(
    accounts: &[Account],
    legs: &[Leg],
    read_text: &LegTextReader,
    overrides: &TransferOverrides,
    convert: &Convert,
) -> Vec<Vec<usize>> {
    connected_groups(&candidates(accounts, legs, read_text, overrides, convert), legs.len())
}

/// The results of `pair` and `components` at the cost of one search.
pub fn pair_in_components(
    accounts: &[Account],
    legs: &[Leg],
    read_text: &LegTextReader,
    overrides: &TransferOverrides,
    convert: &Convert,
) -> (PairingResult, Vec<Vec<usize>>) {
    let edges = candidates(accounts, legs, read_text, overrides, convert);
    let groups = connected_groups(&edges, legs.len());
    (choose(edges, legs), groups)
}

fn connected_groups(edges: &[Candidate], leg_count: usize) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..leg_count).collect();
    for edge in edges {
        let (a, b) = (root_of(&mut parent, edge.outflow), root_of(&mut parent, edge.inflow));
        parent[a.max(b)] = a.min(b);
    }
    let connected_groups: BTreeSet<usize> = edges.iter().flat_map(Candidate::legs).collect();
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for leg in connected_groups {
        groups.entry(root_of(&mut parent, leg)).or_default().push(leg);
    }
    groups.into_values().collect()
}

/// The root of a leg's group, with path compression.
fn root_of(parent: &mut [usize], mut leg: usize) -> usize {
    while parent[leg] != leg {
        parent[leg] = parent[parent[leg]];
        leg = parent[leg];
    }
    leg
}
