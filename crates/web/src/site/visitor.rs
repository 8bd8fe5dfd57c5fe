//! The extractor for a visitor who is not signed in: their address, browser and anti-forgery token.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::response::Response;
use base::TimeZone;
use http::header;
use http::request::Parts;
use service::access::sessions::{self, Visit};

use super::cookies;
use super::format::View;
use crate::WebState;

/// A visitor who is not signed in.
pub(crate) struct Visitor {
    pub(crate) web: WebState,
    pub(crate) view: View,
    pub(crate) visit: Visit,
    pub(crate) form_token: String,
    /// A new visit cookie, if the browser had none.
    new_cookie: Option<String>,
}

impl FromRequestParts<WebState> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &WebState) -> Result<Visitor, Infallible> {
        let secure = cookies::is_secure(&web.settings.public_url);
        let known = cookies::get(&parts.headers, cookies::VISIT, secure).map(str::to_owned);
        let (cookie, new_cookie) = match known {
            Some(cookie) => (cookie, None),
            None => {
                let made = sessions::visit_token(&web.app);
                (made.clone(), Some(made))
            }
        };
        let device = cookies::get(&parts.headers, cookies::DEVICE, secure).map(str::to_owned);
        Ok(Visitor {
            view: View::new(&parts.headers, web, TimeZone::utc()),
            visit: Visit { device, ..visit(parts) },
            form_token: sessions::form_token(&web.app, &cookie),
            web: web.clone(),
            new_cookie,
        })
    }
}

impl Visitor {
    /// Adds the visit cookie to the response if the browser had none.
    pub(crate) fn remember(&self, mut response: Response) -> Response {
        if let Some(cookie) = &self.new_cookie {
            let secure = cookies::is_secure(&self.web.settings.public_url);
            let line = cookies::set(cookies::VISIT, cookie, None, secure);
            response.headers_mut().append(header::SET_COOKIE, line);
        }
        response
    }
}

/// The address and browser of a request.
pub(crate) fn visit(parts: &Parts) -> Visit {
    let agent = parts.headers.get(header::USER_AGENT).and_then(|it| it.to_str().ok());
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let address = address.map(|it| it.0.ip().to_string());
    Visit { agent: agent.map(str::to_owned), address, device: None }
}
