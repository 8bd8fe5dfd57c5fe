//! Finds the columns of text about a transaction: its description, more text beside it, and who sent and received money.

use std::collections::{BTreeMap, BTreeSet};

use super::account_number::iban;
use super::mapping::Field;
use super::table::Table;
use super::titles;

impl Table<'_> {
    /// The column with more text about the transaction, beside the description.
    pub(super) fn more_text(
        &self,
        titles: &[String],
        indexes: &BTreeMap<Field, usize>,
    ) -> Option<usize> {
        let description = *indexes.get(&Field::Description)?;
        let is_free = |column: &usize| !indexes.values().any(|it| it == column);
        let says_more = |column: &usize| {
            let mut both = self.cells(*column).zip(self.cells(description));
            both.any(|(more, text)| more.chars().any(char::is_alphabetic) && more != text)
        };
        let is_named = |column: &usize| titles::is_more_text(&titles[*column]);
        (0..titles.len().min(self.width)).filter(is_named).filter(is_free).find(says_more)
    }

    /// Of these columns, the one with the most text. Repeated texts count once, so that a column of types or of the same
    /// name in each row is not taken for the description. A column of IBANs is the last resort.
    pub(super) fn best_text(&self, columns: Vec<usize>) -> Option<usize> {
        let letters = |column: usize| -> usize {
            let distinct: BTreeSet<&str> = self.cells(column).collect();
            let count = |it: &&str| it.chars().filter(|it| it.is_alphabetic()).count();
            distinct.iter().map(count).sum()
        };
        let ranked = columns.into_iter().map(|it| (!self.has_ibans(it), letters(it), it));
        let best = ranked.filter(|(_, letters, _)| *letters > 0).max();
        best.map(|(_, _, column)| column)
    }

    /// Whether most non-empty cells of a column are IBANs.
    pub(super) fn has_ibans(&self, column: usize) -> bool {
        let filled = || self.cells(column).filter(|it| !it.is_empty());
        let count = filled().filter(|it| iban(it).is_some()).count();
        count > 0 && count * 2 > filled().count()
    }

    /// The columns of the counterparty, if no other column names it: who received and who sent the money; or the name that
    /// is the description, if more text is joined to it, such as a note.
    pub(super) fn parties(
        &self,
        titles: &[String],
        indexes: &BTreeMap<Field, usize>,
    ) -> Vec<usize> {
        let find = |word: &str| titles.iter().position(|it| titles::bare(it) == word);
        let has_names = |column: &usize| {
            !self.has_ibans(*column)
                && self.cells(*column).any(|it| it.chars().any(char::is_alphabetic))
        };
        let found = find("to").zip(find("from")).map(|(to, from)| [to, from]);
        if let Some(parties) = found.filter(|it| it.iter().all(has_names)) {
            return parties.into();
        }
        let is_party = |it: &usize| {
            titles.get(*it).is_some_and(|it| titles::rank(Field::Counterparty, it).is_some())
        };
        let name = indexes.get(&Field::Description).copied().filter(is_party);
        name.filter(|_| self.more_text(titles, indexes).is_some()).into_iter().collect()
    }
}
