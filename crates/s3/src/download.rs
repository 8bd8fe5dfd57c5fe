//! Downloads: an object is read in ranges, and all of them must belong to the same version of it.

use bytes::Bytes;

use crate::store::Request;
use crate::upload::{Sum, Uploaded};
use crate::{Error, Result, Store};

const READ: &str = "read an object";
/// The part of the response's body besides the range that fits: the text of an error.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// An object that is being read.
pub struct Download<'a> {
    store: &'a Store,
    key: String,
    offset: u64,
    /// Length and tag of the object, which the first range tells.
    version: Option<(u64, Option<String>)>,
    sum: Sum,
}

impl Store {
    pub fn download(&self, name: &str) -> Download<'_> {
        Download { store: self, key: self.key(name), offset: 0, version: None, sum: Sum::new() }
    }
}

impl Download<'_> {
    /// The next range; none at the end of the object.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.version.as_ref().is_some_and(|it| it.0 == self.offset) {
            return Ok(None);
        }
        let part_bytes = self.store.pace.part_bytes;
        let last = self.offset + part_bytes as u64 - 1;
        let mut headers = vec![("range", format!("bytes={}-{last}", self.offset))];
        if let Some((_, Some(tag))) = &self.version {
            headers.push(("if-match", tag.clone()));
        }
        let request = Request {
            action: READ,
            key: Some(&self.key),
            headers: &headers,
            response_max: part_bytes.max(ERROR_BYTES_MAX),
            ..Request::default()
        };
        let response = self.store.send(request).await?;
        let malformed = Error::Malformed { action: READ };
        let length = match (response.status, response.header("content-range")) {
            (206, Some(range)) => {
                let (first, last, length) = content_range(range).ok_or(malformed.clone())?;
                let is_whole =
                    last.checked_sub(first).is_some_and(|it| it + 1 == response.body.len() as u64);
                if first != self.offset || !is_whole || last >= length {
                    return Err(malformed);
                }
                length
            }
            // A store that knows no ranges sends the whole object.
            (200, _) if self.offset == 0 => response.body.len() as u64,
            _ => return Err(malformed),
        };
        let tag = response.header("etag").map(str::to_owned);
        match &self.version {
            Some((known, _)) if *known != length => return Err(Error::Changed),
            Some(_) => {}
            None => self.version = Some((length, tag)),
        }
        self.offset += response.body.len() as u64;
        self.sum.add(&response.body);
        Ok(Some(response.body))
    }

    /// Length and hash of what was read, to be compared with what was written.
    pub fn finish(self) -> Uploaded {
        self.sum.finish()
    }
}

/// First and last position and whole length in `bytes 0-9/443`.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, length) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?, length.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_range_has_three_numbers() {
        assert_eq!(content_range("bytes 0-9/443"), Some((0, 9, 443)));
        for bad in ["bytes 0-9/*", "0-9/443", "bytes */443", "bytes -1-9/4", ""] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }
}
