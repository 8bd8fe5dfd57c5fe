//! The euro reference rates of the European Central Bank, as it publishes them: `eurofxref-hist.csv`, or the XML files
//! `eurofxref-daily.xml` and `eurofxref-hist-90d.xml`.

use base::{Currency, Date, Fixed9};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::files::csv::{Delimiter, Records};

/// The whole history since 1999 has about 230,000 rates.
const RATES_MAX: usize = 1_000_000;

/// One euro was worth `rate` units of `currency` on that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceRate {
    pub currency: Currency,
    pub on: Date,
    pub rate: Fixed9,
}

/// Reads a file of reference rates. Currencies that we do not know are left out. An error says what is wrong, in a
/// sentence.
pub fn parse(bytes: &[u8]) -> Result<Vec<ReferenceRate>, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| "This file is not text. If it is a zip file, unpack it first.".to_owned())?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let rates = if text.starts_with('<') { parse_xml(text)? } else { parse_csv(text)? };
    if rates.is_empty() {
        return Err("This file has no exchange rates.".to_owned());
    }
    Ok(rates)
}

/// A header with currencies, and a line for each day. `N/A` is a day without a rate.
fn parse_csv(text: &str) -> Result<Vec<ReferenceRate>, String> {
    let (mut lines, mut cells) = (text.lines().zip(1..), Vec::new());
    let header = lines.next().map_or("", |(line, _)| line);
    Records::new(header, Delimiter::Comma).next(&mut cells);
    let is_header = cells.first().is_some_and(|it| it.trim().eq_ignore_ascii_case("date"));
    if !is_header {
        return Err(
            "This is no file of the European Central Bank: its first line must begin with \
                    “Date” and list currencies."
                .to_owned(),
        );
    }
    let columns: Vec<Option<Currency>> =
        cells.iter().skip(1).map(|it| Currency::parse(it.trim()).ok()).collect();
    let mut rates = Vec::new();
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        cells.clear();
        Records::new(line, Delimiter::Comma).next(&mut cells);
        let day = cells.first().map_or("", |it| it.trim());
        let on = date(day)
            .ok_or_else(|| format!("Line {number} must begin with a date such as 2026-03-10."))?;
        for (currency, cell) in columns.iter().zip(cells.iter().skip(1)) {
            let (Some(currency), text) = (currency, cell.trim()) else { continue };
            if text.is_empty() || text == "N/A" {
                continue;
            }
            let rate = rate(text).ok_or_else(|| {
                format!("Line {number} has a rate of {currency} that is no number.")
            })?;
            push(&mut rates, ReferenceRate { currency: *currency, on, rate })?;
        }
    }
    Ok(rates)
}

/// `<Cube time='2026-03-10'><Cube currency='USD' rate='1.0850'/>`.
fn parse_xml(text: &str) -> Result<Vec<ReferenceRate>, String> {
    let broken = || "This XML file can't be read.".to_owned();
    let mut reader = Reader::from_str(text);
    let (mut rates, mut on) = (Vec::new(), None);
    loop {
        let tag = match reader.read_event().map_err(|_| broken())? {
            Event::Start(tag) | Event::Empty(tag) => tag,
            Event::Eof => return Ok(rates),
            _ => continue,
        };
        if tag.local_name().as_ref() != "Cube" {
            continue;
        }
        if let Some(time) = attribute(&tag, "time") {
            on = Some(date(&time).ok_or_else(|| format!("“{time}” is no date."))?);
        }
        let (Some(code), Some(value)) = (attribute(&tag, "currency"), attribute(&tag, "rate"))
        else {
            continue;
        };
        let Ok(currency) = Currency::parse(&code) else { continue };
        let on = on.ok_or_else(|| "The rates of this file have no date.".to_owned())?;
        let rate =
            rate(&value).ok_or_else(|| format!("The rate of {currency} on {on} is no number."))?;
        push(&mut rates, ReferenceRate { currency, on, rate })?;
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok().flatten()?;
    Some(found.value.into_owned())
}

fn date(text: &str) -> Option<Date> {
    if text.len() == 10 && text.is_ascii() { text.parse().ok() } else { None }
}

fn rate(text: &str) -> Option<Fixed9> {
    Fixed9::parse(text).ok().filter(|it| *it > Fixed9::ZERO)
}

fn push(rates: &mut Vec<ReferenceRate>, rate: ReferenceRate) -> Result<(), String> {
    if rates.len() >= RATES_MAX {
        return Err(format!("This file has more than {RATES_MAX} rates."));
    }
    rates.push(rate);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String, String)> {
        let found = parse(text.as_bytes()).unwrap();
        let row =
            |it: &ReferenceRate| (it.on.to_string(), it.currency.to_string(), it.rate.to_string());
        found.iter().map(row).collect()
    }

    fn expected(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        let own = |it: &(&str, &str, &str)| (it.0.to_owned(), it.1.to_owned(), it.2.to_owned());
        rows.iter().map(own).collect()
    }

    #[test]
    fn the_csv_file_has_a_column_for_each_currency() {
        let text = "Date,USD,JPY,CYP,\n2026-03-10,1.085,160.12,N/A,\n2026-03-09,1.0801,,N/A,\n";
        let rows = [
            ("2026-03-10", "USD", "1.085"),
            ("2026-03-10", "JPY", "160.12"),
            ("2026-03-09", "USD", "1.0801"),
        ];
        assert_eq!(read(text), expected(&rows));
        assert_eq!(read(&text.replace('\n', "\r\n")), expected(&rows));
    }

    #[test]
    fn the_xml_file_has_a_cube_for_each_day() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <gesmes:Envelope xmlns:gesmes=\"http://www.gesmes.org/xml/2002-08-01\" \
            xmlns=\"http://www.ecb.int/vocabulary/2002-08-01/eurofxref\">\n\
            <Cube><Cube time='2026-03-10'><Cube currency='USD' rate='1.0850'/>\
            <Cube currency='XXX' rate='7'/></Cube>\
            <Cube time=\"2026-03-09\"><Cube currency=\"GBP\" rate=\"0.84\"/></Cube></Cube>\n\
            </gesmes:Envelope>";
        let rows = [("2026-03-10", "USD", "1.085"), ("2026-03-09", "GBP", "0.84")];
        assert_eq!(read(text), expected(&rows));
    }

    #[test]
    fn other_files_are_refused_with_a_sentence() {
        for (bytes, part) in [
            (&b"PK\x03\x04\xff"[..], "unpack it first"),
            (b"", "first line must begin with"),
            (b"Name,Amount\nA,1\n", "first line must begin with"),
            (b"Date,USD\nyesterday,1\n", "Line 2 must begin with a date"),
            (b"Date,USD\n2026-03-10,one\n", "Line 2 has a rate of USD that is no number"),
            (b"Date,USD\n2026-03-10,-1\n", "Line 2 has a rate of USD"),
            (b"Date,USD\n2026-03-10,N/A\n", "has no exchange rates"),
            (b"<a/>", "has no exchange rates"),
            (b"<Cube currency='USD' rate='1'/>", "have no date"),
            (b"<Cube time='soon'><Cube currency='USD' rate='1'/></Cube>", "is no date"),
            (b"<Cube time='2026-03-10'><Cube currency='USD' rate='x'/></Cube>", "is no number"),
        ] {
            let error = parse(bytes).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
