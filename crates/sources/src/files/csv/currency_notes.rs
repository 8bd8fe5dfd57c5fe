//! The notes on rows of a table that are in another currency than its account.

use super::account_rows::AccountRows;
use super::accounts::TableAccounts;
use super::mapping::{Field, Mapping};
use crate::files::NoteKind;

impl TableAccounts {
    /// Warns of rows in another currency, unless they are steps of an exchange, which add up to nothing.
    pub(super) fn warn_left_out(&mut self, other: &AccountRows) {
        let sum = other.rows.iter().fold(0, |sum: i128, it| sum + i128::from(it.amount.minor()));
        let (count, code) = (other.rows.len(), other.currency.code());
        let kept = self.accounts.first().map_or("", |it| it.currency.code());
        if sum != 0 {
            let line = other.details.first().map_or(1, |it| it.line);
            let rows = if count == 1 { "row is" } else { "rows are" };
            let text = format!(
                "{count} {rows} in {code} and not imported, because this account is in {kept}."
            );
            self.notes.warn(NoteKind::OtherCurrency, line, text);
        }
    }

    /// Notes rows of an account that have their amount in a column of another currency.
    pub(super) fn note_other_currencies(&mut self, mapping: &Mapping) {
        if !mapping.columns.contains_key(&Field::OtherAmount) {
            return;
        }
        for other in &self.accounts {
            let is_main =
                |it: &&AccountRows| it.number == other.number && it.currency != other.currency;
            let Some(main) = self.accounts.iter().find(is_main) else { continue };
            if mapping.currency.as_deref() != Some(main.currency.code()) {
                continue;
            }
            let (count, code) = (other.rows.len(), other.currency.code());
            let rows = if count == 1 { "row is" } else { "rows are" };
            let text = format!(
                "{count} {rows} in {code}, in an account separate from that in {}.",
                main.currency.code()
            );
            self.notes.add(other.details.first().map(|it| it.line), text);
        }
    }
}
