//! The value types that both engines share: integers, text, bytes. Dates, timestamps and ids are stored as these.

use base::{Currency, Date, Id, Kind, TimeZone, Timestamp, date_from_days, days_from_date};
use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

use crate::error::{Error, Result};

/// A statement parameter. A null keeps its type, because PostgreSQL needs it.
#[derive(Clone, Debug, PartialEq)]
pub enum Param<'a> {
    Int(Option<i64>),
    Text(Option<&'a str>),
    Bytes(Option<&'a [u8]>),
    Id(Option<[u8; 16]>),
}

impl Param<'_> {
    pub(crate) fn postgres_type(&self) -> Type {
        match self {
            Param::Int(_) => Type::INT8,
            Param::Text(_) => Type::TEXT,
            Param::Bytes(_) | Param::Id(_) => Type::BYTEA,
        }
    }
}

macro_rules! param_from {
    ($($type:ty => |$it:ident| $make:expr;)*) => {
        $(impl<'a> From<$type> for Param<'a> { fn from($it: $type) -> Param<'a> { $make } })*
    };
}

param_from! {
    i64 => |it| Param::Int(Some(it));
    Option<i64> => |it| Param::Int(it);
    &'a str => |it| Param::Text(Some(it));
    &'a String => |it| Param::Text(Some(it));
    Option<&'a str> => |it| Param::Text(it);
    &'a Option<String> => |it| Param::Text(it.as_deref());
    &'a [u8] => |it| Param::Bytes(Some(it));
    &'a Vec<u8> => |it| Param::Bytes(Some(it));
    Option<&'a [u8]> => |it| Param::Bytes(it);
    Date => |it| Param::Int(Some(days_from_date(it)));
    Option<Date> => |it| Param::Int(it.map(days_from_date));
    Timestamp => |it| Param::Int(Some(it.as_microsecond()));
    Option<Timestamp> => |it| Param::Int(it.map(Timestamp::as_microsecond));
    TimeZone => |it| Param::Text(Some(it.name()));
}

impl<K: Kind> From<Id<K>> for Param<'_> {
    fn from(id: Id<K>) -> Self {
        Param::Id(Some(*id.as_bytes()))
    }
}

impl<K: Kind> From<Option<Id<K>>> for Param<'_> {
    fn from(id: Option<Id<K>>) -> Self {
        Param::Id(id.map(|it| *it.as_bytes()))
    }
}

/// `params![user, day]` converts each value into a `Param`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::Param::from($value)),*] };
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        Ok(ToSqlOutput::Borrowed(match self {
            Param::Int(Some(it)) => ValueRef::Integer(*it),
            Param::Text(Some(it)) => ValueRef::Text(it.as_bytes()),
            Param::Bytes(Some(it)) => ValueRef::Blob(it),
            Param::Id(Some(it)) => ValueRef::Blob(it),
            Param::Int(None) | Param::Text(None) | Param::Bytes(None) | Param::Id(None) => {
                ValueRef::Null
            }
        }))
    }
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Param::Int(it) => it.to_sql(ty, out),
            Param::Text(it) => it.to_sql(ty, out),
            Param::Bytes(it) => it.to_sql(ty, out),
            Param::Id(it) => it.as_ref().map(|it| &it[..]).to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    tokio_postgres::types::to_sql_checked!();
}

/// A value read from a row, still in the driver's memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'r> {
    Null,
    Int(i64),
    Text(&'r str),
    Bytes(&'r [u8]),
}

impl<'r> FromSql<'r> for Value<'r> {
    fn from_sql(
        ty: &Type,
        raw: &'r [u8],
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        match *ty {
            Type::INT8 => Ok(Value::Int(i64::from_sql(ty, raw)?)),
            Type::TEXT | Type::VARCHAR => Ok(Value::Text(std::str::from_utf8(raw)?)),
            Type::BYTEA => Ok(Value::Bytes(raw)),
            // For example a numeric, from a sum without a cast: the first test that runs the statement fails.
            ref other => Err(format!("type {other} is not one both engines share").into()),
        }
    }

    fn from_sql_null(
        _: &Type,
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Value::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A closure that is called with each row of a result.
pub(crate) type Visit<'v> = dyn FnMut(&Row<'_>) -> Result<()> + Send + 'v;

/// One row of a result, from either driver.
pub struct Row<'r>(pub(crate) RowSource<'r>);

