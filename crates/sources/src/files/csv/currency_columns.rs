//! Finds the columns of currencies and of amounts in several currencies.

use std::collections::BTreeMap;

use super::mapping::Field;
use super::table::Table;
use super::titles;

impl Table<'_> {
    /// Assigns columns of amounts whose titles are nothing but a currency. Each row fills one of them.
    pub(super) fn find_currency_columns(
        &self,
        titles: &[String],
        columns: &mut BTreeMap<Field, usize>,
    ) {
        let money = [Field::Amount, Field::Debit, Field::Credit];
        if money.iter().any(|it| columns.contains_key(it)) {
            return;
        }
        let is_such = |column: &usize| {
            titles::is_only_currency(&titles[*column])
                && !columns.values().any(|it| it == column)
                && self.is_amount(*column)
        };
        let mut found = (0..titles.len()).filter(is_such);
        let (first, second) = (found.next(), found.next());
        columns.extend(first.map(|it| (Field::Amount, it)));
        columns.extend(second.map(|it| (Field::OtherAmount, it)));
    }

    /// Assigns the column of the currency of an amount, such as "Sent Currency" beside "Sent Amount".
    pub(super) fn find_paired_currency(
        &self,
        titles: &[String],
        columns: &mut BTreeMap<Field, usize>,
    ) {
        if columns.contains_key(&Field::Currency) {
            return;
        }
        let money = [Field::Amount, Field::Debit, Field::Credit];
        let amounts = money.iter().filter_map(|it| columns.get(it));
        let found = amounts.copied().find_map(|it| self.currency_beside(titles, it));
        columns.extend(found.map(|it| (Field::Currency, it)));
    }

    /// The column of the currency of money in, if it is another one than that of money out.
    pub(super) fn second_currency(
        &self,
        titles: &[String],
        columns: &BTreeMap<Field, usize>,
    ) -> Option<usize> {
        let [out, into] = [Field::Debit, Field::Credit]
            .map(|it| columns.get(&it).and_then(|it| self.currency_beside(titles, *it)));
        let is_first = out.is_some() && out == columns.get(&Field::Currency).copied();
        into.filter(|it| is_first && out != Some(*it))
    }

    /// The column whose title is that of the amount with "currency" instead of "amount".
    fn currency_beside(&self, titles: &[String], amount: usize) -> Option<usize> {
        let stem = |title: &str, word: &str| {
            let title = titles::bare(title);
            let words: Vec<&str> = title.split(' ').collect();
            let rest: Vec<&str> = words.iter().filter(|it| **it != word).copied().collect();
            (rest.len() < words.len() && !rest.is_empty()).then(|| rest.join(" "))
        };
        let name = stem(titles.get(amount)?, "amount")?;
        let is_beside = |column: &usize| {
            *column != amount
                && stem(&titles[*column], "currency").is_some_and(|it| it == name)
                && self.has_codes(*column)
        };
        (0..titles.len().min(self.width)).find(is_beside)
    }

    /// Chooses the column of amounts in the account's own currency over one in a foreign currency.
    pub(super) fn prefer_own_currency(
        &self,
        titles: &[String],
        columns: &mut BTreeMap<Field, usize>,
    ) {
        let Some(amount) = columns.get(&Field::Amount) else { return };
        let named = |column: usize| titles.get(column).and_then(|it| titles::currency(it));
        let is_own = |column: &usize| {
            named(*column).is_some()
                && titles::rank(Field::Amount, &titles[*column]).is_some()
                && self.is_amount(*column)
                && self.cells(*column).any(|it| !it.is_empty())
        };
        if named(*amount).is_none()
            && columns.contains_key(&Field::Currency)
            && let Some(own) = (0..titles.len()).find(is_own)
        {
            columns.insert(Field::Amount, own);
        }
        // The title names the currency of all rows; the column names that of the purchase.
        if columns.get(&Field::Amount).is_some_and(|it| named(*it).is_some()) {
            columns.remove(&Field::Currency);
        }
    }
}
