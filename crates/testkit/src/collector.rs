//! A collector of traces, as operators run one, which keeps what it is sent, and looks for personal data in it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::hex;

/// Longer texts are no names of the program.
const TEXT_CHARS_MAX: usize = 100;
/// Longer parts with letters and digits are ids or secrets.
const WORD_CHARS_MAX: usize = 12;
/// Ports have five digits.
const DIGITS_MAX: usize = 5;

/// A collector that keeps what it is sent.
pub struct Collector {
    pub url: String,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    heads: Arc<Mutex<Vec<String>>>,
    checked: Mutex<Checked>,
}

/// The doubtful texts of the first bodies. A run of many tests has too many bodies to check all of them again for each.
#[derive(Default)]
struct Checked {
    bodies: usize,
    doubtful: BTreeSet<String>,
}

impl Collector {
    pub fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (bodies, heads) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<Vec<_>>>::default());
        let kept = (bodies.clone(), heads.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || while Collector::take(&stream, &kept).is_some() {});
            }
        });
        Collector { url, bodies, heads, checked: Mutex::default() }
    }

    fn take(mut stream: &TcpStream, (bodies, heads): &Kept) -> Option<()> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let lower = head.to_lowercase();
        let length = lower.lines().find_map(|it| it.strip_prefix("content-length: "))?;
        let mut body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        bodies.lock().unwrap().push(body);
        heads.lock().unwrap().push(lower);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()
    }

    fn bodies(&self) -> Vec<Vec<u8>> {
        self.bodies.lock().unwrap().clone()
    }

    /// The heads of the requests, in small letters.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub fn spans(&self) -> Vec<Span> {
        self.bodies().iter().flat_map(|it| spans(it)).collect()
    }

    /// The texts of these that any request contains.
    pub fn leaked(&self, texts: &BTreeSet<String>) -> BTreeSet<String> {
        let everything = self.bodies().concat();
        let everything = String::from_utf8_lossy(&everything);
        texts.iter().filter(|it| everything.contains(it.as_str())).cloned().collect()
    }

    /// Names and values that are no words, routes or short numbers of the program, so that they may be about a person.
    pub fn doubtful(&self) -> BTreeSet<String> {
        let mut checked = self.checked.lock().unwrap();
        let bodies = self.bodies.lock().unwrap();
        for body in &bodies[checked.bodies..] {
            let spans = spans(body);
            let texts = spans.iter().flat_map(|it| it.attributes.values().chain([&it.name]));
            checked.doubtful.extend(texts.filter(|it| is_doubtful(it)).cloned());
        }
        checked.bodies = bodies.len();
        checked.doubtful.clone()
    }
}

fn is_doubtful(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_/{}*.- ".contains(it);
    // Longer than a status or a port: an id, an amount, a date without marks.
    let is_long_number =
        |it: &str| it.len() > DIGITS_MAX && it.bytes().all(|it| it.is_ascii_digit());
    let mut parts = text.split(|it: char| !it.is_ascii_alphanumeric());
    // The random part of an id or a secret has letters and digits.
    let is_random = |it: &str| {
        it.len() > WORD_CHARS_MAX
            && it.bytes().any(|it| it.is_ascii_digit())
            && it.bytes().any(|it| it.is_ascii_alphabetic())
    };
    text.len() >= TEXT_CHARS_MAX
        || !text.chars().all(is_plain)
        || parts.any(|it| is_long_number(it) || is_random(it))
}

type Kept = (Arc<Mutex<Vec<Vec<u8>>>>, Arc<Mutex<Vec<String>>>);

/// The fields of a protobuf message: number, and bytes or number.
#[derive(Debug)]
enum Field<'b> {
    Bytes(&'b [u8]),
    Number(u64),
}

fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    fn varint(message: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = message[0];
            *message = &message[1..];
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut message)),
            1 => {
                let (number, rest) = message.split_at(8);
                message = rest;
                Field::Number(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(&mut message)).unwrap();
                let (bytes, rest) = message.split_at(length);
                message = rest;
                Field::Bytes(bytes)
            }
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, field));
    }
    found
}

fn bytes_of(message: &[u8], number: u64) -> Vec<&[u8]> {
    let each = fields(message).into_iter().filter(|it| it.0 == number);
    each.filter_map(|it| if let Field::Bytes(bytes) = it.1 { Some(bytes) } else { None }).collect()
}

fn text_of(message: &[u8], number: u64) -> String {
    let text = bytes_of(message, number).first().map(|it| it.to_vec()).unwrap_or_default();
    String::from_utf8(text).unwrap()
}

#[derive(Debug, Clone)]
pub struct Span {
    /// The name of the program that sent it.
    pub service: String,
    pub trace: String,
    pub id: String,
    pub parent: String,
    pub name: String,
    pub attributes: BTreeMap<String, String>,
}

fn attributes(message: &[u8], number: u64) -> BTreeMap<String, String> {
    let read = |pair: &[u8]| {
        let value = bytes_of(pair, 2).remove(0);
        let value = fields(value).into_iter().next().map(|it| match it.1 {
            Field::Bytes(text) => String::from_utf8(text.to_vec()).unwrap(),
            Field::Number(number) => number.to_string(),
        });
        (text_of(pair, 1), value.unwrap_or_default())
    };
    bytes_of(message, number).into_iter().map(read).collect()
}

fn spans(request: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    for resource_spans in bytes_of(request, 1) {
        let resource = attributes(bytes_of(resource_spans, 1)[0], 1);
        for scope_spans in bytes_of(resource_spans, 2) {
            for span in bytes_of(scope_spans, 2) {
                found.push(Span {
                    service: resource["service.name"].clone(),
                    trace: hex(bytes_of(span, 1)[0]),
                    id: hex(bytes_of(span, 2)[0]),
                    parent: bytes_of(span, 4).first().map(|it| hex(it)).unwrap_or_default(),
                    name: text_of(span, 5),
                    attributes: attributes(span, 9),
                });
            }
        }
    }
    found
}

/// Every text of a person's data that an answer of the API has: ids, names, descriptions, amounts.
pub fn personal_texts(value: &Value, found: &mut BTreeSet<String>) {
    const WORDS: [&str; 9] = [
        "id",
        "account_id",
        "name",
        "description",
        "merchant",
        "email",
        "amount",
        "display_name",
        "institution_name",
    ];
    match value {
        Value::Array(all) => all.iter().for_each(|it| personal_texts(it, found)),
        Value::Object(members) => {
            for (name, value) in members {
                let text = value.as_str().map(str::to_owned);
                let text = text.or_else(|| value.as_i64().map(|it| it.to_string()));
                // A category's id is a word of the program.
                let is_word =
                    |it: &String| it.chars().all(|it| it.is_ascii_lowercase() || it == '_');
                if WORDS.contains(&name.as_str()) {
                    found.extend(text.filter(|it| it.len() >= 6 && !is_word(it)));
                }
                personal_texts(value, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::is_doubtful;

    #[test]
    fn ids_addresses_amounts_and_queries_are_doubtful() {
        for text in [
            "GET /transactions/{id}",
            "SELECT import_files",
            "/v1/goals",
            "127.0.0.1",
            "8080",
            "200",
        ] {
            assert!(!is_doubtful(text), "{text}");
        }
        for text in [
            "GET /transactions/txn_01kq8a3n5dchg9w3n",
            "robin@example.com",
            "/search?q=netflix",
            "$12.50",
            "1234567",
        ] {
            assert!(is_doubtful(text), "{text}");
        }
    }
}
