//! Evidence from a column of running balances: the order of the rows, and the meaning of their signs.

use crate::files::ChargeSign;

/// A row with a balance: days since 1970, its amount, and the balance after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BalanceStep {
    pub(super) day: i64,
    pub(super) minor: i64,
    pub(super) balance_minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Proof {
    /// Whether adding the amounts leads from balance to balance; otherwise subtracting them does.
    pub(super) adds_up: bool,
    pub(super) is_oldest_first: bool,
    steps: usize,
}

impl Proof {
    /// Whether the balances contradict this sign of charges for an account with own money. A single step may be a
    /// coincidence.
    pub(super) fn contradicts(self, charges: ChargeSign) -> bool {
        self.steps > 1 && self.adds_up == (charges == ChargeSign::Positive)
    }
}

/// None if the rows do not lead from one balance to the next, or do so with either sign. A quarter may fail, because
/// a row may be broken or missing.
pub(super) fn prove(steps: &[BalanceStep]) -> Option<Proof> {
    let mut hits = [[0_usize; 2]; 2];
    let mut count = 0;
    for pair in steps.windows(2) {
        let [earlier, later] = pair else { continue };
        let difference = i128::from(later.balance_minor) - i128::from(earlier.balance_minor);
        count += 1;
        let (forth, back) = (i128::from(later.minor), i128::from(earlier.minor));
        hits[0][0] += usize::from(difference == forth);
        hits[0][1] += usize::from(difference == -forth);
        hits[1][0] += usize::from(-difference == back);
        hits[1][1] += usize::from(-difference == -back);
    }
    let (first, last) = (steps.first()?, steps.last()?);
    match first.day.cmp(&last.day) {
        std::cmp::Ordering::Less => hits[1] = [0, 0],
        std::cmp::Ordering::Greater => hits[0] = [0, 0],
        std::cmp::Ordering::Equal => {}
    }
    let best = |sign: usize| hits[0][sign].max(hits[1][sign]);
    let (plus, minus) = (best(0), best(1));
    let most = plus.max(minus);
    if plus == minus || most * 4 < count * 3 {
        return None;
    }
    let sign = usize::from(minus > plus);
    Some(Proof {
        adds_up: plus > minus,
        is_oldest_first: hits[0][sign] >= hits[1][sign],
        steps: count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(rows: &[(i64, i64, i64)]) -> Vec<BalanceStep> {
        rows.iter()
            .map(|&(day, minor, balance_minor)| BalanceStep { day, minor, balance_minor })
            .collect()
    }

    fn proof(rows: &[(i64, i64, i64)]) -> Option<(bool, bool)> {
        prove(&steps(rows)).map(|it| (it.adds_up, it.is_oldest_first))
    }

    #[test]
    fn balances_prove_sign_and_order() {
        assert_eq!(proof(&[(1, -5, 95), (2, -10, 85), (3, 40, 125)]), Some((true, true)));
        assert_eq!(proof(&[(3, 40, 125), (2, -10, 85), (1, -5, 95)]), Some((true, false)));
        assert_eq!(proof(&[(1, 5, 95), (2, 10, 85), (3, -40, 125)]), Some((false, true)));
        assert_eq!(proof(&[(1, 5, 95), (1, 10, 85), (1, -40, 125)]), Some((false, true)));
    }

    #[test]
    fn equal_amounts_prove_nothing_within_a_day() {
        assert_eq!(proof(&[(1, -5, 95), (1, -5, 90)]), None);
        assert_eq!(proof(&[(1, -5, 95), (2, -5, 90)]), Some((true, true)));
    }

    #[test]
    fn one_gap_is_tolerated_and_unrelated_balances_are_not() {
        let gap = [(1, -5, 95), (2, -10, 85), (4, 1, 50), (5, -1, 49), (6, -9, 40)];
        assert_eq!(proof(&gap), Some((true, true)));
        assert_eq!(proof(&[(1, -5, 95), (2, -10, 1), (4, 1, 50)]), None);
        assert_eq!(proof(&[(1, -5, 95), (2, -10, 85), (4, 1, 50), (5, -1, 20)]), None);
        assert_eq!(proof(&[(1, -5, 95)]), None);
        assert_eq!(proof(&[(1, i64::MIN, i64::MAX), (2, i64::MIN, i64::MIN)]), None);
    }
}
