//! The demo's sign-in link: signs in once, so that nobody has to copy an email address and a password.

use std::sync::atomic::Ordering;

use axum::extract::Path;
use http::{Method, StatusCode};
use service::access::sign_ins::{self, SignInOutcome};

use super::sign_in;
use super::start_session;
use crate::site::errors::PageResult;
use crate::site::fields::FormError;
use crate::site::visitor::Visitor;

const USED: &str = "This link does not work anymore: it signs in once, and only until the demo is stopped. Sign in below.";

/// A HEAD request, such as the preview of a chat program sends, does not use the link up.
pub(super) async fn get(method: Method, visitor: Visitor, Path(token): Path<String>) -> PageResult {
    let web = &visitor.web;
    let link = web.settings.demo_link.as_ref().filter(|it| it.is_token(&token));
    let is_first =
        method == Method::GET && link.is_some() && !web.demo_link_used.swap(true, Ordering::SeqCst);
    if let (true, Some(link)) = (is_first, link) {
        let visit = visitor.visit.clone();
        match sign_ins::by_password(&web.app, &link.email, &link.password, visit).await {
            Ok(SignInOutcome::SignedIn { session }) => {
                return Ok(start_session(&visitor, &session, "/").await);
            }
            Ok(SignInOutcome::SecondStep { token }) => {
                return Ok(sign_in::to_second_step(web, &token, "/"));
            }
            // The password was changed since the start, or too many sign-ins failed.
            Err(error) => tracing::info!(%error, "the demo's sign-in link could not sign in"),
        }
    }
    let wrong = FormError::general(USED.to_owned());
    Ok(sign_in::page(StatusCode::GONE, &visitor, &wrong))
}
