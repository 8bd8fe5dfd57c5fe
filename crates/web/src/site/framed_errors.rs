//! Shows error pages within the app to a signed-in person, so that the navigation stays where it was.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header;
use maud::html;

use super::app_page::AppPage;
use super::error_pages::ErrorContent;
use super::navigation::NavItem;
use super::person;
use crate::WebState;

pub(super) async fn frame(State(web): State<WebState>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let asked = parts.clone();
    let response = next.run(Request::from_parts(parts, body)).await;
    let Some(content) = response.extensions().get::<ErrorContent>() else { return response };
    // A failing server may not find the person either.
    if response.status().is_server_error() {
        return response;
    }
    let Ok(Some(person)) = person::find(&asked, &web).await else { return response };
    let main = html! {
        div.empty {
            h1 { (content.title) }
            (content.body)
            a.button.outlined href="/" { "Go to overview" }
        }
    };
    let page = AppPage::new(NavItem::Nowhere, &content.title);
    let mut framed = page.page_with(response.status(), &person, main);
    for name in [header::ALLOW, header::RETRY_AFTER] {
        if let Some(value) = response.headers().get(&name) {
            framed.headers_mut().insert(name, value.clone());
        }
    }
    framed
}
