//! A visitor of the installed server: curl in the sandbox, from an address of its own, with cookies and over HTTPS. Checks
//! what a reverse proxy can break.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::sandbox::{Sandbox, VISITOR};
use crate::output_of;

/// The authority of Caddy in the sandbox.
pub(super) const CADDY_AUTHORITY: &str = "/var/lib/caddy/pki/authorities/local/root.crt";

/// An address that the visitor claims to have, which nobody must believe.
const FORGED: &str = "203.0.113.9";
const EMAIL: &str = "robin@example.com";
const PASSWORD: &str = "correct horse battery";
const MCP_VERSION: &str = "2026-07-28";
/// `get_action` reports progress every 5 seconds, so that its answer comes two seconds after the first report.
const STREAM_SECONDS: u64 = 7;
/// The first report must come this long before the answer.
const STREAM_GAP_MILLIS_MIN: u64 = 1_000;
/// A file of this size passes the proxy. Evenkeel's own limit is 64 MiB.
const UPLOAD_BYTES: usize = 20_000_000;

pub(super) struct Visitor<'a> {
    sandbox: &'a Sandbox,
    /// The name that people open.
    host: &'a str,
    /// The file of the certificate authority that the visitor trusts.
    authority: &'a str,
}

struct Answer {
    status: String,
    redirect: String,
    body: String,
}

impl<'a> Visitor<'a> {
    pub(super) fn new(sandbox: &'a Sandbox, host: &'a str, authority: &'a str) -> Visitor<'a> {
        Visitor { sandbox, host, authority }
    }

    /// Waits until the proxy serves a page over HTTPS.
    pub(super) fn wait_for_page(&self) -> Result<()> {
        let url = format!("https://{}/sign-in", self.host);
        let script = format!("curl --silent --show-error --fail --cacert {} {url}", self.authority);
        self.sandbox.wait_for(&script).map(|_| ())
    }

    /// Whether a page answers at this moment.
    pub(super) fn sees_overview(&self) -> Result<()> {
        let page = self.get("/")?;
        ensure!(page.status == "200", "the overview answers {} {}", page.status, page.body);
        Ok(())
    }

    /// Sets up the first account with the code that the server printed.
    pub(super) fn set_up(&self, code: &str) -> Result<()> {
        let plain = self.curl(&[&format!("http://{}/sign-in?next=/goals", self.host)])?;
        let expected = format!("https://{}/sign-in?next=/goals", self.host);
        ensure!(
            ["301", "308"].contains(&plain.status.as_str()) && plain.redirect == expected,
            "plain HTTP answers {} to {:?}",
            plain.status,
            plain.redirect
        );
        let fields = [
            ("code", code),
            ("email", EMAIL),
            ("password", PASSWORD),
            ("name", "Robin"),
            ("currency", "USD"),
            ("timezone", "UTC"),
        ];
        self.submit("/setup", "/setup", &fields)?;
        let cookies = self.sandbox.read("/tmp/cookies")?;
        // curl keeps a cookie with this prefix only if it is Secure and came over HTTPS.
        ensure!(cookies.contains("__Host-evenkeel_session"), "the session's cookie: {cookies}");
        self.sees_overview()
    }

    /// Signs out and in again. The server sees the visitor's address, and not the one that the visitor claims.
    pub(super) fn sign_in(&self) -> Result<()> {
        self.submit("/", "/sign-out", &[])?;
        let signed_out = self.get("/")?;
        ensure!(
            signed_out.status == "303",
            "signed out, the overview answers {}",
            signed_out.status
        );
        self.submit("/sign-in", "/sign-in", &[("email", EMAIL), ("password", PASSWORD)])?;
        let sessions = self.get("/settings/security")?;
        ensure!(sessions.status == "200", "the list of sessions answers {}", sessions.status);
        ensure!(sessions.body.contains(VISITOR), "the list of sessions has no {VISITOR}");
        ensure!(
            !sessions.body.contains(FORGED),
            "the server believes the visitor's X-Forwarded-For"
        );
        Ok(())
    }

    /// Uploads a large file to the import page.
    pub(super) fn upload(&self) -> Result<()> {
        self.sandbox.shell(&format!(
            "{{ printf 'Date,Description,Amount\\n2026-01-02,Coffee,-3.50\\n'; \
             head --bytes {UPLOAD_BYTES} /dev/zero | tr '\\0' '\\n'; }} > /tmp/large.csv"
        ))?;
        let token = self.form_token("/import")?;
        let url = format!("https://{}/import", self.host);
        let token = format!("form_token={token}");
        let answer = self.curl(&["--form", &token, "--form", "file=@/tmp/large.csv", &url])?;
        ensure!(
            answer.status == "303",
            "an upload of {UPLOAD_BYTES} bytes answers {}: {}",
            answer.status,
            answer.body
        );
        Ok(())
    }

    /// A request that waits is answered, and a stream arrives in parts.
    pub(super) fn wait_and_stream(&self, key: &str) -> Result<()> {
        let proposed =
            self.call_tool(key, "propose_custom", &json!({ "title": "Really?" }), &[])?;
        let proposed: Value = serde_json::from_str(&proposed)
            .with_context(|| format!("the proposal is answered with {proposed:?}"))?;
        let content = &proposed["result"]["structuredContent"];
        let id = content["action"]["action_id"].as_str();
        let id = id.with_context(|| format!("no proposal: {proposed}"))?;
        // The person opens the proposal at the public address, by its thread.
        let page = content["approval_url"].as_str().unwrap_or_default();
        let thread = page.strip_prefix(&format!("https://{}/approvals/", self.host));
        let thread = thread.with_context(|| format!("the proposal's page is {page}"))?;
        let url = format!("https://{}/v1/approvals/{thread}?wait=1", self.host);
        let bearer = format!("Authorization: Bearer {key}");
        let waited = self.curl(&["--header", &bearer, &url])?;
        ensure!(waited.status == "200", "a request that waits: {} {}", waited.status, waited.body);
        let arguments = json!({ "action_id": id, "wait": STREAM_SECONDS });
        let times = "{ read -r line; date +%s%3N; cat > /tmp/rest; date +%s%3N; }";
        let streamed = self.call_tool(key, "get_action", &arguments, &["|", times])?;
        let times: Vec<u64> = streamed.lines().filter_map(|it| it.trim().parse().ok()).collect();
        let rest = self.sandbox.read("/tmp/rest")?;
        ensure!(rest.contains("structuredContent"), "the stream has no answer: {rest:?}");
        match times[..] {
            [first, last] if last >= first + STREAM_GAP_MILLIS_MIN => Ok(()),
            _ => anyhow::bail!("the stream does not arrive in parts: {times:?}, then {rest:?}"),
        }
    }

    /// The answer to a call over MCP. `then` continues the line of the shell.
    fn call_tool(&self, key: &str, tool: &str, arguments: &Value, then: &[&str]) -> Result<String> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MCP_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 1,
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let script = format!(
            "curl --silent --show-error --no-buffer --cacert {} --header 'Authorization: Bearer {key}' \
             --header 'Content-Type: application/json' --header 'Mcp-Protocol-Version: {MCP_VERSION}' \
             --header 'Accept: application/json, text/event-stream' --header 'Mcp-Method: tools/call' \
             --header 'Mcp-Name: {tool}' --data '{body}' https://{}/mcp {}",
            self.authority,
            self.host,
            then.join(" ")
        );
        self.sandbox.shell(&script)
    }

