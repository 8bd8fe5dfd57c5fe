//! Signing in with a passkey on a virtual device.

use e2e::{Browser, Program};

#[test]
fn a_passkey_created_in_settings_signs_in() {
    let program = Program::demo();
    let browser = Browser::start(program.origin());
    browser.with_passkey_device();
    browser.sign_in(&program);
    browser.go("/settings/security");
    browser.fill("Passkey name", "This laptop");
    browser.press("Add passkey");
    browser.sees("This laptop");

    // The page offers the passkeys of this device, and the virtual device agrees at once.
    browser.forget_cookies();
    browser.go("/sign-in");
    browser.arrive("/");

    // A browser that cannot offer them shows a button.
    browser.forget_cookies();
    browser.before_pages("delete PublicKeyCredential.isConditionalMediationAvailable");
    browser.go("/sign-in");
    browser.press("Sign in with a passkey");
    browser.arrive("/");
    browser.assert_clean();
}
