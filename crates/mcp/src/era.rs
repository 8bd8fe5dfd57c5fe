//! The two eras of the protocol. A request of the modern one says its version in its own metadata; the legacy ones begin
//! with `initialize`. Both are served at the same address, and neither has a session.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::message::{Code, Message, is_id};

/// The revision without a handshake.
pub const MODERN_VERSION: &str = "2026-07-28";
/// The revisions that begin with `initialize`, newest first.
pub const LEGACY_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The headers that repeat parts of the body, so that proxies need not read it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a> {
    /// `MCP-Protocol-Version`
    pub protocol_version: Option<&'a str>,
    /// `Mcp-Method`
    pub method: Option<&'a str>,
    /// `Mcp-Name`
    pub name: Option<&'a str>,
}

/// An era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Modern,
    Legacy,
}

/// The metadata of a request.
#[derive(Debug)]
pub(crate) struct Metadata<'a> {
    pub(crate) era: Era,
    /// The client's capabilities, as JSON. Only requests of the modern era have them.
    pub(crate) capabilities: Option<&'a str>,
    /// The token to report progress with, as JSON; none if the client wants no reports.
    pub(crate) progress_token: Option<&'a str>,
}

/// Why a request is refused before its method is called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    pub(crate) message: String,
    /// The error's `data`, as JSON.
    pub(crate) data: Option<String>,
}

impl Refused {
    fn new(code: Code, message: String) -> Refused {
        Refused { code, message, data: None }
    }
}

/// The parts of the parameters that headers repeat.
#[derive(Debug, Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// Decides the era of a request and checks its metadata and headers.
pub(crate) fn check<'a>(
    message: &Message<'a>,
    headers: Option<Headers<'_>>,
) -> Result<Metadata<'a>, Refused> {
    let params: Params<'a> = match message.params.map(serde_json::from_str).transpose() {
        Ok(params) => params.unwrap_or_default(),
        Err(error) => {
            let message =
                format!("params must have the types that the protocol gives them: {error}");
            return Err(Refused::new(Code::InvalidParams, message));
        }
    };
    let meta = params.meta.as_ref();
    let progress_token = meta.and_then(|it| it.progress_token).map(RawValue::get);
    let progress_token = progress_token.filter(|it| is_id(it));
    let in_header = headers.and_then(|it| it.protocol_version);
    let in_body = params.meta.as_ref().and_then(|it| it.version.as_deref());
    let is_legacy = |version: &str| LEGACY_VERSIONS.contains(&version);
    if in_body.is_none_or(is_legacy) && in_header.is_none_or(is_legacy) {
        return match message.method.as_ref() {
            // Only the modern era has it, and its client has to learn what is missing.
            "server/discover" => Err(missing_version(headers.is_some() && in_header.is_none())),
            _ => Ok(Metadata { era: Era::Legacy, capabilities: None, progress_token }),
        };
    }
    let version = check_version(headers, in_body)?;
    if version != MODERN_VERSION {
        return Err(unsupported(version));
    }
    if in_body.is_none() {
        return Err(missing_version(false));
    }
    let capabilities = meta.and_then(|it| it.capabilities).map(RawValue::get);
    if !capabilities.is_some_and(|it| it.starts_with('{')) {
        let name = "io.modelcontextprotocol/clientCapabilities";
        let message = format!("params._meta must have {name}, an object");
        return Err(Refused::new(Code::InvalidParams, message));
    }
    if let Some(headers) = headers {
        check_headers(message, &params, headers)?;
    }
    Ok(Metadata { era: Era::Modern, capabilities, progress_token })
}

/// The version of a modern request, which its header and its body must agree on.
fn check_version<'a>(
    headers: Option<Headers<'a>>,
    in_body: Option<&'a str>,
) -> Result<&'a str, Refused> {
    let Some(headers) = headers else { return Ok(in_body.unwrap_or_default()) };
    match (headers.protocol_version, in_body) {
        (Some(header), Some(body)) if header != body => {
            Err(mismatch("MCP-Protocol-Version", header, body))
        }
        (Some(header), _) => Ok(header),
        (None, _) => Err(missing_header("MCP-Protocol-Version")),
    }
}

fn check_headers(
    message: &Message<'_>,
    params: &Params<'_>,
    headers: Headers<'_>,
) -> Result<(), Refused> {
    match headers.method {
        Some(method) if method == message.method => {}
        Some(method) => return Err(mismatch("Mcp-Method", method, &message.method)),
        None => return Err(missing_header("Mcp-Method")),
    }
    let named = match message.method.as_ref() {
        "tools/call" | "prompts/get" => params.name.as_deref(),
        "resources/read" => params.uri.as_deref(),
        _ => return Ok(()),
    };
    match (headers.name, named) {
        (Some(header), Some(body)) => match decode(header) {
            Some(name) if name == body => Ok(()),
            _ => Err(mismatch("Mcp-Name", header, body)),
        },
        (None, Some(_)) => Err(missing_header("Mcp-Name")),
        // The method itself says that the name is missing.
        (_, None) => Ok(()),
    }
}

