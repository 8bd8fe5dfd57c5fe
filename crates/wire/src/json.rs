//! JSON values with exact decimals instead of floats, and a fast string writer for long lists.

use base::{Date, Fixed9, Money, Percent, Timestamp, days_from_date, write_date, write_instant};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::{RefOr, schema};
use utoipa::{PartialSchema, ToSchema};

/// A decimal number, kept as its exact text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Number {
        let mut text = Vec::with_capacity(16);
        write(&mut text);
        // The writers only produce ASCII.
        Number(String::from_utf8(text).unwrap_or_default())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Money> for Number {
    fn from(money: Money) -> Number {
        Number::written(|out| money.write(out))
    }
}

impl From<Fixed9> for Number {
    fn from(value: Fixed9) -> Number {
        Number::written(|out| value.write(out))
    }
}

impl From<Percent> for Number {
    fn from(percent: Percent) -> Number {
        Number::written(|out| percent.write(out))
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.clone()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// An instant in the format of the API: RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(pub Timestamp);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::with_capacity(24);
        write_instant(&mut text, self.0.as_microsecond());
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

/// A calendar day, `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day(pub Date);

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::with_capacity(10);
        write_date(&mut text, days_from_date(self.0));
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

macro_rules! plain_schema {
    ($($type:ident $name:literal => $schema:expr;)*) => {
        $(
            impl PartialSchema for $type {
                fn schema() -> RefOr<Schema> { RefOr::T(Schema::Object($schema.build())) }
            }
            impl ToSchema for $type {
                fn name() -> std::borrow::Cow<'static, str> { $name.into() }
            }
        )*
    };
}

fn string(format: KnownFormat, example: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(schema::SchemaType::new(Type::String))
        .format(Some(SchemaFormat::KnownFormat(format)))
        .examples([example])
}

plain_schema! {
    Number "Decimal" => ObjectBuilder::new()
        .schema_type(schema::SchemaType::new(Type::Number))
        .format(Some(SchemaFormat::Custom("decimal".to_owned())))
        .description(Some("An exact decimal number with at most nine decimals. Read it as a decimal, not as a float."));
    Moment "DateTime" => string(KnownFormat::DateTime, "2026-04-10T08:30:00.000Z");
    Day "CalendarDate" => string(KnownFormat::Date, "2026-04-10");
}

/// Appends a JSON string. Bank text rarely needs escaping, so eight bytes are checked at once.
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        if let Some(eight) = bytes.get(at..at + 8)
            && !needs_escape(eight)
        {
            at += 8;
            continue;
        }
        let end = (at + 8).min(bytes.len());
        for (offset, byte) in bytes[at..end].iter().enumerate() {
            if *byte < 0x20 || matches!(byte, b'"' | b'\\') {
                out.extend_from_slice(&bytes[start..at + offset]);
                escape(out, *byte);
                start = at + offset + 1;
            }
        }
        at = end;
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

pub fn write_opt_str(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => write_str(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// Whether any of eight bytes is a control character, a quote or a backslash. The subtraction borrows into a
/// byte's top bit if the byte is below the limit, or if a lower byte was. Such a false positive only costs time.
fn needs_escape(eight: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let Ok(eight) = <[u8; 8]>::try_from(eight) else { return true };
    let word = u64::from_le_bytes(eight);
    let quote = word ^ (ONES * u64::from(b'"'));
    let backslash = word ^ (ONES * u64::from(b'\\'));
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (control | quote | backslash) & TOPS != 0
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0c => out.extend_from_slice(b"\\f"),
        other => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(other >> 4)]);
            out.push(HEX[usize::from(other & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strings_are_written_as_serde_writes_them(text in "\\PC*|[\\x00-\\x7f]{0,40}|.*[\"\\\\\n].*") {
            let mut ours = Vec::new();
            write_str(&mut ours, &text);
            prop_assert_eq!(ours, serde_json::to_vec(&text).unwrap());
        }
    }

    #[test]
    fn numbers_print_exactly() {
        let large = Number::from(Money::new(i64::MAX, base::Currency::USD));
        assert_eq!(serde_json::to_string(&large).unwrap(), "92233720368547758.07");
    }
}