    /// Sends the form of a page, which must answer with a redirect.
    fn submit(&self, page: &str, action: &str, fields: &[(&str, &str)]) -> Result<()> {
        let token = self.form_token(page)?;
        let mut arguments = Vec::new();
        for (name, value) in fields.iter().chain(&[("form_token", token.as_str())]) {
            arguments.extend(["--data-urlencode".to_owned(), format!("{name}={value}")]);
        }
        arguments.extend(["--header".to_owned(), format!("Origin: https://{}", self.host)]);
        arguments.push(format!("https://{}{action}", self.host));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let answer = self.curl(&arguments)?;
        ensure!(answer.status == "303", "{action} answers {}: {}", answer.status, answer.body);
        Ok(())
    }

    fn form_token(&self, page: &str) -> Result<String> {
        let found = self.get(page)?;
        let (_, rest) = found
            .body
            .split_once("name=\"form_token\" value=\"")
            .with_context(|| format!("{page} has no form: {} {}", found.status, found.body))?;
        Ok(rest.split('"').next().unwrap_or_default().to_owned())
    }

    fn get(&self, path: &str) -> Result<Answer> {
        self.curl(&[&format!("https://{}{path}", self.host)])
    }

    fn curl(&self, arguments: &[&str]) -> Result<Answer> {
        let mut curl = self.sandbox.command("curl");
        curl.args(["--silent", "--show-error", "--interface", VISITOR]);
        curl.args(["--cookie", "/tmp/cookies", "--cookie-jar", "/tmp/cookies"]);
        curl.args(["--cacert", self.authority]).args(["--max-time", "60"]);
        curl.arg("--header").arg(format!("X-Forwarded-For: {FORGED}"));
        curl.args(["--write-out", "\n%{http_code} %{redirect_url}"]);
        let output = output_of(curl.args(arguments))?;
        let output = String::from_utf8_lossy(&output).into_owned();
        let (body, last) = output.rsplit_once('\n').context("curl reports no status")?;
        let (status, redirect) = last.split_once(' ').unwrap_or((last, ""));
        let (status, redirect) = (status.to_owned(), redirect.to_owned());
        Ok(Answer { status, redirect, body: body.to_owned() })
    }
}
