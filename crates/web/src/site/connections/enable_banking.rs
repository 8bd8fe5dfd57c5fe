//! The part of the page to add a bank that is about Enable Banking: the person's application, the country and the bank.

use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Redirect};
use base::draft::Source;
use http::StatusCode;
use maud::{Markup, html};
use service::ingest::connections::{
    self, Connection, Institution, KeysStatus, LinkTarget, enable_banking,
};

use super::add::{self, Region, elsewhere};
use super::{HOME, links, new_page};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::urls;

const BANKS: &str = "/connections/enable-banking/banks";
const DELETE: &str = "/connections/enable-banking/keys/delete";
const CONTROL_PANEL: &str = "https://enablebanking.com/cp/applications";
/// Banks that one page lists; the search narrows them down.
const BANKS_MAX: usize = 100;

/// Countries of the European Economic Area and the United Kingdom, where Enable Banking has banks.
const COUNTRIES: [(&str, &str); 31] = [
    ("AT", "Austria"),
    ("BE", "Belgium"),
    ("BG", "Bulgaria"),
    ("HR", "Croatia"),
    ("CY", "Cyprus"),
    ("CZ", "Czechia"),
    ("DK", "Denmark"),
    ("EE", "Estonia"),
    ("FI", "Finland"),
    ("FR", "France"),
    ("DE", "Germany"),
    ("GR", "Greece"),
    ("HU", "Hungary"),
    ("IS", "Iceland"),
    ("IE", "Ireland"),
    ("IT", "Italy"),
    ("LV", "Latvia"),
    ("LI", "Liechtenstein"),
    ("LT", "Lithuania"),
    ("LU", "Luxembourg"),
    ("MT", "Malta"),
    ("NL", "Netherlands"),
    ("NO", "Norway"),
    ("PL", "Poland"),
    ("PT", "Portugal"),
    ("RO", "Romania"),
    ("SK", "Slovakia"),
    ("SI", "Slovenia"),
    ("ES", "Spain"),
    ("SE", "Sweden"),
    ("GB", "United Kingdom"),
];

pub(super) async fn status(person: &Person) -> service::Result<KeysStatus> {
    connections::keys_status(person.app(), &person.caller, Source::EnableBanking).await
}

pub(super) fn card(
    person: &Person,
    status: KeysStatus,
    connected: &[Connection],
    wrong: &FormError,
) -> Markup {
    html! {
        section.card aria-labelledby="enable-banking" {
            (add::heading("enable-banking", "Enable Banking", "Free for your own accounts"))
            p {
                "Enable Banking connects to banks in Europe. You consent on your bank's page, for up to 180 days, and \
                 then again. Evenkeel reminds you."
            }
            @if status.is_any() {
                (add::already(connected, Source::EnableBanking))
                form method="get" action=(BANKS) {
                    (fields::select("country", "Country of your bank", &COUNTRIES, "DE"))
                    button.primary type="submit" { "Choose your bank" }
                }
                details.confirm {
                    summary { "Change or delete your application" }
                    (keys_form(person, wrong))
                    (fields::button(DELETE, &person.form_token, "Delete application", "danger"))
                }
            } @else { (steps(person, wrong)) }
        }
    }
}

fn steps(person: &Person, wrong: &FormError) -> Markup {
    let base = person.public_url().trim_end_matches('/');
    let is_https = base.starts_with("https://");
    html! {
        ol.steps {
            li {
                p {
                    strong { "Register an application." } " In "
                    (elsewhere(CONTROL_PANEL, "Enable Banking's control panel"))
                    ", add one for production, with the redirect address "
                    code { (base) (HOME) "/enable-banking/back" }
                    ". Your browser downloads its private key."
                }
                @if !is_https {
                    p.wrong {
                        "Enable Banking needs an https address. Set public_url to one that your browser can reach."
                    }
                }
            }
            li {
                p {
                    strong { "Link your accounts there." }
                    " Sign in to each of your banks once in the control panel. That makes the application active, free \
                     of charge, for these accounts."
                }
            }
            li {
                p { strong { "Enter the application here." } " Then choose your bank." }
                (keys_form(person, wrong))
            }
        }
    }
}

