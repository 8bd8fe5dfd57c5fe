//! A mapping as a person may leave it in the form: bent by bytes, so that the fuzzer finds its way through.

use sources::files::csv::{Column, DecimalMark, Delimiter, Field, Mapping};
use sources::files::{ChargeSign, DateOrder};

/// The bytes that bend it are the last of the file, which are read as part of it all the same.
const BENDING_BYTES: usize = 16;

pub(crate) fn bend(mapping: &mut Mapping, bytes: &[u8]) {
    let tail = &bytes[bytes.len().saturating_sub(BENDING_BYTES)..];
    for pair in tail.as_chunks::<2>().0 {
        step(mapping, pair[0], usize::from(pair[1]));
    }
}

fn step(mapping: &mut Mapping, kind: u8, value: usize) {
    let one_of = |count: usize| value % count;
    match kind % 14 {
        0 => mapping.delimiter = Delimiter::ALL[one_of(Delimiter::ALL.len())],
        1 => mapping.skip_lines = value,
        2 => mapping.has_header = !mapping.has_header,
        3 => mapping.decimal_mark = DecimalMark::ALL.get(one_of(3)).copied(),
        4 => mapping.date_order = DateOrder::ALL.get(one_of(3)).copied(),
        5 => mapping.charges = ChargeSign::ALL.get(one_of(3)).copied(),
        6 => mapping.unbalanced_is_pending = !mapping.unbalanced_is_pending,
        7 => mapping.currencies_are_accounts = !mapping.currencies_are_accounts,
        8 => mapping.keeps_one_currency = !mapping.keeps_one_currency,
        9 => mapping.formulas_are_marked = !mapping.formulas_are_marked,
        10 => mapping.out_words = vec![["debit", "d", "-", ""][one_of(4)].to_owned()],
        11 => mapping.currency = Some(["USD", "JPY", "KWD", "XXX"][one_of(4)].to_owned()),
        12 => drop(mapping.columns.remove(&field(value))),
        _ => drop(mapping.columns.insert(field(value), vec![Column::Number(value / 18 + 1)])),
    }
}

fn field(value: usize) -> Field {
    Field::ALL[value % Field::ALL.len()]
}

/// It is remembered as JSON for the next file of the kind.
pub(crate) fn is_kept_as_json(mapping: &Mapping) {
    let text = serde_json::to_string(mapping).unwrap_or_default();
    let read: Option<Mapping> = serde_json::from_str(&text).ok();
    assert_eq!(read.as_ref(), Some(mapping), "{text}");
}
