//! The sum of an account's rows as its column of running balances states it. The fuzz targets compare it with the rows
//! that are read.

use super::account_rows::AccountRows;
use super::running_balance::{self, BalanceStep, Proof};

/// The change from the balance before the first booked row to the one after the last. None if the balances do not cover
/// all booked rows, or cover a pending one.
pub(super) fn find(account: &AccountRows, steps: &[BalanceStep], proof: Proof) -> Option<i64> {
    let rows = || account.rows.iter().zip(&account.details);
    let mut booked = rows().filter(|(row, _)| !row.pending).map(|(_, it)| it.balance_minor);
    let first = booked.next()?;
    let ends = [first, booked.next_back().unwrap_or(first)];
    let is_pending_covered = rows().any(|(row, it)| row.pending && it.balance_minor.is_some());
    let is_covered = ends.iter().all(Option::is_some) && !is_pending_covered;
    is_covered.then(|| running_balance::change(steps, proof)).flatten()
}

#[cfg(test)]
mod tests {
    use crate::files::fixtures::options;
    use crate::files::read;

    /// The stated change of the only account, and the sum of its booked rows.
    fn change(rows: &str) -> (Option<i64>, i64) {
        let table = format!("Date,Description,Amount,Balance\n{rows}");
        let contents = read(table.as_bytes(), &options()).unwrap();
        let [account] = contents.accounts.as_slice() else { panic!("{contents:?}") };
        let booked = account.draft.transactions.iter().filter(|it| !it.pending);
        (account.stated_change_minor, booked.map(|it| it.amount.minor()).sum())
    }

    #[test]
    fn proven_balances_state_the_sum_of_the_rows() {
        let first = "2026-03-22,ATM WITHDRAWAL,-20.00,80.00\n2026-03-23,DIRECT DEP,50.00,";
        assert_eq!(
            change(&format!("{first}130.00\n2026-03-24,SHOP,-5.00,125.00\n")),
            (Some(2_500), 2_500)
        );
        // A row between two balances has none.
        assert_eq!(change(&format!("{first}\n2026-03-24,SHOP,-5.00,125.00\n")).0, Some(2_500));
        // The last row has none, or the balances contradict the rows.
        assert_eq!(change(&format!("{first}130.00\n2026-03-24,SHOP,-5.00,\n")).0, None);
        assert_eq!(change(&format!("{first}131.00\n2026-03-24,SHOP,-5.00,99.00\n")).0, None);
    }
}
