//! Tests of the OFX reader: fixtures, both versions of the format, and laws.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use base::draft::TransactionDraft;
use base::{Currency, Money, date_from_days};
use proptest::prelude::*;

use super::{looks_like, read};
use crate::files::text::joined;
use crate::files::{ChargeSign, DateOrder, FileContents, FileError, Format, fixtures};

fn reading(bytes: &[u8]) -> FileContents {
    read(bytes, &fixtures::options()).unwrap()
}

fn rows(bytes: &[u8]) -> Vec<TransactionDraft> {
    let read = read(bytes, &fixtures::options()).map_or_else(|_| Vec::new(), |it| it.accounts);
    read.into_iter().flat_map(|it| it.draft.transactions).collect()
}

#[test]
fn every_fixture_is_read_as_expected() {
    fixtures::check_folder("ofx", read);
}

#[test]
fn every_fixture_is_recognized_by_its_beginning() {
    for (path, bytes) in fixtures::load("ofx") {
        assert!(looks_like(&bytes), "{}", path.display());
    }
}

#[test]
fn other_formats_are_not_recognized_as_ofx() {
    for other in [
        "",
        "!Type:Bank\nD1/1/2024\nT1\n^\n",
        "Date,Amount\n2024-01-01,1.00\n",
        "<?xml version=\"1.0\"?><Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\">",
        ":20:START\n:25:123\n",
        "<!DOCTYPE html><html><body>OFX</body></html>",
    ] {
        assert!(!looks_like(other.as_bytes()), "{other}");
    }
}

#[test]
fn line_endings_do_not_matter() {
    fixtures::check_other_line_endings("ofx", read);
}

#[test]
fn options_of_other_formats_change_nothing() {
    let mut options = fixtures::options();
    (options.dates, options.charges) = (Some(DateOrder::DayFirst), Some(ChargeSign::Positive));
    for (_, bytes) in fixtures::load("ofx") {
        let shown = fixtures::show(&read(&bytes, &options));
        assert_eq!(shown, fixtures::show(&read(&bytes, &fixtures::options())));
    }
}

#[test]
fn a_truncated_file_gives_only_data_of_the_whole_file() {
    for (path, whole) in fixtures::load("ofx") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !["checking-sgml.ofx", "savings-xml.ofx", "bank-and-card.qfx"].contains(&name.as_str()) {
            continue;
        }
        let all = reading(&whole);
        let all_rows = rows(&whole);
        for end in 0..whole.len() {
            let Ok(cut) = read(&whole[..end], &fixtures::options()) else { continue };
            for account in cut.accounts {
                let same = all.accounts.iter().find(|it| {
                    it.draft.external_id == account.draft.external_id && it.bank == account.bank
                });
                let same = &same.unwrap_or_else(|| panic!("{name} at {end}")).draft;
                let amount = account.draft.balance.map(|it| it.current_minor);
                let known = same.balance.map(|it| it.current_minor);
                assert!(amount.is_none() || amount == known, "{name} at {end}");
                for row in account.draft.transactions {
                    assert!(all_rows.contains(&row), "{name} at {end}: {row:?}");
                }
            }
        }
    }
}

