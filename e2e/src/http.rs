//! A minimal HTTP client with one connection per request, for WebDriver and for the API.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::TIMEOUT;

pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// Sends a request to an origin such as `http://127.0.0.1:8080`.
pub fn send(
    origin: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Answer> {
    let authority = origin.trim_start_matches("http://");
    let mut stream = TcpStream::connect(authority)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\n");
    request.push_str("Connection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(request.as_bytes())?;
    read(BufReader::new(stream))
}

fn read(mut stream: BufReader<TcpStream>) -> io::Result<Answer> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status in {line:?}")))?;
    let mut answer = Answer { status, headers: Vec::new(), body: Vec::new() };
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        answer.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if answer.header("transfer-encoding") == Some("chunked") {
        answer.body = chunks(&mut stream)?;
        return Ok(answer);
    }
    // The driver keeps its connection open despite `Connection: close`, so the length decides.
    match answer.header("content-length").and_then(|it| it.parse().ok()) {
        Some(length) => {
            answer.body.resize(length, 0);
            stream.read_exact(&mut answer.body)?;
        }
        None => {
            stream.read_to_end(&mut answer.body)?;
        }
    }
    Ok(answer)
}

fn chunks(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        let from = body.len();
        // Each chunk ends with a line break.
        body.resize(from + length + 2, 0);
        stream.read_exact(&mut body[from..])?;
        body.truncate(from + length);
        if length == 0 {
            return Ok(body);
        }
    }
}
