//! Handlers for Enable Banking: the forms of the person's application, and the page that chooses a bank.

use axum::extract::RawQuery;
use axum::response::{IntoResponse as _, Redirect};
use base::draft::Source;
use http::StatusCode;
use maud::html;
use service::ingest::connections::{self, Institution, LinkTarget, enable_banking};

use super::add_parts::{Region, URL, url_of};
use super::enable_banking::{BANKS, COUNTRIES};
use super::{add, links, new_page};
use crate::site::app_page::see_other;
use crate::site::errors::PageResult;
use crate::site::fields::{self, Field, FormError};
use crate::site::form::Form;
use crate::site::person::Person;
use crate::site::urls;

/// Banks that one page lists; the search narrows them down.
const BANKS_MAX: usize = 100;

pub(super) async fn save(person: Person, form: Form) -> PageResult {
    let keys = enable_banking::Keys {
        application_id: form.text("application_id").to_owned(),
        private_key: form.raw("private_key").to_owned(),
    };
    let (app, caller) = (person.app(), &person.caller);
    match connections::save_keys(app, caller, Source::EnableBanking, &keys.to_secret()).await {
        Ok(()) => {
            let page = url_of(Some(Region::Europe));
            Ok(see_other(&person, &page, "Application saved. Now choose your bank."))
        }
        Err(error) => again(&person, error).await,
    }
}

pub(super) async fn delete(person: Person, _form: Form) -> PageResult {
    match connections::delete_keys(person.app(), &person.caller, Source::EnableBanking).await {
        Ok(()) => Ok(see_other(&person, URL, "Application deleted.")),
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
        p.trail { a href=(url_of(Some(Region::Europe))) { "Add a bank" } }
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
