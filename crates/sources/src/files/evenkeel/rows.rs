//! Reads the rows of one part of an export one at a time, so that only one row is in memory.

use std::fmt;
use std::io::{BufReader, Read};
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Deserializer as _, Error as _, SeqAccess, Visitor};

use super::{broken, cut};
use crate::files::FileError;

/// Large enough that unpacking does not restart for each row.
const BUFFER_BYTES: usize = 64 * 1_024;

/// Calls `each` with every row of a list and its index. More than `most` rows are an error.
pub(super) fn each_row<T: DeserializeOwned>(
    name: &str,
    json: impl Read,
    most: usize,
    each: impl FnMut(usize, T) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let input = BufReader::with_capacity(BUFFER_BYTES, json);
    let mut parser = serde_json::Deserializer::from_reader(input);
    let mut refusal = None;
    let rows = EachRow { most, each, refusal: &mut refusal, record: PhantomData };
    let read = (&mut parser).deserialize_seq(rows).and_then(|()| parser.end());
    match (refusal, read) {
        (Some(refusal), _) => Err(refusal),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => {
            Err(broken(&format!("{name} is no list as we write it: {}", cut(&error))))
        }
    }
}

struct EachRow<'r, T, F> {
    most: usize,
    each: F,
    refusal: &'r mut Option<FileError>,
    record: PhantomData<T>,
}

impl<'de, T, F> Visitor<'de> for EachRow<'_, T, F>
where
    T: DeserializeOwned,
    F: FnMut(usize, T) -> Result<(), FileError>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<(), A::Error> {
        let mut index = 0;
        while let Some(row) = rows.next_element::<T>()? {
            let result = match index < self.most {
                true => (self.each)(index, row),
                false => Err(FileError::TooManyRows { most: self.most }),
            };
            if let Err(refusal) = result {
                *self.refusal = Some(refusal);
                return Err(A::Error::custom("no more rows are read"));
            }
            index += 1;
        }
        Ok(())
    }
}
