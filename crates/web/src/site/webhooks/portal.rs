//! Entering the webhook portal by a link. The link shows a button that starts the portal session.

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode, header};
use maud::html;
use service::webhooks::portal;

use super::manager::{ManagerForm, PORTAL};
use crate::WebState;
use crate::site::errors::{PageError, PageResult};
use crate::site::form::PublicForm;
use crate::site::visitor::Visitor;
use crate::site::{app_page, cookies, fields};

/// Shows the button. Link previews only load this page, which does not use up the link.
pub(super) async fn get(visitor: Visitor, Path(token): Path<String>) -> PageResult {
    if !portal::is_link_valid(&visitor.web.app, &token).await? {
        return Err(over());
    }
    let card = html! {
        h1 { "Webhook portal" }
        p { "Manage the webhooks of one API key. This link works once and expires after ten minutes." }
        (fields::form(&portal::link_path(&token), &visitor.form_token, html! {
            button.primary type="submit" { "Open portal" }
        }))
    };
    Ok(app_page::auth_page(&visitor, "Webhook portal", &[], card))
}

pub(super) async fn open(
    State(web): State<WebState>,
    Path(token): Path<String>,
    _: PublicForm,
) -> PageResult {
    let pass = match portal::redeem_link(&web.app, &token).await {
        Err(service::Error::Conflict { .. }) => return Err(over()),
        other => other?,
    };
    let public_url = &web.settings.public_url;
    let mut response = app_page::redirect_with_notice(public_url, PORTAL, "");
    let secure = cookies::is_secure(public_url);
    let line = cookies::set(cookies::PORTAL, &pass, Some(portal::SESSION_SECONDS), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    Ok(response)
}

fn over() -> PageError {
    let message = "It was already used or has expired. Ask the person who sent it for a new one.";
    PageError::new(StatusCode::GONE, "This link is no longer valid", message)
}

pub(super) async fn leave(
    State(web): State<WebState>,
    headers: HeaderMap,
    _: ManagerForm,
) -> Result<Response, PageError> {
    let secure = cookies::is_secure(&web.settings.public_url);
    if let Some(token) = cookies::get(&headers, cookies::PORTAL, secure) {
        portal::end_session(&web.app, token).await?;
    }
    let message = "You need a new link to open it again.";
    let mut response =
        PageError::new(StatusCode::OK, "You left the portal", message).into_response();
    let line = cookies::set(cookies::PORTAL, "", Some(0), secure);
    response.headers_mut().append(header::SET_COOKIE, line);
    Ok(response)
}
