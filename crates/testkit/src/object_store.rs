//! A simulated S3-compatible store with one bucket: objects, uploads in parts, ranges and lists in pages. It checks that
//! requests are signed and that bodies have the hash that they declare, and misbehaves as a test asks.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use s3::{Addressing, Settings};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

use crate::hex;

pub struct ObjectStore {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Bytes>,
    uploads: BTreeMap<String, Upload>,
    uploads_begun: usize,
    faults: VecDeque<(&'static str, Fault)>,
    requests: Vec<String>,
    page: Option<usize>,
}

#[derive(Default)]
struct Upload {
    key: String,
    parts: BTreeMap<usize, Bytes>,
}

/// What goes wrong with one request.
#[derive(Clone)]
pub enum Fault {
    /// A response with this status, headers and body, and nothing is done.
    Response(u16, &'static [(&'static str, &'static str)], String),
    /// The connection closes without a response, and nothing is done.
    Cut,
    /// The request is carried out, and the connection closes without a response.
    CutAfter,
    /// There is never an answer.
    Hold,
    /// The body of the response never ends.
    Endless,
    /// The last byte of the response's body is another.
    Corrupt,
    /// The response's body is shorter than its Content-Range.
    Shortened,
}

/// The body of a response, which may never end.
pub struct Content {
    bytes: Option<Bytes>,
    is_endless: bool,
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_endless {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 65_536])))));
        }
        Poll::Ready(self.bytes.take().filter(|it| !it.is_empty()).map(|it| Ok(Frame::data(it))))
    }
}

type Reply = Response<Content>;

impl ObjectStore {
    pub const BUCKET: &str = "money";

    pub async fn start() -> ObjectStore {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        tokio::spawn(serve(listener, state.clone()));
        ObjectStore { url, state }
    }

    /// The settings of a client of this store.
    pub fn settings(&self) -> Settings {
        Settings {
            endpoint: self.url.clone(),
            region: "us-east-1".to_owned(),
            bucket: ObjectStore::BUCKET.to_owned(),
            prefix: "home".to_owned(),
            addressing: Addressing::Path,
            access_key_id: "id".to_owned(),
            secret_access_key: "secret".to_owned(),
        }
    }

    /// The next request whose method, path and query contain this text gets the fault. Several faults with the same text
    /// apply to the following requests in order.
    pub fn fail_next(&self, text: &'static str, fault: Fault) {
        self.state.lock().unwrap().faults.push_back((text, fault));
    }

    /// Lists have pages of this length.
    pub fn set_page(&self, length: usize) {
        self.state.lock().unwrap().page = Some(length);
    }

    /// Method, path and query of each request so far.
    pub fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }

    /// The keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        self.state.lock().unwrap().objects.keys().cloned().collect()
    }

    pub fn object(&self, key: &str) -> Option<Bytes> {
        self.state.lock().unwrap().objects.get(key).cloned()
    }

    pub fn put(&self, key: &str, bytes: impl Into<Bytes>) {
        self.state.lock().unwrap().objects.insert(key.to_owned(), bytes.into());
    }

    /// Begins an upload that is never finished.
    pub fn begin_upload(&self, key: &str) {
        self.state.lock().unwrap().begin(key);
    }

    pub fn unfinished_uploads(&self) -> usize {
        self.state.lock().unwrap().uploads.len()
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) -> Infallible {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let state = state.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, state.clone()));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(request: Request<Incoming>, state: Arc<Mutex<State>>) -> io::Result<Reply> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let line = format!("{} {}", head.method, head.uri);
    let fault = {
        let mut state = state.lock().unwrap();
        state.requests.push(line.clone());
        let found = state.faults.iter().position(|(text, _)| line.contains(text));
        found.and_then(|it| state.faults.remove(it)).map(|it| it.1)
    };
    let header = |name: &str| head.headers.get(name).and_then(|it| it.to_str().ok());
    let handle = || {
        let is_signed =
            header("authorization").is_some_and(|it| it.starts_with("AWS4-HMAC-SHA256 "));
        if !is_signed || header("x-amz-date").is_none() {
            return error(403, "AccessDenied");
        }
        if header("x-amz-content-sha256") != Some(&hex(&Sha256::digest(&body))) {
            return error(400, "XAmzContentSHA256Mismatch");
        }
        let path = percent_decode_str(head.uri.path()).decode_utf8_lossy().into_owned();
        let query = parse_query(head.uri.query().unwrap_or_default());
        let mut state = state.lock().unwrap();
        state.handle(head.method.as_str(), &path, &query, header("range"), body.clone())
    };
    match fault {
        None => Ok(handle()),
        Some(Fault::Response(status, headers, body)) => {
            let mut response = reply(status, body);
            for (name, value) in headers {
                response.headers_mut().insert(*name, value.parse().unwrap());
            }
            Ok(response)
        }
        Some(Fault::Cut) => Err(io::Error::other("cut")),
        Some(Fault::CutAfter) => {
            handle();
            Err(io::Error::other("cut"))
        }
        Some(Fault::Hold) => std::future::pending().await,
        Some(Fault::Endless) => {
            let mut response = handle();
            response.body_mut().is_endless = true;
            Ok(response)
        }
        Some(Fault::Corrupt) => Ok(changed(handle(), |bytes| *bytes.last_mut().unwrap() ^= 1)),
        Some(Fault::Shortened) => Ok(changed(handle(), |bytes| bytes.truncate(bytes.len() - 1))),
    }
}

impl State {
    fn begin(&mut self, key: &str) -> String {
        self.uploads_begun += 1;
        let id = format!("upload/{}", self.uploads_begun);
        self.uploads.insert(id.clone(), Upload { key: key.to_owned(), ..Upload::default() });
        id
    }

