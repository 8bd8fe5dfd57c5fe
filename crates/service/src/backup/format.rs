//! The format of a backup's lines, and the check that a file is complete.

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use base::Timestamp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use db::{ColumnKind, Param, Table};
use flate2::read::MultiGzDecoder;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use sha2::{Digest as _, Sha256};

use super::refused;
use crate::Result;
use crate::platform::installation;

/// The only version there has been.
const VERSION: i64 = 1;
/// The longest line. An imported file of 64 MiB was once one row, and base64 makes it a third longer; no other row comes
/// close. The limit keeps a file without line ends from filling the memory.
const LINE_MAX: u64 = 96 << 20;

#[derive(Clone, Debug, Serialize, serde::Deserialize)]
pub(super) struct Header {
    evenkeel_backup: i64,
    pub(super) schema: i64,
    made_at: String,
    /// Needed to decrypt the installation's secrets after a restore. It makes the backup itself a secret.
    installation_key: String,
    pub(super) tables: Vec<TableHeader>,
}

#[derive(Clone, Debug, Serialize, serde::Deserialize)]
pub(super) struct TableHeader {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

#[derive(Clone, Debug, Serialize, serde::Deserialize)]
pub(super) struct End {
    pub(super) rows: Vec<u64>,
    pub(super) sha256: String,
}

impl Header {
    pub(super) fn new(
        schema: i64,
        made_at: Timestamp,
        key: &installation::Key,
        tables: &[Table],
    ) -> Header {
        let table = |it: &Table| TableHeader {
            name: it.name.clone(),
            columns: it.columns.iter().map(|column| column.name.clone()).collect(),
        };
        Header {
            evenkeel_backup: VERSION,
            schema,
            made_at: made_at.to_string(),
            installation_key: key.to_hex(),
            tables: tables.iter().map(table).collect(),
        }
    }
}

/// The header and row count of a complete backup.
#[derive(Clone)]
pub struct Contents {
    pub(super) header: Header,
    pub key: installation::Key,
    pub rows: u64,
}

impl Contents {
    pub fn schema(&self) -> i64 {
        self.header.schema
    }

