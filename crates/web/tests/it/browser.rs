//! A minimal browser for tests: it keeps cookies, and sends forms with the session's form token.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Body;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use service::access::sessions::{self, Visit};
use testkit::{Person, World};
use tower::ServiceExt as _;

use crate::client::PUBLIC_URL;

pub(crate) struct Browser {
    router: Router,
    cookies: BTreeMap<String, String>,
    form_token: String,
    /// An API token to send as a bearer token, for tests that try one on a page.
    pub(crate) bearer: Option<String>,
    /// The Accept header, which the site's own scripts set to JSON.
    pub(crate) accept: Option<&'static str>,
    /// The Accept-Encoding header.
    pub(crate) accept_encoding: Option<&'static str>,
}

/// A response, with its body as text and as bytes.
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

impl Browser {
    /// A browser in which nobody is signed in.
    pub(crate) fn new(world: &World) -> Browser {
        let settings = web::Settings {
            public_url: PUBLIC_URL.to_owned(),
            serve_metrics: false,
            ..web::Settings::default()
        };
        let router = web::routers_with(world.app.clone(), settings, web::api::ENDPOINTS).main;
        Browser {
            router,
            cookies: BTreeMap::new(),
            form_token: String::new(),
            bearer: None,
            accept: None,
            accept_encoding: None,
        }
    }

    /// A browser in which the person has just signed in.
    pub(crate) async fn of(world: &World, person: &Person) -> Browser {
        let mut browser = Browser::new(world);
        let visit = Visit::default();
        let token =
            sessions::create(&world.app, &person.user, sessions::Method::Password, visit).await;
        let token = token.unwrap();
        browser.form_token = sessions::form_token(&world.app, &token);
        browser.cookies.insert("evenkeel_session".to_owned(), token);
        browser
    }

    /// The form token as a form field.
    pub(crate) fn token_field(&self) -> String {
        format!("form_token={}", self.form_token)
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        self.send(Method::GET, path, String::new()).await
    }

    /// Sends a form with the browser's form token.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let token = [("form_token", self.form_token.as_str())];
        let pairs = token.iter().chain(fields);
        let written: Vec<String> =
            pairs.map(|(name, value)| format!("{name}={}", encode(value))).collect();
        self.send(Method::POST, path, written.join("&")).await
    }

    /// Sends a form and follows its redirect.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let sent = self.post(path, fields).await;
        assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.text);
        let next = sent.headers[header::LOCATION].to_str().unwrap().to_owned();
        self.get(&next).await
    }

    /// Uploads an image with the given form token.
    pub(crate) async fn upload(&mut self, to: &str, token: &str, name: &str, file: &[u8]) -> Page {
        let head = format!(
            "--x\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\n{token}\r\n--x\r\n\
             Content-Disposition: form-data; name=\"image\"; filename=\"{name}\"\r\n\
             Content-Type: image/png\r\n\r\n"
        );
        let body = [head.as_bytes(), file, b"\r\n--x--\r\n"].concat();
        self.send_as("multipart/form-data; boundary=x", Method::POST, to, body).await
    }

    /// Uploads files on the import page, each with its name and content.
    pub(crate) async fn upload_files(&mut self, token: &str, files: &[(&str, &str)]) -> Page {
        let mut body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"form_token\"\r\n\r\n{token}\r\n"
        );
        for (name, content) in files {
            let name = name.replace('"', "%22");
            body.push_str(&format!(
                "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n{content}\r\n"
            ));
        }
        body.push_str("--x--\r\n");
        let kind = "multipart/form-data; boundary=x";
        self.send_as(kind, Method::POST, "/import", body.into_bytes()).await
    }

    /// The form token that this browser sends.
    pub(crate) fn form_token(&self) -> String {
        self.form_token.clone()
    }

    /// Replaces the form token, for pages that have another one.
    pub(crate) fn set_form_token(&mut self, token: &str) {
        self.form_token = token.to_owned();
    }

    pub(crate) async fn send(&mut self, method: Method, path: &str, body: String) -> Page {
        self.send_as("application/x-www-form-urlencoded", method, path, body.into_bytes()).await
    }

    async fn send_as(&mut self, kind: &str, method: Method, path: &str, body: Vec<u8>) -> Page {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::COOKIE, cookies.join("; "))
            .header(header::CONTENT_TYPE, kind);
        if let Some(token) = &self.bearer {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(accept) = self.accept {
            request = request.header(header::ACCEPT, accept);
        }
        if let Some(accept) = self.accept_encoding {
            request = request.header(header::ACCEPT_ENCODING, accept);
        }
        let request = request.body(Body::from(body)).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        for line in parts.headers.get_all(header::SET_COOKIE) {
            let line = line.to_str().unwrap();
            let (name, rest) = line.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap_or_default();
            if line.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let bytes = body.collect().await.unwrap().to_bytes().to_vec();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Page { status: parts.status, headers: parts.headers, text, bytes }
    }
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |it| it.to_str().unwrap())
    }

    /// The redirect target; panics unless the status is 303.
    pub(crate) fn location(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.text);
        self.header("location")
    }

    /// The text of the page; panics unless the status is 200.
    pub(crate) fn good(self) -> String {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        self.text
    }
}

/// Percent-encodes the value of a form field.
pub(crate) fn encode(text: &str) -> String {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._".contains(&it);
    text.bytes()
        .map(|it| if plain(it) { (it as char).to_string() } else { format!("%{it:02X}") })
        .collect()
}
