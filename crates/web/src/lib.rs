//! The HTTP interface: the JSON API, OAuth and the web app. Handlers parse, call `service` and render.

mod answer;
pub mod api;
mod bank_webhooks;
mod body;
mod cors;
mod deadlines;
mod dispatch;
mod error;
mod mcp_endpoint;
mod metrics;
mod oauth;
mod observe;
pub mod openapi;
mod panics;
mod proxies;
mod query;
mod read_turns;
mod routing;
mod server;
mod site;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use crate::routing::get;
use axum::Router;
use axum::response::Response;
use axum::routing::any;
use http::{HeaderValue, header};
use service::App;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{
    DefaultPredicate, NotForContentType, Predicate as _, SizeAbove,
};

pub use server::{ConnectionMeters, ServerLimits, serve};
pub use site::sensitive::{NO_PROOF, Proof, SENSITIVE, Sensitive};

/// Strict-Transport-Security: browsers use https only for a year. Subdomains may belong to others and are not included.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Settings of the HTTP interface.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The public address of this installation, without a trailing slash.
    pub public_url: String,
    /// Whether `/metrics` is served here too; usually it has its own listener.
    pub serve_metrics: bool,
    /// Web origins whose pages may call the API from a browser.
    pub cors_origins: Vec<String>,
    /// Whether anyone can create an account.
    pub sign_up_open: bool,
    /// The demo's credentials, shown on the sign-in page.
    pub demo: Option<DemoSignIn>,
    /// The demo's link that signs in once.
    pub demo_link: Option<DemoLink>,
    /// Whether OAuth apps can register themselves.
    pub oauth_registration: bool,
    /// Whether assistants can connect, and whether they can propose.
    pub mcp: McpMode,
    /// What the MCP server offers instead of the household, for tests of the protocol.
    pub mcp_surface: Option<&'static dyn mcp::Surface>,
    /// The proxies whose X-Forwarded-For is trusted.
    pub proxies: Vec<base::Network>,
}

/// What assistants can do over MCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum McpMode {
    /// Read and propose.
    #[default]
    On,
    ReadOnly,
    /// There is no MCP server.
    Off,
}

/// The demo's email address and password.
#[derive(Debug, Clone)]
pub struct DemoSignIn {
    pub email: String,
    pub password: String,
}

/// A secret path that signs in as the demo's person once.
#[derive(Clone)]
pub struct DemoLink {
    token: String,
    email: String,
    password: String,
}

impl DemoLink {
    pub fn new(entropy: &base::Entropy, email: &str, password: &str) -> DemoLink {
        let bytes: [u8; 24] = entropy.bytes();
        let token = bytes.iter().map(|it| format!("{it:02x}")).collect();
        DemoLink { token, email: email.to_owned(), password: password.to_owned() }
    }

    /// The path of the link, which follows the installation's public address.
    pub fn path(&self) -> String {
        format!("/demo/{}", self.token)
    }

    /// Compares every byte, so that the time says nothing about how much was right.
    fn is_token(&self, given: &str) -> bool {
        let differences =
            self.token.bytes().zip(given.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        self.token.len() == given.len() && differences == 0
    }
}

/// Without the token and the password.
impl std::fmt::Debug for DemoLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DemoLink").field("email", &self.email).finish_non_exhaustive()
    }
}

/// The state that every handler has.
#[derive(Clone)]
struct WebState(Arc<Shared>);

struct Shared {
    app: App,
    settings: Settings,
    metrics: metrics::Metrics,
    read_turns: read_turns::ReadTurns,
    /// The OpenAPI document, written when it is first requested.
    openapi: OnceLock<bytes::Bytes>,
    /// Whether the demo's link has signed somebody in.
    demo_link_used: AtomicBool,
}

impl WebState {
    /// Waits for a person's turn to read.
    async fn take_read_turn(&self, user: base::UserId) -> service::Result<read_turns::ReadTurn> {
        let turn = self.read_turns.take(user).await;
        turn.inspect_err(|_| self.app.meters.count_rate_limited("reads"))
    }
}

impl std::ops::Deref for WebState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The router of the product, and a separate one for the metrics listener.
pub struct Routers {
    pub main: Router,
    pub metrics: Router,
    /// Counts the connections of the main listener, for the metrics.
    pub connections: Arc<ConnectionMeters>,
}

/// Builds the routers with the API's endpoints.
pub fn routers(app: App, settings: Settings) -> Routers {
    routers_with(app, settings, api::ENDPOINTS)
}

/// Builds the routers with another list of endpoints, for tests.
pub fn routers_with(app: App, settings: Settings, endpoints: &'static [api::Endpoint]) -> Routers {
    let serve_metrics = settings.serve_metrics;
    let is_https = site::cookies::is_secure(&settings.public_url);
    let proxies = settings.proxies.clone();
    let openapi = OnceLock::new();
    let demo_link_used = AtomicBool::new(false);
    let metrics = metrics::Metrics::default();
    let read_turns = read_turns::ReadTurns::default();
    let shared = Shared { app, settings, metrics, read_turns, openapi, demo_link_used };
    let web = WebState(Arc::new(shared));
    let connections = web.metrics.connections.clone();
    let metrics = Router::new().route("/metrics", get(metrics::page)).with_state(web.clone());
    let v1 = {
        let web = web.clone();
        any(move |request| dispatch::handle(web.clone(), endpoints, request))
    };
    // The API limits, counts and protects its requests itself.
    let api =
        Router::new().route("/v1", v1.clone()).route("/v1/", v1.clone()).route("/v1/{*path}", v1);
    let mut others = Router::new()
        .route("/mcp", any(mcp_endpoint::handle))
        .merge(oauth::router(&web))
        .merge(bank_webhooks::router())
        .merge(site::router(&web))
        .with_state(web.clone());
    if serve_metrics {
        others = others.merge(metrics.clone());
    }
    let others = others
        .layer(axum::middleware::from_fn(panics::catch))
        .layer(axum::middleware::from_fn(deadlines::limit))
        .layer(axum::middleware::from_fn_with_state(web.clone(), observe::layer));
    let main = api.merge(others);
    // Responses below 1 KiB are not worth compressing, and zip files are compressed already.
    let zip = NotForContentType::const_new("application/zip");
    let worthwhile = DefaultPredicate::new().and(SizeAbove::new(1_024)).and(zip);
    // The default level takes a millisecond for a page, more than most pages take themselves; this one a third of it.
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    let main = main.layer(compression.compress_when(worthwhile));
    let main = main.layer(axum::middleware::map_response(move |mut response: Response| {
        if is_https {
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
        }
        std::future::ready(response)
    }));
    let seen = move |request| std::future::ready(proxies::see_through(request, &proxies));
    Routers { main: main.layer(axum::middleware::map_request(seen)), metrics, connections }
}
