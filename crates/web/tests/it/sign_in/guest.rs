//! A minimal browser for tests: it keeps cookies, and sends forms with the form token of the page it last saw.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::Value;
use testkit::World;
use tower::ServiceExt as _;

#[derive(Clone)]
pub(crate) struct Guest {
    router: Router,
    pub(crate) cookies: BTreeMap<String, String>,
    /// The form token of the page it last saw.
    pub(crate) token: String,
    /// Headers that every request has.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) address: String,
}

pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Guest {
    pub(crate) fn new(world: &World, public_url: &str) -> Guest {
        let public_url = public_url.to_owned();
        Guest::with(world, web::Settings { public_url, ..web::Settings::default() })
    }

    pub(crate) fn with(world: &World, settings: web::Settings) -> Guest {
        Guest {
            router: web::routers(world.app.clone(), settings).main,
            cookies: BTreeMap::new(),
            token: String::new(),
            headers: Vec::new(),
            address: "192.0.2.1".to_owned(),
        }
    }

    pub(crate) fn cookie(&self, name: &str) -> &str {
        self.cookies.get(name).map_or("", String::as_str)
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        self.send(Method::GET, path, &[], String::new()).await
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = self.token.clone();
        let pairs = [("form_token", token.as_str())];
        self.post_bare(path, &[&pairs, fields].concat()).await
    }

    /// Sends a form without adding the form token.
    pub(crate) async fn post_bare(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let pair = |(name, value): &(&str, &str)| format!("{name}={}", encode(value));
        let body: Vec<String> = fields.iter().map(pair).collect();
        let form = [("content-type", "application/x-www-form-urlencoded")];
        self.send(Method::POST, path, &form, body.join("&")).await
    }

    /// Sends JSON as the script of the passkey buttons does.
    pub(crate) async fn json(&mut self, path: &str, body: &Value) -> Page {
        let token = self.token.clone();
        let headers = [("content-type", "application/json"), ("x-form-token", token.as_str())];
        self.send(Method::POST, path, &headers, body.to_string()).await
    }

    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: String,
    ) -> Page {
        let cookies: Vec<String> = self.cookies.iter().map(|(a, b)| format!("{a}={b}")).collect();
        let mut request = Request::builder().method(method).uri(path);
        if !cookies.is_empty() {
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let from: SocketAddr = format!("{}:4000", self.address).parse().unwrap();
        let request = request.extension(ConnectInfo(from)).body(Body::from(body)).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        // A download need not be text.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let page = Page { status: parts.status, headers: parts.headers, text };
        self.store_cookies_and_token(&page);
        page
    }

    fn store_cookies_and_token(&mut self, page: &Page) {
        for line in page.set_cookies() {
            let (name, rest) = line.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap_or_default();
            match line.contains("Max-Age=0") {
                true => self.cookies.remove(name),
                false => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        let field = page.text.split("name=\"form_token\" value=\"").nth(1);
        if let Some(token) = field.and_then(|it| it.split('"').next()) {
            self.token = token.to_owned();
        }
    }
}

impl Page {
    /// The text of the page; panics unless the status is 200.
    pub(crate) fn good(self) -> String {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        self.text
    }

    /// The redirect target; panics unless the status is 303.
    pub(crate) fn location(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.text);
        self.headers[header::LOCATION].to_str().unwrap()
    }

    /// The text of the page; panics unless the status is this one.
    pub(crate) fn refused(self, status: u16) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.text
    }

    pub(crate) fn set_cookies(&self) -> Vec<String> {
        let lines = self.headers.get_all(header::SET_COOKIE).iter();
        lines.map(|it| it.to_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

fn encode(text: &str) -> String {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._".contains(&it);
    let byte = |it: u8| if plain(it) { (it as char).to_string() } else { format!("%{it:02X}") };
    text.bytes().map(byte).collect()
}
