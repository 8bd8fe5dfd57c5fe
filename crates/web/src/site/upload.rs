//! Extractors for forms with files (multipart). They check that the form came from this site. The parser is our own
//! because it slices the received body; `multer` copies every field out of a stream.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse as _, Response};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use memchr::memmem;
use service::ingest::imports::files;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::cookies;
use super::errors::PageError;
use super::form::{self, TOKEN_FIELD};
use crate::WebState;

/// Larger than any picture we accept, so that a slightly too large one gets a proper message.
const BYTES_MAX: usize = 8 * 1_024 * 1_024;
/// The limit for all files of an import together, with room for the multipart headers.
const FILES_BYTES_MAX: usize = files::BYTES_MAX + 1_024 * 1_024;
/// How much of a too large upload is read. A browser shows our answer only after it has sent everything.
const DRAINED_MAX: usize = 1_024 * 1_024 * 1_024;

/// The uploaded file, if one was chosen.
pub(crate) struct Upload {
    pub(crate) content: Option<Vec<u8>>,
}

/// Files to import, in the order in which they were chosen.
pub(crate) struct Uploads {
    pub(crate) files: Vec<UploadedFile>,
    /// Their share of the memory for uploads.
    _memory: UploadMemory,
}

pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) content: Bytes,
}

impl FromRequest<WebState> for Upload {
    type Rejection = Response;

    async fn from_request(request: Request, web: &WebState) -> Result<Upload, Response> {
        let (parts, body) = request.into_parts();
        let Ok(body) = Limited::new(body, BYTES_MAX).collect().await else {
            let message = "This file is too large. Go back and choose a smaller one.";
            let error = PageError::new(StatusCode::PAYLOAD_TOO_LARGE, "File too large", message);
            return Err(error.into_response());
        };
        let body = body.to_bytes();
        let fields = verified_fields(web, &parts.headers, &body).map_err(|refuse| refuse())?;
        let file = fields.iter().find(|it| it.file.is_some() && !it.content.is_empty());
        Ok(Upload { content: file.map(|it| it.content.to_vec()) })
    }
}

impl FromRequest<WebState> for Uploads {
    type Rejection = Response;

    async fn from_request(request: Request, web: &WebState) -> Result<Uploads, Response> {
        let (parts, body) = request.into_parts();
        let (body, memory) = collect(body, FILES_BYTES_MAX).await?;
        let fields = verified_fields(web, &parts.headers, &body).map_err(|refuse| refuse())?;
        let sent = |it: &Field<'_>| {
            // A form without a chosen file sends one without a name.
            let name = it.file.filter(|name| !name.is_empty())?;
            Some(UploadedFile { name: unescaped(name), content: body.slice_ref(it.content) })
        };
        Ok(Uploads { files: fields.iter().filter_map(sent).collect(), _memory: memory })
    }
}

/// Reads the whole body. A body that is too large is read but not kept, so that the browser shows our answer.
async fn collect(mut body: Body, most: usize) -> Result<(Bytes, UploadMemory), Response> {
    let (mut kept, mut received) = (BytesMut::new(), 0_usize);
    let mut memory = UploadMemory::default();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(form::unreadable()) };
        let Ok(data) = frame.into_data() else { continue };
        received = received.saturating_add(data.len());
        if received <= most {
            memory.reserve(received, MEMORY_WAIT).await?;
            kept.extend_from_slice(&data);
        } else {
            (kept, memory) = (BytesMut::new(), UploadMemory::default());
            if received > DRAINED_MAX {
                break;
            }
        }
    }
    if received <= most { Ok((kept.freeze(), memory)) } else { Err(too_large()) }
}

/// MiB of memory for the uploads of all requests together.
const MEMORY_MIB: usize = 256;
static MEMORY: Semaphore = Semaphore::const_new(MEMORY_MIB);
/// How long a request waits for memory before it is refused.
const MEMORY_WAIT: Duration = Duration::from_secs(30);

/// The memory reserved by one request. It grows with the bytes received.
#[derive(Default)]
pub(crate) struct UploadMemory {
    permits: Option<SemaphorePermit<'static>>,
}

impl UploadMemory {
    /// Reserves memory for that many bytes in total, waiting if necessary.
    async fn reserve(&mut self, bytes: usize, wait: Duration) -> Result<(), Response> {
        let held = self.permits.as_ref().map_or(0, SemaphorePermit::num_permits);
        let more = bytes.div_ceil(1_024 * 1_024).saturating_sub(held);
        if more == 0 {
            return Ok(());
        }
        let more = MEMORY.acquire_many(u32::try_from(more).unwrap_or(u32::MAX));
        match tokio::time::timeout(wait, more).await {
            Ok(Ok(more)) => match &mut self.permits {
                Some(permits) => permits.merge(more),
                none => *none = Some(more),
            },
            _ => return Err(busy()),
        }
        Ok(())
    }
}

fn busy() -> Response {
    let message = "Other files are being uploaded right now. Go back and try again in a moment.";
    let title = "Too many uploads at once";
    PageError::new(StatusCode::SERVICE_UNAVAILABLE, title, message).into_response()
}

fn too_large() -> Response {
    let most = files::BYTES_MAX / 1_024 / 1_024;
    let message = format!(
        "Your files exceed {most} MB in total, so none were uploaded. Go back and upload fewer files. For a \
         single large file, download a shorter time period from your bank."
    );
    let title = "These files are too large";
    PageError::new(StatusCode::PAYLOAD_TOO_LARGE, title, &message).into_response()
}

