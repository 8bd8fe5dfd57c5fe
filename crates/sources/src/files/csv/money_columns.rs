//! Finds the columns of money in a table whose titles do not name them: one amount, or money out and money in, with or
//! without running balances, and the column that tells the direction.

use std::collections::BTreeMap;

use base::Currency;

use super::mapping::Field;
use super::running_balance::{self, BalanceStep};
use super::table::Table;
use super::titles;
use crate::files::table_amount::{self, DecimalMark, DecimalMarkCounts};

/// More columns of numbers are not compared with each other.
const NUMBERS_MAX: usize = 7;

/// What was found besides the columns.
#[derive(Default, Clone, Copy)]
pub(super) struct Found {
    /// Which of two columns is money out is only assumed.
    pub(super) sides_are_assumed: bool,
    /// Words for money out include the empty cell.
    pub(super) blank_is_out: bool,
}

type Columns = BTreeMap<Field, usize>;

/// Two or three columns that lead from balance to balance.
struct Running {
    hits: usize,
    columns: Vec<(Field, usize)>,
}

impl Table<'_> {
    /// Assigns the columns of money, if no title named them.
    pub(super) fn find_money(&self, columns: &mut Columns) -> Found {
        let used: Vec<usize> = columns.values().copied().collect();
        let is_free = |it: &usize| !used.contains(it) && !self.is_other(*it);
        let is_number =
            |it: &usize| self.filled(*it) > 0 && self.is_amount(*it) && !self.is_date(*it);
        let numbers: Vec<usize> =
            (0..self.width).filter(is_free).filter(is_number).take(NUMBERS_MAX).collect();
        let sides = self.find_sides(&numbers);
        let running = self.find_running(&numbers);
        match (running, sides) {
            (Some(running), _) => columns.extend(running.columns),
            (None, Some((out, into, is_sure))) => {
                columns.extend([(Field::Debit, out), (Field::Credit, into)]);
                let behind = numbers.iter().find(|it| **it > out.max(into) && self.is_full(**it));
                columns.extend(behind.map(|it| (Field::Balance, *it)));
                return Found { sides_are_assumed: !is_sure, ..Found::default() };
            }
            (None, None) => {
                let best = numbers.iter().rev().max_by_key(|it| self.amount_rank(**it));
                let best = best.filter(|it| self.is_full(**it) || numbers.len() == 1);
                columns.extend(best.map(|it| (Field::Amount, *it)));
            }
        }
        Found::default()
    }

    /// Whether a title says that the column is a number of another kind, such as a price.
    fn is_other(&self, column: usize) -> bool {
        let title = self.titles.and_then(|it| it.cells.get(column));
        title.is_some_and(|it| titles::is_other_number(it))
    }

    fn filled(&self, column: usize) -> usize {
        self.cells(column).filter(|it| !it.is_empty()).count()
    }

    fn is_full(&self, column: usize) -> bool {
        self.filled(column) * 2 > self.rows.len()
    }

    /// How likely a single column of numbers is the amount: decimals, signs and currencies speak for it.
    fn amount_rank(&self, column: usize) -> (bool, bool, bool) {
        let any = |is_such: fn(&str) -> bool| self.cells(column).any(is_such);
        let has_sign = any(|it| it.contains(['-', '+', '(', '\u{2212}']));
        let has_mark = any(|it| it.contains(['.', ',']));
        let has_currency = any(|it| it.contains(['$', '€', '£', '¥']));
        (self.is_full(column), has_mark || has_currency, has_sign)
    }

    /// Two columns of which each row fills exactly one, money out first, and whether that is sure.
    fn find_sides(&self, numbers: &[usize]) -> Option<(usize, usize, bool)> {
        let pairs = numbers
            .iter()
            .enumerate()
            .flat_map(|(at, left)| numbers[at + 1..].iter().map(move |right| (*left, *right)));
        let mut pairs = pairs.filter(|(left, right)| {
            let rows = self.cells(*left).zip(self.cells(*right));
            let is_one = |(a, b): (&str, &str)| is_nothing(a) != is_nothing(b);
            let count = |column: usize| self.cells(column).filter(|it| !is_nothing(it)).count();
            self.rows.len() > 1
                && rows.into_iter().all(is_one)
                && count(*left) > 0
                && count(*right) > 0
        });
        let (left, right) = pairs.find(|(left, right)| {
            // Numbers of checks have no decimals.
            [*left, *right].iter().all(|it| self.amount_rank(*it).1 || self.amount_rank(*it).2)
        })?;
        let is_negative = |column: usize| {
            self.cells(column)
                .filter(|it| !is_nothing(it))
                .all(|it| it.contains(['-', '(', '\u{2212}']))
        };
        Some(match (is_negative(left), is_negative(right)) {
            (true, false) => (left, right, true),
            (false, true) => (right, left, true),
            _ => {
                let count = |column: usize| self.cells(column).filter(|it| !is_nothing(it)).count();
                match count(right) > count(left) {
                    true => (right, left, false),
                    false => (left, right, false),
                }
            }
        })
    }

    /// The columns that lead from balance to balance in most rows: an amount, or money out and in, and the balance.
    fn find_running(&self, numbers: &[usize]) -> Option<Running> {
        let mut best: Option<Running> = None;
        for balance in numbers.iter().filter(|it| self.is_full(**it)) {
            let others: Vec<usize> = numbers.iter().filter(|it| *it != balance).copied().collect();
            for (at, left) in others.iter().enumerate() {
                if self.is_full(*left)
                    && let Some(proof) = running_balance::prove(&self.steps(*left, None, *balance))
                {
                    let columns = vec![(Field::Amount, *left), (Field::Balance, *balance)];
                    keep_better(&mut best, Running { hits: proof.hits, columns });
                }
                for right in &others[at + 1..] {
                    let steps = self.steps(*left, Some(*right), *balance);
                    let is_split = self.is_split(*left, *right);
                    let Some(proof) = running_balance::prove(&steps).filter(|_| is_split) else {
                        continue;
                    };
                    let (out, into) = if proof.adds_up { (*left, *right) } else { (*right, *left) };
                    let columns = vec![
                        (Field::Debit, out),
                        (Field::Credit, into),
                        (Field::Balance, *balance),
                    ];
                    keep_better(&mut best, Running { hits: proof.hits, columns });
                }
            }
        }
        best
    }

    fn is_split(&self, left: usize, right: usize) -> bool {
        let mut rows = self.cells(left).zip(self.cells(right));
        rows.all(|(a, b)| is_nothing(a) || is_nothing(b))
    }

    /// The rows with a balance. With two columns, the amount is what the second has beyond the first.
    pub(super) fn steps(
        &self,
        amount: usize,
        into: Option<usize>,
        balance: usize,
    ) -> Vec<BalanceStep> {
        let mut marks = DecimalMarkCounts::default();
        self.cells(amount).chain(self.cells(balance)).for_each(|it| marks.count(it));
        let mark: DecimalMark = marks.mark();
        let read = |text: &str| {
            let currency = table_amount::named_currency(text).unwrap_or(Currency::USD);
            table_amount::read(text, mark, currency).ok().map(|it| it.minor)
        };
        let side = |text: &str| if text.is_empty() { Some(0) } else { read(text).map(i64::abs) };
        let minor = |row: usize| {
            let cell = |column: usize| self.rows[row].cells.get(column).map_or("", String::as_str);
            match into {
                None => read(cell(amount)),
                Some(into) => Some(side(cell(into))?.saturating_sub(side(cell(amount))?)),
            }
        };
        let numbers = self.cells(balance).enumerate();
        numbers
            .filter_map(|(row, balance)| minor(row).zip(read(balance)))
            .map(|(minor, balance_minor)| BalanceStep {
                minor,
                balance_minor,
                ..Default::default()
            })
            .collect()
    }

    /// The column that says in or out, if the amounts have no signs.
    pub(super) fn find_direction(&self, columns: &mut Columns) -> Found {
        let (Some(amount), false) =
            (columns.get(&Field::Amount), columns.contains_key(&Field::Direction))
        else {
            return Found::default();
        };
        if self.has_signs(*amount) || self.rows.is_empty() {
            return Found::default();
        }
        let used: Vec<usize> = columns.values().copied().collect();
        let free = (0..self.width).filter(|it| !used.contains(it));
        let found = free
            .filter_map(|it| self.direction_of(it, Some(*amount)).map(|found| (it, found)))
            .next();
        let Some((column, found)) = found else { return Found::default() };
        columns.insert(Field::Direction, column);
        found
    }

    /// Whether the amounts of a column have signs, so that no other column has to tell the direction.
    pub(super) fn has_signs(&self, column: usize) -> bool {
        self.cells(column).any(|it| it.contains(['-', '(', '\u{2212}']))
    }

    /// None if the cells of the column are not words for in and out, in the rows that have an amount.
    pub(super) fn direction_of(&self, column: usize, amount: Option<usize>) -> Option<Found> {
        let (mut ins, mut outs, mut blanks) = (0_usize, 0_usize, 0_usize);
        let has_amount = |row: usize| {
            amount.is_none_or(|it| self.rows[row].cells.get(it).is_some_and(|it| !it.is_empty()))
        };
        let cells = self.cells(column).enumerate().filter(|(row, _)| has_amount(*row));
        for (_, cell) in cells {
            let word = cell.to_lowercase();
            match word.as_str() {
                "" => blanks += 1,
                word if titles::OUT_WORDS.contains(&word) => outs += 1,
                word if titles::IN_WORDS.contains(&word) => ins += 1,
                _ => return None,
            }
        }
        match (ins, outs, blanks) {
            (_, 1.., 0) | (1.., 0, 0) => Some(Found::default()),
            // Only money in is marked, as card statements do.
            (1.., 0, 1..) => Some(Found { blank_is_out: true, ..Found::default() }),
            _ => None,
        }
    }
}

fn keep_better(best: &mut Option<Running>, next: Running) {
    // With equal evidence, the simpler and earlier columns stay.
    if best.as_ref().is_none_or(|it| it.hits < next.hits) {
        *best = Some(next);
    }
}

/// Whether a cell is empty or zero, as in the unused one of two columns.
fn is_nothing(cell: &str) -> bool {
    cell.is_empty() || !cell.bytes().any(|it| (b'1'..=b'9').contains(&it))
}
