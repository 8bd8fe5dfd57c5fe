//! The same rows twice: as JSON for programs, and as CSV for spreadsheets, where text must never become a formula.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, Result};

base::words!(Format { Json => "json", Csv => "csv" });

/// How far a file of rows has come.
pub(super) struct Sheet {
    format: Format,
    rows: usize,
}

impl Sheet {
    pub(super) fn new(format: Format) -> Sheet {
        Sheet { format, rows: 0 }
    }

    /// Appends one row, which is a JSON object; all rows of a sheet have the same members.
    pub(super) fn row(&mut self, object: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self.format {
            Format::Json => {
                out.extend_from_slice(if self.rows == 0 { b"[\n" } else { b",\n" });
                out.extend_from_slice(object);
            }
            Format::Csv => {
                let members = members(object)?;
                if self.rows == 0 {
                    line(members.iter().map(|(name, _)| text_cell(name)), out);
                }
                line(members.iter().map(|(_, value)| cell(value)), out);
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub(super) fn end(&self, out: &mut Vec<u8>) {
        match (self.format, self.rows) {
            (Format::Json, 0) => out.extend_from_slice(b"[]\n"),
            (Format::Json, _) => out.extend_from_slice(b"\n]\n"),
            (Format::Csv, _) => {}
        }
    }
}

/// One thing that is no list: itself as JSON, its members one below the other as CSV.
pub(super) fn single(format: Format, object: &[u8], out: &mut Vec<u8>) -> Result<()> {
    match format {
        Format::Json => {
            out.extend_from_slice(object);
            out.push(b'\n');
        }
        Format::Csv => {
            line(["name", "value"].into_iter().map(text_cell), out);
            flatten("", object, out)?;
        }
    }
    Ok(())
}

fn flatten(path: &str, object: &[u8], out: &mut Vec<u8>) -> Result<()> {
    for (name, value) in members(object)? {
        let path = if path.is_empty() { name } else { format!("{path}.{name}") };
        if value.get().starts_with('{') {
            flatten(&path, value.get().as_bytes(), out)?;
        } else {
            line([text_cell(&path), cell(value)].into_iter(), out);
        }
    }
    Ok(())
}

/// RFC 4180, with the line ends it asks for.
fn line(cells: impl Iterator<Item = String>, out: &mut Vec<u8>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(cell.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

/// Numbers go over as they are written; nothing is an empty cell; lists stay JSON.
fn cell(value: &RawValue) -> String {
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'"') => text_cell(&serde_json::from_str::<String>(raw).unwrap_or_default()),
        Some(b'n') => String::new(),
        _ => quoted(raw),
    }
}

/// Spreadsheets run what begins like a formula. Bank text is a stranger's, so it gets an apostrophe in front, which
/// they show as text.
fn text_cell(text: &str) -> String {
    let risky =
        |it: char| matches!(it, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '|' | '%');
    let begins = text.trim_start_matches(|it: char| it.is_whitespace() || it.is_control());
    let is_formula = begins.starts_with(risky) || text.starts_with(['\t', '\r', '\n']);
    if is_formula { quoted(&format!("'{text}")) } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n', ';', '\t']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The members of an object in their order, each value as it is written: no number goes through a float.
fn members(object: &[u8]) -> Result<Vec<(String, &RawValue)>> {
    let mut parser = serde_json::Deserializer::from_slice(object);
    let wrong = |error: serde_json::Error| Error::internal(format!("a row of an export: {error}"));
    parser.deserialize_map(Members).map_err(wrong)
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format, rows: &[&str]) -> String {
        let (mut sheet, mut out) = (Sheet::new(format), Vec::new());
        for row in rows {
            sheet.row(row.as_bytes(), &mut out).unwrap();
        }
        sheet.end(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_are_the_same_in_both_forms_and_numbers_stay_exact() {
        let rows = [
            r#"{"id":"a","amount":-92233720368547758.08,"pending":false,"note":null}"#,
            r#"{"id":"b","amount":0.10,"pending":true,"note":"say \"hi\", twice\n"}"#,
        ];
        let json = written(Format::Json, &rows);
        assert_eq!(json, format!("[\n{},\n{}\n]\n", rows[0], rows[1]));
        assert_eq!(
            written(Format::Csv, &rows),
            "id,amount,pending,note\r\na,-92233720368547758.08,false,\r\n\
             b,0.10,true,\"say \"\"hi\"\", twice\n\"\r\n"
        );
        assert_eq!((written(Format::Json, &[]), written(Format::Csv, &[])).0, "[]\n");
    }

    #[test]
    fn text_never_becomes_a_formula_and_numbers_stay_numbers() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "|cmd", "＝1", "%0A=1"]
        {
            assert!(text_cell(text).trim_start_matches('"').starts_with('\''), "{text:?}");
        }
        for text in ["", "Rent", "a=b", "2-1"] {
            assert_eq!(text_cell(text), text);
        }
        let row = r#"{"amount":-1,"name":"-1"}"#;
        assert_eq!(written(Format::Csv, &[row]), "amount,name\r\n-1,'-1\r\n");
    }

    #[test]
    fn one_thing_is_told_member_by_member() {
        let mut out = Vec::new();
        let object = br#"{"at":"x","debt":{"amount":1.50,"breakdown":{"=Car":{"amount":1.5}}}}"#;
        single(Format::Csv, object, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "name,value\r\nat,x\r\ndebt.amount,1.50\r\ndebt.breakdown.=Car.amount,1.5\r\n"
        );
    }
}
