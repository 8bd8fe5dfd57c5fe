//! Finds the pages of the program: the known ones, and all that they link to.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{Browser, Program, scenes};

/// Pages that everyone can open.
pub const PUBLIC: [&str; 7] = [
    "/docs/start",
    "/docs",
    "/docs/errors",
    "/docs/errors/not-found",
    "/docs/search?q=webhook",
    "/sign-in",
    "/offline",
];

/// The start page of a signed-in person; links lead to the rest. Links are followed without their query, so pages that
/// show something else because of it are listed here.
pub const SIGNED_IN: [&str; 10] = [
    "/",
    "/approvals?show=history",
    "/recurring?view=calendar",
    "/recurring?show=ended",
    "/spending?by=merchant",
    "/spending?period=last_quarter&compare=year",
    "/spending?period=days&from=2026-01-31&to=2026-01-01",
    "/spending?category=FOOD_AND_DRINK",
    "/transactions?q=netflix&status=posted&direction=out&sort=largest",
    "/search?q=netflix",
];

/// The paths of links to other pages of the program, without downloads.
const LINKS: &str = r#"
return [...document.querySelectorAll("a[href]")]
    .filter(it => it.origin === location.origin && !it.download)
    .map(it => it.pathname);
"#;

/// Parts of paths that are no pages, but files or API responses.
const NOT_PAGES: [&str; 7] = [".csv", ".json", ".zip", "/healthz", "/readyz", "/v1/", "/assets/"];

/// One page of each kind that links lead to, starting from these.
#[track_caller]
pub fn walk(browser: &Browser, from: &[&str]) -> Vec<String> {
    walk_with(browser, from, |_| {})
}

/// The same, and visits each page while it is open. The documentation is left out unless a start page belongs to it,
/// because it is the same for everyone.
#[track_caller]
pub fn walk_with(browser: &Browser, from: &[&str], mut visit: impl FnMut(&str)) -> Vec<String> {
    let with_docs = from.iter().any(|it| it.starts_with("/docs"));
    let mut seen = BTreeSet::new();
    let mut queue: Vec<String> = from.iter().rev().map(|it| (*it).to_owned()).collect();
    let mut found = Vec::new();
    while let Some(path) = queue.pop() {
        let is_skipped = path.starts_with("/docs") && !with_docs;
        if is_skipped || NOT_PAGES.iter().any(|it| path.contains(it)) || !seen.insert(kind(&path)) {
            continue;
        }
        browser.go(&path);
        let links = browser.script(LINKS, json!([]));
        let links = links.as_array().map_or(&[][..], Vec::as_slice);
        queue.extend(links.iter().filter_map(|it| it.as_str().map(str::to_owned)));
        visit(&path);
        found.push(path);
    }
    found
}

/// The kind of a page: its path without ids, because such pages differ only in the id. Another query is another kind.
pub fn kind(path: &str) -> String {
    if let Some((path, query)) = path.split_once('?') {
        return format!("{}?{query}", kind(path));
    }
    let is_id = |it: &str| it.len() > 12 && it.chars().any(|one| one.is_ascii_digit());
    let parts = path.split('/').map(|it| if is_id(it) { "one" } else { it });
    let kind = parts.collect::<Vec<_>>().join("/");
    match kind.strip_prefix("/docs/errors/") {
        Some(_) => "/docs/errors/one".to_owned(),
        None => kind,
    }
}

/// The template of a page. Pages of one template differ in their texts and in how much of something they show; the
/// reference has a large one for each part of the API.
pub fn template(path: &str) -> String {
    let kind = kind(path);
    if kind.starts_with("/docs/api/") { "/docs/api/one".to_owned() } else { kind }
}

impl Browser {
    /// Fills in and submits the setup page.
    #[track_caller]
    pub fn set_up(&self, code: &str) {
        self.fill("Setup code", code);
        self.fill("Email", "kim@example.com");
        self.fill("Password", scenes::PASSWORD);
        self.fill("Your name", "Kim");
        self.press("Create account");
    }

    /// Signs in as the demo's person.
    #[track_caller]
    pub fn sign_in(&self, program: &Program) {
        self.go("/sign-in");
        self.fill("Email", program.fact("email"));
        self.fill("Password", program.fact("password"));
        self.press("Sign in");
        self.arrive("/");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_differ_only_in_an_id_are_of_one_kind() {
        let one = kind("/accounts/acc_01890a5d-ac96-774b-bcce-b302099a8057");
        assert_eq!(one, kind("/accounts/acc_0190163d-8694-739b-aea5-966c26f8ad91"));
        assert_ne!(one, kind("/transactions/txn_01890a5d-ac96-774b-bcce-b302099a8057"));
        assert_ne!(kind("/settings/keys"), kind("/settings/connected-apps"));
        let days = "/spending?period=days&from=2026-01-31";
        assert_eq!(kind(days), days);
        assert_eq!(kind("/docs/errors/not-found"), kind("/docs/errors/rate-limited"));
    }
}
