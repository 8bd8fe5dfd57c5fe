//! Pages that no link leads to, because they appear only after some action.

use std::fs;

use serde_json::json;

use crate::bank::{self, Month};
use crate::empty_pages;
use crate::input::key;
use crate::{Browser, Program};

pub const PASSWORD: &str = "a long walk along the quay";

/// The smallest file that is recognized as a PDF.
pub const RECEIPT: &[u8] =
    b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n";

/// Opens each of these pages once, and calls `show` with its name.
#[track_caller]
pub fn each(mut show: impl FnMut(&str, &Browser)) {
    first_run(&mut show);
    open_sign_up(&mut show);
    second_step(&mut show);
    new_key_and_consent(&mut show);
    files(&mut show);
    transactions(&mut show);
    dialogs(&mut show);
    payments(&mut show);
    portal(&mut show);
}

/// The setup code that the server has printed, such as `k7wq-3m2x-9d4h`.
pub fn setup_code(program: &Program) -> String {
    crate::until("the setup code is printed", || {
        let log = program.log();
        let code = log.lines().find_map(|it| it.split_once("enter the setup code "))?.1;
        Some(code.to_owned())
    })
}

fn first_run(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.go("/setup");
    show("setup", &browser);
    browser.set_up("aaaa-aaaa-aaaa");
    browser.sees("not the setup code");
    show("setup-refused", &browser);
    browser.set_up(&setup_code(&program));
    browser.arrive("/");
    show("empty-overview", &browser);
    empty_pages::each(&browser, show);

    browser.go("/settings/people");
    browser.fill("Their email", "ash@example.com");
    browser.press("Create invitation");
    browser.sees("/invite/");
    show("invited", &browser);
    let text = browser.text();
    let (_, token) = text.split_once("/invite/").expect("the link is shown");
    let token = token.split_whitespace().next().unwrap_or_default();
    browser.forget_cookies();
    browser.go(&format!("/invite/{token}"));
    show("invitation", &browser);
}

fn open_sign_up(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::serve_with(&[("EVENKEEL_SIGN_UP__OPEN", "true")]);
    let browser = Browser::start(program.origin());
    browser.go("/setup");
    browser.set_up(&setup_code(&program));
    browser.arrive("/");
    browser.forget_cookies();
    browser.go("/sign-up");
    show("sign-up", &browser);
}

fn second_step(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.with_passkey_device();
    browser.sign_in(&program);
    browser.go("/settings/security");
    browser.fill("Passkey name", "This laptop");
    browser.press("Add passkey");
    browser.sees("This laptop");
    browser.press("Turn on");
    browser.sees("Two-step sign-in is on");
    browser.press("Create recovery codes");
    browser.sees("Your new recovery codes");
    show("recovery-codes", &browser);
    browser.forget_cookies();
    // Without this, the page would use the device at once.
    browser.before_pages("delete window.PublicKeyCredential");
    browser.go("/sign-in");
    browser.fill("Email", program.fact("email"));
    browser.fill("Password", program.fact("password"));
    browser.press("Sign in");
    browser.sees("Use a recovery code instead");
    show("second-step", &browser);
}

fn new_key_and_consent(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    browser.go("/settings/keys");
    browser.fill("Name", "Laptop");
    browser.press("Create key");
    browser.sees("curl");
    show("new-key", &browser);

    let about = json!({
        "client_name": "Ledger reader",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
    });
    let kind = [("Content-Type", "application/json")];
    let made = program.send("POST", "/oauth/register", &kind, &about.to_string()).json();
    let client = made["client_id"].as_str().unwrap_or_default();
    let scopes = "accounts%3Aread%20transactions%3Aread%20paper%3Atrade&state=here";
    let authorize = |redirect: &str| {
        browser.go(&format!(
            "/oauth/authorize?response_type=code&client_id={client}&redirect_uri={redirect}\
             &scope={scopes}&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM\
             &code_challenge_method=S256"
        ));
    };
    authorize("http%3A%2F%2F127.0.0.1%3A4000%2Fcallback");
    browser.sees("Ledger reader");
    show("consent", &browser);
    authorize("https%3A%2F%2Felsewhere.example%2Fcallback");
    show("consent-refused", &browser);
}

/// Dropped files in each of their states.
fn files(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::serve();
    let browser = Browser::start(program.origin());
    browser.go("/setup");
    browser.set_up(&setup_code(&program));
    browser.arrive("/");
    let now = Month::of(&browser);
    let unreadable = ("holiday.jpg", "not a statement at all".to_owned());
    browser.go("/import");
    browser.drop_files(&[bank::ofx(now), bank::checking(now), bank::ambiguous_table(), unreadable]);
    browser.sees("4 files ready to review");
    show("import-waiting", &browser);
    // `show` may leave a menu open, so each scene begins with a fresh page.
    let open = |name: &str| {
        browser.go("/import");
        browser.follow(name);
    };
    open("statement.ofx");
    browser.sees("40 new");
    show("import-preview", &browser);
    open("statement.ofx");
    browser.press("Import 40 new transactions");
    browser.sees("40 new transactions imported");
    show("import-done", &browser);
    open("Chase1234_Activity.csv");
    show("import-unclear", &browser);
    open("Chase1234_Activity.csv");
    browser.choose("Account for Chase", "Checking ...1234");
    browser.sees("Nothing new in this file");
    show("import-nothing-new", &browser);
    open("little-bank.csv");
    browser.sees("What date is");
    show("import-questions", &browser);
    open("little-bank.csv");
    browser.choose("Amount", "Not in this file");
    browser.sees("Choose the column with the amount");
    show("import-columns", &browser);
    open("holiday.jpg");
    show("import-unreadable", &browser);
}

