//! Which pages there are: those we know of, and those that they lead to.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{Browser, Program, scenes};

/// What everyone can open.
pub const OPEN: [&str; 5] =
    ["/docs/start", "/docs", "/docs/errors", "/docs/errors/not-found", "/sign-in"];

/// Where a person who is signed in begins; links lead to the rest.
pub const OWN: [&str; 1] = ["/"];

/// Where links to other pages of ours lead, without what is below a page or is a file.
const LINKS: &str = r#"
return [...document.querySelectorAll("a[href]")]
    .filter(it => it.origin === location.origin && !it.download)
    .map(it => it.pathname);
"#;

/// Nobody reads a page of these: they are answers and files.
const NO_PAGES: [&str; 7] = [".csv", ".json", ".zip", "/healthz", "/readyz", "/v1/", "/assets/"];

/// One page of each kind, from these on, by every link that the pages have. Unless one begins with
/// the documents, they are left out: they are the same for everyone.
#[track_caller]
pub fn walk(browser: &Browser, from: &[&str]) -> Vec<String> {
    let with_documents = from.iter().any(|it| it.starts_with("/docs"));
    let mut seen = BTreeSet::new();
    let mut open: Vec<String> = from.iter().rev().map(|it| (*it).to_owned()).collect();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        let unwanted = path.starts_with("/docs") && !with_documents;
        if unwanted || NO_PAGES.iter().any(|it| path.contains(it)) || !seen.insert(kind(&path)) {
            continue;
        }
        browser.go(&path);
        let links = browser.script(LINKS, json!([]));
        let links = links.as_array().map_or(&[][..], Vec::as_slice);
        open.extend(links.iter().filter_map(|it| it.as_str().map(str::to_owned)));
        found.push(path);
    }
    found
}

/// Pages about one thing each differ by its id alone.
pub fn kind(path: &str) -> String {
    let is_id = |it: &str| it.len() > 12 && it.chars().any(|one| one.is_ascii_digit());
    let parts = path.split('/').map(|it| if is_id(it) { "one" } else { it });
    let kind = parts.collect::<Vec<_>>().join("/");
    match kind.strip_prefix("/docs/errors/") {
        Some(_) => "/docs/errors/one".to_owned(),
        None => kind,
    }
}

impl Browser {
    /// Tries to become the first person, from the page that asks for it.
    #[track_caller]
    pub fn set_up(&self, code: &str) {
        self.fill("Setup code", code);
        self.fill("Email", "kim@example.com");
        self.fill("Password", scenes::PASSWORD);
        self.fill("Your name", "Kim");
        self.press("Create account");
    }

    /// Goes in as the demo's person.
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
    fn pages_about_one_thing_are_of_one_kind() {
        let one = kind("/accounts/acc_01890a5d-ac96-774b-bcce-b302099a8057");
        assert_eq!(one, kind("/accounts/acc_0190163d-8694-739b-aea5-966c26f8ad91"));
        assert_ne!(one, kind("/transactions/txn_01890a5d-ac96-774b-bcce-b302099a8057"));
        assert_ne!(kind("/settings/keys"), kind("/settings/connected-apps"));
        assert_eq!(kind("/docs/errors/not-found"), kind("/docs/errors/rate-limited"));
    }
}
