//! The page with the changes of each version, from the changelog that the program contains.

use axum::Router;
use http::{HeaderMap, StatusCode};
use maud::{Markup, html};

use super::super::markdown;
use super::super::public_page::{self, CHANGES_PATH, PublicNavItem, PublicPage};
use super::guides;
use super::search_form::search_form;
use crate::WebState;
use crate::routing::get;

const TITLE: &str = "What's new";
/// The heading after the highlights of a version.
const ALL_CHANGES: &str = "\n### All changes\n";
const CHANGELOG: &str = include_str!("../../../../../CHANGELOG.md");

pub(super) fn router() -> Router<WebState> {
    let show = async move |headers: HeaderMap| {
        public_page::send(&headers, StatusCode::OK, page().into_string())
    };
    Router::new().route(CHANGES_PATH, get(show))
}

pub(in super::super) fn page() -> Markup {
    let side = html! { (search_form("")) (guides::contents(CHANGES_PATH)) };
    let main = html! {
        h1 { (TITLE) }
        p.lead { "This installation runs version " (env!("CARGO_PKG_VERSION")) "." }
        @for (version, text) in versions(CHANGELOG) {
            section.guide.changes {
                h2 { "Version " (number(version)) }
                @match text.split_once(ALL_CHANGES) {
                    Some((highlights, all)) => {
                        (markdown::render(highlights))
                        details { summary { "All changes, also for operators and developers" } (markdown::render(all)) }
                    }
                    None => (markdown::render(text)),
                }
            }
        }
    };
    PublicPage {
        title: TITLE,
        place: PublicNavItem::Nowhere,
        class: "docs guides",
        side: Some(side),
        scripts: &[],
        main,
    }
    .render()
}

/// The number of a version, without the note behind it.
fn number(version: &str) -> &str {
    version.split(' ').next().unwrap_or(version)
}

/// The versions of a changelog, each with its text, in the order of the file.
fn versions(changelog: &str) -> impl Iterator<Item = (&str, &str)> {
    let sections = changelog.split("\n## ").skip(1);
    sections.map(|it| it.split_once('\n').unwrap_or((it, "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_its_own_text() {
        let text = "# Changelog\n\n## 1.1.0\n\n- New.\n\n## 1.0.0\n\n- Old.\n";
        let found: Vec<(&str, &str)> = versions(text).collect();
        assert_eq!(found, [("1.1.0", "\n- New.\n"), ("1.0.0", "\n- Old.\n")]);
    }

    #[test]
    fn the_changelog_begins_with_the_version_of_the_program() {
        let (version, text) = versions(CHANGELOG).next().unwrap();
        assert!(version.starts_with(env!("CARGO_PKG_VERSION")), "{version}");
        assert_eq!(number(version), env!("CARGO_PKG_VERSION"));
        let (highlights, all) = text.split_once(ALL_CHANGES).unwrap();
        assert!(highlights.len() > 100 && all.len() > highlights.len());
    }
}
