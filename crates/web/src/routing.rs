//! `get` and `post` for the routes of pages: axum's, for handlers that all have become one type.
//!
//! axum wraps a handler in a dozen generic types. For some 250 handlers, checking and building those took half of the
//! time to compile this crate.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::MethodRouter;

use crate::WebState;

type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler of any arguments.
#[derive(Clone)]
struct AnyHandler(Arc<dyn Fn(Request, WebState) -> Answer + Send + Sync>);

impl AnyHandler {
    fn new<H, T>(handler: H) -> AnyHandler
    where
        H: Handler<T, WebState, Future = Answer>,
    {
        AnyHandler(Arc::new(move |request, web| handler.clone().call(request, web)))
    }
}

impl Handler<(), WebState> for AnyHandler {
    type Future = Answer;

    fn call(self, request: Request, web: WebState) -> Answer {
        (self.0)(request, web)
    }
}

pub(crate) fn get<H, T>(handler: H) -> MethodRouter<WebState>
where
    H: Handler<T, WebState, Future = Answer>,
{
    axum::routing::get(AnyHandler::new(handler))
}

pub(crate) fn post<H, T>(handler: H) -> MethodRouter<WebState>
where
    H: Handler<T, WebState, Future = Answer>,
{
    axum::routing::post(AnyHandler::new(handler))
}

/// A page that is shown with GET and submitted with POST.
pub(crate) fn get_and_post<G, T, P, U>(shown: G, submitted: P) -> MethodRouter<WebState>
where
    G: Handler<T, WebState, Future = Answer>,
    P: Handler<U, WebState, Future = Answer>,
{
    get(shown).post(AnyHandler::new(submitted))
}
