//! Presets: the known table formats of banks and apps, and how a preset becomes a mapping.

use std::collections::BTreeMap;

use base::draft::AccountKind;

use super::mapping::{Column, Field, Mapping, plain};
use crate::files::table_amount::DecimalMark;
use crate::files::{ChargeSign, DateOrder};

mod america;
mod europe;
mod international;

/// A known file format, with everything that such a file does not say itself.
#[derive(Clone, Copy)]
pub(super) struct Preset {
    pub(super) name: &'static str,
    institution: &'static str,
    form: Form,
    /// In order of preference; columns that a file lacks are left out.
    columns: &'static [(Field, &'static str)],
    kind: Option<AccountKind>,
    subtype: Option<&'static str>,
    currency: Option<&'static str>,
    dates: Option<DateOrder>,
    mark: Option<DecimalMark>,
    charges: Option<ChargeSign>,
    out_words: &'static [&'static str],
    in_words: &'static [&'static str],
    both_words: &'static [&'static str],
    pending_words: &'static [&'static str],
    ignored_words: &'static [&'static str],
    traits: &'static [Trait],
}

/// How a file of this preset is recognized.
#[derive(Clone, Copy)]
enum Form {
    /// The file has all these titles, and perhaps others.
    Has(&'static [&'static str]),
    /// The file has exactly these titles, because they are generic.
    Only(&'static [&'static str]),
    /// The file has no titles; the cells of a row have these kinds, and columns are named by number.
    Bare(&'static [Kind]),
    /// The file has titles in any language above rows with cells of these kinds.
    Under(&'static [Kind]),
    /// Never recognized, only chosen by the user.
    Chosen,
}

/// The content of a cell, for files recognized by the shape of their rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Date,
    /// A date or an empty cell.
    MaybeDate,
    Amount,
    MaybeAmount,
    Text,
    Blank,
    Any,
    Word(&'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trait {
    UnbalancedIsPending,
    CurrenciesAreAccounts,
    KeepsOneCurrency,
    FormulasAreMarked,
}

const PLAIN: Preset = Preset {
    name: "",
    institution: "",
    form: Form::Chosen,
    columns: &[],
    kind: None,
    subtype: None,
    currency: None,
    dates: None,
    mark: None,
    charges: Some(ChargeSign::Negative),
    out_words: &[],
    in_words: &[],
    both_words: &[],
    pending_words: &[],
    ignored_words: &[],
    traits: &[],
};

fn all() -> impl Iterator<Item = &'static Preset> {
    international::PRESETS.iter().chain(america::PRESETS).chain(europe::PRESETS)
}

/// The names of all presets, for the user to choose from.
pub fn presets() -> impl Iterator<Item = &'static str> {
    all().map(|it| it.name)
}

pub(super) fn named(name: &str) -> Option<&'static Preset> {
    all().find(|it| it.name == name)
}

/// The preset that fits these titles best, and the confidence.
pub(super) fn by_titles(titles: &[String]) -> Option<(&'static Preset, u8)> {
    let plain: Vec<String> = titles.iter().map(|it| plain(it)).collect();
    let has = |title: &str| plain.iter().any(|it| it == title);
    let filled = plain.iter().filter(|it| !it.is_empty()).count();
    let fit = |preset: &'static Preset| match preset.form {
        Form::Has(required) => {
            let known = |title: &str| {
                required.contains(&title) || preset.columns.iter().any(|(_, it)| *it == title)
            };
            let is_known = plain.iter().all(|it| it.is_empty() || known(it));
            let sure = if is_known { 100 } else { 95 };
            required.iter().all(|it| has(it)).then_some((required.len(), preset, sure))
        }
        Form::Only(required) => {
            let fits = filled == required.len() && required.iter().all(|it| has(it));
            fits.then_some((required.len(), preset, 90))
        }
        Form::Bare(_) | Form::Under(_) | Form::Chosen => None,
    };
    // The preset with the most matching titles wins, and the first of equals: the table is in order of preference.
    let better = |best: Option<(usize, _, _)>, next: (usize, _, _)| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    };
    all().filter_map(fit).fold(None, better).map(|(_, preset, sure)| (preset, sure))
}