pub(crate) enum RowSource<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    pub fn get<'r, T: FromColumn<'r>>(&'r self, column: usize) -> Result<T> {
        T::from_column(self.value(column)?).map_err(|reason| Error::Decode { column, reason })
    }

    pub fn value(&self, column: usize) -> Result<Value<'_>> {
        match self.0 {
            RowSource::Sqlite(row) => {
                use rusqlite::types::ValueRef;
                Ok(match row.get_ref(column)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(it) => Value::Int(it),
                    ValueRef::Text(it) => {
                        Value::Text(std::str::from_utf8(it).map_err(|error| Error::Decode {
                            column,
                            reason: format!("not UTF-8: {error}"),
                        })?)
                    }
                    ValueRef::Blob(it) => Value::Bytes(it),
                    ValueRef::Real(_) => {
                        let reason = "a real is not a type both engines share".to_owned();
                        return Err(Error::Decode { column, reason });
                    }
                })
            }
            RowSource::Postgres(row) => Ok(row.try_get::<_, Value<'_>>(column)?),
        }
    }

    pub fn columns(&self) -> usize {
        match self.0 {
            RowSource::Sqlite(row) => row.as_ref().column_count(),
            RowSource::Postgres(row) => row.len(),
        }
    }
}

/// Decodes a column into one of our types. An unknown stored value is an error, never a default.
pub trait FromColumn<'r>: Sized {
    fn from_column(value: Value<'r>) -> std::result::Result<Self, String>;
}

fn unexpected<T>(expected: &str, value: Value<'_>) -> std::result::Result<T, String> {
    let found = match value {
        Value::Null => "null",
        Value::Int(_) => "a number",
        Value::Text(_) => "text",
        Value::Bytes(_) => "bytes",
    };
    Err(format!("expected {expected}, found {found}"))
}

impl<'r> FromColumn<'r> for i64 {
    fn from_column(value: Value<'r>) -> std::result::Result<i64, String> {
        match value {
            Value::Int(it) => Ok(it),
            other => unexpected("a number", other),
        }
    }
}

impl<'r> FromColumn<'r> for &'r str {
    fn from_column(value: Value<'r>) -> std::result::Result<&'r str, String> {
        match value {
            Value::Text(it) => Ok(it),
            other => unexpected("text", other),
        }
    }
}

impl<'r> FromColumn<'r> for &'r [u8] {
    fn from_column(value: Value<'r>) -> std::result::Result<&'r [u8], String> {
        match value {
            Value::Bytes(it) => Ok(it),
            other => unexpected("bytes", other),
        }
    }
}

impl<'r> FromColumn<'r> for String {
    fn from_column(value: Value<'r>) -> std::result::Result<String, String> {
        <&str>::from_column(value).map(str::to_owned)
    }
}

impl<'r> FromColumn<'r> for Vec<u8> {
    fn from_column(value: Value<'r>) -> std::result::Result<Vec<u8>, String> {
        <&[u8]>::from_column(value).map(<[u8]>::to_vec)
    }
}

impl<'r, K: Kind> FromColumn<'r> for Id<K> {
    fn from_column(value: Value<'r>) -> std::result::Result<Id<K>, String> {
        let bytes = <&[u8]>::from_column(value)?;
        let bytes =
            bytes.try_into().map_err(|_| format!("an id has 16 bytes, not {}", bytes.len()));
        Ok(Id::from_bytes(bytes?))
    }
}

impl<'r> FromColumn<'r> for Date {
    fn from_column(value: Value<'r>) -> std::result::Result<Date, String> {
        i64::from_column(value).map(date_from_days)
    }
}

impl<'r> FromColumn<'r> for Timestamp {
    fn from_column(value: Value<'r>) -> std::result::Result<Timestamp, String> {
        Timestamp::from_microsecond(i64::from_column(value)?).map_err(|error| error.to_string())
    }
}

impl<'r> FromColumn<'r> for Currency {
    fn from_column(value: Value<'r>) -> std::result::Result<Currency, String> {
        Currency::parse(<&str>::from_column(value)?).map_err(|error| error.to_string())
    }
}

impl<'r> FromColumn<'r> for TimeZone {
    fn from_column(value: Value<'r>) -> std::result::Result<TimeZone, String> {
        TimeZone::parse(<&str>::from_column(value)?).map_err(|error| format!("a time zone {error}"))
    }
}

impl<'r, T: FromColumn<'r>> FromColumn<'r> for Option<T> {
    fn from_column(value: Value<'r>) -> std::result::Result<Option<T>, String> {
        match value {
            Value::Null => Ok(None),
            value => T::from_column(value).map(Some),
        }
    }
}