/// Each of these files would take minutes or gigabytes if anything were read twice, nested without bound, or kept
/// needlessly.
#[test]
fn hostile_files_are_read_in_bounded_time() {
    const REPEATS: usize = 40_000;
    for (opening, repeated) in [
        ("<OFX>", "<A>"),
        ("<OFX>", "<STMTTRN>"),
        ("<OFX>", "<STMTRS>"),
        ("<OFX>", "<STMTRS><BANKTRANLIST><STMTTRN>"),
        ("<OFX>", "<STATUS><SEVERITY>ERROR"),
        ("<OFX>", "<SECID>"),
        ("<OFX>", "</OFX>"),
        ("<OFX><STMTTRN><NAME>", "<![CDATA["),
        ("<OFX><STMTTRN><NAME>", "<!--"),
        ("<OFX><STMTTRN><NAME>", "<!"),
        ("<OFX><STMTTRN><NAME>", "<?"),
        ("<OFX><STMTTRN><NAME>", "<a "),
        ("<OFX><STMTTRN><NAME>", "&"),
        ("<OFX><STMTTRN><NAME>", "&amp;amp;"),
        ("<OFX><STMTTRN><NAME>", "<"),
        ("<OFX><STMTTRN><NAME>", "<![CDATA[x]]>"),
        ("<OFX><STMTTRN><TRNAMT>", "9"),
        ("<OFX>", "<STMTTRN><DTPOSTED>20240101<TRNAMT>1<FITID>A</STMTTRN>"),
        ("<OFX>", "<POSMF><UNIQUEID>A<UNITS>999999999<UNITPRICE>999999999</POSMF>"),
    ] {
        let text = opening.to_owned() + &repeated.repeat(REPEATS);
        let read = read(text.as_bytes(), &fixtures::options());
        assert!(read.map_or(0, |it| it.accounts.len()) < 2, "{repeated}");
    }
}

#[test]
fn the_same_number_at_two_branches_is_two_accounts() {
    let statement = |branch: &str| {
        format!(
            "<STMTRS><BANKACCTFROM><BANKID>30004<BRANCHID>{branch}<ACCTID>00012345678</BANKACCTFROM>\
             <BANKTRANLIST><STMTTRN><DTPOSTED>20240105<TRNAMT>1.00</STMTTRN></BANKTRANLIST></STMTRS>"
        )
    };
    let text =
        format!("<OFX>{}{}{}</OFX>", statement("00123"), statement("00999"), statement("00123"));
    let accounts = reading(text.as_bytes()).accounts;
    let found: Vec<_> =
        accounts.iter().map(|it| (it.bank.as_deref(), it.draft.transactions.len())).collect();
    assert_eq!(found, [(Some("30004-00123"), 2), (Some("30004-00999"), 1)]);
    let text = format!("<OFX>{}</OFX>", statement("00000"));
    assert_eq!(reading(text.as_bytes()).accounts[0].bank.as_deref(), Some("30004"));
}

#[test]
fn a_list_of_accounts_is_no_statement() {
    let account = "<ACCTINFO><BANKACCTINFO><BANKACCTFROM><BANKID>1<ACCTID>77<ACCTTYPE>CHECKING\
                   </BANKACCTFROM><SVCSTATUS>ACTIVE</BANKACCTINFO></ACCTINFO>";
    let list =
        format!("<ACCTINFOTRNRS><ACCTINFORS>{account}{account}</ACCTINFORS></ACCTINFOTRNRS>");
    let options = fixtures::options();
    assert!(read(format!("<OFX>{list}</OFX>").as_bytes(), &options).is_err());
    let statement = "<STMTRS><BANKACCTFROM><BANKID>1<ACCTID>88</BANKACCTFROM>\
                     <STMTTRN><DTPOSTED>20240105<TRNAMT>1.00</STMTTRN></STMTRS>";
    let accounts = reading(format!("<OFX>{list}{statement}</OFX>").as_bytes()).accounts;
    let numbers: Vec<&str> = accounts.iter().map(|it| it.draft.external_id.as_str()).collect();
    assert_eq!(numbers, ["88"]);
}

#[test]
fn a_payee_may_be_a_text_or_lack_its_end_tag() {
    for payee in [
        "<PAYEE>Bakery</PAYEE>",
        "<PAYEE>Bakery",
        "<PAYEE><NAME>Bakery<CITY>Utrecht</PAYEE>",
        "<PAYEE><NAME>Bakery<CITY>Utrecht",
    ] {
        let row = format!("<STMTTRN><DTPOSTED>20240105<TRNAMT>-1{payee}<MEMO>Bread</STMTTRN>");
        let row = rows(format!("<OFX><STMTRS>{row}</STMTRS></OFX>").as_bytes()).remove(0);
        let found = (row.description.as_str(), row.counterparty.as_deref());
        assert_eq!(found, ("Bakery Bread", Some("Bakery")), "{payee}");
    }
}

