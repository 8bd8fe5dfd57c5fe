//! CSV mappings as a person may set them in the form: mutated by bytes of the file, so that the fuzzer can reach them.

use sources::files::csv::{Column, DecimalMark, Delimiter, Field, Mapping};
use sources::files::{ChargeSign, DateOrder};

/// The last bytes of the file mutate the mapping. They are also read as part of the file.
const MUTATING_BYTES: usize = 16;

pub(crate) fn mutate(mapping: &mut Mapping, bytes: &[u8]) {
    let tail = &bytes[bytes.len().saturating_sub(MUTATING_BYTES)..];
    for pair in tail.as_chunks::<2>().0 {
        apply_step(mapping, pair[0], usize::from(pair[1]));
    }
}

fn apply_step(mapping: &mut Mapping, kind: u8, value: usize) {
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

/// Asserts that the mapping survives as JSON, in which it is stored for the next file of its kind.
pub(crate) fn assert_json_round_trip(mapping: &Mapping) {
    let text = serde_json::to_string(mapping).unwrap_or_default();
    let read: Option<Mapping> = serde_json::from_str(&text).ok();
    assert_eq!(read.as_ref(), Some(mapping), "{text}");
}
