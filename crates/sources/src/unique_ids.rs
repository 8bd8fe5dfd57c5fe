//! Unique transaction ids. Some banks use an id twice; each distinct row gets its own stable id, whichever part of
//! the history a statement covers.

use base::draft::TransactionDraft;
use xxhash_rust::xxh3::xxh3_64;

/// Removes repeated rows and makes ids unique. Equal rows with the same id become one row. Of different rows with the
/// same id, the earliest keeps it; the others get their date and amount appended. Rows without an id stay as they
/// are.
pub(crate) fn deduplicate_ids(rows: &mut Vec<TransactionDraft>) {
    let mut kept = vec![true; rows.len()];
    for indexes in groups(rows) {
        let same = indexes.chunk_by(|one, other| key(&rows[*one]) == key(&rows[*other]));
        same.for_each(|it| it[1..].iter().for_each(|repeated| kept[*repeated] = false));
        assign_ids(rows, indexes.into_iter().filter(|it| kept[*it]));
    }
    retain(rows, &kept);
}

/// Like `deduplicate_ids`, for rows of several statements: equal rows of one statement are different transactions,
/// because a statement lists each transaction once. `statements` has the number of each row's statement.
pub(crate) fn deduplicate_across(rows: &mut Vec<TransactionDraft>, statements: &[usize]) {
    let mut kept = vec![true; rows.len()];
    for mut indexes in groups(rows) {
        indexes
            .sort_by(|one, other| key(&rows[*one]).cmp(&key(&rows[*other])).then(one.cmp(other)));
        for same in indexes.chunk_by(|one, other| key(&rows[*one]) == key(&rows[*other])) {
            let mut most = 0;
            for of_one in same.chunk_by(|one, other| statements[*one] == statements[*other]) {
                of_one.iter().take(most).for_each(|repeated| kept[*repeated] = false);
                most = most.max(of_one.len());
            }
        }
        assign_ids(rows, indexes.into_iter().filter(|it| kept[*it]));
    }
    retain(rows, &kept);
}

/// Tells for each row whether it repeats another one: same id, content and running balance. Equal rows with different
/// balances are different transactions.
pub(crate) fn find_repeated(
    rows: &[TransactionDraft],
    balance: impl Fn(usize) -> Option<i64>,
) -> Vec<bool> {
    let mut repeated = vec![false; rows.len()];
    for mut indexes in groups(rows) {
        let key = |at: usize| (key(&rows[at]), balance(at));
        indexes.sort_by(|one, other| key(*one).cmp(&key(*other)).then(one.cmp(other)));
        let same = indexes.chunk_by(|one, other| key(*one) == key(*other));
        same.for_each(|it| it[1..].iter().for_each(|at| repeated[*at] = true));
    }
    repeated
}

/// Makes ids unique, and keeps all rows, even equal ones.
pub(crate) fn number_ids(rows: &mut [TransactionDraft]) {
    for indexes in groups(rows) {
        assign_ids(rows, indexes.into_iter());
    }
}

fn retain(rows: &mut Vec<TransactionDraft>, kept: &[bool]) {
    let mut kept = kept.iter();
    rows.retain(|_| kept.next() != Some(&false));
}

/// The indexes of rows that share the hash of their id, sorted by key; rows with an id of their own are left out.
fn groups(rows: &[TransactionDraft]) -> Vec<Vec<usize>> {
    let mut hashes: Vec<(u64, usize)> = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((xxh3_64(row.external_id.as_deref()?.as_bytes()), at)))
        .collect();
    hashes.sort_unstable();
    let shared = hashes.chunk_by(|one, next| one.0 == next.0).filter(|it| it.len() > 1);
    shared
        .map(|same| {
            let mut indexes: Vec<usize> = same.iter().map(|it| it.1).collect();
            indexes.sort_by(|one, other| key(&rows[*one]).cmp(&key(&rows[*other])));
            indexes
        })
        .collect()
}

fn key(row: &TransactionDraft) -> (Option<&str>, base::Date, i64, &str, bool) {
    let id = row.external_id.as_deref();
    (id, row.posted_on, row.amount.minor(), &row.description, row.pending)
}

/// Assigns the ids of rows with the same id hash; `indexes` are sorted by key.
fn assign_ids(rows: &mut [TransactionDraft], indexes: impl Iterator<Item = usize>) {
    let indexes: Vec<usize> = indexes.collect();
    let mut names: Vec<(usize, String)> = Vec::new();
    let mut alike = 1;
    for pair in indexes.windows(2) {
        let (before, row) = (&rows[pair[0]], &rows[pair[1]]);
        if before.external_id != row.external_id {
            alike = 1;
            continue;
        }
        let same_day_and_amount = before.posted_on == row.posted_on && before.amount == row.amount;
        // Rows of one day and amount are numbered.
        alike = if same_day_and_amount { alike + 1 } else { 1 };
        let count = if alike > 1 { format!("#{alike}") } else { String::new() };
        let id = row.external_id.as_deref().unwrap_or_default();
        names.push((pair[1], format!("{id}#{}:{}{count}", row.posted_on, row.amount.minor())));
    }
    for (at, name) in names {
        rows[at].external_id = Some(name);
    }
}

