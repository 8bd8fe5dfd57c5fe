//! The sign-in pages: sign-in, second step, password reset, sign-up, setup and invitations.

mod demo_link;
pub(super) mod passkeys;
mod password_reset;
mod second_step;
mod sign_in;
mod sign_on;
mod sign_up;

use axum::Router;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header;
use maud::{Markup, html};
use service::access::{devices, sign_ins};

use super::visitor::Visitor;
use super::{cookies, urls};
use crate::WebState;
use crate::routing::{get, get_and_post, post};

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route("/setup", get_and_post(sign_up::setup, sign_up::set_up))
        .route("/sign-up", get_and_post(sign_up::sign_up_page, sign_up::sign_up))
        .route("/invite/{token}", get_and_post(sign_up::invitation, sign_up::accept))
        .route("/sign-in", get_and_post(sign_in::get, sign_in::post))
        .route("/sign-in/second", get_and_post(second_step::get, second_step::post))
        .route("/forgot-password", get_and_post(password_reset::ask, password_reset::send))
        .route(
            "/reset-password/{token}",
            get_and_post(password_reset::choose, password_reset::save),
        )
        .route("/sign-on/{provider}", get(sign_on::start))
        .route("/sign-on/{provider}/confirm", get(sign_on::confirm))
        .route("/sign-on/{provider}/callback", get(sign_on::callback))
        .route("/settings/security/sign-on/{provider}/link", post(sign_on::link))
        .route("/demo/{token}", get(demo_link::get))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/passkeys/sign-in/start", post(passkeys::start_sign_in))
        .route("/passkeys/sign-in/finish", post(passkeys::finish_sign_in))
        .route("/passkeys/second/start", post(passkeys::start_second))
        .route("/passkeys/second/finish", post(passkeys::finish_second))
        .route("/passkeys/prove/start", post(passkeys::start_proof))
        .route("/passkeys/prove/finish", post(passkeys::finish_proof))
        .route("/passkeys/register/start", post(passkeys::start_registration))
        .route("/passkeys/register/finish", post(passkeys::finish_registration))
}

/// Starts a session with a new token, deletes the cookies of the sign-in, and redirects.
async fn start_session(visitor: &Visitor, session: &str, next: &str) -> Response {
    with_session(visitor, session, Redirect::to(urls::local_path(next)).into_response()).await
}

async fn with_session(visitor: &Visitor, session: &str, mut response: Response) -> Response {
    let secure = cookies::is_secure(&visitor.web.settings.public_url);
    let mut lines = vec![
        cookies::set(cookies::SESSION, session, Some(cookies::YEAR_SECONDS), secure),
        cookies::set(cookies::SECOND, "", Some(0), secure),
        cookies::set(cookies::VISIT, "", Some(0), secure),
    ];
    // The sign-in succeeds even if the browser could not be remembered.
    match sign_ins::remember_device(&visitor.web.app, session, visitor.visit.device.as_deref())
        .await
    {
        Ok(Some(device)) => {
            let life = Some(devices::LIFE_SECONDS);
            lines.push(cookies::set(cookies::DEVICE, &device, life, secure));
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "browser could not be remembered"),
    }
    for line in lines {
        response.headers_mut().append(header::SET_COOKIE, line);
    }
    response
}

/// The path in the query's `next` parameter.
fn next_of(query: Option<String>) -> String {
    let pairs = query.and_then(|it| urls::parse_pairs(&it)).unwrap_or_default();
    let next = pairs.iter().find(|(name, _)| name == "next").map(|(_, next)| next.as_str());
    urls::local_path(next.unwrap_or("/")).to_owned()
}

/// Links that begin a sign-in with each provider of single sign-on.
fn sign_on_links(web: &WebState, next: &str) -> Markup {
    html! {
        @for provider in web.app.single_sign_on.providers() {
            @let query = urls::query_string(&[("next", next)]);
            p {
                a.button.outlined href={ "/sign-on/" (provider.name) (query) } {
                    "Sign in with " (provider.label)
                }
            }
        }
    }
}