/// Decodes a header value: plain, or `=?base64?...?=` for text that a header cannot have.
fn decode(header: &str) -> Option<Cow<'_, str>> {
    let encoded = header.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?="));
    match encoded {
        None => Some(Cow::Borrowed(header)),
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).ok()?;
            String::from_utf8(bytes).ok().map(Cow::Owned)
        }
    }
}

fn missing_version(in_header: bool) -> Refused {
    if in_header {
        return missing_header("MCP-Protocol-Version");
    }
    let name = "io.modelcontextprotocol/protocolVersion";
    let message = format!("params._meta must have {name}, such as {MODERN_VERSION}");
    Refused::new(Code::InvalidParams, message)
}

fn missing_header(name: &str) -> Refused {
    let message = format!("Header mismatch: the header {name} is missing");
    Refused::new(Code::HeaderMismatch, message)
}

fn mismatch(name: &str, header: &str, body: &str) -> Refused {
    let cut = |it: &str| it.chars().take(64).collect::<String>();
    let (header, body) = (cut(header), cut(body));
    let message =
        format!("Header mismatch: {name} is '{header}' in the header and '{body}' in the body");
    Refused::new(Code::HeaderMismatch, message)
}

fn unsupported(requested: &str) -> Refused {
    let requested: String = requested.chars().take(64).collect();
    let data = serde_json::json!({ "supported": versions(), "requested": requested });
    Refused {
        code: Code::UnsupportedVersion,
        message: "Unsupported protocol version".to_owned(),
        data: Some(data.to_string()),
    }
}

/// Every supported version, newest first.
pub(crate) fn versions() -> Vec<&'static str> {
    [&[MODERN_VERSION][..], &LEGACY_VERSIONS].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    fn check_request(method: &str, params: &str, headers: [Option<&str>; 3], expected: &str) {
        let message = Message { id: Some("1"), method: method.into(), params: Some(params) };
        let [protocol_version, method, name] = headers;
        let headers = Headers { protocol_version, method, name };
        let shown = match check(&message, Some(headers)) {
            Ok(found) => format!("{:?}", found.era),
            Err(it) => format!("{} {}", it.code.number(), it.message),
        };
        assert_eq!(shown, expected, "{params} {headers:?}");
    }

    #[test]
    fn a_request_is_of_the_era_that_it_opens_with() {
        let modern = format!("{{{META}}}");
        let version = Some(MODERN_VERSION);
        check_request("tools/list", &modern, [version, Some("tools/list"), None], "Modern");
        check_request("initialize", "{}", [None, None, None], "Legacy");
        check_request("tools/list", "{}", [None, None, None], "Legacy");
        check_request("tools/list", "{}", [Some("2025-06-18"), None, None], "Legacy");
        let call = format!(r#"{{"name":"é",{META}}}"#);
        let name = Some("=?base64?w6k=?=");
        check_request("tools/call", &call, [version, Some("tools/call"), name], "Modern");
        let stdio = Message { id: Some("1"), method: "tools/list".into(), params: Some(&modern) };
        assert_eq!(check(&stdio, None).unwrap().era, Era::Modern);
    }

    #[test]
    fn headers_and_metadata_must_be_there_and_agree() {
        let modern = format!("{{{META}}}");
        let version = Some(MODERN_VERSION);
        let list = Some("tools/list");
        for (params, headers, expected) in [
            (
                "{}",
                [version, list, None],
                "-32602 params._meta must have io.modelcontextprotocol/protocolVersion, such as 2026-07-28",
            ),
            (
                r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
                [version, list, None],
                "-32602 params._meta must have io.modelcontextprotocol/clientCapabilities, an object",
            ),
            (
                &modern,
                [None, list, None],
                "-32020 Header mismatch: the header MCP-Protocol-Version is missing",
            ),
            (
                &modern,
                [version, None, None],
                "-32020 Header mismatch: the header Mcp-Method is missing",
            ),
            (
                &modern,
                [version, Some("TOOLS/LIST"), None],
                "-32020 Header mismatch: Mcp-Method is 'TOOLS/LIST' in the header and 'tools/list' in the body",
            ),
            (
                &modern,
                [Some("2025-11-25"), list, None],
                "-32020 Header mismatch: MCP-Protocol-Version is '2025-11-25' in the header and '2026-07-28' in the body",
            ),
            ("{}", [Some("1900-01-01"), None, None], "-32022 Unsupported protocol version"),
        ] {
            check_request("tools/list", params, headers, expected);
        }
        let call = format!(r#"{{"name":"get_income",{META}}}"#);
        let method = Some("tools/call");
        check_request(
            "tools/call",
            &call,
            [version, method, None],
            "-32020 Header mismatch: the header Mcp-Name is missing",
        );
        check_request(
            "tools/call",
            &call,
            [version, method, Some("get_scores")],
            "-32020 Header mismatch: Mcp-Name is 'get_scores' in the header and 'get_income' in the body",
        );
    }

    #[test]
    fn an_unsupported_version_is_answered_with_the_supported_ones() {
        let params = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}"#;
        let message = Message { id: Some("1"), method: "ping".into(), params: Some(params) };
        let headers = Headers { protocol_version: Some("1900-01-01"), ..Headers::default() };
        let refused = check(&message, Some(headers)).unwrap_err();
        let expected = r#"{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1900-01-01"}"#;
        assert_eq!(refused.data.as_deref(), Some(expected));
    }
}
