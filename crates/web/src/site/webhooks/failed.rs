//! Dead letters: what was not delivered and is not tried any more.

use axum::extract::RawQuery;
use http::StatusCode;
use maud::{Markup, html};
use service::cursors::Page;
use service::webhooks::{self, Endpoint, Letter};

use super::attempts::{chosen, endpoint_choice};
use super::exactly;
use super::keeper::{Keeper, Part};
use crate::site::address;
use crate::site::show::plural;
use crate::site::trouble::Shown;

const PAGE: usize = 50;

pub(super) async fn get(keeper: Keeper, RawQuery(query): RawQuery) -> Shown {
    let query = query.unwrap_or_default();
    let asked = |name: &str| address::asked(&query, name).filter(|it| !it.is_empty());
    let endpoints = webhooks::list(keeper.app(), keeper.caller()).await?;
    let endpoint = chosen(asked("endpoint"), &endpoints);
    let cursor = asked("cursor");
    let page = Page { cursor: cursor.as_deref(), limit: PAGE };
    let found = webhooks::failed(keeper.app(), keeper.caller(), endpoint, page).await?;
    let of = endpoint.map(|it| it.to_string()).unwrap_or_default();
    let main = html! {
        section.card aria-labelledby="failed" {
            h2 id="failed" { "Not delivered" }
            p.soft {
                "After eight attempts over 28 hours, or when its endpoint was switched off, a \
                 message comes to lie here. It is kept for 90 days, and what it said for 30."
            }
            form method="get" action=(keeper.at("/failed")) {
                (endpoint_choice(&endpoints, &of, "All endpoints"))
                button type="submit" { "Show" }
            }
            @if found.letters.is_empty() {
                p { "Nothing lies here. Everything was delivered, or is still being tried." }
            } @else {
                ul.rows { @for it in &found.letters { (row(&keeper, it, &endpoints)) } }
            }
            @if let Some(cursor) = &found.next_cursor {
                @let pairs = [("endpoint", of.as_str()), ("cursor", cursor.as_str())];
                nav.pages aria-label="Pages of what was not delivered" {
                    span {}
                    a href=(keeper.at(&format!("/failed{}", address::query(&pairs)))) { "Older" }
                }
            }
        }
    };
    Ok(keeper.page(StatusCode::OK, Part::Failed, main))
}

fn row(keeper: &Keeper, it: &Letter, endpoints: &[Endpoint]) -> Markup {
    let url = endpoints.iter().find(|one| one.id == it.endpoint).map(|it| it.url.as_str());
    html! {
        li {
            span.what {
                a href=(keeper.at(&format!("/events/{}", it.event))) { (it.event_type) }
                span.soft {
                    (url.unwrap_or_default()) ", " (plural(it.attempts, "attempt", "attempts"))
                    ", given up " (exactly(it.updated_at))
                }
            }
        }
    }
}