#[test]
fn a_balance_without_a_date_has_the_day_of_the_file_or_of_the_last_row() {
    let rows = "<STMTTRN><DTPOSTED>20150302<TRNAMT>1.00</STMTTRN>\
                <STMTTRN><DTPOSTED>20150105<TRNAMT>1.00</STMTTRN>";
    for (made, rows, balance, expected) in [
        ("20150401", rows, "<BALAMT>5.00<DTASOF>00000000", Some("2015-04-01T12:00:00Z")),
        ("00000000", rows, "<BALAMT>5.00<DTASOF>00000000", Some("2015-03-02T12:00:00Z")),
        ("00000000", "", "<BALAMT>5.00", Some("2026-11-15T12:00:00Z")),
        ("00000000", rows, "<BALAMT>0.00<DTASOF>00000000", None),
        (
            "20150401",
            rows,
            "<BALAMT>0.00<DTASOF>20150331235959[-8:PST]",
            Some("2015-03-31T12:00:00Z"),
        ),
    ] {
        let text = format!(
            "<OFX><SIGNONMSGSRSV1><SONRS><DTSERVER>{made}</SONRS></SIGNONMSGSRSV1><STMTRS><BANKACCTFROM>\
             <ACCTID>1</BANKACCTFROM><BANKTRANLIST>{rows}</BANKTRANLIST><LEDGERBAL>{balance}</LEDGERBAL></STMTRS></OFX>"
        );
        let found = reading(text.as_bytes()).accounts.remove(0).draft.balance;
        assert_eq!(found.map(|it| it.as_of.to_string()).as_deref(), expected, "{made} {balance}");
    }
}

#[test]
fn rejections_are_counted_but_not_all_kept() {
    let text = "<STMTTRN><DTPOSTED>x</STMTTRN>\n".repeat(5_000);
    let rejected = reading(text.as_bytes()).rejected;
    assert_eq!((rejected.rows.len(), rejected.count), (1_000, 5_000));
    assert_eq!(rejected.rows[999].line, 1_000);
}

#[test]
fn a_currency_after_the_first_row_rejects_the_rows() {
    let row = "<STMTTRN><DTPOSTED>20240105<TRNAMT>1.00</STMTTRN>";
    let late = format!("<OFX><STMTRS>{row}<CURDEF>EUR{row}</STMTRS></OFX>");
    let reading = reading(late.as_bytes());
    assert_eq!((reading.accounts.len(), reading.rejected.count), (0, 2));
}

#[test]
fn the_number_of_accounts_is_limited() {
    let mut text = String::new();
    for number in 0..1_500 {
        write!(text, "<STMTRS><BANKACCTFROM><ACCTID>{number}</BANKACCTFROM></STMTRS>").unwrap();
    }
    let read = reading((text + "</OFX>").as_bytes());
    assert_eq!((read.accounts.len(), read.rejected.count), (1_000, 500));
}

#[test]
fn a_file_without_a_statement_is_refused() {
    for text in ["", "OFXHEADER:100", "<OFX></OFX>", "<OFX><STMTRS></STMTRS></OFX>"] {
        let broken = read(text.as_bytes(), &fixtures::options());
        let reason = "there is no statement in it".to_owned();
        let format = Format::Ofx;
        assert_eq!(broken.err(), Some(FileError::Broken { format, reason }), "{text}");
    }
}

fn row() -> impl Strategy<Value = (i64, i64, String, String, bool)> {
    let text = "[A-Za-zé0-9&<>'\"#;. -]{1,30}".prop_map(|it| it.trim().to_owned());
    let text = text.prop_filter("blank", |it| !it.is_empty());
    (0..30_000_i64, -10_000_000_000..10_000_000_000_i64, text.clone(), text, any::<bool>())
}

