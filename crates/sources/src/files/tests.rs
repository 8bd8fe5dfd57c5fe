//! Tests of format detection, limits and notes that all formats share.

use base::Currency;

use super::{
    FileContents, FileError, Format, Note, NoteKind, ParseOptions, REJECTED_MAX, fixtures, read,
    read_as,
};

fn statement(kind: &str) -> String {
    format!(
        "<STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>77<ACCTTYPE>{kind}</BANKACCTFROM>\
         <BANKTRANLIST></BANKTRANLIST></STMTRS>"
    )
}

fn ids(reading: &FileContents) -> Vec<&str> {
    reading.accounts.iter().map(|it| it.draft.external_id.as_str()).collect()
}

#[test]
fn accounts_with_the_same_number_get_different_ids() {
    let kinds = ["CHECKING", "SAVINGS", "CHECKING", "MONEYMRKT"];
    let text = format!("<OFX>{}", kinds.map(statement).concat());
    let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
    assert_eq!(ids(&reading), ["77", "77 (2)", "77 (3)"]);
}

#[test]
fn accounts_without_a_number_stay_without_one() {
    let text = "!Type:Bank\nD1/31/2024\nT1\n^\n!Type:CCard\nD1/31/2024\nT1\n^\n";
    let reading = read(text.as_bytes(), &fixtures::options()).unwrap();
    assert_eq!(ids(&reading), ["", ""]);
}

#[test]
fn a_file_is_read_in_the_given_format() {
    let text = "1/31/2024 1\n";
    assert_eq!(read(text.as_bytes(), &fixtures::options()).unwrap_err(), FileError::Unknown);
    for format in Format::ALL {
        match read_as(*format, text.as_bytes(), &fixtures::options()) {
            Ok(reading) => assert_eq!(reading.format, *format),
            Err(FileError::Broken { format: named, .. }) => {
                assert_eq!(named.provenance(), format.provenance())
            }
            Err(error) => assert_eq!((*format, error), (Format::Csv, FileError::Unknown)),
        }
    }
}

/// None of these is a bank's file. Each would take minutes or gigabytes in a parser that reads anything twice,
/// recurses with every token, or keeps data that it cannot use.
#[test]
fn no_parser_is_slow_on_repetitive_input() {
    const BYTES: usize = 50_000;
    for opening in [
        "",
        "<OFX><STMTTRN><NAME>",
        "<D><Stmt><Ntry>",
        ":20:A\n:61:260101C1,NTRF\n:86:",
        "!Type:Bank\nP",
        "Date,Amount\n\"",
    ] {
        for piece in [
            "x",
            " ",
            "\n",
            "\r",
            "\0",
            "\"",
            "\"\n",
            "<",
            "<a>",
            "</a>",
            "<![CDATA[",
            "&",
            "&#",
            "é",
            ",",
            ";",
            ":61:",
            "?20",
            "/",
            "^\n",
            "!",
            "{1:",
            "1/1/24,1\n",
        ] {
            let text = opening.to_owned() + &piece.repeat(BYTES / piece.len());
            for format in Format::ALL {
                let Ok(reading) = read_as(*format, text.as_bytes(), &fixtures::options()) else {
                    continue;
                };
                let rows = reading.accounts.iter().map(|it| it.draft.transactions.len());
                assert!(rows.sum::<usize>() <= fixtures::options().limits.rows);
                assert!(reading.rejected.rows.len() <= REJECTED_MAX);
            }
        }
    }
}

/// The currencies in which a file is read for a person whose own is USD: by itself, and if they chose PLN. Then the
/// currency that was assumed, and the text of the first note on it.
fn currencies(text: &str) -> (String, String, Option<String>, Option<String>) {
    let read = |chosen: Option<&str>| {
        let chosen_currency = chosen.map(|it| Currency::parse(it).unwrap());
        let options = ParseOptions { chosen_currency, ..fixtures::options() };
        read(text.as_bytes(), &options).unwrap()
    };
    let of = |read: &FileContents| read.accounts[0].draft.currency.to_string();
    let (plain, chosen) = (read(None), read(Some("PLN")));
    let is_about_it = |it: &&Note| it.kind == NoteKind::AssumedCurrency;
    assert!(!chosen.notes.all.iter().any(|it| is_about_it(&it)), "{:?}", chosen.notes);
    let note = plain.notes.all.iter().find(is_about_it).map(|it| it.text.clone());
    (of(&plain), of(&chosen), plain.assumed_currency.map(|it| it.to_string()), note)
}

#[test]
fn a_chosen_currency_counts_more_than_what_a_file_suggests_and_less_than_what_it_names() {
    let check =
        |text: &str, read: &str, chosen: &str, assumed: Option<&str>, note: Option<&str>| {
            let expected = (read.to_owned(), chosen.to_owned());
            let (plain, other, found, noted) = currencies(text);
            assert_eq!((plain, other), expected, "{text}");
            assert_eq!(found.as_deref(), assumed, "{text}");
            assert_eq!(noted.is_some(), note.is_some(), "{text}: {noted:?}");
            assert!(noted.unwrap_or_default().contains(note.unwrap_or_default()), "{text}");
        };
    let rows = "2026-03-02,Alpha,-5.00\n2026-03-03,Beta,-6.00\n";
    let plain = format!("Date,Description,Amount\n{rows}");
    check(&plain, "USD", "PLN", Some("USD"), Some("read as USD."));
    let bacs = plain.replace("Alpha", "BACS Alpha").replace("Beta", "BACS Beta");
    check(&bacs, "GBP", "PLN", Some("GBP"), Some("read as GBP, because "));
    // An IBAN stands for the currency of its country, which the person may know better.
    let iban = format!("Account number,DE89370400440532013000,\n{plain}");
    check(&iban, "EUR", "PLN", None, None);
    let named = format!("Currency,SEK,\n{plain}");
    check(&named, "SEK", "SEK", None, None);
    let column = "Date,Description,Amount,Currency\n2026-03-02,Alpha,-5.00,NOK\n";
    check(column, "NOK", "NOK", None, None);
    let qif = "!Type:Bank\nD03/25/2026\nT-5.00\nPAlpha\n^\n";
    check(qif, "USD", "PLN", Some("USD"), Some("read as USD."));
    let ofx = |currency: &str| {
        format!(
            "<OFX><STMTRS>{currency}<BANKACCTFROM><ACCTID>1</BANKACCTFROM><BANKTRANLIST><STMTTRN>\
            <DTPOSTED>20260105<TRNAMT>1.00</STMTTRN></BANKTRANLIST></STMTRS></OFX>"
        )
    };
    check(&ofx(""), "USD", "PLN", Some("USD"), Some("read as USD."));
    check(&ofx("<CURDEF>USD"), "USD", "USD", None, None);
    check(&ofx("<CURDEF>EUR"), "EUR", "EUR", None, None);
}
