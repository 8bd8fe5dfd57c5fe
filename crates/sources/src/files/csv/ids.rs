//! Ids that a bank gives twice.

use base::draft::TransactionDraft;

/// Rows that are equal in all are one. Rows that only share an id stay apart: the first by date and amount keeps it, the
/// others get their date and amount behind it, which no other part of the history would change. `keep` is told which
/// places stay.
pub(super) fn make_distinct(rows: &mut [TransactionDraft]) -> Vec<bool> {
    let mut order: Vec<usize> =
        (0..rows.len()).filter(|it| rows[*it].external_id.is_some()).collect();
    order.sort_by(|a, b| key(&rows[*a]).cmp(&key(&rows[*b])).then(a.cmp(b)));
    let mut keep = vec![true; rows.len()];
    let mut renamed: Vec<(usize, String)> = Vec::new();
    // The first of its id, the one before, and how many with the same date and amount came before.
    let mut before: Option<(usize, usize, usize)> = None;
    for place in order {
        let row = &rows[place];
        let group = before.filter(|(first, ..)| rows[*first].external_id == row.external_id);
        before = match group {
            None => Some((place, place, 1)),
            Some((first, last, count)) if key(&rows[last]) == key(row) => {
                keep[place] = false;
                Some((first, last, count))
            }
            Some((first, last, count)) => {
                let is_like = |other: &TransactionDraft| {
                    (other.posted_on, other.amount) == (row.posted_on, row.amount)
                };
                let count = if is_like(&rows[last]) { count + 1 } else { 1 };
                let id = row.external_id.as_deref().unwrap_or_default();
                let amount = row.amount.minor();
                let again = if count > 1 { format!("#{count}") } else { String::new() };
                renamed.push((place, format!("{id}#{}:{amount}{again}", row.posted_on)));
                Some((first, place, count))
            }
        };
    }
    for (place, id) in renamed {
        rows[place].external_id = Some(id);
    }
    keep
}

fn key(row: &TransactionDraft) -> (Option<&str>, base::Date, i64, &str) {
    (row.external_id.as_deref(), row.posted_on, row.amount.minor(), &row.description)
}
