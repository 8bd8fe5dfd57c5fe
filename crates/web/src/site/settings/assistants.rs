//! The assistants page: the address to connect to, the steps for each client, and the clients that are connected.

use maud::{Markup, html};
use service::access::oauth::grants;

use super::{Settings, Tab, apps};
use crate::McpMode;
use crate::site::assets::Asset;
use crate::site::errors::PageResult;
use crate::site::person::Person;
use crate::site::snippet;

pub(super) async fn get(person: Person) -> PageResult {
    let clients = grants::list(person.app(), &person.caller).await?;
    let address = format!("{}/mcp", person.public_url());
    let mode = person.web.settings.mcp;
    let main = html! {
        section.card aria-labelledby="assistants" {
            h2 id="assistants" { "Connect an assistant" }
            @if mode == McpMode::Off {
                p { "The operator of this installation has switched this off (" code { "mcp.enabled" } ")." }
            } @else {
                p.soft { (about(mode)) }
                (snippet::text("Address", &address))
                @if is_local(&address) {
                    p.soft {
                        "This address works for programs on this computer or in your network. ChatGPT and Claude on \
                         the web need a public address."
                    }
                }
                @for client in clients_of(&address) { (steps(&client)) }
            }
        }
        section.card aria-labelledby="clients" {
            h2 id="clients" { "Connected clients" }
            @if clients.is_empty() {
                p { "No clients are connected. When one asks for access, you'll review its request first." }
            } @else {
                ul.key-list { @for client in &clients { (apps::row(&person, client)) } }
            }
            p.soft { "Scripts with a key are listed under " a href="/settings/keys" { "API keys" } "." }
        }
    };
    let settings = Settings { scripts: &[Asset::Copying], ..Settings::new(Tab::Assistants) };
    Ok(settings.page(&person, main))
}

fn about(mode: McpMode) -> &'static str {
    match mode {
        McpMode::ReadOnly => {
            "Assistants can answer questions about your finances. On this installation they can only read."
        }
        _ => {
            "Assistants can answer questions about your finances and propose changes. Only you can approve them, on \
             the Approvals page."
        }
    }
}

/// How to connect one client.
struct Client {
    name: &'static str,
    steps: [String; 3],
    /// A caption and a text to copy.
    code: Option<(&'static str, String)>,
}

fn steps(client: &Client) -> Markup {
    html! {
        details {
            summary { (client.name) }
            ol.ordered { @for step in &client.steps { li { (snippet::prose(step)) } } }
            @if let Some((caption, code)) = &client.code { (snippet::text(caption, code)) }
        }
    }
}

fn clients_of(address: &str) -> [Client; 5] {
    let text = |it: &str| it.to_owned();
    let allow = "Sign in on the page that opens, choose what it may see, and select Allow.";
    let script = format!(
        "curl '{address}' \\\n  -H \"Authorization: Bearer $EVENKEEL_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  \
         -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"get_overview\"}}}}'"
    );
    [
        Client {
            name: "Claude",
            steps: [
                text("Open Settings, Connectors, and select Add custom connector."),
                text("Paste the address as the URL, select Add, then Connect."),
                text(allow),
            ],
            code: Some((
                "Claude Code",
                format!("claude mcp add --transport http evenkeel {address}"),
            )),
        },
        Client {
            name: "ChatGPT",
            steps: [
                text(
                    "Open Settings, Connectors, turn on Developer mode under Advanced, and select Create.",
                ),
                text("Paste the address as the MCP server URL and choose OAuth."),
                text(allow),
            ],
            code: None,
        },
        Client {
            name: "VS Code",
            steps: [
                text("Run `MCP: Add Server` from the Command Palette and choose HTTP."),
                text("Paste the address and enter `evenkeel` as the name."),
                text(allow),
            ],
            code: None,
        },
        Client {
            name: "Cursor",
            steps: [
                text("Open Cursor Settings, MCP, and select Add new MCP server."),
                text("Paste the lines below into the file that opens, and save it."),
                text(allow),
            ],
            code: Some((
                "mcp.json",
                format!(
                    "{{\n  \"mcpServers\": {{\n    \"evenkeel\": {{ \"url\": \"{address}\" }}\n  }}\n}}"
                ),
            )),
        },
        Client {
            name: "A script",
            steps: [
                text("Create an API key under Settings, API keys."),
                text("Send it as `Authorization: Bearer` with every request."),
                text("Use any MCP library, or send the messages yourself as below."),
            ],
            code: Some(("curl", script)),
        },
    ]
}

fn is_local(address: &str) -> bool {
    address.starts_with("http://")
}
