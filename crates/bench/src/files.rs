//! Measures how fast files are parsed into drafts, without a database.

use std::fmt::Write;

use anyhow::{anyhow, ensure};
use base::{Currency, Date, date_from_days};
use sources::files::{self, Limits, ParseOptions};

use crate::insights::cpu_micros;

const ROUNDS: u64 = 10;
/// The first of January 2020.
const FIRST_DAY: i64 = 18_262;

pub(crate) fn measure(rows: usize) -> anyhow::Result<()> {
    speed("OFX 1", &ofx(rows, false)?, rows)?;
    speed("OFX 2", &ofx(rows, true)?, rows)?;
    speed("CSV of Chase", &chase(rows)?, rows)
}

fn speed(name: &str, text: &str, rows: usize) -> anyhow::Result<()> {
    let options = ParseOptions {
        today: Date::constant(2024, 6, 15),
        currency: Currency::USD,
        chosen_currency: None,
        dates: None,
        charges: None,
        limits: Limits::DEFAULT,
    };
    let before = cpu_micros()?;
    for _ in 0..ROUNDS {
        let reading = files::read(text.as_bytes(), &options).map_err(|it| anyhow!("{it:?}"))?;
        let read: usize = reading.accounts.iter().map(|it| it.draft.transactions.len()).sum();
        ensure!(read == rows, "{read} of {rows} rows were read");
    }
    let micros = ((cpu_micros()? - before) / ROUNDS).max(1);
    let bytes = text.len() as u64;
    // Bytes per microsecond are megabytes per second.
    println!(
        "  {name}, {rows} rows: {} MB in {} ms, {} MB/s",
        bytes / 1_000_000,
        micros / 1000,
        bytes / micros
    );
    Ok(())
}

/// A statement as a large bank writes it, as OFX 2 with closing tags or OFX 1 without.
fn ofx(rows: usize, is_xml: bool) -> anyhow::Result<String> {
    let mut ofx = Ofx::new(is_xml);
    ofx.begin("000123456789", false, Currency::USD)?;
    for row in 0..rows {
        let day = date_from_days(FIRST_DAY + i64::try_from(row / 64)?).strftime("%Y%m%d");
        let amount = format!("-{}.{:02}", row % 300, row % 100);
        let name = format!("POS PURCHASE MERCHANT {}", row % 977);
        let memo = format!("CARD 1234 PORTLAND OR REF {row:08}");
        ofx.row([&day.to_string(), &amount, &format!("{day}{row:09}"), &name, &memo])?;
    }
    ofx.end();
    Ok(ofx.finish())
}

/// An OFX file under construction.
pub(crate) struct Ofx {
    text: String,
    is_xml: bool,
    set: &'static str,
}

impl Ofx {
    pub(crate) fn new(is_xml: bool) -> Ofx {
        let text = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX>\n".to_owned();
        Ofx { text, is_xml, set: "" }
    }

    pub(crate) fn begin(
        &mut self,
        number: &str,
        is_card: bool,
        currency: Currency,
    ) -> anyhow::Result<()> {
        self.set = if is_card { "CC" } else { "" };
        let (set, account) = (self.set, if is_card { "CCACCTFROM" } else { "BANKACCTFROM" });
        let frame = if is_card { "CREDITCARDMSGSRSV1" } else { "BANKMSGSRSV1" };
        writeln!(self.text, "<{frame}>\n<{set}STMTTRNRS>\n<{set}STMTRS>")?;
        self.element("CURDEF", currency.code())?;
        writeln!(self.text, "<{account}>")?;
        if !is_card {
            self.element("BANKID", "021000021")?;
        }
        self.element("ACCTID", number)?;
        if !is_card {
            self.element("ACCTTYPE", "CHECKING")?;
        }
        writeln!(self.text, "</{account}>\n<BANKTRANLIST>")?;
        Ok(())
    }

    /// Adds a transaction.
    pub(crate) fn row(&mut self, [day, amount, id, name, memo]: [&str; 5]) -> anyhow::Result<()> {
        self.text.push_str("<STMTTRN>\n");
        let kind = if amount.starts_with('-') { "DEBIT" } else { "CREDIT" };
        self.element("TRNTYPE", kind)?;
        self.element("DTPOSTED", &format!("{day}120000[0:GMT]"))?;
        self.element("TRNAMT", amount)?;
        self.element("FITID", id)?;
        self.element("NAME", name)?;
        if !memo.is_empty() {
            self.element("MEMO", memo)?;
        }
        self.text.push_str("</STMTTRN>\n");
        Ok(())
    }

    pub(crate) fn end(&mut self) {
        let set = self.set;
        let frame = if set.is_empty() { "BANKMSGSRSV1" } else { "CREDITCARDMSGSRSV1" };
        self.text
            .push_str(&format!("</BANKTRANLIST>\n</{set}STMTRS>\n</{set}STMTTRNRS>\n</{frame}>\n"));
    }

    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</OFX>\n");
        self.text
    }

    fn element(&mut self, name: &str, value: &str) -> anyhow::Result<()> {
        let value = value.replace('&', "&amp;").replace('<', "&lt;");
        match self.is_xml {
            true => writeln!(self.text, "<{name}>{value}</{name}>")?,
            false => writeln!(self.text, "<{name}>{value}")?,
        }
        Ok(())
    }
}

/// A checking account as Chase writes it: newest first, with a balance on every row.
fn chase(rows: usize) -> anyhow::Result<String> {
    chase_with(rows, "")
}

/// The same with long descriptions, about 208 bytes a row.
pub(crate) fn wide_csv(rows: usize) -> anyhow::Result<String> {
    chase_with(rows, &" PAYMENT DETAILS".repeat(6))
}

fn chase_with(rows: usize, details: &str) -> anyhow::Result<String> {
    let mut text =
        "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n".to_owned();
    let mut balance_minor: i64 = 0;
    for row in (0..rows).rev() {
        let day = date_from_days(FIRST_DAY + i64::try_from(row / 64)?).strftime("%m/%d/%Y");
        let minor = i64::try_from(row % 300 * 100 + row % 100)?;
        writeln!(
            text,
            "DEBIT,{day},\"POS PURCHASE MERCHANT {} CARD 1234 PORTLAND OR REF {row:08}{details}\",\
             -{}.{:02},DEBIT_CARD,{}.{:02},,",
            row % 977,
            minor / 100,
            minor % 100,
            balance_minor / 100,
            balance_minor % 100
        )?;
        balance_minor += minor;
    }
    Ok(text)
}
