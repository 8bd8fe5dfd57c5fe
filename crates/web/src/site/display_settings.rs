//! The display switches: hidden amounts and the theme on every page, the checklist on the overview. They are stored in browser cookies.

use axum::response::{IntoResponse as _, Redirect, Response};
use http::header;

use super::cookies::{self, YEAR_SECONDS};
use super::form::Form;
use super::format::Theme;
use super::person::Person;
use super::urls;

pub(super) async fn post(person: Person, form: Form) -> Response {
    let secure = cookies::is_secure(person.public_url());
    let mut response = Redirect::to(urls::local_path(form.text("next"))).into_response();
    let mut keep = |name: &str, value: &str| {
        let line = cookies::set(name, value, Some(YEAR_SECONDS), secure);
        response.headers_mut().append(header::SET_COOKIE, line);
    };
    if let "0" | "1" = form.text("hide") {
        keep(cookies::HIDE, form.text("hide"));
    }
    if form.text("checklist") == "hide" {
        keep(cookies::CHECKLIST, "hide");
    }
    if let Some(theme) = Theme::parse(form.text("theme")) {
        keep(cookies::THEME, theme.as_str());
    }
    response
}
