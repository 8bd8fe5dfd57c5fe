//! The overview: what is there, what needs the person, and how it goes.

use maud::html;
use service::summary;

use super::person::Person;
use super::shell::{Place, Shell};
use super::trouble::Shown;

pub(super) async fn get(person: Person) -> Shown {
    let summary = summary::get(person.app(), &person.caller).await?;
    let main = html! { h1 { "Overview" } p { (format!("{summary:?}")) } };
    Ok(Shell::new(Place::Overview, "Overview").page(&person, main))
}