fn draft(at: usize, row: &(i64, i64, String, String, bool)) -> TransactionDraft {
    let (day, minor, name, memo, has_memo) = row;
    let both = *has_memo && name != memo;
    TransactionDraft {
        external_id: Some(format!("R{at}")),
        pending: false,
        settles: None,
        posted_on: date_from_days(*day),
        authorized_on: None,
        amount: Money::new(*minor, Currency::EUR),
        description: if both { joined(name, memo) } else { name.clone() },
        counterparty: None,
        counterparty_logo_url: None,
        category: None,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A statement as a bank would write it: with all end tags, or with none.
fn rendered(rows: &[(i64, i64, String, String, bool)], is_xml: bool, end: &str) -> String {
    let mut text = format!("OFXHEADER:100{end}{end}<OFX>{end}<STMTRS>{end}");
    let element = |text: &mut String, name: &str, value: &str| {
        let close = if is_xml { format!("</{name}>") } else { String::new() };
        write!(text, "<{name}>{value}{close}{end}").unwrap();
    };
    element(&mut text, "CURDEF", "EUR");
    text.push_str("<BANKACCTFROM>");
    element(&mut text, "ACCTID", "A1");
    text.push_str("</BANKACCTFROM><BANKTRANLIST>");
    for (at, row) in rows.iter().enumerate() {
        let amount = Money::new(row.1, Currency::EUR).to_string();
        text.push_str("<STMTTRN>");
        element(&mut text, "DTPOSTED", &date_from_days(row.0).strftime("%Y%m%d").to_string());
        element(&mut text, "TRNAMT", amount.trim_end_matches(" EUR"));
        element(&mut text, "FITID", &format!("R{at}"));
        element(&mut text, "NAME", &escaped(&row.2));
        if row.4 {
            element(&mut text, "MEMO", &escaped(&row.3));
        }
        text.push_str("</STMTTRN>");
    }
    text + "</BANKTRANLIST></STMTRS></OFX>"
}

static FIXTURES: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| fixtures::load("ofx"));

proptest! {
    #[test]
    fn a_rendered_file_is_read_back(
        list in prop::collection::vec(row(), 0..20),
        is_xml: bool,
        end in prop::sample::select(vec!["\n", "\r\n", "\r", ""]),
    ) {
        let read = reading(rendered(&list, is_xml, end).as_bytes());
        let expected: Vec<_> = list.iter().enumerate().map(|(at, it)| draft(at, it)).collect();
        prop_assert_eq!(&read.accounts[0].draft.transactions, &expected);
        prop_assert_eq!(read.rejected.count, 0);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        looks_like(&bytes);
        let _ = read(&bytes, &fixtures::options());
    }

    #[test]
    fn arbitrary_tags_never_panic(pieces in prop::collection::vec(0..40_usize, 0..60)) {
        const PIECES: [&str; 40] = [
            "<OFX>", "<STMTRS>", "</STMTRS>", "<CCSTMTRS>", "<INVSTMTRS>", "<BANKTRANLIST>",
            "</BANKTRANLIST>", "<STMTTRN>", "</STMTTRN>", "<STMTTRNP>", "<DTPOSTED>20240105",
            "<TRNAMT>", "1.00", "<FITID>A", "<NAME>", "<MEMO/>", "<CURDEF>JPY", "<CURDEF>XXX",
            "<BANKACCTFROM>", "<ACCTID>1234", "<LEDGERBAL>", "<BALAMT>-1", "<INVPOSLIST>",
            "<POSSTOCK>", "</POSSTOCK>", "<UNIQUEID>X", "<UNITS>0", "<UNITPRICE>0", "<MKTVAL>5",
            "<AVGCOSTBASIS>7", "<BUYSTOCK>", "<DTTRADE>20240105", "<TOTAL>1", "<SECLIST>",
            "<STOCKINFO>", "<![CDATA[", "]]>", "&#", "<CORRECTFITID>A<CORRECTACTION>REPLACE", "é<",
        ];
        let text: String = pieces.iter().map(|it| PIECES[*it]).collect();
        let _ = read(text.as_bytes(), &fixtures::options());
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
