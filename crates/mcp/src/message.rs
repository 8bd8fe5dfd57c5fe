//! JSON-RPC 2.0: one request or notification a message. Numbers stay text from end to end, so no decimal is rounded.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use wire::json::write_str;

/// The longest id that is accepted; it is repeated in the response.
const ID_LENGTH_MAX: usize = 256;

/// The error codes of JSON-RPC and of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    ParseError,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    /// The token, the origin or the host is refused.
    Refused,
    HeaderMismatch,
    /// The client has not declared something that the request takes.
    MissingCapability,
    UnsupportedVersion,
}

impl Code {
    pub fn number(self) -> i32 {
        match self {
            Code::ParseError => -32700,
            Code::InvalidRequest => -32600,
            Code::MethodNotFound => -32601,
            Code::InvalidParams => -32602,
            Code::Internal => -32603,
            Code::Refused => -32000,
            Code::HeaderMismatch => -32020,
            Code::MissingCapability => -32021,
            Code::UnsupportedVersion => -32022,
        }
    }
}

/// A message from a client.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// A request or a notification.
    Message(Message<'a>),
    /// The answer to a request of this server, as the id of the request and the result as JSON; none for an error.
    Answer { id: &'a str, result: Option<&'a str> },
}

/// A message of a client.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// The id as JSON text; none for a notification.
    pub(crate) id: Option<&'a str>,
    pub(crate) method: Cow<'a, str>,
    /// The parameters as JSON text: an object, or none.
    pub(crate) params: Option<&'a str>,
}

/// Why a message is not handled: its id as far as it is known, the code, and a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) code: Code,
    pub(crate) message: String,
}

#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Reads a member that is there, also if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Incoming<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Result<Incoming<'a>, Malformed<'a>> {
        let wrong = |code, message: &str| Malformed { id: None, code, message: message.to_owned() };
        let Ok(text) = std::str::from_utf8(body) else {
            return Err(wrong(Code::ParseError, "the body must be UTF-8 text"));
        };
        match text.trim_start().as_bytes().first() {
            Some(b'{') => {}
            Some(b'[') => {
                let message = "batches are not supported; send one message in each request";
                return Err(wrong(Code::InvalidRequest, message));
            }
            _ => return Err(wrong(Code::ParseError, "the body must be one JSON object")),
        }
        let envelope: Envelope<'a> = serde_json::from_str(text).map_err(|error| {
            let code = if error.is_data() { Code::InvalidRequest } else { Code::ParseError };
            wrong(code, &format!("the body must be one JSON-RPC message: {error}"))
        })?;
        Incoming::checked(envelope)
    }

    fn checked(envelope: Envelope<'a>) -> Result<Incoming<'a>, Malformed<'a>> {
        let id = envelope.id.map(RawValue::get);
        let is_id = |text: &&str| text.len() <= ID_LENGTH_MAX && is_id(text);
        let known = id.filter(is_id);
        let wrong = |message: &str| {
            Err(Malformed { id: known, code: Code::InvalidRequest, message: message.to_owned() })
        };
        if id.is_some() && known.is_none() {
            return wrong("id must be a text or a whole number, at most 256 bytes long");
        }
        if envelope.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return wrong("jsonrpc must be \"2.0\"");
        }
        let Some(method) = envelope.method else {
            return match (known, envelope.result, envelope.error) {
                (Some(id), Some(result), None) => {
                    Ok(Incoming::Answer { id, result: Some(result.get()) })
                }
                (Some(id), None, Some(_)) => Ok(Incoming::Answer { id, result: None }),
                _ => wrong("method is missing"),
            };
        };
        let params = envelope.params.map(RawValue::get);
        if params.is_some_and(|it| !it.starts_with('{')) {
            return wrong("params must be an object");
        }
        Ok(Incoming::Message(Message { id, method, params }))
    }
}

pub(crate) fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text.starts_with('"') || (!digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
}

/// A response with a result, which is JSON already.
pub(crate) fn result_body(id: &str, result: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(result.len() + id.len() + 40);
    body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    body.extend_from_slice(id.as_bytes());
    body.extend_from_slice(b",\"result\":");
    body.extend_from_slice(result);
    body.push(b'}');
    body
}

/// A response with an error. One whose request has no readable id has none itself.
pub(crate) fn error_body(
    id: Option<&str>,
    code: Code,
    message: &str,
    data: Option<&str>,
) -> Vec<u8> {
    let mut body = b"{\"jsonrpc\":\"2.0\"".to_vec();
    if let Some(id) = id {
        body.extend_from_slice(b",\"id\":");
        body.extend_from_slice(id.as_bytes());
    }
    body.extend_from_slice(b",\"error\":{\"code\":");
    body.extend_from_slice(code.number().to_string().as_bytes());
    body.extend_from_slice(b",\"message\":");
    write_str(&mut body, message);
    if let Some(data) = data {
        body.extend_from_slice(b",\"data\":");
        body.extend_from_slice(data.as_bytes());
    }
    body.extend_from_slice(b"}}");
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], expected: &str) {
        let shown = match Incoming::parse(body) {
            Ok(Incoming::Message(it)) => format!("{:?} {} {:?}", it.id, it.method, it.params),
            Ok(Incoming::Answer { id, result }) => format!("answer {id} {result:?}"),
            Err(it) => format!("{:?} {} {}", it.id, it.code.number(), it.message),
        };
        assert_eq!(shown, expected, "{}", String::from_utf8_lossy(body));
    }

    #[test]
    fn a_message_is_a_request_or_a_notification() {
        check(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, r#"Some("7") ping None"#);
        check(
            br#" {"id":"a","params":{"x": 1.50},"method":"t","jsonrpc":"2.0","more":[]}"#,
            r#"Some("\"a\"") t Some("{\"x\": 1.50}")"#,
        );
        check(br#"{"jsonrpc":"2.0","method":"notifications/x"}"#, "None notifications/x None");
        check(
            br#"{"jsonrpc":"2.0","id":"e","result":{"action":"accept"}}"#,
            r#"answer "e" Some("{\"action\":\"accept\"}")"#,
        );
        check(br#"{"jsonrpc":"2.0","id":1,"error":{"code":-1}}"#, "answer 1 None");
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_id_and_a_sentence() {
        check(b"\xff", "None -32700 the body must be UTF-8 text");
        check(b"", "None -32700 the body must be one JSON object");
        check(b"null", "None -32700 the body must be one JSON object");
        check(
            br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            "None -32600 batches are not supported; send one message in each request",
        );
        check(
            br#"{"jsonrpc":"1.0","id":1,"method":"x"}"#,
            r#"Some("1") -32600 jsonrpc must be "2.0""#,
        );
        for id in ["null", "1.5", "true", "{}", "[1]"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            let message = "id must be a text or a whole number, at most 256 bytes long";
            check(body.as_bytes(), &format!("None -32600 {message}"));
        }
        check(br#"{"jsonrpc":"2.0","id":1}"#, "Some(\"1\") -32600 method is missing");
        check(
            br#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#,
            "Some(\"1\") -32600 params must be an object",
        );
        let repeated = br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#;
        assert_eq!(Incoming::parse(repeated).unwrap_err().code, Code::InvalidRequest);
        let cut = br#"{"jsonrpc":"2.0","id":1,"method":"#;
        assert_eq!(Incoming::parse(cut).unwrap_err().code, Code::ParseError);
    }
}
