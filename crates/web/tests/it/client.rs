//! An in-process client of the router.

use std::net::{IpAddr, SocketAddr};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use testkit::{Person, World, new_key};
use tower::ServiceExt as _;
use web::api::Endpoint;

pub(crate) const PUBLIC_URL: &str = "http://evenkeel.test";

#[derive(Clone)]
pub(crate) struct Client {
    router: Router,
    token: Option<String>,
    headers: Vec<(&'static str, String)>,
    /// The address that it connects from, for tests in which it matters.
    address: Option<IpAddr>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Client {
    pub(crate) fn anonymous(world: &World) -> Client {
        Client::with_endpoints(world.app.clone(), web::api::ENDPOINTS, None)
    }

    /// A client with a key of the person that has every scope.
    pub(crate) async fn of(world: &World, person: &Person) -> Client {
        let secret = person.key(new_key()).await.secret;
        Client::with_token(world, &secret)
    }

    pub(crate) fn with_token(world: &World, token: &str) -> Client {
        Client::with_endpoints(world.app.clone(), web::api::ENDPOINTS, Some(token.to_owned()))
    }

    pub(crate) fn with_endpoints(
        app: service::App,
        endpoints: &'static [Endpoint],
        token: Option<String>,
    ) -> Client {
        let router = web::routers_with(app, settings(), endpoints).main;
        Client { router, token, headers: Vec::new(), address: None }
    }

    /// An anonymous client of a server with changed settings.
    pub(crate) fn with_settings(
        app: service::App,
        change: impl FnOnce(&mut web::Settings),
    ) -> Client {
        let mut settings = settings();
        change(&mut settings);
        let router = web::routers(app, settings).main;
        Client { router, token: None, headers: Vec::new(), address: None }
    }

    /// Another client of the same server.
    pub(crate) fn with_other_token(&self, token: &str) -> Client {
        Client { token: Some(token.to_owned()), ..self.clone() }
    }

    pub(crate) fn header(&self, name: &'static str, value: &str) -> Client {
        let mut headers = self.headers.clone();
        headers.push((name, value.to_owned()));
        let (router, token) = (self.router.clone(), self.token.clone());
        Client { router, token, headers, address: self.address }
    }

    /// The same client from another address.
    pub(crate) fn at(&self, address: &str) -> Client {
        let (router, token) = (self.router.clone(), self.token.clone());
        let address = Some(address.parse().unwrap());
        Client { router, token, headers: self.headers.clone(), address }
    }

    /// The server of this client, to be served on a real socket.
    pub(crate) fn router(&self) -> Router {
        self.router.clone()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Body::empty()).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: impl Into<Body>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(address) = self.address {
            request = request.extension(ConnectInfo(SocketAddr::new(address, 4_000)));
        }
        let request = request.body(body.into()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, bytes }
    }
}

fn settings() -> web::Settings {
    web::Settings {
        public_url: PUBLIC_URL.to_owned(),
        serve_metrics: true,
        cors_origins: vec!["https://app.example".to_owned()],
        oauth_registration: true,
        ..web::Settings::default()
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.bytes);
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// The `data` of the response; panics unless the status is 200.
    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", String::from_utf8_lossy(&self.bytes));
        self.json()["data"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }

    /// The error as one line, `400 VALIDATION_ERROR limit: limit must be ...`; checks that it has the error envelope.
    pub(crate) fn refusal(&self) -> String {
        let body = self.json();
        let error = &body["error"];
        let code = error["code"].as_str().unwrap();
        let slug = code.to_lowercase().replace('_', "-");
        assert_eq!(error["type"], format!("{PUBLIC_URL}/docs/errors/{slug}"));
        assert_eq!(body["meta"]["request_id"], self.header("x-request-id"));
        assert_eq!(body["meta"]["timestamp"].as_str().map(str::len), Some(24));
        assert_eq!(self.header("content-type"), "application/json");
        let param = error["param"].as_str().map_or(String::new(), |it| format!(" {it}"));
        format!("{} {code}{param}: {}", self.status.as_u16(), error["message"].as_str().unwrap())
    }
}
