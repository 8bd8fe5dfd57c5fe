//! The front doors: the JSON API and the pages. Handlers parse, call `service`, render.

mod answer;
pub mod api;
mod body;
mod error;
mod frame;
mod members;
mod metrics;
mod oauth;
pub mod openapi;
mod panics;
mod proxies;
mod query;
mod server;
mod site;

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::{any, get};
use http::{HeaderValue, header};
use service::App;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{
    DefaultPredicate, NotForContentType, Predicate as _, SizeAbove,
};

pub use server::{ServerLimits, serve};
pub use site::sensitive::{NO_PROOF, Proof, SENSITIVE, Sensitive};

/// A browser that was here over https comes back by nothing else for a year. Neighboring hosts are not ours to bind.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// What the operator decides about the front doors.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where people and programs reach this installation, without a slash at the end.
    pub public_url: String,
    /// Whether `/metrics` is answered here as well; an operator usually binds it elsewhere.
    pub serve_metrics: bool,
    /// Web origins whose pages may call the API from a browser.
    pub cors_origins: Vec<String>,
    /// Whether anyone may create an account by themselves.
    pub sign_up_open: bool,
    /// What the door tells whoever wants to look at the demo.
    pub demo: Option<DemoSignIn>,
    /// Whether apps may register themselves to be let in by a person.
    pub oauth_registration: bool,
    /// Whose word about a visitor's address is believed.
    pub proxies: Vec<base::Network>,
}

/// How to get into a demo.
#[derive(Debug, Clone)]
pub struct DemoSignIn {
    pub email: String,
    pub password: String,
}

/// What every handler can reach.
#[derive(Clone)]
struct Door(Arc<Shared>);

struct Shared {
    app: App,
    settings: Settings,
    metrics: metrics::Metrics,
    openapi: bytes::Bytes,
}

impl std::ops::Deref for Door {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// Everything the product answers, and the metrics apart for a listener of their own.
pub struct Doors {
    pub main: Router,
    pub metrics: Router,
}

/// Opens the doors with the API's own endpoints.
pub fn doors(app: App, settings: Settings) -> Doors {
    doors_with(app, settings, api::ENDPOINTS)
}

/// The same frame around another list of endpoints: how tests try the frame on changes of their own.
pub fn doors_with(app: App, settings: Settings, endpoints: &'static [api::Endpoint]) -> Doors {
    let serve_metrics = settings.serve_metrics;
    let is_https = site::cookies::is_secure(&settings.public_url);
    let proxies = settings.proxies.clone();
    let openapi = openapi::document(&settings.public_url).into();
    let metrics = metrics::Metrics::new(&app);
    let door = Door(Arc::new(Shared { app, settings, metrics, openapi }));
    let metrics = Router::new().route("/metrics", get(metrics::page)).with_state(door.clone());
    let v1 = {
        let door = door.clone();
        any(move |request| frame::answer(door.clone(), endpoints, request))
    };
    let mut main = Router::new()
        .route("/v1", v1.clone())
        .route("/v1/", v1.clone())
        .route("/v1/{*path}", v1)
        .merge(oauth::router(&door))
        .merge(site::router(&door))
        .with_state(door);
    if serve_metrics {
        main = main.merge(metrics.clone());
    }
    // Below a kibibyte the headers weigh more than what is saved, and a zip file is as small as it gets.
    let zip = NotForContentType::const_new("application/zip");
    let worthwhile = DefaultPredicate::new().and(SizeAbove::new(1_024)).and(zip);
    let main = main.layer(axum::middleware::from_fn(panics::catch));
    let main = main.layer(CompressionLayer::new().compress_when(worthwhile));
    let main = main.layer(axum::middleware::map_response(move |mut response: Response| {
        if is_https {
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
        }
        std::future::ready(response)
    }));
    let seen = move |request| std::future::ready(proxies::see_through(request, &proxies));
    Doors { main: main.layer(axum::middleware::map_request(seen)), metrics }
}
