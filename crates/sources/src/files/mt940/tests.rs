//! Tests of the MT940 reader: fixtures, damaged files and laws.

use std::path::PathBuf;
use std::sync::LazyLock;

use base::{Currency, Money};
use proptest::prelude::*;

use super::{looks_like, read};
use crate::files::fixtures::{check_folder, damaged, load, options, show};

#[test]
fn fixtures_are_read_as_expected() {
    check_folder("mt940", read);
}

#[test]
fn the_format_is_recognized_by_its_fields() {
    for (path, bytes) in load("mt940") {
        assert!(looks_like(&bytes), "{}", path.display());
    }
    for other in
        ["", ":20:", ":20:A", "date,:25:,:20:", "<OFX>", "!Type:Bank\n:20:x", ":25:1\n:60F:2"]
    {
        assert!(!looks_like(other.as_bytes()), "{other}");
    }
}

#[test]
fn hostile_files_are_read_in_bounded_time() {
    let long = format!(":20:A\n:25:1\n:86:{}", "x".repeat(2_125_000));
    let marks = format!(":20:A\n:25:1\n:61:260101C1,NTRF\n:86:105?20{}", "?20".repeat(250_000));
    let keys = format!(":20:A\n:25:1\n:61:260101C1,NTRF\n:86:{}", "/NAME/".repeat(125_000));
    let blocks = format!("{}:20:A", "{1:}".repeat(250_000));
    let messages = ":20:\n".repeat(125_000);
    let dashes = format!(":20:A\n:25:1\n:61:260101C1,NTRF\n:86:x\n{}:61:", "-\n".repeat(250_000));
    let times = format!(":20:A\n:25:1\n:86:at 12\n{}:61:", ":20:15 at 12\n".repeat(75_000));
    let entries = format!(":20:A\n:25:1\n{}", ":61:\n".repeat(75_000));
    for text in [&long, &marks, &keys, &blocks, &messages, &dashes, &times] {
        let _ = (looks_like(text.as_bytes()), read(text.as_bytes(), &options()));
    }
    let rejected = read(entries.as_bytes(), &options()).unwrap().rejected;
    assert_eq!((rejected.count, rejected.rows.len()), (75_000, 1_000));
}

#[test]
fn the_number_of_accounts_is_limited() {
    let text: String = (0..1_002).map(|it| format!(":20:A\n:25:{it}\n")).collect();
    let reading = read(text.as_bytes(), &options()).unwrap();
    assert_eq!((reading.accounts.len(), reading.rejected.count), (1_000, 2));
}

#[test]
fn long_descriptions_are_shortened() {
    let entry = ":20:A\n:25:1\n:61:260101C1,NTRF\n";
    let one = format!("{entry}:86:{}", "x\n".repeat(5_000));
    let many = format!("{entry}{}", ":86:x\n".repeat(5_000));
    for text in [one, many] {
        let reading = read(text.as_bytes(), &options()).unwrap();
        assert!(reading.accounts[0].draft.transactions[0].description.len() < 3_000);
    }
}

#[test]
fn a_file_without_a_statement_is_refused() {
    for text in ["", "hello", ":20:A", ":86:words"] {
        assert!(read(text.as_bytes(), &options()).is_err(), "{text}");
    }
}

/// A generated entry: amount, day of March, description.
type GeneratedEntry = (i64, u8, String);

fn render(entries: &[GeneratedEntry]) -> String {
    let money = |minor: i64| {
        let text = Money::new(minor.abs(), Currency::EUR).to_string();
        text.trim_end_matches(" EUR").replace('.', ",")
    };
    let sign = |minor: i64| if minor < 0 { 'D' } else { 'C' };
    let rows: String = entries
        .iter()
        .map(|(minor, day, text)| {
            let (sign, amount) = (sign(*minor), money(*minor));
            format!(":61:2603{day:02}03{day:02}{sign}{amount}NTRFNONREF\n:86:{text}\n")
        })
        .collect();
    let balance =
        |tag: &str, minor: i64| format!(":{tag}:{}260331EUR{}\n", sign(minor), money(minor));
    let sum: i64 = entries.iter().map(|it| it.0).sum();
    let (opening, closing) = (balance("60F", 700), balance("62F", 700 + sum));
    format!(":20:A\n:25:DE1\n:28C:1\n{opening}{rows}{closing}-\n")
}

fn any_entries() -> impl Strategy<Value = Vec<GeneratedEntry>> {
    let text = "[A-Za-z0-9äß€][A-Za-z0-9 ?:+äß€]{0,60}[A-Za-zß]";
    proptest::collection::vec((-10_000_000_i64..10_000_000, 1..32_u8, text), 0..12)
}

static FIXTURES: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| load("mt940"));

proptest! {
    #[test]
    fn a_rendered_file_is_read_back(entries in any_entries()) {
        prop_assume!(entries.iter().all(|it| it.2.get(3..4) != Some("?")));
        let reading = read(render(&entries).as_bytes(), &options()).unwrap();
        prop_assert_eq!(&reading.rejected.rows, &[]);
        let rows = &reading.accounts[0].draft.transactions;
        let found: Vec<GeneratedEntry> = rows
            .iter()
            .map(|it| {
                let day = u8::try_from(it.posted_on.day()).unwrap();
                (it.amount.minor(), day, it.description.clone())
            })
            .collect();
        prop_assert_eq!(found, entries);
    }

    #[test]
    fn line_endings_do_not_matter(entries in any_entries()) {
        let unix = render(&entries);
        let windows = unix.replace('\n', "\r\n");
        let [unix, windows] = [unix, windows].map(|it| show(&read(it.as_bytes(), &options())));
        prop_assert_eq!(unix, windows);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = (looks_like(&bytes), read(&bytes, &options()));
    }

    #[test]
    fn arbitrary_fields_never_panic(
        fields in proptest::collection::vec(":(20|25|60F|61|86|62F|64):[0-9CDR,A-Z?/+€-]{0,30}", 0..12),
    ) {
        let _ = read(fields.join("\n").as_bytes(), &options());
    }

    #[test]
    fn damaged_fixtures_never_panic(
        which: prop::sample::Index,
        damages in prop::collection::vec(any::<(u8, usize, usize)>(), 1..6),
    ) {
        let (_, bytes) = which.get(&FIXTURES);
        let _ = read(&damaged(bytes, &damages), &options());
    }
}
