//! Tests of the CSV reader: fixtures, answers to its questions, and laws.

use base::draft::{AccountKind, TransactionDraft};
use base::{Currency, Date, Money, date_from_days};
use proptest::prelude::*;

use super::*;
use crate::files::fixtures::{self, options, show};
use crate::files::{ChargeSign, DateOrder, FileQuestion, Limits};

#[test]
fn every_fixture_is_read_as_expected() {
    fixtures::check_folder("csv", read);
    assert!(fixtures::paths("csv").len() >= 50);
}

#[test]
fn a_file_of_a_known_source_is_recognized() {
    for (file, preset) in [
        ("ally.csv", Some("Ally")),
        ("amex-basic.csv", None),
        ("amex-uk.csv", Some("American Express, United Kingdom")),
        ("amex.csv", Some("American Express")),
        ("apple.csv", Some("Apple Card")),
        ("bofa-card.csv", Some("Bank of America card")),
        ("bofa-checking.csv", Some("Bank of America")),
        ("bunq.csv", Some("bunq")),
        ("capital-one-360.csv", Some("Capital One 360")),
        ("capital-one-us.csv", Some("Capital One card")),
        ("chase-card-2016.csv", Some("Chase card, until 2017")),
        ("chase-card.csv", Some("Chase card")),
        ("chase-checking.csv", Some("Chase checking and savings")),
        ("citi.csv", Some("Citi card")),
        ("discover.csv", Some("Discover")),
        ("dkb.csv", Some("DKB")),
        ("evenkeel-everything.csv", Some("Evenkeel")),
        ("evenkeel-list.csv", Some("Evenkeel, from the list of transactions")),
        ("fidelity.csv", Some("Fidelity history")),
        ("ing-de.csv", Some("ING, Germany")),
        ("ing-nl-comma.csv", Some("ING, Netherlands")),
        ("ing-nl.csv", Some("ING, Netherlands")),
        ("mint.csv", Some("Mint")),
        ("monzo.csv", Some("Monzo")),
        ("n26-older.csv", Some("N26, older")),
        ("n26.csv", Some("N26")),
        ("paypal-personal.csv", Some("PayPal, personal")),
        ("paypal.csv", Some("PayPal")),
        ("pnc.csv", Some("PNC")),
        ("rabobank.csv", Some("Rabobank")),
        ("rbc.csv", Some("RBC Royal Bank")),
        ("revolut-de.csv", Some("Revolut, in another language")),
        ("revolut.csv", Some("Revolut")),
        ("schwab.csv", Some("Schwab Bank")),
        ("sparkasse.csv", Some("Sparkasse")),
        ("starling.csv", Some("Starling")),
        ("td-canada.csv", Some("TD Canada Trust")),
        ("us-bank.csv", Some("US Bank")),
        ("usaa.csv", Some("USAA, older")),
        ("wells-fargo.csv", Some("Wells Fargo")),
        ("wise.csv", Some("Wise")),
        ("generic-german.csv", None),
    ] {
        let bytes = fixture(file);
        let found = detect(&bytes, &options()).unwrap();
        assert_eq!(found.preset, preset, "{file}");
        assert_eq!(found.mapping.check(&found.sheet.titles()), [], "{file}");
        assert!(looks_like(&bytes), "{file}");
        assert!(preset.is_none_or(|it| presets().any(|name| name == it)));
    }
}

