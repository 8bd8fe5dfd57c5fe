//! Terminal output of `evenkeel listen`: setup instructions and one line for each event.

use std::net::SocketAddr;

use anyhow::Result;
use base::Timestamp;
use hyper::header::HeaderMap;
use serde_json::Value;
use service::webhooks::VerificationError;

use super::{Verdict, certificate, text};
use crate::cli;
use crate::commands::key;
use crate::config::Config;

/// How many ids of a list are printed.
const NAMED: usize = 3;
/// The longest text printed from a request, which may be of any length.
const LONGEST: usize = 64;

/// Instructions for creating a webhook endpoint that sends to this receiver.
pub(super) fn greeting(
    config: &Config,
    args: &cli::Listen,
    at: SocketAddr,
    is_known: bool,
) -> Result<String> {
    let host = match at.ip() {
        ip if ip.is_loopback() || ip.is_unspecified() => "localhost".to_owned(),
        ip => SocketAddr::new(ip, 0).to_string().trim_end_matches(":0").to_owned(),
    };
    let url = format!("https://{host}:{}/", at.port());
    let folder = config.data_dir.display();
    let stranger = match is_known {
        true => String::new(),
        false => format!(
            "\nThere is no server in {folder}, so no server trusts this certificate yet. Start again with\nthe \
                --data-dir of the server that sends the webhooks; the demo prints its own.\n"
        ),
    };
    if !args.secret.is_empty() {
        return Ok(format!("\nListening on {url}. Press Ctrl-C to stop.\n{stranger}\n"));
    }
    let endpoints = format!("{}/v1/webhooks/endpoints", key::url(config));
    let authority = std::path::absolute(certificate::authority_file(config))?;
    Ok(format!(
        "
Listening on {url}. Press Ctrl-C to stop.
{stranger}
Create an endpoint for this receiver, with an API key in place of $EVENKEEL_KEY:

  curl {endpoints} -H \"Authorization: Bearer $EVENKEEL_KEY\" \\
    -H 'Content-Type: application/json' -d '{{\"url\": \"{url}\"}}'

The response contains a secret. Start again with --secret and what it says, and every
signature is verified.

`evenkeel demo --data-dir {folder}` sends here as it is. A server of its own has to trust
this certificate and to be allowed to send to this machine:

  [webhooks]
  ca_file = \"{}\"
  allow_networks = [\"127.0.0.0/8\", \"::1\"]

",
        authority.display(),
    ))
}

/// One event's line: time, type, id, data and the result of the signature check.
pub(super) fn event(
    now: Timestamp,
    headers: &HeaderMap,
    body: &[u8],
    verdict: &Verdict,
    again: bool,
) -> String {
    let event: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let kind = event["type"].as_str().unwrap_or("(no event)");
    let id = text(headers, "webhook-id").unwrap_or("(no webhook-id)");
    let again = if again { "  again" } else { "" };
    let verdict = match verdict {
        Verdict::Verified => "verified".to_owned(),
        Verdict::NotChecked => "not verified: start with --secret to check it".to_owned(),
        Verdict::Refused(reason @ VerificationError::WrongSignature) => format!(
            "not verified: {reason}; the event was changed, or another endpoint sends here too: pass --secret \
                for each"
        ),
        Verdict::Refused(reason) => format!("not verified: {reason}"),
    };
    let (kind, id) = (plain(kind), plain(id));
    format!("{}  {kind:<24} {id}{again}{}  {verdict}", moment(now), facts(&event["data"]))
}

pub(super) fn failed_handshake(now: Timestamp, peer: SocketAddr) -> String {
    format!(
        "{}  {peer} closed the connection without a request: it may not trust listen-ca.pem. Use the sender's \
            --data-dir here, or set its webhooks.ca_file to that file\n",
        moment(now)
    )
}

fn moment(now: Timestamp) -> String {
    format!("{now:.0}")
}

/// The event's data as `name=value` words, with long lists cut.
fn facts(data: &Value) -> String {
    let Some(data) = data.as_object() else { return String::new() };
    let word = |value: &Value| match value {
        Value::String(text) => plain(text),
        other => plain(&other.to_string()),
    };
    let mut words = String::new();
    for (name, value) in data.iter().take(8) {
        let value = match value {
            Value::Array(all) => {
                let shown: Vec<String> = all.iter().take(NAMED).map(word).collect();
                let more = if all.len() > NAMED { ",..." } else { "" };
                format!("{}{more}", shown.join(","))
            }
            other => word(other),
        };
        words.push_str(&format!("  {}={value}", plain(name)));
    }
    words
}

/// Text on one line, without control characters.
fn plain(text: &str) -> String {
    let cut = text.chars().take(LONGEST);
    cut.map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect()
}
