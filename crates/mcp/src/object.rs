//! The JSON of a tool's answer, written member by member, with lists that end before the answer gets too long.

use serde::Serialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use service::{Error, Result};
use wire::json::write_str;

/// The longest answer of a tool. Clients refuse or cut longer ones.
pub const BYTES_MAX: usize = 40_000;
/// Room for the cursor and the sentence after a list that was cut.
const END_BYTES: usize = 700;

/// A JSON object in the making.
#[derive(Debug)]
pub(crate) struct Object {
    json: Vec<u8>,
}

/// The rows of a list that fit into an answer.
pub(crate) struct RowsWritten {
    pub(crate) count: usize,
    /// Whether rows were left out because the answer would have become too long.
    pub(crate) is_cut: bool,
}

impl Object {
    pub(crate) fn new() -> Object {
        Object { json: b"{".to_vec() }
    }

    /// An object with the members of a record.
    pub(crate) fn of(record: &impl Serialize) -> Result<Object> {
        let mut json = serde_json::to_vec(record).map_err(unwritable)?;
        json.pop();
        Ok(Object { json })
    }

    fn name(&mut self, name: &str) {
        if self.json.len() > 1 {
            self.json.push(b',');
        }
        write_str(&mut self.json, name);
        self.json.push(b':');
    }

    pub(crate) fn put(&mut self, name: &str, value: &impl Serialize) -> Result<()> {
        self.name(name);
        serde_json::to_writer(&mut self.json, value).map_err(unwritable)
    }

    /// A member that is JSON already.
    pub(crate) fn put_json(&mut self, name: &str, json: &[u8]) {
        self.name(name);
        self.json.extend_from_slice(json);
    }

    /// A list with as many of the rows as fit. Each row is JSON.
    pub(crate) fn put_rows(
        &mut self,
        name: &str,
        rows: impl Iterator<Item = Vec<u8>>,
    ) -> RowsWritten {
        self.name(name);
        self.json.push(b'[');
        let mut written = RowsWritten { count: 0, is_cut: false };
        for row in rows {
            if self.json.len() + row.len() + END_BYTES > BYTES_MAX {
                written.is_cut = true;
                break;
            }
            if written.count > 0 {
                self.json.push(b',');
            }
            self.json.extend_from_slice(&row);
            written.count += 1;
        }
        self.json.push(b']');
        written
    }

    pub(crate) fn finish(mut self) -> Result<String> {
        self.json.push(b'}');
        String::from_utf8(self.json).map_err(|_| Error::internal("an answer is not UTF-8"))
    }
}

/// The JSON of a record with only some of its members, in the record's own order. Numbers keep their digits.
pub(crate) fn project(record: &impl Serialize, fields: &[&str]) -> Result<Vec<u8>> {
    let json = serde_json::to_string(record).map_err(unwritable)?;
    let members = members(&json).map_err(unwritable)?;
    let mut chosen = Object::new();
    for (name, value) in &members {
        if fields.contains(&name.as_str()) {
            chosen.put_json(name, value.get().as_bytes());
        }
    }
    Ok(chosen.finish()?.into_bytes())
}

/// The members of a JSON object in their order, repeated ones included.
pub(crate) fn members(json: &str) -> serde_json::Result<Vec<(String, &RawValue)>> {
    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

    let mut reader = serde_json::Deserializer::from_str(json);
    let members = reader.deserialize_map(Members)?;
    reader.end()?;
    Ok(members)
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::internal(format!("writing an answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projection_keeps_every_digit() {
        let record = members(r#"{"a":-7.20,"b":{"x":1.10},"c":123456789.123456789}"#).unwrap();
        assert_eq!(record[2].1.get(), "123456789.123456789");
        let raw = RawValue::from_string(r#"{"a":-7.20,"b":[1.0],"c":1E5}"#.to_owned()).unwrap();
        assert_eq!(project(&raw, &["c", "a"]).unwrap(), br#"{"a":-7.20,"c":1E5}"#);
    }

    #[test]
    fn a_list_ends_at_a_row_before_the_limit() {
        let mut object = Object::new();
        let rows = std::iter::repeat_n(format!("\"{}\"", "x".repeat(98)).into_bytes(), 1_000);
        let written = object.put_rows("rows", rows);
        assert!(written.is_cut && written.count > 380);
        let json = object.finish().unwrap();
        assert!(json.len() + END_BYTES <= BYTES_MAX + 100, "{}", json.len());
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }
}
