//! The connected apps page: apps with access, their permissions, and revoking them.

use axum::Router;
use axum::extract::Path;
use base::{GrantId, Timestamp};
use maud::{Markup, html};
use service::access::oauth::grants::{self, Grant};

use super::{Settings, Tab};
use crate::WebState;
use crate::routing::{get, post};
use crate::site::app_page::see_other;
use crate::site::errors::{PageError, PageResult};
use crate::site::fields;
use crate::site::form::Form;
use crate::site::person::Person;

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route("/settings/apps", get(list))
        .route("/settings/apps/{id}/revoke", post(revoke))
}

async fn list(person: Person) -> PageResult {
    let apps = grants::list(person.app(), &person.caller).await?;
    let main = html! {
        section.card aria-labelledby="apps" {
            h2 id="apps" { "Connected apps" }
            p.soft {
                "Apps you allowed can read your data through the API until you revoke their access. They can \
                 propose changes, but only you can approve them."
            }
            @if apps.is_empty() {
                p {
                    "No apps have access. When an app asks for access, you'll review its request first. Most apps \
                     only need this address: "
                    code { (person.public_url()) }
                }
            } @else {
                ul.key-list { @for app in &apps { (row(&person, app)) } }
            }
        }
    };
    Ok(Settings::new(Tab::Apps).page(&person, main))
}

async fn revoke(person: Person, Path(id): Path<String>, _form: Form) -> PageResult {
    let id = GrantId::parse(&id).map_err(|_| PageError::not_found())?;
    grants::revoke(person.app(), &person.caller, id).await?;
    Ok(see_other(&person, "/settings/apps", "Access revoked."))
}

pub(super) fn row(person: &Person, app: &Grant) -> Markup {
    let now = person.app().clock.now();
    let day = |at: Timestamp| person.view.day_at(at);
    let used = match (app.last_used_at, &app.last_used_address) {
        (Some(at), Some(address)) => format!("{} from {address}", person.view.time_ago(at, now)),
        (Some(at), None) => person.view.time_ago(at, now),
        (None, _) => "Never".to_owned(),
    };
    let action = format!("/settings/apps/{}/revoke", app.id);
    html! {
        li {
            h3 { (app.client_name) " " span.soft { (app.host) } }
            dl.key-facts {
                div {
                    dt { "Permissions" }
                    dd {
                        ul { @for scope in app.scopes.iter() { li { (scope.describe()) } } }
                    }
                }
                div { dt { "Since" } dd { (day(app.created_at)) } }
                div { dt { "Last used" } dd { (used) } }
            }
            details.confirm {
                summary { "Revoke access for " (app.client_name) }
                p { "The app loses access immediately. It would have to ask you again." }
                (fields::button(&action, &person.form_token, "Revoke access", "danger"))
            }
        }
    }
}
