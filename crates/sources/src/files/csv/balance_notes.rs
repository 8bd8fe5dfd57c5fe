//! The warnings about a column of balances that contradicts the amounts beside it.

use base::{Currency, Money};

use super::running_balance::{self, BalanceStep, Contradiction, Proof};
use crate::files::{NoteKind, Notes};

/// Warns if the balances and the rows disagree. Tells whether they do.
pub(super) fn warn_contradiction(
    steps: &[BalanceStep],
    proof: Option<Proof>,
    currency: Currency,
    notes: &mut Notes,
) -> bool {
    let (line, text) = match running_balance::find_contradiction(steps, proof) {
        None => return false,
        Some(Contradiction::Gap(gap)) => {
            let amount = i64::try_from(gap.minor).unwrap_or(i64::MAX);
            let amount = Money::new(amount, currency);
            let text = format!(
                "The balances do not follow from the rows: they differ by {amount} in all, first at this row. A row \
                 may be missing or wrong."
            );
            (gap.line, text)
        }
        Some(Contradiction::Single { line }) => {
            let text = "The balance of this row does not follow from the row before it. The balance or a row may be \
                        wrong.";
            (line, text.to_owned())
        }
        Some(Contradiction::Unrelated { line }) => {
            let text = "The column of balances does not follow from the amounts. Check the columns, and whether rows \
                        are missing.";
            (line, text.to_owned())
        }
    };
    notes.warn(NoteKind::Unbalanced, line, text);
    true
}

/// Warns that the balances of a deposit account go the other way than its amounts.
pub(super) fn warn_opposite(steps: &[BalanceStep], notes: &mut Notes) {
    let line = steps.first().map_or(1, |it| it.line);
    let text = "The balances rise where money leaves the account, and fall where it arrives. Check which amounts are \
                money in, and which are money out.";
    notes.warn(NoteKind::Unbalanced, line, text);
}
