//! Tests of the QIF reader: fixtures and laws.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use base::{Currency, Money, date_from_days};
use proptest::prelude::*;

use super::{looks_like, read};
use crate::files::{DateOrder, FileQuestion, fixtures};

#[test]
fn every_fixture_is_read_as_expected() {
    fixtures::check_folder("qif", read);
}

#[test]
fn every_fixture_is_recognized_by_its_beginning() {
    for (path, bytes) in fixtures::load("qif") {
        assert!(looks_like(&bytes), "{}", path.display());
    }
    for other in ["", "!", "!Important", "Date,Amount", "OFXHEADER:100", ":20:X"] {
        assert!(!looks_like(other.as_bytes()), "{other}");
    }
}

#[test]
fn line_endings_do_not_matter() {
    fixtures::check_other_line_endings("qif", read);
}

fn check(dates: &[&str], chosen: Option<DateOrder>, expected: &str) {
    let mut text = "!Type:Bank\n".to_owned();
    for date in dates {
        write!(text, "D{date}\nT1.00\n^\n").unwrap();
    }
    let mut options = fixtures::options();
    options.dates = chosen;
    let reading = read(text.as_bytes(), &options).unwrap();
    let rows = reading.accounts[0].draft.transactions.iter();
    let mut shown: Vec<String> = rows.map(|it| it.posted_on.to_string()).collect();
    shown.extend(reading.rejected.rows.iter().map(|_| "rejected".to_owned()));
    shown.extend(reading.questions.iter().map(|it| match it {
        FileQuestion::Dates { read_as } => format!("doubt {}", read_as.as_str()),
        _ => "another doubt".to_owned(),
    }));
    assert_eq!(shown.join(", "), expected, "{dates:?}");
}

#[test]
fn the_whole_file_determines_the_date_order_before_the_persons_choice() {
    let day_first = Some(DateOrder::DayFirst);
    check(&["3/4/2024"], None, "2024-03-04, doubt month_first");
    check(&["3/4/2024"], day_first, "2024-04-03");
    check(&["3/4/2024", "13/4/2024"], None, "2024-04-03, 2024-04-13");
    check(&["3/4/2024", "4/13/2024"], day_first, "2024-03-04, 2024-04-13");
    check(&["4/4/2024"], None, "2024-04-04");
    check(&["13/13/2024"], None, "rejected");
    check(&["0/5/2024", "5/0/2024"], None, "rejected, rejected");
    check(&["4/13/2024", "13/4/2024", "3/4/2024"], day_first, "2024-04-13, 2024-04-03, rejected");
}

#[test]
fn years_are_read_as_in_quicken() {
    check(&["1/31/27"], None, "2027-01-31");
    check(&["1/31/28"], None, "1928-01-31");
    check(&["1/31'26"], None, "2026-01-31");
    check(&["1/31' 4"], None, "2004-01-31");
    check(&["1-31-1999"], None, "1999-01-31");
    check(
        &["20091224", "20091224120000[0:GMT]", "2009-12-24T10:00:00Z"],
        None,
        "2009-12-24, 2009-12-24, 2009-12-24",
    );
    check(
        &["12/24/2009 23:59", " 8/ 1/97", "12/24/09 1:05:00"],
        None,
        "2009-12-24, 1997-08-01, 2009-12-24",
    );
    check(
        &["1/31/124", "1/31/0024", "1/31", "1/2/3/4"],
        None,
        "rejected, rejected, rejected, rejected",
    );
}

#[test]
fn the_number_of_accounts_is_limited() {
    let mut text = String::new();
    for number in 0..1_002 {
        write!(text, "!Account\nN{number}\n^\n!Type:Bank\nD1/31/2024\nT1\n^\n").unwrap();
    }
    let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
    assert_eq!((reading.accounts.len(), reading.rejected.count), (1_000, 2));
}

