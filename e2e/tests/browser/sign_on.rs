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
        self.serve_as("house", origin, algorithm);
    }

    /// The same for an installation that calls this provider by another name.
    fn serve_as(&mut self, name: &str, origin: &str, algorithm: &str) {
        self.command(&format!("serve {origin} {name} {algorithm}"));
    }

    /// Changes the answers of the provider from now on. `openid_provider.mjs` lists the attacks.
    fn attack(&mut self, attack: &str) {
        self.command(&format!("attack {attack}"));
    }

    fn command(&mut self, command: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{command}").unwrap();
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
    installation_with(provider, &[("EVENKEEL_SIGN_IN__PASSWORD", "false")])
}

fn installation_with(provider: &Provider, more: &[(&str, &str)]) -> Program {
    let mut settings = vec![
        ("EVENKEEL_OIDC__HOUSE__ISSUER", provider.issuer.as_str()),
        ("EVENKEEL_OIDC__HOUSE__CLIENT_ID", "evenkeel"),
        ("EVENKEEL_OIDC__HOUSE__CLIENT_SECRET", "a secret: with + and %"),
        ("EVENKEEL_OIDC__HOUSE__SCOPES", "openid, email, profile, groups"),
        ("EVENKEEL_OIDC__HOUSE__LABEL", "Lighthouse"),
        ("EVENKEEL_OIDC__HOUSE__ADMIN_GROUPS", "admins"),
    ];
    settings.extend(more);
    Program::serve_with(&settings)
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

#[test]
fn an_unverified_email_takes_over_no_account_and_an_answer_works_once() {
    let mut provider = Provider::start();
    let program =
        installation_with(&provider, &[("EVENKEEL_OIDC__HOUSE__LINK_VERIFIED_EMAIL", "true")]);
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

/// Signs in with a browser that nobody has used, up to the answer of the installation.
fn sign_in_anew(browser: &Browser, name: &str) {
    browser.forget_cookies();
    browser.go("/sign-on/house");
    enter(browser, name);
}

fn assert_signed_out(browser: &Browser) {
    browser.go("/settings/security");
    let path = browser.path();
    // An installation without accounts asks for the setup code instead.
    assert!(path.starts_with("/sign-in") || path == "/setup", "{path}");
}

/// More forgeries are in the tests of `service`, whose provider is not a certified one.
#[test]
fn a_changed_id_token_of_a_certified_provider_signs_nobody_in() {
    let mut provider = Provider::start();
    let program = installation(&provider);
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        provider.serve(program.origin(), algorithm);
        let browser = Browser::start(program.origin());
        for (attack, reason) in [
            ("alg-none", "the ID token is not signed with RS256, ES256 or EdDSA"),
            ("audience", "the ID token is for another application"),
        ] {
            provider.attack(attack);
            sign_in_anew(&browser, "robin");
            browser.sees(reason);
            assert_signed_out(&browser);
        }
        provider.attack("resign");
        sign_in_anew(&browser, "robin");
        browser.arrive("/");
    }
}

#[test]
fn a_code_is_worthless_under_another_state() {
    let mut provider = Provider::start();
    let program = installation(&provider);
    provider.serve(program.origin(), "RS256");
    let browser = Browser::start(program.origin());
    provider.attack("keep-code");
    sign_in_anew(&browser, "robin");
    browser.sees("The code is kept");

    provider.attack("inject-code");
    sign_in_anew(&browser, "mallory");
    browser.sees("the provider refused the code with invalid_grant");
    assert_signed_out(&browser);
}

#[test]
fn a_provider_cannot_pass_off_its_answers_as_those_of_another() {
    let (mut house, mut harbor) = (Provider::start(), Provider::start());
    let issuer = harbor.issuer.clone();
    let second = [
        ("EVENKEEL_OIDC__HARBOR__ISSUER", issuer.as_str()),
        ("EVENKEEL_OIDC__HARBOR__CLIENT_ID", "evenkeel"),
        ("EVENKEEL_OIDC__HARBOR__CLIENT_SECRET", "a secret: with + and %"),
        ("EVENKEEL_OIDC__HARBOR__SCOPES", "openid, email, profile, groups"),
        ("EVENKEEL_OIDC__HARBOR__ADMIN_GROUPS", "admins"),
    ];
    let program = installation_with(&house, &second);
    house.serve(program.origin(), "RS256");
    harbor.serve_as("harbor", program.origin(), "RS256");
    let browser = Browser::start(program.origin());
    for (attack, reason) in [
        // The person signs in at the house, with the state of a sign-in that began at the harbor.
        ("mix-up", "took too long or was already used"),
        ("foreign-issuer", "the answer comes from another provider"),
    ] {
        harbor.attack(&format!("{attack} {}", house.issuer));
        browser.forget_cookies();
        browser.go("/sign-on/harbor");
        enter(&browser, "robin");
        browser.sees(reason);
        assert_signed_out(&browser);
    }
    harbor.attack("");
    browser.forget_cookies();
    browser.go("/sign-on/harbor");
    enter(&browser, "robin");
    browser.arrive("/");
}
