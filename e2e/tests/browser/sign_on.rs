//! Single sign-on with a certified provider (`oidc-provider`), as a person sees it. `cargo xtask test` installs the
//! provider together with the SDKs for assistants.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use e2e::{Browser, Program};

use crate::assistants::{installed, script};

/// A running provider. It ends with this value.
struct Provider {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    issuer: String,
}

impl Provider {
    fn start() -> Provider {
        let modules = installed("node/node_modules");
        let mut command = Command::new(modules.join(".bin/node"));
        command.arg(script("openid_provider.mjs")).arg(&modules).stderr(Stdio::null());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().expect("the provider prints its port").unwrap();
        Provider { child, lines, issuer: format!("http://localhost:{port}") }
    }

    /// Registers the installation, whose ID tokens are signed with this algorithm from now on.
    fn serve(&mut self, origin: &str, algorithm: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{origin} {algorithm}").unwrap();
        assert_eq!(self.lines.next().expect("the provider is ready").unwrap(), "READY");
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An installation that the provider's admins can use without a setup code.
fn installation(provider: &Provider) -> Program {
    installation_with(provider, ("EVENKEEL_SIGN_IN__PASSWORD", "false"))
}

fn installation_with(provider: &Provider, setting: (&str, &str)) -> Program {
    Program::serve_with(&[
        setting,
        ("EVENKEEL_OIDC__HOUSE__ISSUER", &provider.issuer),
        ("EVENKEEL_OIDC__HOUSE__CLIENT_ID", "evenkeel"),
        ("EVENKEEL_OIDC__HOUSE__CLIENT_SECRET", "a secret: with + and %"),
        ("EVENKEEL_OIDC__HOUSE__SCOPES", "openid, email, profile, groups"),
        ("EVENKEEL_OIDC__HOUSE__LABEL", "Lighthouse"),
        ("EVENKEEL_OIDC__HOUSE__ADMIN_GROUPS", "admins"),
    ])
}

/// Signs in at the provider, whose page is shown.
fn enter(browser: &Browser, name: &str) {
    browser.sees("The house");
    browser.fill("Name", name);
    browser.press("Enter the house");
}

#[test]
fn a_certified_provider_signs_people_in_with_each_algorithm() {
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let mut provider = Provider::start();
        let program = installation(&provider);
        provider.serve(program.origin(), algorithm);
        let browser = Browser::start(program.origin());
        browser.go("/setup");
        browser.follow("Sign in with Lighthouse");
        enter(&browser, "robin");
        browser.arrive("/");
        browser.go("/settings/people");
        browser.sees("Create invitation");

        browser.press("Sign out");
        browser.arrive("/sign-in");
        browser.assert_accessible();
        // The provider remembers the person, so signing in again takes one click.
        browser.go("/sign-in?next=/settings/security");
        browser.follow("Sign in with Lighthouse");
        browser.arrive("/settings/security");
        browser.sees("robin@example.com");
        browser.assert_accessible();
    }
}

#[test]
fn a_certified_provider_confirms_anew_and_strangers_stay_out() {
    let mut provider = Provider::start();
    let program = installation(&provider);
    provider.serve(program.origin(), "ES256");
    let browser = Browser::start(program.origin());
    browser.go("/sign-on/house");
    enter(&browser, "robin");
    browser.arrive("/");

    browser.go("/sign-on/house/confirm?next=/settings/security");
    enter(&browser, "robin");
    browser.arrive("/settings/security");
    browser.sees("Confirmed.");
    browser.press("Unlink Lighthouse");
    browser.sees("This is your only way to sign in");

    browser.forget_cookies();
    browser.go("/sign-on/house");
    enter(&browser, "lee");
    browser.sees("No account here belongs to this Lighthouse sign-in");
    assert!(browser.path().starts_with("/sign-on/house/callback?"), "{}", browser.path());
}

/// The forged tokens, which no certified provider gives, are in the tests of `service`.
#[test]
fn an_unverified_email_takes_over_no_account_and_an_answer_works_once() {
    let mut provider = Provider::start();
    let program =
        installation_with(&provider, ("EVENKEEL_OIDC__HOUSE__LINK_VERIFIED_EMAIL", "true"));
    provider.serve(program.origin(), "RS256");
    let browser = Browser::start(program.origin());
    browser.go("/sign-on/house");
    enter(&browser, "robin");
    browser.arrive("/");

    browser.forget_cookies();
    browser.go("/sign-on/house");
    enter(&browser, "mallory");
    browser.sees("No account here belongs to this Lighthouse sign-in");
    let answer = browser.path();
    assert!(answer.contains("code=") && answer.contains("state="), "{answer}");
    browser.go(&answer);
    browser.sees("already used");
    browser.go("/settings/security");
    assert!(browser.path().starts_with("/sign-in"), "{}", browser.path());
}
