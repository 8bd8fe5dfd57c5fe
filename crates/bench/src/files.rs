//! How fast files are read into drafts, without a database behind it.

use std::fmt::Write;

use anyhow::{anyhow, ensure};
use base::{Currency, Date, date_from_days};
use sources::files::{self, Hints};

use crate::insights::cpu_micros;

const ROUNDS: u64 = 10;
/// The first of January 2020.
const FIRST_DAY: i64 = 18_262;

pub(crate) fn measure(rows: usize) -> anyhow::Result<()> {
    for (name, text) in [("OFX 1", ofx(rows, false)?), ("OFX 2", ofx(rows, true)?)] {
        speed(name, &text, rows)?;
    }
    Ok(())
}

fn speed(name: &str, text: &str, rows: usize) -> anyhow::Result<()> {
    let hints = Hints {
        today: Date::constant(2024, 6, 15),
        currency: Currency::USD,
        dates: None,
        charges: None,
    };
    let before = cpu_micros()?;
    for _ in 0..ROUNDS {
        let reading = files::read(text.as_bytes(), &hints).map_err(|it| anyhow!("{it:?}"))?;
        let read: usize = reading.accounts.iter().map(|it| it.draft.transactions.len()).sum();
        ensure!(read == rows, "{read} of {rows} rows were read");
    }
    let micros = ((cpu_micros()? - before) / ROUNDS).max(1);
    let bytes = text.len() as u64;
    // Bytes in a microsecond are megabytes in a second.
    println!(
        "  {name}, {rows} rows: {} MB in {} ms, {} MB/s",
        bytes / 1_000_000,
        micros / 1000,
        bytes / micros
    );
    Ok(())
}

/// A statement as a large bank writes it, with its elements ended or not.
fn ofx(rows: usize, is_xml: bool) -> anyhow::Result<String> {
    let mut text = String::from(
        "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX>\n<BANKMSGSRSV1>\n<STMTTRNRS>\n<STMTRS>\n",
    );
    let element = |text: &mut String, name: &str, value: &str| match is_xml {
        true => writeln!(text, "<{name}>{value}</{name}>"),
        false => writeln!(text, "<{name}>{value}"),
    };
    element(&mut text, "CURDEF", "USD")?;
    text.push_str("<BANKACCTFROM>\n");
    element(&mut text, "BANKID", "021000021")?;
    element(&mut text, "ACCTID", "000123456789")?;
    element(&mut text, "ACCTTYPE", "CHECKING")?;
    text.push_str("</BANKACCTFROM>\n<BANKTRANLIST>\n");
    for row in 0..rows {
        let day = date_from_days(FIRST_DAY + i64::try_from(row / 64)?).strftime("%Y%m%d");
        text.push_str("<STMTTRN>\n");
        element(&mut text, "TRNTYPE", "DEBIT")?;
        element(&mut text, "DTPOSTED", &format!("{day}120000[0:GMT]"))?;
        element(&mut text, "TRNAMT", &format!("-{}.{:02}", row % 300, row % 100))?;
        element(&mut text, "FITID", &format!("{day}{row:09}"))?;
        element(&mut text, "NAME", &format!("POS PURCHASE MERCHANT {}", row % 977))?;
        element(&mut text, "MEMO", &format!("CARD 1234 PORTLAND OR REF {row:08}"))?;
        text.push_str("</STMTTRN>\n");
    }
    text.push_str("</BANKTRANLIST>\n</STMTRS>\n</STMTTRNRS>\n</BANKMSGSRSV1>\n</OFX>\n");
    Ok(text)
}
