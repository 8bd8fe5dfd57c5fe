//! The consent page: names the app and its address, and lists the scopes it requests, each of which can be declined.

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use maud::{Markup, html};
use service::access::oauth::redirects::Redirect;
use service::access::oauth::requests::AuthorizationRequest;

use crate::site::fields::{self, FormError};
use crate::site::person::Person;
use crate::site::{POLICY, app_page};

/// `query` is the original query string, which the form sends back.
pub(super) fn page(
    person: &Person,
    asked: &AuthorizationRequest,
    query: &str,
    wrong: &FormError,
) -> Response {
    let good = wrong.message.is_empty();
    let status = if good { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let title = format!("Allow {}?", asked.client.name);
    let mut response =
        app_page::decision(status, person, &title, card(person, asked, query, wrong));
    if let Ok(policy) = HeaderValue::from_str(&policy(&asked.redirect)) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn card(person: &Person, asked: &AuthorizationRequest, query: &str, wrong: &FormError) -> Markup {
    let name = &asked.client.name;
    let inner = html! {
        input type="hidden" name="asked" value=(query);
        fieldset {
            legend { "This app will be able to" }
            @for scope in asked.scopes.iter() {
                (fields::check("scope", scope.as_str(), scope.describe(), true))
            }
        }
        p.soft { "Uncheck anything it doesn't need." }
        div.choices {
            button.primary type="submit" name="decision" value="allow" { "Allow" }
            button.outlined type="submit" name="decision" value="deny" { "Deny" }
        }
    };
    html! {
        h1 { "Allow " (name) "?" }
        (wrong.summary())
        p { (name) " asks for access to the finances of " strong { (person.user.email) } "." }
        dl.asked {
            div { dt { "App" } dd { (name) } }
            div { dt { "You will return to" } dd { (place(&asked.redirect)) } }
        }
        (fields::form("/oauth/authorize", &person.form_token, inner))
        p.soft {
            "The app chose this name itself. Allow access only if you just came from this app and recognize the \
                address above. You can revoke access at any time under Settings, Connected apps."
        }
    }
}

fn place(redirect: &Redirect) -> Markup {
    html! {
        strong { (redirect.host()) }
        @if redirect.is_on_this_machine() { ", a program on your own computer" }
    }
}

/// Browsers apply `form-action` to every redirect after a form. The app may redirect the person further, so allowing
/// only its own host is not enough.
pub(super) fn policy(redirect: &Redirect) -> String {
    let own = "form-action 'self'";
    let also = redirect.csp_source().map_or(String::new(), |it| format!(" {it}"));
    POLICY.replace(own, &format!("{own} https:{also}"))
}