    pub fn made_at(&self) -> &str {
        &self.header.made_at
    }
}

/// Reads a whole backup and checks that it is complete and undamaged.
pub fn check(input: impl Read) -> Result<Contents> {
    let mut lines = Lines::new(input);
    let Some(first) = lines.next()? else { return Err(refused("the file is empty")) };
    let header: Header = serde_json::from_slice(first)
        .map_err(|_| refused("the file is not a backup made by `evenkeel backup`"))?;
    if header.evenkeel_backup != VERSION {
        let version = header.evenkeel_backup;
        return Err(refused(format!(
            "this program does not support version {version} of the backup format; update it"
        )));
    }
    let mut hash = Sha256::new();
    hash.update(first);
    let mut counts = vec![0_u64; header.tables.len()];
    let end: End = loop {
        let line = lines.next()?.ok_or_else(truncated)?;
        if line.starts_with(b"{") {
            break serde_json::from_slice(line).map_err(|_| damaged())?;
        }
        hash.update(line);
        *table_of(line).and_then(|it| counts.get_mut(it)).ok_or_else(damaged)? += 1;
    };
    if lines.next()?.is_some() || end.rows != counts || end.sha256 != hex(&hash.finalize()) {
        return Err(damaged());
    }
    let key = installation::Key::parse(&header.installation_key).ok_or_else(damaged)?;
    Ok(Contents { header, key, rows: counts.iter().sum() })
}

fn table_of(line: &[u8]) -> Option<usize> {
    let digits = line.strip_prefix(b"[")?.split(|it| b",]".contains(it)).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

pub(super) fn damaged() -> crate::Error {
    refused("the backup is damaged; nothing was written; use another copy")
}

fn truncated() -> crate::Error {
    refused("the backup is truncated or damaged; nothing was written; use another copy")
}

/// Reads a compressed file line by line. Each line includes its line end.
pub(super) struct Lines<R: Read> {
    input: BufReader<MultiGzDecoder<R>>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        let input = BufReader::with_capacity(1 << 18, MultiGzDecoder::new(input));
        Lines { input, line: Vec::new() }
    }

    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        self.line.clear();
        let mut bounded = self.input.by_ref().take(LINE_MAX);
        match bounded.read_until(b'\n', &mut self.line) {
            Ok(0) => Ok(None),
            Ok(_) if self.line.ends_with(b"\n") => Ok(Some(&self.line)),
            Ok(_) => Err(truncated()),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                Err(refused("the file is not a backup made by `evenkeel backup`"))
            }
            Err(_) => Err(truncated()),
        }
    }
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    /// The value as a parameter; `None` if the column has another type.
    pub(super) fn param(&self, kind: ColumnKind) -> Option<Param<'_>> {
        match (self, kind) {
            (Cell::Null, ColumnKind::Int) => Some(Param::Int(None)),
            (Cell::Null, ColumnKind::Text) => Some(Param::Text(None)),
            (Cell::Null, ColumnKind::Bytes) => Some(Param::Bytes(None)),
            (Cell::Int(number), ColumnKind::Int) => Some(Param::Int(Some(*number))),
            (Cell::Text(text), ColumnKind::Text) => Some(Param::Text(Some(text))),
            (Cell::Bytes(bytes), ColumnKind::Bytes) => Some(Param::Bytes(Some(bytes))),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Cell, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a row")
    }

    fn visit_unit<E>(self) -> std::result::Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Cell, E> {
        Ok(Cell::Int(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<Cell, E> {
        i64::try_from(number).map(Cell::Int).map_err(|_| E::custom("a number too large"))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Cell, E> {
        Ok(Cell::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Cell, A::Error> {
        use serde::de::Error as _;
        let entry: Option<(String, String)> = map.next_entry()?;
        let (name, text) = entry.ok_or_else(|| A::Error::custom("an empty object"))?;
        if name != "b" {
            return Err(A::Error::custom("an unknown kind of value"));
        }
        STANDARD.decode(text).map(Cell::Bytes).map_err(A::Error::custom)
    }
}

pub(super) fn write_bytes(line: &mut Vec<u8>, bytes: &[u8]) {
    line.extend_from_slice(b"{\"b\":\"");
    line.extend_from_slice(STANDARD.encode(bytes).as_bytes());
    line.extend_from_slice(b"\"}");
}

/// Parses a line into the index of its table and its values.
pub(super) fn read_row(line: &[u8]) -> Option<(usize, Vec<Cell>)> {
    let mut parser = serde_json::Deserializer::from_slice(line);
    let mut cells = Vec::<Cell>::deserialize(&mut parser).ok()?.into_iter();
    match cells.next() {
        Some(Cell::Int(table)) => Some((usize::try_from(table).ok()?, cells.collect())),
        _ => None,
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells() -> impl Strategy<Value = Vec<Cell>> {
        let cell = prop_oneof![
            Just(Cell::Null),
            any::<i64>().prop_map(Cell::Int),
            any::<String>().prop_map(Cell::Text),
            any::<Vec<u8>>().prop_map(Cell::Bytes),
        ];
        prop::collection::vec(cell, 0..20)
    }

    proptest! {
        #[test]
        fn a_row_survives_being_written_and_read(table in 0..40_usize, cells in cells()) {
            let mut line = format!("[{table}").into_bytes();
            for cell in &cells {
                line.push(b',');
                let value = match cell {
                    Cell::Null => db::Value::Null,
                    Cell::Int(it) => db::Value::Int(*it),
                    Cell::Text(it) => db::Value::Text(it),
                    Cell::Bytes(it) => db::Value::Bytes(it),
                };
                super::super::write_value(&mut line, value).unwrap();
            }
            line.extend_from_slice(b"]\n");
            // A line end inside a value would break the file into other lines.
            prop_assert_eq!(line.iter().filter(|it| **it == b'\n').count(), 1);
            prop_assert_eq!(table_of(&line), Some(table));
            prop_assert_eq!(read_row(&line), Some((table, cells)));
        }

        #[test]
        fn any_bytes_are_refused_and_none_cause_a_panic(bytes: Vec<u8>) {
            prop_assert!(check(bytes.as_slice()).is_err());
            prop_assert!(read_row(&bytes).is_none_or(|(_, cells)| cells.len() < bytes.len()));
        }
    }
}