/// One line for each trade of a file with these investment records.
fn trades(records: &str) -> Vec<String> {
    let text = format!("!Type:Security\nNQuintero Index\nSQXB\nTStock\n^\n!Type:Invst\n{records}");
    let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
    assert_eq!(reading.rejected.count, 0);
    let shown = |it: &base::draft::TradeDraft| {
        let per = it.per.map_or(String::new(), |it| format!(" per {it}"));
        let amount = it.amount_minor.map_or("?".to_owned(), |it| it.to_string());
        format!("{} {} {} {}{per} {amount}", it.on, it.kind.as_str(), it.security, it.quantity)
    };
    reading.accounts.iter().flat_map(|it| &it.draft.trades).map(shown).collect()
}

#[test]
fn investment_records_are_trades_by_symbol_or_name() {
    let record = |action: &str, rest: &str| format!("D1/31/2024\nN{action}\n{rest}\n^\n");
    let listed = "YQuintero Index\nI20.00";
    let records = [
        record("Buy", &format!("{listed}\nQ1,000\nT20,009.95\nO9.95")),
        record("SellX", &format!("{listed}\nQ4\nT100.00\nL[Checking]")),
        record("ReinvDiv", &format!("{listed}\nQ0.25\nT5.00")),
        record("StkSplit", "YQuintero Index\nQ20"),
        record("RtrnCap", "YQuintero Index\nT7.00"),
        record("ShrsOut", "YQuintero Index\nQ3"),
        record("ShrsIn", "YHollis Fund\nQ3"),
        record("ShrsIn", "YHollis Fund\nQ3\nI10\nT30.00"),
        record("Div", "YQuintero Index\nT7.00"),
        record("ShtSell", "YQuintero Index\nQ3\nT7.00"),
        record("Cash", "T7.00\nPSomebody"),
    ];
    assert_eq!(
        trades(&records.concat()),
        [
            "2024-01-31 buy QXB 1000 2000995",
            "2024-01-31 sell QXB 4 10000",
            "2024-01-31 reinvest QXB 0.25 500",
            "2024-01-31 split QXB 20 per 10 ?",
            "2024-01-31 return_of_capital QXB 0 700",
            "2024-01-31 transfer_out QXB 3 ?",
            "2024-01-31 transfer_in HOLLIS FUND 3 ?",
            "2024-01-31 buy HOLLIS FUND 3 3000",
        ]
    );
}

static FIXTURES: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| fixtures::load("qif"));

proptest! {
    #[test]
    fn a_written_file_is_read_back(
        list in prop::collection::vec(
            (10_957..30_000_i64, -10_000_000_000..10_000_000_000_i64, "[A-Za-zé'.]{1,20}"),
            0..20,
        ),
        day_first: bool,
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut text = format!("!Type:Bank{end}");
        // A date that determines the order.
        let unambiguous = if day_first { "31/01/2024" } else { "01/31/2024" };
        write!(text, "D{unambiguous}{end}T0{end}^{end}").unwrap();
        for (day, minor, payee) in &list {
            let pattern = if day_first { "%d/%m/%Y" } else { "%m/%d/%Y" };
            let day = date_from_days(*day).strftime(pattern).to_string();
            let amount = Money::new(*minor, Currency::USD).to_string();
            let amount = amount.trim_end_matches(" USD");
            write!(text, "D{day}{end}T{amount}{end}P{payee}{end}^{end}").unwrap();
        }
        let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
        prop_assert!(reading.questions.is_empty() && reading.rejected.count == 0);
        let rows = reading.accounts[0].draft.transactions.iter().skip(1);
        let read: Vec<_> = rows.map(|it| (it.posted_on, it.amount.minor(), it.description.clone())).collect();
        let written: Vec<_> = list.into_iter().map(|it| (date_from_days(it.0), it.1, it.2)).collect();
        prop_assert_eq!(read, written);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        looks_like(&bytes);
        let _ = read(&bytes, &fixtures::options());
    }

    #[test]
    fn damaged_fixtures_never_panic(
        which: prop::sample::Index,
        damages in prop::collection::vec(any::<(u8, usize, usize)>(), 1..6),
    ) {
        let (_, bytes) = which.get(&FIXTURES);
        let _ = read(&fixtures::damaged(bytes, &damages), &fixtures::options());
    }
}