#[cfg(test)]
mod tests {
    use base::draft::TransactionDraft;
    use base::{Currency, Money, date_from_days};
    use proptest::prelude::*;

    use super::{deduplicate_across, deduplicate_ids, find_repeated, number_ids};

    fn row(id: Option<&str>, day: i64, minor: i64, words: &str) -> TransactionDraft {
        TransactionDraft {
            external_id: id.map(str::to_owned),
            pending: false,
            settles: None,
            posted_on: date_from_days(day),
            authorized_on: None,
            amount: Money::new(minor, Currency::USD),
            description: words.to_owned(),
            counterparty: None,
            counterparty_logo_url: None,
            category: None,
        }
    }

    fn rows() -> impl Strategy<Value = Vec<TransactionDraft>> {
        let row = (0..4_usize, 0..3_i64, 0..3_i64, "[ab]")
            .prop_map(|it| row([None, Some("A"), Some("B"), Some("C")][it.0], it.1, it.2, &it.3));
        prop::collection::vec(row, 0..20)
    }

    fn deduplicated(mut rows: Vec<TransactionDraft>) -> Vec<TransactionDraft> {
        deduplicate_ids(&mut rows);
        rows
    }

    fn sorted(mut rows: Vec<TransactionDraft>) -> Vec<String> {
        rows.sort_by(|one, other| format!("{one:?}").cmp(&format!("{other:?}")));
        rows.iter().map(|it| format!("{it:?}")).collect()
    }

    #[test]
    fn different_rows_with_one_id_are_kept_and_equal_ones_are_merged() {
        let rows = vec![
            row(Some("A"), 1, -500, "x"),
            row(Some("A"), 1, -500, "x"),
            row(Some("A"), 2, -500, "x"),
            row(None, 2, -500, "x"),
            row(Some("A"), 2, -500, "y"),
            row(Some("B"), 1, -500, "x"),
        ];
        let ids: Vec<_> = deduplicated(rows).into_iter().map(|it| it.external_id).collect();
        let ids: Vec<_> = ids.iter().map(|it| it.as_deref().unwrap_or("-")).collect();
        assert_eq!(ids, ["A", "A#1970-01-03:-500", "-", "A#1970-01-03:-500#2", "B"]);
    }

    fn ids(rows: Vec<TransactionDraft>) -> Vec<String> {
        rows.into_iter().filter_map(|it| it.external_id).collect()
    }

    #[test]
    fn equal_rows_of_one_statement_are_kept_and_those_of_several_are_merged() {
        let twice = || [row(Some("A"), 1, -500, "x"), row(Some("A"), 1, -500, "x")];
        let merged = |statements: &[usize]| {
            let mut rows = [twice(), twice()].concat();
            rows.truncate(statements.len());
            deduplicate_across(&mut rows, statements);
            ids(rows)
        };
        let second = "A#1970-01-02:-500#2";
        assert_eq!(merged(&[0, 0]), ["A", second]);
        assert_eq!(merged(&[0, 1]), ["A"]);
        assert_eq!(merged(&[0, 0, 1, 1]), ["A", second]);
        assert_eq!(merged(&[0, 1, 1]), ["A", second]);
        assert_eq!(merged(&[0, 1, 1, 1]), ["A", second, "A#1970-01-02:-500#3"]);
    }

    #[test]
    fn rows_with_different_balances_are_not_repeated() {
        let mut rows: Vec<_> = (0..4).map(|_| row(Some("A"), 1, -500, "x")).collect();
        let balances = [Some(10), Some(5), Some(10), None];
        assert_eq!(find_repeated(&rows, |at| balances[at]), [false, false, true, false]);
        assert_eq!(find_repeated(&rows, |_| None), [false, true, true, true]);
        number_ids(&mut rows);
        let [second, third, fourth] = [2, 3, 4].map(|it| format!("A#1970-01-02:-500#{it}"));
        assert_eq!(ids(rows), ["A".to_owned(), second, third, fourth]);
    }

    proptest! {
        #[test]
        fn ids_are_unique_and_nothing_that_differs_is_lost(rows in rows()) {
            let mut expected: Vec<_> = rows.iter().map(|it| format!("{it:?}")).collect();
            let nameless = rows.iter().filter(|it| it.external_id.is_none()).count();
            expected.sort();
            expected.dedup();
            let named = expected.iter().filter(|it| !it.contains("external_id: None")).count();
            let unique = deduplicated(rows);
            prop_assert_eq!(unique.len(), named + nameless);
            let mut ids: Vec<_> = unique.iter().filter_map(|it| it.external_id.clone()).collect();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), named);
        }

        #[test]
        fn row_order_does_not_matter_and_repeated_rows_are_merged(rows in rows()) {
            let mut back = rows.clone();
            back.reverse();
            let unique = deduplicated(rows.clone());
            prop_assert_eq!(sorted(unique.clone()), sorted(deduplicated(back)));
            // Rows without an id are never merged.
            let named = |it: &TransactionDraft| it.external_id.is_some();
            let twice = [rows.clone(), rows].concat().into_iter().filter(named).collect();
            prop_assert_eq!(
                sorted(deduplicated(twice)),
                sorted(unique.into_iter().filter(named).collect())
            );
        }
    }
}