#[test]
fn other_formats_are_not_recognized_as_csv() {
    for text in [
        "",
        "hello\nthis is not a table\n",
        "!Type:Bank\nD01/05/2026\nT-1,234.50\nPCorner Bakery, Inc\n^\n",
        ":20:REF\n:25:NL00INGB0001234567\n:60F:C260105EUR1000,00\n:61:2601050105D12,50NTRFREF\n\
         :86:/NAME/Bakkerij, de Hoek/\n:62F:C260105EUR987,50\n",
        "OFXHEADER:100\nDATA:OFXSGML\n\n<OFX><STMTTRN><DTPOSTED>20260105<TRNAMT>-12.50\n\
         <NAME>Bakery, Inc</STMTTRN></OFX>",
        "<?xml version=\"1.0\"?>\n<Document><Amt Ccy=\"EUR\">12.50</Amt>\n<Dt>2026-01-05</Dt>\n",
        "{\"date\": \"2026-01-05\", \"amount\": 5}",
        "a,b\0\0\0\0c,2026-01-05,1.00\n",
    ] {
        assert!(!looks_like(text.as_bytes()), "{text}");
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let files = fixtures::paths("csv");
    let path = files.iter().find(|it| it.ends_with(name)).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn a_stored_mapping_is_loaded_unchanged() {
    for path in fixtures::paths("csv") {
        let Ok(found) = detect(&std::fs::read(path).unwrap(), &options()) else { continue };
        let stored = serde_json::to_string(&found.mapping).unwrap();
        assert_eq!(serde_json::from_str::<Mapping>(&stored).unwrap(), found.mapping);
    }
    let small: Mapping =
        serde_json::from_str(r#"{"columns":{"date":["Day"],"amount":[2]}}"#).unwrap();
    assert_eq!(small.columns[&Field::Date], [Column::Title("Day".to_owned())]);
    assert_eq!(small.columns[&Field::Amount], [Column::Number(2)]);
    assert!(serde_json::from_str::<Mapping>(r#"{"colums":{}}"#).is_err());
}

#[test]
fn errors_in_a_mapping_name_their_field() {
    let titles = ["Day", "What", "Sum"].map(str::to_owned);
    let check = |json: &str| -> Vec<String> {
        let mapping: Mapping = serde_json::from_str(json).unwrap();
        let errors = mapping.check(&titles);
        errors.iter().map(|it| format!("{}: {}", it.field.unwrap().label(), it.text)).collect()
    };
    assert_eq!(check(r#"{"columns":{"date":["day "],"amount":[3]}}"#), [""; 0]);
    assert_eq!(
        check("{}"),
        [
            "Date: Choose the column with the date.",
            "Amount: Choose the column with the amount, or those with money out and in.",
        ]
    );
    assert_eq!(
        check(r#"{"columns":{"date":["Sum"],"amount":[3]}}"#),
        ["Amount: Column 3 is chosen as Date and as Amount."]
    );
    assert_eq!(
        check(r#"{"columns":{"date":["Datum"],"amount":[4]}}"#),
        [
            "Date: The file has no “Datum”, which is chosen as Date.",
            "Amount: The file has no column 4, which is chosen as Amount.",
        ]
    );
    assert_eq!(
        check(r#"{"columns":{"date":[1,2],"amount":[3],"debit":[2]},"currency":"Dollar"}"#),
        [
            "Amount: Choose either one amount, or money out and money in.",
            "Date: Choose no more than 1 for “Date”.",
            "Money out: Column 2 is chosen as Date and as Money out.",
            "Currency: Dollar is no currency; write USD or EUR.",
        ]
    );
    assert_eq!(
        check(r#"{"columns":{"date":[1],"amount":[3],"direction":[2]}}"#),
        ["In or out: Say which words mean that money left the account."]
    );
    let mapping = Mapping { has_header: true, ..Mapping::default() };
    let refused = read_with(b"Day,Sum\n2026-01-05,1\n", &mapping, &options());
    assert!(matches!(refused, Err(FileError::Broken { .. })));
}

#[test]
fn a_person_can_choose_the_source_and_answer_questions() {
    let bytes = b"Date,Description,Amount\n03/20/2026,ALPHA,9.25\n03/21/2026,BETA,7.00\n".to_vec();
    let open = read(&bytes, &options()).unwrap();
    let kind = FileQuestion::AccountKind { account: 0, read_as: AccountKind::Depository };
    let charges = FileQuestion::ChargeSign { read_as: ChargeSign::Positive };
    assert_eq!(open.questions, [charges, kind]);
    let name = "American Express, three columns";
    let mapping = mapping_of_preset(name, &bytes, &options()).unwrap();
    let settled = read_with(&bytes, &mapping, &options()).unwrap();
    assert_eq!(settled.questions, []);
    let first = &settled.accounts[0].draft.transactions[0];
    assert_eq!(first.amount, Money::new(-925, Currency::USD));

    let bytes = fixture("generic-three.csv");
    let answers = ParseOptions {
        dates: Some(DateOrder::DayFirst),
        charges: Some(ChargeSign::Positive),
        ..options()
    };
    let settled = read(&bytes, &answers).unwrap();
    assert_eq!(settled.questions, []);
    let first = &settled.accounts[0].draft.transactions[0];
    assert_eq!(first.posted_on, Date::constant(2026, 5, 1));
    assert_eq!(first.amount.minor(), 925);
}

#[test]
fn balances_that_contradict_a_known_source_are_a_question_until_answered() {
    let bytes = fixture("chase-contradicted.csv");
    let answers = ParseOptions { charges: Some(ChargeSign::Positive), ..options() };
    let settled = read(&bytes, &answers).unwrap();
    assert_eq!(settled.questions, []);
    let account = &settled.accounts[0].draft;
    assert_eq!(account.transactions[0].amount.minor(), -12_040);
    assert_eq!(account.balance.map(|it| it.current_minor), Some(237_110));
}

#[test]
fn detected_columns_have_samples() {
    let found = detect(&fixture("ing-de.csv"), &options()).unwrap();
    let column = |index: usize| &found.sheet.columns[index];
    assert_eq!((found.mapping.skip_lines, found.sheet.rows[0].line), (13, 15));
    assert_eq!(column(0).column, Column::Title("Buchung".to_owned()));
    assert_eq!(column(0).samples, ["10.11.2026", "05.11.2026", "02.11.2026"]);
    // The second of two columns with the same title is named by its number.
    assert_eq!((column(6).title.as_str(), column(8).title.as_str()), ("Währung", "Währung"));
    assert_eq!(column(8).column, Column::Number(9));
    let bare = detect(&fixture("wells-fargo.csv"), &options()).unwrap();
    assert_eq!(bare.sheet.columns[4].title, "Column 5");
    let again = sheet(&fixture("wells-fargo.csv"), &bare.mapping).unwrap();
    assert_eq!(again.rows, bare.sheet.rows);
}

#[test]
fn hostile_files_are_read_in_bounded_time_and_memory() {
    let line = "x".repeat(1_000_000);
    for bytes in [
        line.clone(),
        ",".repeat(1_000_000),
        format!("Date,Amount\n2026-01-05,{line}\n"),
        format!("Date,Amount\n2026-01-05,\"{line}\n"),
        "\"\n".repeat(200_000),
        format!("Date,Account,Amount\n{}", many(|it| format!("2026-01-05,{it},1\n"))),
        format!("Date,Transaction ID,Amount\n{}", many(|_| "2026-01-05,A,1\n".to_owned())),
        "Date,Amount\n".to_owned() + &"01/05/2026,(((((1\n".repeat(20_000),
    ] {
        let _ = read(bytes.as_bytes(), &options());
    }
}

/// Each of these files once took seconds to read: they contain no row, or every byte ends a cell.
#[test]
fn large_files_of_separators_are_refused_or_read_quickly() {
    let head = "Date,Amount\n2026-01-05,1\n";
    let (many, some) = (1 << 20, 1 << 18);
    for (piece, bytes) in [
        ("\n", many),
        ("\"", many),
        (",", many),
        ("\r\n", some),
        ("\"\n", some),
        (",\n", some),
        (" ", some),
        ("\"\",", some),
        ("x\n", some),
        ("\"x", some),
    ] {
        let text = head.to_owned() + &piece.repeat(bytes / piece.len());
        match read(text.as_bytes(), &options()) {
            Ok(reading) => assert!(reading.rejected.count <= options().limits.rows),
            Err(FileError::TooManyCells | FileError::TooManyRows { .. } | FileError::Unknown) => {}
            Err(other) => panic!("{piece:?}: {other}"),
        }
        // The same without a table before it.
        let _ = read(&text.as_bytes()[head.len()..], &options());
    }
}

#[test]
fn the_number_of_rows_is_limited_whether_valid_or_not() {
    let limits = Limits { rows: 20, ..Limits::DEFAULT };
    let few = ParseOptions { limits, ..options() };
    let rejection = FileError::TooManyRows { most: 20 };
    for row in ["2026-01-05,1\n", "no row\n"] {
        let text = |count: usize| format!("Date,Amount\n2026-01-05,1\n{}", row.repeat(count));
        assert!(read(text(19).as_bytes(), &few).is_ok());
        assert_eq!(read(text(20).as_bytes(), &few).unwrap_err(), rejection);
    }
}

#[test]
fn long_cells_are_shortened_in_previews_and_reasons() {
    let long = "x".repeat(1 << 20);
    let text = format!("Date,Amount,{long}\n2026-01-05,{long},{long}\n2026-01-06,1,{long}\n");
    let found = detect(text.as_bytes(), &options()).unwrap();
    let cells = found.sheet.rows.iter().flat_map(|it| &it.cells);
    let titles = found.sheet.columns.iter().map(|it| &it.title);
    assert!(cells.chain(titles).all(|it| it.len() <= 200));
    let reading = read(text.as_bytes(), &options()).unwrap();
    assert_eq!(reading.rejected.count, 1);
    assert!(reading.rejected.rows.iter().all(|it| it.reason.len() < 1_000));
}

#[test]
fn a_description_full_of_semicolons_does_not_hide_the_delimiter() {
    let text = "Date\tDescription\tAmount (EUR)\n2026-01-05\t\"a;;b;;;c\"\t\"-1.00\"\n";
    let reading = read(text.as_bytes(), &options()).unwrap();
    let found = &reading.accounts[0].draft.transactions[0];
    assert_eq!((found.amount.minor(), found.description.as_str()), (-1_00, "a;;b;;;c"));
}

fn many(row: impl Fn(usize) -> String) -> String {
    (0..5_000).map(row).collect()
}

/// How a bank lays out a statement.
#[derive(Debug, Clone)]
struct Layout {
    delimiter: char,
    comma: bool,
    line_end: &'static str,
    date: usize,
    split: bool,
    bom: bool,
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let ends = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let delimiter = prop_oneof![Just(','), Just(';'), Just('\t'), Just('|')];
    (delimiter, any::<bool>(), ends, 0_usize..4, any::<bool>(), any::<bool>()).prop_map(
        |(delimiter, comma, line_end, date, split, bom)| Layout {
            delimiter,
            comma,
            line_end,
            date,
            split,
            bom,
        },
    )
}

fn rendered(rows: &[(i64, i64, String)], layout: &Layout) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let number = |minor: i64| {
        let mut text = Vec::new();
        Money::new(minor, Currency::EUR).write(&mut text);
        let text = String::from_utf8(text).unwrap();
        quoted(&if layout.comma { text.replace('.', ",") } else { text })
    };
    let mut lines = vec![match layout.split {
        true => vec!["Date".into(), "Description".into(), "Debit".into(), "Credit".into()],
        false => vec!["Date".to_owned(), "Description".into(), "Amount (EUR)".into()],
    }];
    for (days, minor, text) in rows {
        let date = date_from_days(*days);
        let (year, month, day) = (date.year(), date.month(), date.day());
        let date = match layout.date {
            0 => date.to_string(),
            1 => format!("{day:02}.{month:02}.{year}"),
            2 => format!("{year}{month:02}{day:02}"),
            _ => date.strftime("%d %b %Y").to_string(),
        };
        let mut cells = vec![date, quoted(text)];
        match (layout.split, *minor < 0) {
            (false, _) => cells.push(number(*minor)),
            (true, true) => cells.extend([number(-*minor), String::new()]),
            (true, false) => cells.extend([String::new(), number(*minor)]),
        }
        lines.push(cells);
    }
    let lines: Vec<String> =
        lines.iter().map(|it| it.join(&layout.delimiter.to_string()) + layout.line_end).collect();
    format!("{}{}", if layout.bom { "\u{feff}" } else { "" }, lines.concat())
}

/// Escapes text as our own exports do.
fn exported(text: &str) -> String {
    base::csv::text_cell(text)
}

proptest! {
    #[test]
    fn our_own_export_is_read_back(
        rows in prop::collection::vec(
            (
                (0..3_usize, -10_i64.pow(14)..=10_i64.pow(14), 0_i64..30_000, proptest::option::of(0_i64..30_000)),
                (any::<bool>(), proptest::option::of(0..base::category::Category::ALL.len())),
                ("[=+@%A-Z-][-A-Za-z0-9 =,;\"\n|ä']{0,20}[A-Z]", proptest::option::of("[=A-Z][A-Z ,]{0,9}[A-Z]")),
            ),
            1..20,
        ),
    ) {
        use base::category::Category;
        let codes = ["USD", "JPY", "KWD"];
        let mut text = "id,account_id,account_name,amount,amount_absolute,currency,\
            cash_flow_direction,date_posted,date_authorized,pending,category_label,category_tier1,\
            category_tier2,counterparty_name,counterparty_logo_url,original_description,\
            is_internal_transfer,updated_at\r\n".to_owned();
        let mut expected = vec![Vec::new(); 3];
        for (index, ((account, minor, posted, authorized), (pending, category), (words, name)))
            in rows.iter().enumerate()
        {
            let amount = Money::new(*minor, Currency::parse(codes[*account]).unwrap());
            let (mut number, date) = (Vec::new(), |it: i64| date_from_days(it).to_string());
            amount.write(&mut number);
            let category = category.map(|it| Category::ALL[it]);
            text += &format!(
                "txn_{index},acc_{account},Account {account},{},0,{},x,{},{},{pending},x,x,{},{},,{},false,x\r\n",
                String::from_utf8(number).unwrap(),
                codes[*account],
                date(*posted),
                authorized.map_or(String::new(), date),
                category.map_or("", Category::detailed),
                name.as_deref().map_or(String::new(), exported),
                exported(words),
            );
            expected[*account].push(TransactionDraft {
                external_id: Some(format!("txn_{index}")),
                pending: *pending,
                settles: None,
                posted_on: date_from_days(*posted),
                authorized_on: authorized.map(date_from_days),
                amount,
                description: words.clone(),
                counterparty: name.clone(),
                counterparty_logo_url: None,
                category,
            });
        }
        let read = read(text.as_bytes(), &options()).unwrap();
        prop_assert_eq!(read.rejected.rows, []);
        let is_kind = |it: &FileQuestion| matches!(it, FileQuestion::AccountKind { .. });
        prop_assert!(read.questions.iter().all(is_kind), "{:?}", read.questions);
        for account in &read.accounts {
            let index: usize = account.draft.external_id[4..].parse().unwrap();
            prop_assert_eq!(&account.draft.transactions, &expected[index]);
            prop_assert_eq!(&account.draft.name, &format!("Account {index}"));
        }
        let total: usize = read.accounts.iter().map(|it| it.draft.transactions.len()).sum();
        prop_assert_eq!(total, rows.len());
    }

    #[test]
    fn a_statement_in_any_layout_is_read_back(
        rows in prop::collection::vec(
            (18_000_i64..20_700, -10_i64.pow(12)..10_i64.pow(12), "[A-Za-z][A-Za-z ,;'\"|ä]{0,20}[A-Za-z]"),
            1..30,
        ),
        layout in any_layout(),
    ) {
        let text = rendered(&rows, &layout);
        let answers = ParseOptions { charges: Some(ChargeSign::Negative), currency: Currency::EUR, ..options() };
        let read = read(text.as_bytes(), &answers).unwrap();
        prop_assert_eq!(read.rejected.count, 0, "{:?} in {}", read.rejected, text);
        let is_kind = |it: &FileQuestion| matches!(it, FileQuestion::AccountKind { .. });
        prop_assert!(read.questions.iter().all(is_kind), "{:?}", read.questions);
        let drafts = &read.accounts[0].draft.transactions;
        let plain = |it: &TransactionDraft| {
            (base::days_from_date(it.posted_on), it.amount.minor(), it.description.clone())
        };
        prop_assert_eq!(drafts.iter().map(plain).collect::<Vec<_>>(), rows);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = read(&bytes, &options());
        looks_like(&bytes);
    }

    #[test]
    fn mutated_fixtures_never_panic(
        which in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        kind in 0..4,
    ) {
        let files = fixtures::paths("csv");
        let mut bytes = std::fs::read(which.get(&files)).unwrap();
        let more = std::fs::read(other.get(&files)).unwrap();
        for (position, byte) in cuts {
            if bytes.is_empty() {
                break;
            }
            let position = position.index(bytes.len());
            match kind {
                0 => bytes[position] = byte,
                1 => bytes.truncate(position),
                2 => bytes.extend_from_within(position..),
                _ => { bytes.splice(position..position, more.iter().copied().take(300)); }
            }
            bytes.truncate(20_000);
        }
        let _ = detect(&bytes, &options());
        let _ = read(&bytes, &options());
    }

    #[test]
    fn line_endings_do_not_matter(which in any::<prop::sample::Index>()) {
        let files = fixtures::paths("csv");
        let bytes = std::fs::read(which.get(&files)).unwrap();
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let expected = show(&read(text.as_bytes(), &options()));
        for end in ["\r\n", "\r"] {
            let other = show(&read(text.replace('\n', end).as_bytes(), &options()));
            let plain = |it: &str| it.replace("\\r\\n", "\\n").replace("\\r", "\\n");
            prop_assert_eq!(plain(&other), plain(&expected));
        }
    }
}
