//! Checks the public address and the proxy in front: asks the running server through both how the request arrived.

use std::time::Duration;

use net::{Guard, HttpClient, HttpRequest, HttpResponse, Limits, Policy};
use serde::Deserialize;

use super::{Check, is_loopback, ok, warn};
use crate::config::Config;

const LIMITS: Limits =
    Limits { connect: Duration::from_secs(3), total: Duration::from_secs(6), body_max: 4 * 1024 };

/// How long before its end a certificate is reported. Programs that renew certificates do it weeks before.
const CERTIFICATE_WARNING: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The answer of `/healthz/connection`: how our own request arrived at the server.
#[derive(Debug, Deserialize)]
struct Seen {
    address: Option<String>,
    host: Option<String>,
    is_forwarded: bool,
    is_proxy_trusted: bool,
}

/// Without a public address there is nothing to ask. With one of https there must be a proxy.
pub(super) async fn check(config: &Config) -> Vec<Check> {
    let Some(url) = &config.public_url else { return Vec::new() };
    match ask(url, Duration::ZERO).await {
        Ok(seen) => {
            let mut checks = vec![ok("public address", format!("{url} answers"))];
            checks.extend(certificate(url).await);
            checks.extend(judge(url, &seen));
            checks
        }
        Err(reason) => {
            let advice = "start the server, and check the name, the proxy and its certificate";
            let failed = warn("public address", format!("{url}: {reason}; {advice}"));
            [Some(failed), settings(config, url)].into_iter().flatten().collect()
        }
    }
}

/// Checks that the certificate of the public address stays valid for a week. None if the address no longer answers, which
/// says nothing about its certificate.
async fn certificate(url: &str) -> Option<Check> {
    if !url.starts_with("https://") {
        return None;
    }
    let Err(reason) = ask(url, CERTIFICATE_WARNING).await else {
        return Some(ok("public certificate", "valid for at least another 7 days"));
    };
    ask(url, Duration::ZERO).await.ok()?;
    let advice = format!(
        "{url} answers now, but its certificate will not be accepted in 7 days ({reason}); see why the proxy does not \
         renew it"
    );
    Some(warn("public certificate", advice))
}

/// Asks the server, whose certificate must be valid for at least this much longer.
async fn ask(url: &str, validity: Duration) -> Result<Seen, String> {
    // The address is the operator's own, so private networks are allowed.
    let policy = Policy { guard: Guard::Any, extra_ca: None };
    let client =
        HttpClient::with_certificates_valid_for(policy, validity).map_err(|it| it.to_string())?;
    let request = HttpRequest::get(format!("{url}/healthz/connection"));
    let answer = client.send(request, LIMITS).await.map_err(|it| it.to_string())?;
    read(&answer)
}

fn read(answer: &HttpResponse) -> Result<Seen, String> {
    if let Some(failure) = answer.failure() {
        return Err(failure.to_string());
    }
    let seen = serde_json::from_slice(&answer.body).ok().filter(|_| answer.status == 200);
    seen.ok_or_else(|| format!("another program answers there ({})", answer.status))
}

/// Judges the proxy by the server's answer. `None` if there is no proxy and none is needed.
fn judge(url: &str, seen: &Seen) -> Option<Check> {
    let (scheme, own_host) = url.split_once("://")?;
    let address = seen.address.as_deref().unwrap_or("an unknown address");
    if seen.is_forwarded && !seen.is_proxy_trusted {
        let message = format!(
            "X-Forwarded-For is ignored, because the proxy connects from {address}, which is not in proxies: every \
             visitor seems to come from there, and one who guesses passwords locks out everyone; set proxies to that address"
        );
        return Some(warn("proxy", message));
    }
    if !seen.is_forwarded && scheme == "https" {
        let message = format!(
            "the proxy sends no X-Forwarded-For: every visitor seems to come from {address}; the files in deploy/proxy \
             show how to send it"
        );
        return Some(warn("proxy", message));
    }
    let host = seen.host.as_deref().unwrap_or_default();
    if !host.eq_ignore_ascii_case(own_host) {
        let message = format!(
            "the proxy passes on the host {host} in place of {own_host}, so forms are refused; let it keep the Host header"
        );
        return Some(warn("proxy", message));
    }
    seen.is_forwarded.then(|| ok("proxy", "the addresses of visitors are passed on and trusted"))
}

/// Judges the proxy by the settings alone: a public address with https means a proxy in front, whose address must be known for the
/// visitors' addresses to count.
fn settings(config: &Config, url: &str) -> Option<Check> {
    if !url.starts_with("https://") {
        return None;
    }
    if !config.proxies.is_empty() {
        return Some(ok("proxy", "X-Forwarded-For of the addresses in proxies is trusted"));
    }
    let example = if is_loopback(&config.listen) { "127.0.0.1" } else { "172.16.0.0/12" };
    Some(warn(
        "proxy",
        format!(
            "{url} needs a proxy in front, and proxies is not set: every visitor seems to come from the proxy, and one \
             who guesses passwords locks out everyone; set proxies to its address, such as {example}"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(url: &str, host: &str, is_forwarded: bool, is_proxy_trusted: bool) -> Option<String> {
        let address = Some("172.18.0.5".to_owned());
        let seen = Seen { address, host: Some(host.to_owned()), is_forwarded, is_proxy_trusted };
        judge(url, &seen).map(|it| format!("{:?}: {}", it.verdict, it.message))
    }

    #[test]
    fn what_a_proxy_leaves_out_is_named() {
        let (url, host) = ("https://money.example.com", "money.example.com");
        assert!(judged(url, host, true, true).unwrap().starts_with("Ok"));
        let ignored = judged(url, host, true, false).unwrap();
        assert!(ignored.contains("172.18.0.5, which is not in proxies"), "{ignored}");
        assert!(judged(url, host, false, false).unwrap().contains("sends no X-Forwarded-For"));
        let other = judged(url, "127.0.0.1:4680", true, true).unwrap();
        assert!(other.contains("keep the Host header"), "{other}");
    }

    #[test]
    fn a_server_without_a_proxy_needs_none() {
        assert_eq!(judged("http://127.0.0.1:4680", "127.0.0.1:4680", false, false), None);
    }
}
