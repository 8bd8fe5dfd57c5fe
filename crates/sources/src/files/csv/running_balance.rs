//! Evidence from a column of running balances: the order of the rows, the meaning of their signs, and whether all of
//! them are there.

use crate::files::ChargeSign;

/// A row with a balance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BalanceStep {
    /// Days since 1970.
    pub(super) day: i64,
    pub(super) line: usize,
    pub(super) minor: i64,
    /// The sum of the rows without a balance between this row and the row before it that has one: some banks state the
    /// balance once a day.
    pub(super) between_minor: i64,
    /// The balance after the row.
    pub(super) balance_minor: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Proof {
    /// Whether adding the amounts leads from balance to balance; otherwise subtracting them does.
    pub(super) adds_up: bool,
    pub(super) is_oldest_first: bool,
    steps: usize,
    /// How many of the steps lead from balance to balance.
    pub(super) hits: usize,
}

impl Proof {
    /// Whether the balances contradict this sign of charges for an account with own money. A single step may be a
    /// coincidence.
    pub(super) fn contradicts(self, charges: ChargeSign) -> bool {
        self.steps > 1 && self.adds_up == (charges == ChargeSign::Positive)
    }

    /// Whether most steps agree, and more than a coincidence would.
    pub(super) fn is_sure(self) -> bool {
        self.hits > 1
    }
}

/// The changes from one balance to the next as the rows say, if the oldest row is first and if it is last.
fn changes(earlier: &BalanceStep, later: &BalanceStep) -> [i128; 2] {
    let between = i128::from(later.between_minor);
    [i128::from(later.minor) + between, -(i128::from(earlier.minor) + between)]
}

fn difference(earlier: &BalanceStep, later: &BalanceStep) -> i128 {
    i128::from(later.balance_minor) - i128::from(earlier.balance_minor)
}

/// None if the rows do not lead from one balance to the next, or do so with either sign. A quarter may fail, because
/// a row may be broken or missing.
pub(super) fn prove(steps: &[BalanceStep]) -> Option<Proof> {
    let mut hits = [[0_usize; 2]; 2];
    let mut count = 0;
    for pair in steps.windows(2) {
        let [earlier, later] = pair else { continue };
        let difference = difference(earlier, later);
        count += 1;
        for (order, change) in changes(earlier, later).into_iter().enumerate() {
            hits[order][0] += usize::from(difference == change);
            hits[order][1] += usize::from(difference == -change);
        }
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
        hits: most,
    })
}

/// Where balances and rows disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// The line of the first row that does not lead to its balance.
    pub(super) line: usize,
    /// How much the balances change beyond what the rows say.
    pub(super) minor: i128,
}

/// None if the rows lead from the first balance to the last, in whatever order the rows of a day are.
pub(super) fn find_gap(steps: &[BalanceStep], proof: Proof) -> Option<Gap> {
    let order = usize::from(!proof.is_oldest_first);
    let sign = if proof.adds_up { 1 } else { -1 };
    let (mut total, mut line) = (0_i128, None);
    for pair in steps.windows(2) {
        let [earlier, later] = pair else { continue };
        let missing = difference(earlier, later) - sign * changes(earlier, later)[order];
        if missing != 0 {
            line.get_or_insert(if proof.is_oldest_first { later.line } else { earlier.line });
            total += missing;
        }
    }
    let forth = if proof.is_oldest_first { 1 } else { -1 };
    line.filter(|_| total != 0).map(|line| Gap { line, minor: sign * forth * total })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(rows: &[(i64, i64, i64)]) -> Vec<BalanceStep> {
        rows.iter()
            .zip(1..)
            .map(|(&(day, minor, balance_minor), line)| BalanceStep {
                day,
                line,
                minor,
                between_minor: 0,
                balance_minor,
            })
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

    #[test]
    fn rows_without_a_balance_count_towards_the_next() {
        let mut forth = steps(&[(1, -5, 95), (3, 40, 125)]);
        forth[1].between_minor = -10;
        let mut back = steps(&[(3, 40, 125), (1, -5, 95)]);
        back[1].between_minor = -10;
        for rows in [forth, back] {
            let proof = prove(&rows).unwrap();
            assert!(proof.adds_up);
            assert_eq!(find_gap(&rows, proof), None);
        }
    }

    #[test]
    fn a_missing_row_is_a_gap_and_another_order_within_a_day_is_not() {
        let gap = |rows: &[(i64, i64, i64)]| {
            let rows = steps(rows);
            find_gap(&rows, prove(&rows).unwrap()).map(|it| (it.line, it.minor))
        };
        let whole = [(1, -5, 95), (2, -10, 85), (3, 1, 86), (4, -1, 85), (5, -9, 76)];
        assert_eq!(gap(&whole), None);
        let more = [(6, 2, 78), (7, 2, 80)];
        let missing = [whole[0], whole[1], whole[3], whole[4], more[0], more[1]];
        assert_eq!(gap(&missing), Some((3, 1)));
        let newest_first: Vec<_> = missing.into_iter().rev().collect();
        assert_eq!(gap(&newest_first), Some((4, 1)));
        let swapped = [(1, -5, 95), (2, 1, 86), (2, -10, 85), (4, -1, 85), (5, -9, 76), (6, 4, 80)];
        let rows = steps(&swapped);
        let proof = Proof { adds_up: true, is_oldest_first: true, steps: 5, hits: 4 };
        assert_eq!(find_gap(&rows, proof), None);
    }
}
