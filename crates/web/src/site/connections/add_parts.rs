//! Parts that all sections of the page to add a bank use: the regions, headings and links.

use maud::{Markup, html};
use service::access::users::User;
use service::ingest::connections::Connection;

use crate::site::form::Form;

pub(super) const URL: &str = "/connections/add";

base::words!(
    /// Where the person's banks are, which decides the ways to them.
    Region {
        UnitedStates => "us",
        Canada => "canada",
        Europe => "europe",
        Elsewhere => "elsewhere",
    }
);

impl Region {
    pub(super) fn name(self) -> &'static str {
        match self {
            Region::UnitedStates => "United States",
            Region::Canada => "Canada",
            Region::Europe => "Europe",
            Region::Elsewhere => "Elsewhere",
        }
    }

    /// The likely region of a person's banks, by the person's currency and time zone.
    pub(super) fn likely(user: &User) -> Region {
        let is_in_europe = user.timezone.name().starts_with("Europe/");
        match user.base_currency.code() {
            "CAD" => Region::Canada,
            "USD" if !is_in_europe => Region::UnitedStates,
            "EUR" | "GBP" | "SEK" | "NOK" | "DKK" | "ISK" | "PLN" | "CZK" | "HUF" | "RON" => {
                Region::Europe
            }
            _ if is_in_europe => Region::Europe,
            _ => Region::Elsewhere,
        }
    }

    pub(super) fn has_plaid(self) -> bool {
        matches!(self, Region::UnitedStates | Region::Canada)
    }
}

/// The page's address for a region, to return to after a form.
pub(super) fn url_of(region: Option<Region>) -> String {
    region.map_or_else(|| URL.to_owned(), |it| format!("{URL}?region={}", it.as_str()))
}

/// The region that a form was shown for.
pub(super) fn region_of(form: &Form) -> Option<Region> {
    Region::parse(form.text("region"))
}

pub(super) fn region_field(region: Region) -> Markup {
    html! { input type="hidden" name="region" value=(region.as_str()); }
}

/// A heading with what a way costs.
pub(super) fn heading(id: &str, name: &str, cost: &str) -> Markup {
    html! { div.heading { h2 id=(id) { (name) } span.badge { (cost) } } }
}

/// A link to a page of others.
pub(super) fn elsewhere(url: &str, text: &str) -> Markup {
    html! { a href=(url) rel="noreferrer" { (text) } }
}

/// The banks that are connected through a provider already, so that nobody connects one twice by mistake.
pub(super) fn already(connected: &[Connection], source: base::draft::Source) -> Markup {
    let same: Vec<&Connection> = connected.iter().filter(|it| it.source == source).collect();
    html! {
        @if !same.is_empty() {
            p {
                "Already connected: "
                @for (index, it) in same.iter().enumerate() {
                    @if index > 0 { ", " }
                    a href=(super::url_of(it.id)) { (it.name) }
                }
                ". To repair a connection or to add accounts of the same bank, open it instead of connecting it again."
            }
        }
    }
}
