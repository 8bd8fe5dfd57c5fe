//! The settings pages: profile, security, API keys, webhooks, assistants, apps, approvals, rules, data, audit
//! trail, people and backups.

mod approvals;
mod apps;
mod assistants;
mod audit;
mod backups;
mod data;
mod keys;
mod people;
mod profile;
pub(super) mod rules;
mod security;
mod security_page;

use axum::Router;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use service::access::users::Role;

use super::app_page::AppPage;
use super::assets::Asset;
use super::navigation::NavItem;
use super::person::Person;
use crate::WebState;
use crate::routing::{get, get_and_post, post};

pub(super) fn router() -> Router<WebState> {
    Router::new()
        .route("/settings", get_and_post(profile::get, profile::post))
        .route("/settings/image", post(profile::set_image))
        .route("/settings/image/remove", post(profile::remove_image))
        .route("/images/{address}", get(profile::image))
        .route("/settings/keys", get_and_post(keys::get, keys::post))
        .route("/settings/keys/{id}/revoke", post(keys::revoke))
        .route("/settings/data", get(data::get))
        .route("/settings/data/download", post(data::download))
        .route("/settings/assistants", get(assistants::get))
        .route("/settings/audit", get(audit::get))
        .route("/settings/backups", get(backups::get))
        .route("/settings/approvals", get_and_post(approvals::get, approvals::post))
        .merge(apps::router())
        .merge(security::router())
        .merge(people::router())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Profile,
    Security,
    Keys,
    Webhooks,
    Assistants,
    Apps,
    Approvals,
    Rules,
    Data,
    Audit,
    People,
    Backups,
}

/// A tab with its path and name.
type NamedTab = (Tab, &'static str, &'static str);

const GROUPS: [(&str, &[NamedTab]); 4] = [
    (
        "You",
        &[
            (Tab::Profile, "/settings", "Profile"),
            (Tab::Security, "/settings/security", "Security"),
            (Tab::Approvals, "/settings/approvals", "Approvals"),
        ],
    ),
    (
        "Access",
        &[
            (Tab::Keys, "/settings/keys", "API keys"),
            (Tab::Webhooks, "/settings/webhooks", "Webhooks"),
            (Tab::Assistants, "/settings/assistants", "Assistants"),
            (Tab::Apps, "/settings/apps", "Connected apps"),
        ],
    ),
    (
        "Data",
        &[
            (Tab::Rules, "/settings/rules", "Rules"),
            (Tab::Data, "/settings/data", "Download"),
            (Tab::Audit, "/settings/audit", "Audit trail"),
        ],
    ),
    // Only an admin sees these.
    (
        "Installation",
        &[
            (Tab::People, "/settings/people", "People"),
            (Tab::Backups, "/settings/backups", "Backups"),
        ],
    ),
];

/// A settings page with its tabs.
pub(crate) struct Settings {
    pub(crate) tab: Tab,
    /// 400 if a form is shown again with an error.
    pub(crate) status: StatusCode,
    pub(crate) scripts: &'static [Asset],
}

impl Settings {
    pub(crate) fn new(tab: Tab) -> Settings {
        Settings { tab, status: StatusCode::OK, scripts: &[] }
    }

    pub(crate) fn page(&self, person: &Person, main: Markup) -> Response {
        let mut tabs = GROUPS.iter().flat_map(|(_, tabs)| tabs.iter());
        let name = tabs.find(|it| it.0 == self.tab).map_or("Settings", |it| it.2);
        let inner = html! {
            h1 { "Settings" }
            // On phones the tabs are behind this button.
            button.settings-menu type="button" popovertarget="settings-menu" { span.hush { "Settings: " } (name) }
            nav.tab-groups id="settings-menu" aria-label="Settings" popover {
                @for (group, tabs) in groups_of(person) {
                    div {
                        p.label { (group) }
                        ul.tabs {
                            @for (tab, href, name) in *tabs {
                                @let current = (*tab == self.tab).then_some("page");
                                li { a href=(href) aria-current=[current] { (name) } }
                            }
                        }
                    }
                }
            }
            (main)
        };
        let title = format!("{name} · Settings");
        let place = match self.tab {
            Tab::Rules => NavItem::Rules,
            Tab::Assistants => NavItem::Assistants,
            _ => NavItem::Settings,
        };
        let page = AppPage { scripts: self.scripts, ..AppPage::new(place, &title) };
        page.page_with(self.status, person, inner)
    }
}

/// The names and paths of the settings pages that the person sees.
pub(super) fn pages(person: &Person) -> impl Iterator<Item = (&'static str, &'static str)> {
    let tabs = groups_of(person).iter().flat_map(|(_, tabs)| tabs.iter());
    tabs.map(|(_, href, name)| (*name, *href))
}

/// The groups of tabs that the person sees. Only an admin sees the one of the installation.
fn groups_of(person: &Person) -> &'static [(&'static str, &'static [NamedTab])] {
    match person.user.role == Role::Admin {
        true => &GROUPS,
        false => &GROUPS[..3],
    }
}
