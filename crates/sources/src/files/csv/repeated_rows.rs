//! Rows that are in a table twice, as where exports of overlapping periods were joined.

use super::account_rows::AccountRows;
use crate::files::Notes;
use crate::files::limits::counted;
use crate::unique_ids::find_repeated;

/// Leaves out rows that repeat another row of the account, with a note. A row is repeated if its reference, day, amount,
/// text and running balance are the same; rows without a reference are never compared.
pub(super) fn leave_out(account: &mut AccountRows, notes: &mut Notes) {
    let details = &account.details;
    let repeated = find_repeated(&account.rows, |at| details[at].balance_minor);
    let Some(first) = repeated.iter().position(|it| *it) else { return };
    let count = repeated.iter().filter(|it| **it).count();
    let rows = match count {
        1 => "1 row was left out, because it repeats".to_owned(),
        count => format!("{} rows were left out, because they repeat", counted(count)),
    };
    let text = format!("{rows} another row with the same reference, day, amount and text.");
    notes.add(Some(details[first].line), text);
    // The index of each row after this.
    let mut next = 0;
    let places: Vec<Option<usize>> = repeated
        .iter()
        .map(|is_repeated| {
            let place = (!is_repeated).then_some(next);
            next += usize::from(!is_repeated);
            place
        })
        .collect();
    retain(&mut account.rows, &repeated);
    retain(&mut account.details, &repeated);
    let trades = std::mem::take(&mut account.trades).into_iter();
    account.trades = trades.filter_map(|(row, trade)| Some((places[row]?, trade))).collect();
}

fn retain<T>(items: &mut Vec<T>, repeated: &[bool]) {
    let mut repeated = repeated.iter();
    items.retain(|_| repeated.next() == Some(&false));
}
