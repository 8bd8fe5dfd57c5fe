//! Extractors for form submissions. They check that the form came from this site: it must carry the anti-forgery
//! token of its cookie, and the browser must not report another origin.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use http::{HeaderMap, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use service::access::sessions;

use super::errors::PageError;
use super::{cookies, urls};
use crate::WebState;

const BYTES_MAX: usize = 64 * 1_024;
/// More fields than any form of the site has. It bounds the linear search for each field.
const FIELDS_MAX: usize = 8_192;
/// The anti-forgery token as a hidden field, or as a header sent by our scripts.
pub(crate) const TOKEN_FIELD: &str = "form_token";
const TOKEN_HEADER: &str = "x-form-token";

/// The fields of a form that the signed-in person sent.
pub(crate) struct Form(Vec<(String, String)>);

/// The fields of a form that a visitor sent who is not signed in.
pub(crate) struct PublicForm(pub(crate) Form);

impl Form {
    /// Parses an urlencoded form; none if it is malformed.
    pub(super) fn parse(text: &str) -> Option<Form> {
        urls::parse_pairs(text).filter(|it| it.len() <= FIELDS_MAX).map(Form)
    }

    /// All fields, in the order of the form.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The anti-forgery token, from its header or its field.
    pub(super) fn token<'a>(&'a self, headers: &'a HeaderMap) -> &'a str {
        let sent = headers.get(TOKEN_HEADER).and_then(|it| it.to_str().ok());
        sent.unwrap_or_else(|| self.raw(TOKEN_FIELD))
    }

    /// The trimmed value of a field; empty if the field is missing.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The untrimmed value of a field, for passwords.
    pub(crate) fn raw(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(it, _)| it == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// Whether the form has a field of that name, such as a ticked checkbox.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(it, _)| it == name)
    }
}

impl FromRequest<WebState> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, web: &WebState) -> Result<Form, Response> {
        // As a `dyn Future`, so that the compiler does not look into it for every handler.
        read(request, web, cookies::SESSION).boxed().await
    }
}

impl FromRequest<WebState> for PublicForm {
    type Rejection = Response;

    async fn from_request(request: Request, web: &WebState) -> Result<PublicForm, Response> {
        read(request, web, cookies::VISIT).boxed().await.map(PublicForm)
    }
}

pub(super) async fn read(request: Request, web: &WebState, cookie: &str) -> Result<Form, Response> {
    let (parts, body) = request.into_parts();
    let Some(form) = Form::parse(&body_text(body).await?) else {
        return Err(unreadable());
    };
    let ours = is_ours(web, &parts.headers, cookie, form.token(&parts.headers));
    if ours { Ok(form) } else { Err(stale()) }
}

pub(crate) async fn body_text(body: Body) -> Result<String, Response> {
    let Ok(collected) = Limited::new(body, BYTES_MAX).collect().await else {
        let message = "This form is too large. Go back and send less.";
        return Err(
            PageError::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", message).into_response()
        );
    };
    String::from_utf8(collected.to_bytes().to_vec()).map_err(|_| unreadable())
}

/// Whether a request comes from a page of this site, for the holder of that cookie.
pub(crate) fn is_ours(web: &WebState, headers: &HeaderMap, cookie: &str, given: &str) -> bool {
    let secure = cookies::is_secure(&web.settings.public_url);
    let Some(cookie) = cookies::get(headers, cookie, secure) else { return false };
    is_same_site(headers, &web.settings.public_url)
        && sessions::is_form_token(&web.app, cookie, given)
}

/// Checks the origin that the browser reports. Clients that report none still need the token.
fn is_same_site(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|it| it.to_str().unwrap_or("?"));
    if let Some(site) = text(header::HeaderName::from_static("sec-fetch-site")) {
        return matches!(site, "same-origin" | "none");
    }
    let Some(origin) = text(header::ORIGIN) else { return true };
    let host = origin.split_once("://").map(|(_, host)| host);
    origin == public_url || host.is_some_and(|it| text(header::HOST) == Some(it))
}

pub(super) fn unreadable() -> Response {
    let message = "We couldn't read this form. Go back and try again.";
    PageError::new(StatusCode::BAD_REQUEST, "Something went wrong with this form", message)
        .into_response()
}

pub(super) fn stale() -> Response {
    let message = "The page was open too long, or the form came from another site. Nothing was changed. Go back, \
                   reload the page and try again.";
    PageError::new(StatusCode::FORBIDDEN, "This form has expired", message).into_response()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn requests_from_other_sites_are_recognized_by_their_headers() {
        let says = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            is_same_site(&headers, "https://money.example")
        };
        assert!(says(&[]));
        assert!(says(&[("sec-fetch-site", "same-origin")]));
        assert!(says(&[("sec-fetch-site", "none")]));
        assert!(says(&[("origin", "https://money.example")]));
        assert!(says(&[("origin", "http://localhost:4680"), ("host", "localhost:4680")]));
        assert!(!says(&[("sec-fetch-site", "cross-site")]));
        assert!(!says(&[("sec-fetch-site", "same-site")]));
        assert!(!says(&[("origin", "https://evil.example"), ("host", "money.example")]));
        assert!(!says(&[("origin", "null"), ("host", "money.example")]));
    }
}