/// The fields of a form from this site, or the error page.
fn verified_fields<'a>(
    web: &WebState,
    headers: &HeaderMap,
    body: &'a [u8],
) -> Result<Vec<Field<'a>>, fn() -> Response> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let boundary = content_type.and_then(boundary).ok_or(form::unreadable as fn() -> Response)?;
    let fields = fields(body, boundary).ok_or(form::unreadable as fn() -> Response)?;
    let token = fields.iter().find(|it| it.name == TOKEN_FIELD && it.file.is_none());
    let token = token.and_then(|it| std::str::from_utf8(it.content).ok()).unwrap_or_default();
    if !form::is_ours(web, headers, cookies::SESSION, token) {
        return Err(form::stale);
    }
    Ok(fields)
}

struct Field<'a> {
    name: &'a str,
    /// The file name, if the field is a file.
    file: Option<&'a str>,
    content: &'a [u8],
}

fn boundary(media_type: &str) -> Option<&str> {
    let rest = media_type.strip_prefix("multipart/form-data")?.trim_start();
    let boundary =
        rest.strip_prefix(';')?.trim_start().strip_prefix("boundary=")?.trim_matches('"');
    ((1..=70).contains(&boundary.len()) && !boundary.contains(['"', ';', ' '])).then_some(boundary)
}

/// Parses multipart form data (RFC 7578) as browsers write it; none if it is malformed.
fn fields<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Field<'a>>> {
    let first = format!("--{boundary}");
    let next = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(first.as_bytes())?;
    let mut fields = Vec::new();
    loop {
        if rest == b"--\r\n" || rest == b"--" {
            return Some(fields);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let head = memmem::find(rest, b"\r\n\r\n")?;
        let content = &rest[head + 4..];
        let end = memmem::find(content, next.as_bytes())?;
        let (name, file) = named(std::str::from_utf8(&rest[..head]).ok()?)?;
        fields.push(Field { name, file, content: &content[..end] });
        rest = &content[end + next.len()..];
    }
}

/// The name of a field and of its file.
fn named(head: &str) -> Option<(&str, Option<&str>)> {
    let line = head.lines().find(|it| {
        it.get(..20).is_some_and(|it| it.eq_ignore_ascii_case("content-disposition:"))
    })?;
    let rest = line[20..].trim_start().strip_prefix("form-data;")?.trim_start();
    let (name, rest) = rest.strip_prefix("name=\"")?.split_once('"')?;
    let Some(rest) = rest.trim_start_matches([';', ' ']).strip_prefix("filename") else {
        return Some((name, None));
    };
    let quoted = rest.strip_prefix("=\"").and_then(|it| it.split_once('"'));
    Some((name, Some(quoted.map_or("file", |(file, _)| file))))
}

/// Decodes the three characters that browsers escape in file names.
fn unescaped(name: &str) -> String {
    name.replace("%22", "\"").replace("%0D", " ").replace("%0A", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "--b\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\nt1\r\n\
        --b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\
        Content-Type: image/png\r\n\r\n\x01\r\n--\r\n--b--\r\n";

    #[test]
    fn a_form_is_split_into_its_fields() {
        let fields = fields(FORM.as_bytes(), "b").unwrap();
        let found: Vec<_> = fields.iter().map(|it| (it.name, it.file, it.content)).collect();
        let expected = [("form_token", None, &b"t1"[..]), ("image", Some("a.png"), b"\x01\r\n--")];
        assert_eq!(found, expected);
    }

    #[test]
    fn files_keep_their_names() {
        let name = |text: &str| {
            let head = format!("Content-Disposition: form-data; name=\"file\"; {text}");
            named(&head).and_then(|it| it.1).map(unescaped)
        };
        assert_eq!(name("filename=\"a b.csv\"").as_deref(), Some("a b.csv"));
        assert_eq!(name("filename=\"\"").as_deref(), Some(""));
        assert_eq!(name("filename=\"%22x%22é.ofx\"").as_deref(), Some("\"x\"é.ofx"));
        assert_eq!(name("filename*=UTF-8''x").as_deref(), Some("file"));
        assert_eq!(name(""), None);
    }

    #[tokio::test]
    async fn a_too_large_body_is_read_and_refused() {
        assert_eq!(collect(Body::from(vec![7; 64]), 64).await.unwrap().0.len(), 64);
        let refused = collect(Body::from(vec![7; 65]), 64).await.map(drop).unwrap_err();
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn requests_wait_for_upload_memory() {
        let mut first = UploadMemory::default();
        first.reserve(1, MEMORY_WAIT).await.unwrap();
        first.reserve(MEMORY_MIB << 20, MEMORY_WAIT).await.unwrap();
        let mut second = UploadMemory::default();
        let refused = second.reserve(1, Duration::ZERO).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(first);
        second.reserve(1, MEMORY_WAIT).await.unwrap();
    }

    #[test]
    fn malformed_bodies_are_refused() {
        let whole = FORM.len() - 2;
        for cut in 0..whole - 2 {
            assert!(fields(&FORM.as_bytes()[..cut], "b").is_none(), "{cut}");
        }
        for bent in [
            FORM.replace("form-data;", "attachment;"),
            FORM.replace("\r\n\r\n", "\n\n"),
            format!("preamble{FORM}"),
            format!("{FORM}epilogue"),
        ] {
            assert!(fields(bent.as_bytes(), "b").is_none(), "{bent}");
        }
        for media_type in
            ["", "application/x-www-form-urlencoded", "multipart/form-data", "text/html;boundary=b"]
        {
            assert_eq!(boundary(media_type), None, "{media_type}");
        }
        assert_eq!(boundary("multipart/form-data; boundary=----x1"), Some("----x1"));
        assert_eq!(boundary("multipart/form-data; boundary=\"x\""), Some("x"));
    }
}
