//! The signed-in person behind a request; whoever is not signed in is sent to the door.

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::request::Parts;
use http::{HeaderMap, Method};
use service::access::sessions::{self, Session};
use service::access::users::{self, User};
use service::{App, Caller, actions};

use super::cookies;
use super::show::View;
use super::trouble::Trouble;
use super::visitor::visit;
use crate::Door;

pub(crate) struct Person {
    pub(crate) door: Door,
    pub(crate) caller: Caller,
    pub(crate) user: User,
    pub(crate) session: Session,
    pub(crate) view: View,
    pub(crate) form_token: String,
    /// The address of this page, to come back to.
    pub(crate) here: String,
    /// How many proposals wait for their word.
    pub(crate) pending: i64,
    /// What the page before wanted to be said.
    pub(super) notice: Option<String>,
}

impl Person {
    pub(crate) fn app(&self) -> &App {
        &self.door.app
    }

    pub(crate) fn public_url(&self) -> &str {
        &self.door.settings.public_url
    }
}

impl FromRequestParts<Door> for Person {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Person, Response> {
        match find(parts, door).await {
            Ok(Some(person)) => Ok(person),
            Ok(None) => Err(to_the_door(parts, door).await),
            Err(error) => Err(Trouble::from(error).into_response()),
        }
    }
}

/// The person of the session cookie, if there is one and it is good.
pub(crate) async fn find(parts: &Parts, door: &Door) -> service::Result<Option<Person>> {
    let secure = cookies::is_secure(&door.settings.public_url);
    let Some(token) = cookies::get(&parts.headers, cookies::SESSION, secure) else {
        return Ok(None);
    };
    let address = visit(parts).address;
    let found = sessions::find(&door.app, token, address.as_deref()).await?;
    let Some((session, caller)) = found else { return Ok(None) };
    let user = users::get(&door.app, &caller).await?;
    let pending = actions::pending_count(&door.app, &caller).await?;
    Ok(Some(Person {
        view: View::new(&parts.headers, door),
        form_token: sessions::form_token(&door.app, token),
        notice: notice(&parts.headers, secure),
        here: here(parts).to_owned(),
        door: door.clone(),
        caller,
        user,
        session,
        pending,
    }))
}

fn here(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("/", |it| it.as_str())
}

pub(super) fn notice(headers: &HeaderMap, secure: bool) -> Option<String> {
    let text = cookies::get(headers, cookies::NOTICE, secure)?;
    super::address::decode(text)
}

/// Reading goes on after signing in where it left off; a form that was sent is lost, and its page is asked for again.
async fn to_the_door(parts: &Parts, door: &Door) -> Response {
    match users::list(&door.app, 1).await {
        Ok(users) if users.is_empty() => Redirect::to("/setup").into_response(),
        Ok(_) => {
            let wanted = here(parts);
            let reading = matches!(parts.method, Method::GET | Method::HEAD) && wanted != "/";
            let next = match reading {
                true => format!("/sign-in?next={}", super::address::encode(wanted)),
                false => "/sign-in".to_owned(),
            };
            Redirect::to(&next).into_response()
        }
        Err(error) => Trouble::from(error).into_response(),
    }
}