    fn handle(
        &mut self,
        method: &str,
        path: &str,
        query: &BTreeMap<String, String>,
        range: Option<&str>,
        body: Bytes,
    ) -> Reply {
        let inside = path.strip_prefix('/').and_then(|it| it.strip_prefix(ObjectStore::BUCKET));
        let key = match inside {
            Some("") => None,
            Some(it) if it.starts_with('/') => Some(&it[1..]),
            _ => return error(404, "NoSuchBucket"),
        };
        let upload = query.get("uploadId");
        match (method, key, upload) {
            ("GET", None, _) if query.contains_key("uploads") => self.list_uploads(),
            ("GET", None, _) => self.list(query),
            ("PUT", Some(key), None) => {
                self.objects.insert(key.to_owned(), body);
                reply(200, "")
            }
            ("PUT", Some(_), Some(id)) => {
                let number = query.get("partNumber").and_then(|it| it.parse().ok()).unwrap_or(0);
                let Some(upload) = self.uploads.get_mut(id) else {
                    return error(404, "NoSuchUpload");
                };
                upload.parts.insert(number, body);
                let mut response = reply(200, "");
                response
                    .headers_mut()
                    .insert("etag", format!("\"part{number}&\"").parse().unwrap());
                response
            }
            ("POST", Some(key), None) => {
                let id = self.begin(key);
                reply(
                    200,
                    format!(
                        "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
                    ),
                )
            }
            ("POST", Some(_), Some(id)) => self.complete(id, &body),
            ("GET", Some(key), _) => self.get(key, range),
            ("DELETE", Some(_), Some(id)) => match self.uploads.remove(id) {
                Some(_) => reply(204, ""),
                None => error(404, "NoSuchUpload"),
            },
            ("DELETE", Some(key), None) => {
                self.objects.remove(key);
                reply(204, "")
            }
            _ => error(405, "MethodNotAllowed"),
        }
    }

    fn complete(&mut self, id: &str, body: &[u8]) -> Reply {
        let Some(upload) = self.uploads.remove(id) else { return error(404, "NoSuchUpload") };
        let named = String::from_utf8_lossy(body);
        let all_named = upload.parts.keys().all(|number| {
            named.contains(&format!(
                "<Part><PartNumber>{number}</PartNumber><ETag>&quot;part{number}&amp;&quot;</ETag></Part>"
            ))
        });
        if !all_named {
            return error(400, "InvalidPart");
        }
        let whole: Vec<u8> = upload.parts.into_values().flatten().collect();
        self.objects.insert(upload.key, whole.into());
        reply(200, "<CompleteMultipartUploadResult/>")
    }

    fn get(&self, key: &str, range: Option<&str>) -> Reply {
        let Some(object) = self.objects.get(key) else { return error(404, "NoSuchKey") };
        let range = range.and_then(|it| it.strip_prefix("bytes=")?.split_once('-'));
        let Some((first, last)) = range else { return reply(200, object.clone()) };
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
        if first >= object.len() {
            return error(416, "InvalidRange");
        }
        let last = last.min(object.len() - 1);
        let mut response = reply(206, object.slice(first..=last));
        let shown = format!("bytes {first}-{last}/{}", object.len());
        response.headers_mut().insert("content-range", shown.parse().unwrap());
        response.headers_mut().insert("etag", "\"version\"".parse().unwrap());
        response
    }

    fn list(&self, query: &BTreeMap<String, String>) -> Reply {
        let prefix = query.get("prefix").map_or("", String::as_str);
        let after = query.get("continuation-token").map_or("", String::as_str);
        let page = self.page.unwrap_or(1_000);
        let mut found = self
            .objects
            .iter()
            .filter(|it| it.0.starts_with(prefix) && (after.is_empty() || it.0.as_str() > after))
            .peekable();
        let (mut text, mut last, mut count) = (String::new(), "", 0);
        while let Some((key, object)) = found.next_if(|_| count < page) {
            text += &format!("<Contents><Key>{key}</Key><Size>{}</Size></Contents>", object.len());
            (last, count) = (key, count + 1);
        }
        let is_truncated = found.peek().is_some();
        let next = match is_truncated {
            true => format!("<NextContinuationToken>{last}</NextContinuationToken>"),
            false => String::new(),
        };
        reply(
            200,
            format!(
                "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>{next}{text}</ListBucketResult>"
            ),
        )
    }

    fn list_uploads(&self) -> Reply {
        let upload = |(id, upload): (&String, &Upload)| {
            format!("<Upload><Key>{}</Key><UploadId>{id}</UploadId></Upload>", upload.key)
        };
        let text: String = self.uploads.iter().map(upload).collect();
        reply(200, format!("<ListMultipartUploadsResult>{text}</ListMultipartUploadsResult>"))
    }
}

fn parse_query(text: &str) -> BTreeMap<String, String> {
    let decode = |it: &str| percent_decode_str(it).decode_utf8_lossy().into_owned();
    let pairs = text.split('&').filter(|it| !it.is_empty());
    pairs
        .map(|it| it.split_once('=').unwrap_or((it, "")))
        .map(|(a, b)| (decode(a), decode(b)))
        .collect()
}

fn changed(response: Reply, change: impl FnOnce(&mut Vec<u8>)) -> Reply {
    response.map(|it| {
        let mut bytes = it.bytes.unwrap_or_default().to_vec();
        change(&mut bytes);
        Content { bytes: Some(bytes.into()), is_endless: false }
    })
}

fn reply(status: u16, body: impl Into<Bytes>) -> Reply {
    let content = Content { bytes: Some(body.into()), is_endless: false };
    Response::builder().status(status).body(content).unwrap()
}

fn error(status: u16, code: &str) -> Reply {
    reply(status, format!("<Error><Code>{code}</Code><Message>simulated</Message></Error>"))
}