/// Pages on which a person changes transactions: a selection, an edit to undo, a saved filter, a split, a file and a rule.
fn transactions(show: &mut impl FnMut(&str, &Browser)) {
    const SEARCH: &str = "/transactions?q=netflix&status=posted";
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    let open = || {
        browser.go(SEARCH);
        browser.follow("Netflix");
        browser.sees("Bank description");
    };
    browser.go(SEARCH);
    browser.click(&browser.field("Select all on this page"));
    browser.press("More changes");
    show("selection", &browser);
    browser.go(SEARCH);
    browser.click(&browser.field("Select Netflix"));
    browser.choose("Set category", "Gifts");
    browser.press("Apply to selected");
    browser.sees("1 transaction set to Gifts.");
    show("selection-changed", &browser);
    browser.go(SEARCH);
    browser.follow("Recent edits");
    show("recent-edits", &browser);

    browser.go(SEARCH);
    browser.press("Save this filter");
    browser.fill("Name of this filter", "Films");
    browser.press("Save filter");
    browser.sees("Filter “Films” saved.");
    show("filter-saved", &browser);
    browser.go("/transactions");
    browser.follow("Films");
    browser.follow("Manage filters");
    show("filters", &browser);

    open();
    browser.follow("Split over categories");
    browser.fill("Amount of part 1", "5.00");
    browser.choose("Category of part 1", "Groceries");
    browser.choose("Category of part 2", "Gifts");
    show("split", &browser);
    open();
    let folder = tempfile::tempdir().expect("a folder is made");
    let receipt = folder.path().join("receipt.pdf");
    fs::write(&receipt, RECEIPT).expect("the file is written");
    browser.attach("Picture or PDF", &[&receipt]);
    browser.press("Attach file");
    browser.sees("File attached.");
    show("attachment", &browser);
    open();
    browser.follow("Make a rule");
    browser.fill("Rename to", "Evening films");
    browser.press("Preview changes");
    browser.sees("renamed to Evening films");
    show("rule-preview", &browser);
}

/// The side panel, the search dialog with results, the help sheet, and the page for an unknown address.
fn dialogs(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    browser.go("/transactions?q=netflix");
    browser.follow("Netflix");
    browser.sees("Bank description");
    show("panel", &browser);
    browser.go("/");
    browser.chord(key::CONTROL, 'k');
    browser.keys("netflix");
    browser.sees("All matching transactions");
    show("search-dialog", &browser);
    browser.go("/");
    browser.keys("?");
    browser.sees("Keyboard shortcuts");
    show("help-sheet", &browser);
    browser.go("/nowhere");
    show("not-found", &browser);
}

/// A recurring payment that another one was merged into.
fn payments(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.sign_in(&program);
    browser.go("/recurring");
    browser.follow("Netflix");
    browser.choose("Merge into", "Adobe (Freedom Unlimited)");
    browser.press("Merge payments");
    browser.sees("Merged into this payment:");
    show("merged-payments", &browser);
}

/// The webhook portal, as a developer without an account here sees it.
fn portal(show: &mut impl FnMut(&str, &Browser)) {
    let program = Program::demo();
    let key = program.fact("api_key");
    let bearer = format!("Bearer {key}");
    let post = |path: &str, body: &str| {
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        program.send("POST", path, &headers, body).json()
    };
    // Nothing listens there, so the portal shows a failed delivery.
    let made = post("/v1/webhooks/endpoints", r#"{"url": "https://localhost:1/hooks"}"#);
    let id = made["data"]["id"].as_str().expect("an endpoint is created").to_owned();
    post(&format!("/v1/webhooks/endpoints/{id}/test"), r#"{"event_type": "transaction.created"}"#);
    let link = program.get("/v1/webhooks/portal", key).json();
    let browser = Browser::start(program.origin());
    browser.go(link["data"]["url"].as_str().expect("a link is created"));
    show("portal-door", &browser);
    browser.press("Open portal");
    browser.sees("Endpoints of the API key");
    show("portal", &browser);
    for (path, name) in [
        (format!("/{id}"), "endpoint"),
        ("/attempts".to_owned(), "attempts"),
        ("/failed".to_owned(), "failed"),
    ] {
        browser.go(&format!("/portal/webhooks{path}"));
        show(&format!("portal-{name}"), &browser);
    }
}
