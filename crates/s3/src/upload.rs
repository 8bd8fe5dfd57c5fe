//! Uploads of objects of unknown size. The caller's bytes are collected in parts of a fixed size, which are sent one after
//! another. An object of one part is written with one request, a larger one as a multipart upload; it exists only once the
//! last request has succeeded.

use std::io::{self, Write};

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use tokio::sync::mpsc;

use crate::listing::UnfinishedUpload;
use crate::signature::hex;
use crate::store::Request;
use crate::xml;
use crate::{Error, Result, Store};

/// S3's limit.
const PARTS_MAX: usize = 10_000;
const WRITE: &str = "write an object";

/// Length and SHA-256 of what was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploaded {
    pub bytes: u64,
    pub sha256: String,
}

/// A part of an object. The last one says so, because a writer that fails must not leave half an object.
struct Part {
    bytes: Bytes,
    is_last: bool,
}

/// The writing end of an upload. It waits while the network is slower, so it must not be used by an async task.
pub struct UploadWriter {
    parts: mpsc::Sender<Part>,
    buffer: Vec<u8>,
    part_bytes: usize,
}

/// The end of an upload that `Store::upload` sends.
pub struct UploadParts(mpsc::Receiver<Part>);

/// Connects a writer with an upload. One part waits while another is sent and a third is filled.
pub fn upload_channel(store: &Store) -> (UploadWriter, UploadParts) {
    let (sender, receiver) = mpsc::channel(1);
    let part_bytes = store.pace.part_bytes;
    (UploadWriter { parts: sender, buffer: Vec::new(), part_bytes }, UploadParts(receiver))
}

impl UploadWriter {
    /// Sends the last part. Without it nothing is stored.
    pub fn finish(mut self) -> io::Result<()> {
        self.send(true)
    }

    fn send(&mut self, is_last: bool) -> io::Result<()> {
        let bytes = Bytes::from(std::mem::take(&mut self.buffer));
        let sent = self.parts.blocking_send(Part { bytes, is_last });
        sent.map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the upload has failed"))
    }
}

impl Write for UploadWriter {
    /// A full part is sent when more follows, so that the last one is never empty.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() == self.part_bytes && !bytes.is_empty() {
            self.send(false)?;
        }
        let count = bytes.len().min(self.part_bytes - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store {
    /// Stores what the writer writes, or nothing.
    pub async fn upload(&self, name: &str, mut parts: UploadParts) -> Result<Uploaded> {
        let first = parts.0.recv().await.ok_or(Error::Incomplete)?;
        if first.is_last {
            let mut sum = Sum::new();
            sum.add(&first.bytes);
            self.put(name, first.bytes).await?;
            return Ok(sum.finish());
        }
        let upload = UnfinishedUpload { name: name.to_owned(), id: self.begin(name).await? };
        let sent = self.send_parts(&upload, first, parts).await;
        if sent.is_err() {
            // If this fails too, the parts are deleted later: see `list_unfinished`.
            let _ = self.give_up(&upload).await;
        }
        sent
    }

    /// Deletes the parts of an upload.
    pub async fn give_up(&self, upload: &UnfinishedUpload) -> Result<()> {
        let key = self.key(&upload.name);
        let query = [("uploadId", upload.id.as_str())];
        let request = Request {
            action: "end an upload",
            method: "DELETE",
            key: Some(&key),
            query: &query,
            ..Request::default()
        };
        match self.send(request).await {
            Ok(_) | Err(Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn begin(&self, name: &str) -> Result<String> {
        let key = self.key(name);
        let request = Request {
            action: WRITE,
            method: "POST",
            key: Some(&key),
            query: &[("uploads", "")],
            ..Request::default()
        };
        let response = self.send(request).await?;
        let root = xml::parse(&response.body);
        let id = root.as_ref().and_then(|it| it.text_of("UploadId")).filter(|it| !it.is_empty());
        id.map(str::to_owned).ok_or(Error::Malformed { action: WRITE })
    }

    async fn send_parts(
        &self,
        upload: &UnfinishedUpload,
        first: Part,
        mut parts: UploadParts,
    ) -> Result<Uploaded> {
        let (mut sum, mut tags, mut part) = (Sum::new(), Vec::new(), first);
        loop {
            if tags.len() == PARTS_MAX {
                return Err(Error::TooLarge(PARTS_MAX));
            }
            sum.add(&part.bytes);
            tags.push(self.send_part(upload, tags.len() + 1, part.bytes).await?);
            if part.is_last {
                break;
            }
            part = parts.0.recv().await.ok_or(Error::Incomplete)?;
        }
        self.complete(upload, &tags).await?;
        Ok(sum.finish())
    }

    /// Sends a part and returns its tag, which names it when the upload is completed.
    async fn send_part(
        &self,
        upload: &UnfinishedUpload,
        number: usize,
        body: Bytes,
    ) -> Result<String> {
        let (key, number) = (self.key(&upload.name), number.to_string());
        let query = [("partNumber", number.as_str()), ("uploadId", &upload.id)];
        let request = Request {
            action: WRITE,
            method: "PUT",
            key: Some(&key),
            query: &query,
            body,
            ..Request::default()
        };
        let response = self.send(request).await?;
        let tag = response.header("etag").filter(|it| !it.is_empty() && it.len() <= 256);
        tag.map(str::to_owned).ok_or(Error::Malformed { action: WRITE })
    }

    async fn complete(&self, upload: &UnfinishedUpload, tags: &[String]) -> Result<()> {
        let key = self.key(&upload.name);
        let part = |(index, tag): (usize, &String)| {
            let (number, tag) = (index + 1, xml::escape(tag));
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
        };
        let parts: String = tags.iter().enumerate().map(part).collect();
        let body = format!(
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{parts}</CompleteMultipartUpload>"
        );
        let query = [("uploadId", upload.id.as_str())];
        let request = Request {
            action: WRITE,
            method: "POST",
            key: Some(&key),
            query: &query,
            body: body.into(),
            ..Request::default()
        };
        let response = match self.send(request).await {
            Ok(response) => response,
            // An earlier try may have succeeded without its answer arriving; reading back shows whether it did.
            Err(Error::NotFound) => return Ok(()),
            Err(error) => return Err(error),
        };
        // A store that needs long begins to answer with success, and may still end with an error.
        match xml::parse(&response.body) {
            Some(root) if root.name == "CompleteMultipartUploadResult" => Ok(()),
            Some(root) if root.name == "Error" => {
                Err(Error::from_response(WRITE, self.bucket(), &response))
            }
            _ => Err(Error::Malformed { action: WRITE }),
        }
    }
}

/// The length and the hash of bytes.
pub(crate) struct Sum {
    bytes: u64,
    hash: Context,
}

impl Sum {
    pub(crate) fn new() -> Sum {
        Sum { bytes: 0, hash: Context::new(&SHA256) }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
    }

    pub(crate) fn finish(self) -> Uploaded {
        Uploaded { bytes: self.bytes, sha256: hex(self.hash.finish().as_ref()) }
    }
}
