//! An API response before its `meta` is known: the JSON object without its last member.

use serde::Serialize;
use wire::json::write_str;
use wire::v1::Pagination;
use xxhash_rust::xxh3::xxh3_128;

use service::{Error, Result};

pub struct Answer {
    pub(crate) status: u16,
    /// A JSON object without its closing brace.
    pub(crate) open_body: Vec<u8>,
    pub(crate) replayed: bool,
    /// The ETag of the data.
    pub(crate) tag: u128,
}

impl Answer {
    /// `{"data": ...}`
    pub fn data(data: &impl Serialize) -> Result<Answer> {
        let mut open_body = b"{\"data\":".to_vec();
        write(&mut open_body, data)?;
        let tag = xxh3_128(&open_body);
        Ok(Answer { status: 200, open_body, replayed: false, tag })
    }

    /// `{"data": ...}` with data that is already JSON.
    pub fn written(open_body: Vec<u8>) -> Answer {
        let tag = xxh3_128(&open_body);
        Answer { status: 200, open_body, replayed: false, tag }
    }

    /// `{"data": [...], "pagination": {...}}` with rows that are already JSON.
    pub fn page(mut open_body: Vec<u8>, pagination: &Pagination) -> Result<Answer> {
        // The cursor is encrypted with a new nonce each time, so it is left out of the ETag.
        let mut facts = Vec::new();
        write(&mut facts, &Pagination { next_cursor: None, ..pagination.clone() })?;
        let tag = xxh3_128(&open_body) ^ xxh3_128(&facts).rotate_left(1);
        open_body.extend_from_slice(b",\"pagination\":");
        write(&mut open_body, pagination)?;
        Ok(Answer { status: 200, open_body, replayed: false, tag })
    }

    /// `{"data": [...], "pagination": {...}}` with rows to serialize.
    pub fn list(rows: &[impl Serialize], pagination: &Pagination) -> Result<Answer> {
        let mut open_body = b"{\"data\":".to_vec();
        write(&mut open_body, &rows)?;
        Answer::page(open_body, pagination)
    }

    /// `{"data": {...}, "pagination": {...}}` where the page is a member of `data`.
    pub fn data_page(data: &impl Serialize, pagination: &Pagination) -> Result<Answer> {
        Answer::page(Answer::data(data)?.open_body, pagination)
    }

    /// `{"data": [...], "has_more": ..., "cursor": ..., "count": ...}`
    pub fn history(rows: &[impl Serialize], cursor: Option<&str>) -> Result<Answer> {
        let mut open_body = b"{\"data\":".to_vec();
        write(&mut open_body, &rows)?;
        open_body.extend_from_slice(b",\"has_more\":");
        write(&mut open_body, &cursor.is_some())?;
        let tag = xxh3_128(&open_body);
        open_body.extend_from_slice(b",\"cursor\":");
        write(&mut open_body, &cursor)?;
        open_body.extend_from_slice(b",\"count\":");
        write(&mut open_body, &rows.len())?;
        Ok(Answer { status: 200, open_body, replayed: false, tag })
    }

    /// A response without a body.
    pub(crate) fn nothing() -> Answer {
        Answer { status: 204, open_body: Vec::new(), replayed: false, tag: 0 }
    }

    /// A stored response, or one to store: the JSON text without its closing brace.
    pub fn stored(status: u16, open_body: String, replayed: bool) -> Answer {
        Answer { status, open_body: open_body.into_bytes(), replayed, tag: 0 }
    }

    pub(crate) fn refusal(status: u16, open_body: Vec<u8>) -> Answer {
        Answer { status, open_body, replayed: false, tag: 0 }
    }

    pub fn open_text(&self) -> String {
        String::from_utf8_lossy(&self.open_body).into_owned()
    }

    /// The complete body, with `meta` as the last member.
    pub(crate) fn close(mut self, request_id: &str, timestamp: i64) -> Vec<u8> {
        let body = &mut self.open_body;
        body.extend_from_slice(b",\"meta\":{\"request_id\":");
        write_str(body, request_id);
        body.extend_from_slice(b",\"timestamp\":\"");
        base::write_instant(body, timestamp);
        body.extend_from_slice(b"\"}}");
        self.open_body
    }
}

fn write(out: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(out, value)
        .map_err(|error| Error::internal(format!("writing an answer: {error}")))
}
