//! Ids of rows that banks gave out twice: each row keeps one of its own, whatever part of the history a file covers.

use base::draft::TransactionDraft;
use xxhash_rust::xxh3::xxh3_64;

/// Rows of one id that are equal are one row. Those that differ stay: the earliest keeps the id, the others get their
/// day and amount behind it.
pub(super) fn tell_apart(rows: &mut Vec<TransactionDraft>) {
    let mut hashes: Vec<(u64, usize)> = rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((xxh3_64(row.external_id.as_deref()?.as_bytes()), at)))
        .collect();
    hashes.sort_unstable();
    let mut repeats = Vec::new();
    for same in hashes.chunk_by(|one, next| one.0 == next.0).filter(|it| it.len() > 1) {
        let mut places: Vec<usize> = same.iter().map(|it| it.1).collect();
        places.sort_by(|one, other| key(&rows[*one]).cmp(&key(&rows[*other])));
        name_apart(rows, &places, &mut repeats);
    }
    if repeats.is_empty() {
        return;
    }
    repeats.sort_unstable();
    let mut at = 0;
    rows.retain(|_| {
        at += 1;
        repeats.binary_search(&(at - 1)).is_err()
    });
}

fn key(row: &TransactionDraft) -> (Option<&str>, base::Date, i64, &str, bool) {
    let id = row.external_id.as_deref();
    (id, row.posted_on, row.amount.minor(), &row.description, row.pending)
}

/// `places` are those of rows of one hash, sorted by their keys.
fn name_apart(rows: &mut [TransactionDraft], places: &[usize], repeats: &mut Vec<usize>) {
    let mut names: Vec<(usize, String)> = Vec::new();
    let mut alike = 1;
    for pair in places.windows(2) {
        let (before, row) = (&rows[pair[0]], &rows[pair[1]]);
        if key(before) == key(row) {
            repeats.push(pair[1]);
            continue;
        }
        if before.external_id != row.external_id {
            alike = 1;
            continue;
        }
        let same_place = before.posted_on == row.posted_on && before.amount == row.amount;
        // Rows that only their words tell apart are counted on.
        alike = if same_place { alike + 1 } else { 1 };
        let count = if alike > 1 { format!("#{alike}") } else { String::new() };
        let id = row.external_id.as_deref().unwrap_or_default();
        let day = row.posted_on.strftime("%Y%m%d");
        names.push((pair[1], format!("{id}#{day}:{}{count}", row.amount.minor())));
    }
    for (at, name) in names {
        rows[at].external_id = Some(name);
    }
}
