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
    /// Whether the rows are written in the order in which they were booked; else every row leads from one balance to
    /// another in some other order.
    is_in_order: bool,
}

/// What contradicts a column of balances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contradiction {
    /// Rows lead from most balances to the next, but not from the first to the last.
    Gap(Gap),
    /// Most balances follow from the rows; that of the row on this line does not.
    Single { line: usize },
    /// The balances have nothing to do with the rows.
    Unrelated { line: usize },
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
        is_in_order: true,
    })
}

/// The proof by rows that lead from balance to balance in the order in which they are written, or else in another.
pub(super) fn prove_in_any_order(steps: &[BalanceStep]) -> Option<Proof> {
    if let Some(proof) = prove(steps) {
        return Some(proof);
    }
    let [plus, minus] = [true, false].map(|it| ends(steps, it).is_some());
    let (first, last) = (steps.first()?, steps.last()?);
    let count = steps.len() - 1;
    (plus != minus).then_some(Proof {
        adds_up: plus,
        is_oldest_first: first.day <= last.day,
        steps: count,
        hits: count,
        is_in_order: false,
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

/// None if the rows lead from the first balance to the last.
fn find_gap(steps: &[BalanceStep], proof: Proof) -> Option<Gap> {
    let sign = if proof.adds_up { 1 } else { -1 };
    let (line, total) = first_miss(steps, proof)?;
    let forth = if proof.is_oldest_first { 1 } else { -1 };
    (total != 0).then_some(Gap { line, minor: sign * forth * total })
}

/// The line of the first row that does not lead to its balance, and by how much all such rows miss theirs.
fn first_miss(steps: &[BalanceStep], proof: Proof) -> Option<(usize, i128)> {
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
    line.map(|line| (line, total))
}

/// What the balances contradict. None if the rows lead from one balance to the next in some order: files are sorted by
/// other dates, and banks book the rows of a day in another order than they write them.
pub(super) fn find_contradiction(
    steps: &[BalanceStep],
    proof: Option<Proof>,
) -> Option<Contradiction> {
    let first = steps.first().filter(|_| steps.len() > 1)?;
    let Some(proof) = proof else {
        let is_linked = [true, false].iter().any(|it| ends(steps, *it).is_some());
        return (!is_linked).then_some(Contradiction::Unrelated { line: first.line });
    };
    if proof.hits == proof.steps || ends(steps, proof.adds_up).is_some() {
        return None;
    }
    let gap = find_gap(steps, proof).map(Contradiction::Gap);
    gap.or_else(|| {
        let line = first_miss(steps, proof).map_or(first.line, |(line, _)| line);
        Some(Contradiction::Single { line })
    })
}

/// The balance after the last row, if the rows of a day are written in another order than they were booked.
pub(super) fn closing(steps: &[BalanceStep], proof: Proof) -> Option<i64> {
    if proof.is_in_order && proof.hits == proof.steps {
        return None;
    }
    let end = i64::try_from(ends(steps, proof.adds_up)??.1).ok()?;
    let last = steps.iter().map(|it| it.day).max()?;
    steps.iter().any(|it| it.day == last && it.balance_minor == end).then_some(end)
}

/// By how much the balances change from before the first row to after the last. None if the rows do not lead from one to
/// the other.
pub(super) fn change(steps: &[BalanceStep], proof: Proof) -> Option<i64> {
    let change = ends(steps, proof.adds_up)?.map_or(0, |(start, end)| end - start);
    i64::try_from(change).ok()
}

/// The balances before and after all rows, if the rows lead from one to the other in some order: every balance before a
/// row is the balance after another row, but for the first. The inner value is none if they are the same.
fn ends(steps: &[BalanceStep], adds_up: bool) -> Option<Option<(i128, i128)>> {
    let sign = if adds_up { 1 } else { -1 };
    let between = |index: usize| steps.get(index).map_or(0, |it| i128::from(it.between_minor));
    [0, 1].into_iter().find_map(|next| {
        let mut balances: Vec<(i128, i64)> = Vec::with_capacity(steps.len() * 2);
        for (index, step) in steps.iter().enumerate() {
            let after = i128::from(step.balance_minor);
            match sign * (i128::from(step.minor) + between(index + next)) {
                0 => balances.push((after, 0)),
                change => balances.extend([(after, 1), (after - change, -1)]),
            }
        }
        balances.sort_unstable();
        let sums = || {
            let equal = balances.chunk_by(|one, other| one.0 == other.0);
            equal.map(|it| (it[0].0, it.iter().map(|it| it.1).sum::<i64>(), it))
        };
        // A row without an amount has the balance of another row.
        let is_apart =
            |it: &[(i128, i64)]| it.len() < balances.len() && it.iter().all(|it| it.1 == 0);
        if sums().any(|it| is_apart(it.2)) {
            return None;
        }
        let open = sums().map(|it| (it.0, it.1)).filter(|it| it.1 != 0);
        let open: Vec<(i128, i64)> = open.take(3).collect();
        match open.as_slice() {
            [] => Some(None),
            [(end, 1), (start, -1)] | [(start, -1), (end, 1)] => Some(Some((*start, *end))),
            _ => None,
        }
    })
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
            assert_eq!(find_contradiction(&rows, Some(proof)), None);
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
        let proof =
            Proof { adds_up: true, is_oldest_first: true, steps: 5, hits: 4, is_in_order: true };
        assert_eq!(find_contradiction(&rows, Some(proof)), None);
        assert_eq!(closing(&rows, proof), Some(80));
        assert_eq!(change(&rows, proof), Some(-20));
    }

    #[test]
    fn few_rows_contradict_their_balances_only_if_no_order_explains_them() {
        let found = |rows: &[(i64, i64, i64)]| {
            let rows = steps(rows);
            find_contradiction(&rows, prove_in_any_order(&rows))
        };
        let unrelated = Some(Contradiction::Unrelated { line: 1 });
        assert_eq!(found(&[(1, -5, 95)]), None);
        assert_eq!(found(&[(1, -5, 95), (2, -10, 85)]), None);
        assert_eq!(found(&[(2, -10, 85), (1, -5, 95)]), None);
        assert_eq!(found(&[(1, 0, 95), (2, 0, 95)]), None);
        assert_eq!(found(&[(1, -5, 95), (2, -10, 80)]), unrelated);
        assert_eq!(found(&[(1, -5, 95), (2, -10, 85), (3, 7, 95)]), unrelated);
        // The rows of the second day are written in another order than they were booked.
        assert_eq!(found(&[(1, -5, 95), (2, 1, 86), (2, -10, 85)]), None);
        assert_eq!(found(&[(2, -10, 85), (2, 1, 86), (1, -5, 95)]), None);
        assert_eq!(found(&[(1, i64::MIN, i64::MAX), (2, i64::MIN, i64::MIN)]), unrelated);
        // A single balance that is mistyped, among others that follow.
        let whole: Vec<_> = (1..12).map(|it| (it, -1, 100 - it)).collect();
        let mut mistyped = whole.clone();
        mistyped[5].2 = 1_000;
        assert_eq!(found(&whole), None);
        assert_eq!(found(&mistyped), Some(Contradiction::Single { line: 6 }));
    }

    #[test]
    fn the_closing_balance_is_found_in_whatever_order_the_last_day_is() {
        let rows = steps(&[(3, 1, 96), (3, 2, 98), (2, -10, 95), (1, 5, 105)]);
        let proof =
            Proof { adds_up: true, is_oldest_first: false, steps: 3, hits: 1, is_in_order: true };
        assert_eq!(closing(&rows, proof), Some(98));
    }
}
