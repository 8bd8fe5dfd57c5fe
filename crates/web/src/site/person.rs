//! The extractor for the signed-in person. Visitors who are not signed in are redirected to the sign-in page.

use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse as _, Redirect, Response};
use base::EditId;
use futures_util::FutureExt as _;
use http::request::Parts;
use http::{HeaderMap, Method};
use service::access::sessions::{self, Session};
use service::access::users::{self, User};
use service::ledger::spans::Span;
use service::platform::requests;
use service::{App, Caller, actions};

use super::cookies;
use super::errors::PageError;
use super::format::View;
use super::visitor::visit;
use crate::WebState;
use crate::read_turns::{ReadTurn, is_read};

pub(crate) struct Person {
    pub(crate) web: WebState,
    pub(crate) caller: Caller,
    pub(crate) user: User,
    pub(crate) session: Session,
    pub(crate) view: View,
    pub(crate) form_token: String,
    /// The path and query of this page, to return to.
    pub(crate) here: String,
    /// How many proposals are waiting for approval.
    pub(crate) pending: i64,
    /// The person's turn to read, if the request only reads.
    turn: Option<ReadTurn>,
    /// The time range of charts: the one in the URL, or the last one that was chosen, or a year.
    pub(crate) range: Span,
    /// Whether the person hid the checklist of first steps in this browser.
    pub(crate) hides_checklist: bool,
    /// The message of the previous page, to show once.
    pub(super) notice: Option<String>,
    /// The edit that the message offers to undo.
    pub(super) undo: Option<EditId>,
}

impl Person {
    pub(crate) fn app(&self) -> &App {
        &self.web.app
    }

    /// Allows the request to wait this long for something other than the database, while the person's others go on.
    pub(crate) fn wait_for(&mut self, seconds: u64) {
        self.turn = None;
        requests::extend_deadline(Duration::from_secs(seconds));
    }

    pub(crate) fn public_url(&self) -> &str {
        &self.web.settings.public_url
    }

    /// Whether the URL of this page chooses a time range, which is then remembered.
    pub(super) fn chose_range(&self) -> bool {
        let query = self.here.split_once('?').map_or("", |(_, query)| query);
        super::urls::find_param(query, "range").is_some_and(|it| it == self.range.as_str())
    }
}

impl FromRequestParts<WebState> for Person {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, web: &WebState) -> Result<Person, Response> {
        // As a `dyn Future`, so that the compiler does not look into it for every handler.
        find_or_redirect(parts, web).boxed().await
    }
}

async fn find_or_redirect(parts: &Parts, web: &WebState) -> Result<Person, Response> {
    match find(parts, web).await {
        Ok(Some(person)) => Ok(person),
        Ok(None) => Err(redirect_to_sign_in(parts, web).await),
        Err(error) => Err(PageError::from(error).into_response()),
    }
}

/// Finds the person by the session cookie; none if the session is missing or invalid.
pub(crate) async fn find(parts: &Parts, web: &WebState) -> service::Result<Option<Person>> {
    let secure = cookies::is_secure(&web.settings.public_url);
    let Some(token) = cookies::get(&parts.headers, cookies::SESSION, secure) else {
        return Ok(None);
    };
    let address = visit(parts).address;
    let found = sessions::find(&web.app, token, address.as_deref()).await?;
    let Some((session, caller)) = found else { return Ok(None) };
    requests::charge_to(&caller);
    let turn = match is_read(&parts.method) {
        true => Some(web.take_read_turn(caller.user).await?),
        false => None,
    };
    let user = users::get(&web.app, &caller).await?;
    let pending = actions::count_pending(&web.app, &caller).await?;
    Ok(Some(Person {
        view: View::new(&parts.headers, web, caller.timezone),
        form_token: sessions::form_token(&web.app, token),
        notice: notice(&parts.headers, secure),
        undo: undo(&parts.headers, secure),
        here: here(parts).to_owned(),
        range: range(parts, secure),
        hides_checklist: cookies::get(&parts.headers, cookies::CHECKLIST, secure).is_some(),
        web: web.clone(),
        caller,
        user,
        session,
        pending,
        turn,
    }))
}

fn range(parts: &Parts, secure: bool) -> Span {
    let asked = parts.uri.query().and_then(|it| super::urls::find_param(it, "range"));
    let remembered = cookies::get(&parts.headers, cookies::RANGE, secure).and_then(Span::parse);
    asked.as_deref().and_then(Span::parse).or(remembered).unwrap_or(Span::Year)
}

fn here(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("/", |it| it.as_str())
}

pub(super) fn notice(headers: &HeaderMap, secure: bool) -> Option<String> {
    let text = cookies::get(headers, cookies::NOTICE, secure)?;
    super::urls::decode(text)
}

fn undo(headers: &HeaderMap, secure: bool) -> Option<EditId> {
    EditId::parse(cookies::get(headers, cookies::UNDO, secure)?).ok()
}

/// Redirects to the sign-in page, or to the setup page on the first run. After signing in, a GET returns to its page;
/// a submitted form is lost.
async fn redirect_to_sign_in(parts: &Parts, web: &WebState) -> Response {
    match users::list(&web.app, 1).await {
        Ok(users) if users.is_empty() => Redirect::to("/setup").into_response(),
        Ok(_) => {
            let requested = here(parts);
            let reading = matches!(parts.method, Method::GET | Method::HEAD) && requested != "/";
            let next = match reading {
                true => format!("/sign-in?next={}", super::urls::encode(requested)),
                false => "/sign-in".to_owned(),
            };
            Redirect::to(&next).into_response()
        }
        Err(error) => PageError::from(error).into_response(),
    }
}