fn keys_form(person: &Person, wrong: &FormError) -> Markup {
    let id = Field::text("application_id", "Application id", "");
    fields::form(
        "/connections/enable-banking/keys",
        &person.form_token,
        html! {
            (id.show(wrong))
            div.field {
                label for="f-private_key" { "Private key" }
                textarea id="f-private_key" name="private_key" rows="4" required autocomplete="off"
                    spellcheck="false" {}
                p.soft { "The whole file. It is stored encrypted, and used only to sign requests." }
            }
            button.outlined type="submit" { "Save application" }
        },
    )
}

pub(super) async fn save(person: Person, form: Form) -> PageResult {
    let keys = enable_banking::Keys {
        application_id: form.text("application_id").to_owned(),
        private_key: form.raw("private_key").to_owned(),
    };
    let (app, caller) = (person.app(), &person.caller);
    match connections::save_keys(app, caller, Source::EnableBanking, &keys.to_secret()).await {
        Ok(()) => {
            let page = add::url_of(Some(Region::Europe));
            Ok(see_other(&person, &page, "Application saved. Now choose your bank."))
        }
        Err(error) => again(&person, error).await,
    }
}

pub(super) async fn delete(person: Person, _form: Form) -> PageResult {
    match connections::delete_keys(person.app(), &person.caller, Source::EnableBanking).await {
        Ok(()) => Ok(see_other(&person, add::URL, "Application deleted.")),
        Err(error) => again(&person, error).await,
    }
}

/// The banks of a country, narrowed down by a search. Their logos are not shown, because they are on other servers.
pub(super) async fn banks(person: Person, RawQuery(query): RawQuery) -> PageResult {
    let query = query.unwrap_or_default();
    let param = |name| urls::find_param(&query, name).unwrap_or_default();
    let (country, search) = (param("country"), param("search"));
    let (country, search) = (country.as_str(), search.trim());
    let (app, caller) = (person.app(), &person.caller);
    let banks = connections::list_banks(app, caller, Source::EnableBanking, country).await;
    let banks = match banks {
        Ok(banks) => banks,
        Err(error) => return again(&person, error).await,
    };
    let wanted = search.to_lowercase();
    let found: Vec<&Institution> =
        banks.iter().filter(|it| it.name.to_lowercase().contains(&wanted)).collect();
    let search = Field::text("search", "Search", search).kind("search").optional();
    let main = html! {
        p.trail { a href=(add::url_of(Some(Region::Europe))) { "Add a bank" } }
        h1 { "Choose your bank" }
        form method="get" action=(BANKS) {
            (fields::select("country", "Country", &COUNTRIES, country))
            (search.show(&FormError::default()))
            button.outlined type="submit" { "Search" }
        }
        @if found.is_empty() { p { "No bank of this name. Check the country, or search for a part of the name." } }
        ul.rows {
            @for bank in found.iter().take(BANKS_MAX) {
                li {
                    span.what { (bank.name) }
                    (fields::form("/connections/enable-banking/link", &person.form_token, html! {
                        input type="hidden" name="bank" value=(bank.id);
                        button.outlined type="submit" { "Connect" }
                    }))
                }
            }
        }
        @if found.len() > BANKS_MAX { p.soft { "There are more. Search for the name of your bank." } }
    };
    Ok(new_page("Choose your bank").page(&person, main))
}

pub(super) async fn link(person: Person, form: Form) -> PageResult {
    let target = LinkTarget::NewAt(Source::EnableBanking, form.text("bank").to_owned());
    let addresses = links::addresses(&person, Source::EnableBanking);
    match connections::start_link(person.app(), &person.caller, target, addresses).await {
        Ok(link) => Ok(Redirect::to(&links::url_of_link(&link.id)).into_response()),
        Err(error) => again(&person, error).await,
    }
}

async fn again(person: &Person, error: service::Error) -> PageResult {
    let wrong = FormError::from_error(error)?;
    add::show(person, StatusCode::BAD_REQUEST, Some(Region::Europe), &wrong, "").await
}
