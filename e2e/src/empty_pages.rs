//! The pages that a new person sees without data.

use crate::Browser;

const PATHS: [&str; 14] = [
    "accounts",
    "transactions",
    "spending",
    "recurring",
    "income",
    "investments",
    "goals",
    "scores",
    "benefits",
    "approvals",
    "paper",
    "connections",
    "import",
    "settings/rules",
];

/// Opens each of these pages for a person who has just set up a fresh installation.
#[track_caller]
pub(crate) fn each(browser: &Browser, show: &mut impl FnMut(&str, &Browser)) {
    for path in PATHS {
        browser.go(&format!("/{path}"));
        show(&format!("empty-{}", path.replace('/', "-")), browser);
    }
}
