//! Columns that hold one word of a closed set, such as a role or a status. An unknown word is an error, never a
//! default.

use crate::error::{Error, Result};
use crate::value::Row;

/// `db::word_columns!(Role, Status)` lets `row.get` read enumerations that `base::words!` made.
///
/// A type of another crate cannot be listed here; read it with `Row::word`.
#[macro_export]
macro_rules! word_columns {
    ($($name:ty),+ $(,)?) => {
        $(impl<'r> $crate::FromColumn<'r> for $name {
            fn from_column(value: $crate::Value<'r>) -> ::std::result::Result<$name, String> {
                let word = <&'r str as $crate::FromColumn<'r>>::from_column(value)?;
                <$name>::parse(word).ok_or_else(|| $crate::unknown_word(stringify!($name), word))
            }
        })+
    };
}

/// The reason in the error about a stored word that the program does not know.
pub fn unknown_word(set: &str, word: &str) -> String {
    format!("\"{word}\" is not a known {set}")
}

impl Row<'_> {
    /// Reads a word by its type's own `parse`. `set` names the type in the error about an unknown word.
    pub fn word<T>(
        &self,
        column: usize,
        set: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        let word: &str = self.get(column)?;
        parse(word).ok_or_else(|| Error::Decode { column, reason: unknown_word(set, word) })
    }

    /// Reads a word by its type's own `parse`, or `None` where the column is null.
    pub fn optional_word<T>(
        &self,
        column: usize,
        set: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(word) = self.get::<Option<&str>>(column)? else { return Ok(None) };
        let unknown = || Error::Decode { column, reason: unknown_word(set, word) };
        parse(word).map(Some).ok_or_else(unknown)
    }
}

word_columns!(
    base::draft::AccountKind,
    base::draft::AssetClass,
    base::draft::SecurityKind,
    base::draft::Source,
);