/// The preset whose rows have this shape. `is_titled` is whether there is a row of titles above them.
pub(super) fn by_shape(
    rows: &[Vec<String>],
    is_titled: bool,
    fits: impl Fn(&str, Kind) -> bool,
) -> Option<&'static Preset> {
    let row_fits = |row: &Vec<String>, kinds: &[Kind]| {
        row.len() >= kinds.len()
            && row[kinds.len()..].iter().all(|it| it.is_empty())
            && row.iter().zip(kinds).all(|(cell, kind)| fits(cell, *kind))
    };
    if rows.is_empty() {
        return None;
    }
    all().find(|preset| match preset.form {
        Form::Bare(kinds) if !is_titled => rows.iter().all(|row| row_fits(row, kinds)),
        Form::Under(kinds) if is_titled => rows.iter().all(|row| row_fits(row, kinds)),
        _ => false,
    })
}

impl Preset {
    /// The mapping for a file with these titles. Columns given by number stay numbers.
    pub(super) fn mapping(&self, titles: &[String]) -> Mapping {
        let plain: Vec<String> = titles.iter().map(|it| plain(it)).collect();
        let mut columns: BTreeMap<Field, Vec<Column>> = BTreeMap::new();
        for (field, title) in self.columns {
            let column = match (self.form, title.parse()) {
                (Form::Bare(_) | Form::Under(_), Ok(number)) => Some(Column::Number(number)),
                _ => plain
                    .iter()
                    .position(|it| it == title)
                    .map(|index| Column::Title(titles[index].clone())),
            };
            let chosen = columns.entry(*field).or_default();
            // The first of several alternatives is used.
            let has_room = chosen.len() < field.columns_max();
            chosen.extend(column.filter(|_| has_room));
        }
        columns.retain(|_, columns| !columns.is_empty());
        let words = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
        let has = |it: Trait| self.traits.contains(&it);
        Mapping {
            columns,
            has_header: !matches!(self.form, Form::Bare(_)),
            decimal_mark: self.mark,
            date_order: self.dates,
            charges: self.charges,
            out_words: words(self.out_words),
            in_words: words(self.in_words),
            both_words: words(self.both_words),
            pending_words: words(self.pending_words),
            ignored_words: words(self.ignored_words),
            unbalanced_is_pending: has(Trait::UnbalancedIsPending),
            currencies_are_accounts: has(Trait::CurrenciesAreAccounts),
            keeps_one_currency: has(Trait::KeepsOneCurrency),
            formulas_are_marked: has(Trait::FormulasAreMarked),
            institution: Some(self.institution.to_owned()).filter(|it| !it.is_empty()),
            account_kind: self.kind,
            account_subtype: self.subtype.map(str::to_owned),
            currency: self.currency.map(str::to_owned),
            ..Mapping::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_fits_a_file_with_its_own_titles() {
        let mut names: Vec<&str> = presets().collect();
        assert!(names.len() >= 24);
        for preset in all() {
            let titles: Vec<String> = match preset.form {
                Form::Has(titles) | Form::Only(titles) => {
                    titles.iter().map(|it| (*it).to_owned()).collect()
                }
                Form::Bare(kinds) | Form::Under(kinds) => {
                    (1..=kinds.len()).map(|it| format!("Column {it}")).collect()
                }
                Form::Chosen => preset.columns.iter().map(|(_, it)| (*it).to_owned()).collect(),
            };
            let complaints = preset.mapping(&titles).check(&titles);
            // Only the first spelling of an amount has to be present.
            let is_open = preset.name == "DKB";
            assert!(complaints.is_empty() || is_open, "{}: {complaints:?}", preset.name);
            if let Form::Has(_) | Form::Only(_) = preset.form {
                let found = by_titles(&titles).map(|(it, _)| it.name);
                assert_eq!(found, Some(preset.name));
            }
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
    }
}
