//! Writes rows as JSON for programs or as CSV for spreadsheets.

use std::fmt;

use base::csv::{quote, text_cell};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, Result};

base::words!(Format { Json => "json", Csv => "csv" });

/// Writes the rows of one file.
pub(super) struct RowWriter {
    format: Format,
    rows: usize,
}

impl RowWriter {
    pub(super) fn new(format: Format) -> RowWriter {
        RowWriter { format, rows: 0 }
    }

    /// Appends one row, which is a JSON object; all rows of a file have the same members.
    pub(super) fn write_row(&mut self, object: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self.format {
            Format::Json => {
                out.extend_from_slice(if self.rows == 0 { b"[\n" } else { b",\n" });
                out.extend_from_slice(object);
            }
            Format::Csv => {
                let members = members(object)?;
                if self.rows == 0 {
                    write_line(members.iter().map(|(name, _)| text_cell(name)), out);
                }
                write_line(members.iter().map(|(_, value)| cell(value)), out);
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub(super) fn finish(&self, out: &mut Vec<u8>) {
        match (self.format, self.rows) {
            (Format::Json, 0) => out.extend_from_slice(b"[]\n"),
            (Format::Json, _) => out.extend_from_slice(b"\n]\n"),
            (Format::Csv, _) => {}
        }
    }
}

/// Appends a single object: as it is in JSON, and one row per member in CSV.
pub(super) fn write_single(format: Format, object: &[u8], out: &mut Vec<u8>) -> Result<()> {
    match format {
        Format::Json => {
            out.extend_from_slice(object);
            out.push(b'\n');
        }
        Format::Csv => {
            write_line(["name", "value"].into_iter().map(text_cell), out);
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
            write_line([text_cell(&path), cell(value)].into_iter(), out);
        }
    }
    Ok(())
}

/// Appends a line as RFC 4180 writes it.
fn write_line(cells: impl Iterator<Item = String>, out: &mut Vec<u8>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(cell.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

/// Numbers stay as they are, null becomes an empty cell, and lists stay JSON.
fn cell(value: &RawValue) -> String {
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'"') => text_cell(&serde_json::from_str::<String>(raw).unwrap_or_default()),
        Some(b'n') => String::new(),
        _ => quote(raw).into_owned(),
    }
}

/// The members of an object in their order, each value unparsed, so that no number becomes a float.
fn members(object: &[u8]) -> Result<Vec<(String, &RawValue)>> {
    let mut parser = serde_json::Deserializer::from_slice(object);
    let wrong = |error: serde_json::Error| {
        Error::internal(format!("a row of an export is no JSON object: {error}"))
    };
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
        let (mut writer, mut out) = (RowWriter::new(format), Vec::new());
        for row in rows {
            writer.write_row(row.as_bytes(), &mut out).unwrap();
        }
        writer.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_are_the_same_in_both_formats_and_numbers_stay_exact() {
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
    fn a_single_object_is_written_member_by_member() {
        let mut out = Vec::new();
        let object = br#"{"at":"x","debt":{"amount":1.50,"breakdown":{"=Car":{"amount":1.5}}}}"#;
        write_single(Format::Csv, object, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "name,value\r\nat,x\r\ndebt.amount,1.50\r\ndebt.breakdown.=Car.amount,1.5\r\n"
        );
    }
}
