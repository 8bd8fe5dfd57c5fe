//! Renders the security settings page.

use maud::{Markup, html};
use service::access::oidc::{LinkedIdentity, ProviderSettings};
use service::access::passkeys::{Passkey, RelyingParty};
use service::access::passwords;
use service::access::sessions::{Method, Session};

use crate::site::fields::{self, Field, FormError};
use crate::site::format::plural;
use crate::site::identity_buttons::passkey_button;
use crate::site::person::Person;
use crate::site::{snippet, urls};

pub(super) struct SecurityPage<'a> {
    pub(super) person: &'a Person,
    pub(super) has_password: bool,
    pub(super) passkeys: Vec<Passkey>,
    pub(super) identities: Vec<LinkedIdentity>,
    pub(super) codes_left: i64,
    pub(super) sessions: Vec<Session>,
    /// Whether the person confirmed their identity recently.
    pub(super) fresh: bool,
    /// The URL of the confirmation page.
    pub(super) confirm: String,
    /// New recovery codes, shown once.
    pub(super) codes: Vec<String>,
    /// The form that failed, and its error.
    pub(super) wrong: Option<(&'static str, FormError)>,
}

impl SecurityPage<'_> {
    pub(super) fn show(&self) -> Markup {
        html! {
            (self.new_codes())
            (self.passkey_section())
            (self.sign_on_section())
            (self.second_step_section())
            div.columns {
                @if self.person.app().password_sign_in { (self.password_section()) }
                (self.email_section())
            }
            (self.session_section())
            (self.leaving_section())
        }
    }

    fn wrong_of(&self, form: &str) -> Markup {
        match &self.wrong {
            Some((at, wrong)) if *at == form => wrong.summary(),
            _ => html! {},
        }
    }

    fn form(&self, action: &str, body: Markup) -> Markup {
        fields::form(action, &self.person.form_token, body)
    }

    fn password_field(&self, label: &str, form: &str) -> Markup {
        let field = Field::text("password", label, "").autocomplete("current-password");
        let field = field.of_form(form);
        html! {
            @if self.has_password { (field.kind("password").show(&FormError::default())) }
        }
    }

    /// Shown in place of a form that needs confirmation first.
    fn confirm_first(&self) -> Markup {
        html! { p { a.button.outlined href=(self.confirm) { "Confirm it's you to change this" } } }
    }

    /// A form with a password field. A person without a password confirms first.
    fn proved_by_password(&self, action: &str, body: Markup) -> Markup {
        if self.has_password || self.fresh { self.form(action, body) } else { self.confirm_first() }
    }

    fn new_codes(&self) -> Markup {
        let text = self.codes.join("\n");
        // A file without a request, so that the codes are sent only once.
        let file = format!("data:text/plain;charset=utf-8,{}", urls::encode(&text));
        html! {
            @if !self.codes.is_empty() {
                section.card aria-labelledby="codes" {
                    h2 id="codes" { "Your new recovery codes" }
                    p {
                        "Save these codes somewhere safe, away from this device. Each works once in place of your \
                         passkey. You won't see them again, and your old codes no longer work."
                    }
                    (snippet::text("Recovery codes", &text))
                    p {
                        a.button.outlined download="evenkeel-recovery-codes.txt" href=(file) { "Download" }
                    }
                }
            }
        }
    }

    fn passkey_section(&self) -> Markup {
        let now = self.person.app().clock.now();
        html! {
            section.card aria-labelledby="passkeys" {
                h2 id="passkeys" { "Passkeys" }
                p.soft {
                    "A passkey is stored on your device and unlocked with your fingerprint, face or device PIN. It \
                     can't be guessed or phished."
                }
                (self.wrong_of("passkeys"))
                ul.rows {
                    @for passkey in &self.passkeys {
                        li {
                            span.what {
                                (passkey.name)
                                span.soft {
                                    "Added " (self.person.view.time_ago(passkey.created_at, now)) ", "
                                    @match passkey.last_used_at {
                                        Some(at) => { "last used " (self.person.view.time_ago(at, now)) },
                                        None => { "never used" },
                                    }
                                }
                                (self.rename(passkey))
                            }
                            @if self.fresh { (self.remove(passkey)) }
                        }
                    }
                }
                @if !self.fresh { (self.confirm_first()) } @else { (self.add()) }
            }
        }
    }

    fn rename(&self, passkey: &Passkey) -> Markup {
        let id = format!("name-{}", passkey.id);
        let body = html! {
            label.hush for=(id) { "New name for " (passkey.name) }
            input id=(id) name="name" type="text" value=(passkey.name) maxlength="80" required;
            button.quiet type="submit" { "Save name" }
        };
        let action = format!("/settings/security/passkeys/{}/rename", passkey.id);
        html! { details { summary { "Rename" } (self.form(&action, body)) } }
    }

    fn remove(&self, passkey: &Passkey) -> Markup {
        let action = format!("/settings/security/passkeys/{}/remove", passkey.id);
        let label = html! { "Remove passkey" span.hush { " " (passkey.name) } };
        self.form(&action, html! { button.danger type="submit" { (label) } })
    }

    fn add(&self) -> Markup {
        let token = &self.person.form_token;
        html! {
            @match RelyingParty::from_url(self.person.public_url()) {
                Err(reason) => p.warning { (reason) },
                Ok(party) => {
                    div.field {
                        label for="passkey-name" { "Passkey name" }
                        input id="passkey-name" type="text" maxlength="80" autocomplete="off"
                            placeholder="My phone" data-passkey-name;
                    }
                    (passkey_button(&party, "register", "Add passkey", token, "/settings/security"))
                }
            }
        }
    }

    /// Providers of single sign-on, and identities of providers that the installation no longer has.
    fn sign_on_section(&self) -> Markup {
        let providers: Vec<&ProviderSettings> =
            self.person.app().single_sign_on.providers().collect();
        let is_gone = |it: &&LinkedIdentity| providers.iter().all(|one| one.issuer != it.issuer);
        let gone: Vec<&LinkedIdentity> = self.identities.iter().filter(is_gone).collect();
        html! {
            @if !providers.is_empty() || !gone.is_empty() {
                section.card aria-labelledby="sign-on" {
                    h2 id="sign-on" { "Single sign-on" }
                    p.soft { "Sign in here with an account that you have elsewhere." }
                    (self.wrong_of("sign-on"))
                    ul.rows {
                        @for provider in providers {
                            @match self.identities.iter().find(|it| it.issuer == provider.issuer) {
                                Some(identity) => (self.identity(&provider.label, identity)),
                                None => (self.unlinked_provider(provider)),
                            }
                        }
                        @for identity in gone { (self.identity(&identity.issuer, identity)) }
                    }
                    @if !self.fresh { (self.confirm_first()) }
                }
            }
        }
    }

    fn identity(&self, label: &str, identity: &LinkedIdentity) -> Markup {
        let now = self.person.app().clock.now();
        let body = html! {
            input type="hidden" name="issuer" value=(identity.issuer);
            button.danger type="submit" { "Unlink" span.hush { " " (label) } }
        };
        html! {
            li {
                span.what {
                    (label)
                    span.soft {
                        @if let Some(email) = &identity.email { (email) ", " }
                        @match identity.last_used_at {
                            Some(at) => { "last used " (self.person.view.time_ago(at, now)) },
                            None => { "never used" },
                        }
                    }
                }
                @if self.fresh { (self.form("/settings/security/sign-on/unlink", body)) }
            }
        }
    }

    fn unlinked_provider(&self, provider: &ProviderSettings) -> Markup {
        let action = format!("/settings/security/sign-on/{}/link", provider.name);
        let label = html! { "Link" span.hush { " " (provider.label) } };
        html! {
            li {
                span.what { (provider.label) span.soft { "Not linked" } }
                @if self.fresh {
                    (self.form(&action, html! { button.outlined type="submit" { (label) } }))
                }
            }
        }
    }

    fn second_step_section(&self) -> Markup {
        let on = self.person.user.second_step;
        let switch = html! {
            input type="hidden" name="on" value=(if on { "0" } else { "1" });
            button type="submit" { (if on { "Turn off" } else { "Turn on" }) }
        };
        html! {
            section.card aria-labelledby="second" {
                h2 id="second" { "Two-step sign-in" }
                p {
                    @if on { "On. After your password or single sign-on, you use your passkey." }
                    @else { "Off. You sign in with your password or single sign-on only." }
                }
                (self.wrong_of("second-step"))
                (self.wrong_of("codes"))
                p.soft {
                    "Use a recovery code if you lose your passkey. You have "
                    (plural(self.codes_left, "unused code", "unused codes")) "."
                }
                @if !self.fresh { (self.confirm_first()) } @else {
                    @if on || !self.passkeys.is_empty() {
                        (self.form("/settings/security/second-step", switch))
                    } @else {
                        p.soft { "Add a passkey first to turn this on." }
                    }
                    (fields::button("/settings/security/recovery-codes", &self.person.form_token,
                        "Create recovery codes", "outlined"))
                }
            }
        }
    }

    fn password_section(&self) -> Markup {
        let hint = format!("At least {} characters.", passwords::LENGTH_MIN);
        let new = Field::text("new_password", "New password", "").autocomplete("new-password");
        let body = html! {
            (self.password_field("Current password", "change-"))
            (new.kind("password").hint(&hint).show(&FormError::default()))
            button type="submit" { "Change password" }
        };
        html! {
            section.card aria-labelledby="password" {
                h2 id="password" { "Password" }
                (self.wrong_of("password"))
                (self.proved_by_password("/settings/security/password", body))
            }
        }
    }

    fn email_section(&self) -> Markup {
        let email = Field::text("email", "Email", &self.person.user.email).autocomplete("email");
        let body = html! {
            (email.kind("email").show(&FormError::default()))
            (self.password_field("Password", "email-"))
            button type="submit" { "Change email" }
        };
        html! {
            section.card aria-labelledby="email" {
                h2 id="email" { "Email" }
                p.soft { (self.security_emails()) }
                (self.wrong_of("email"))
                (self.proved_by_password("/settings/security/email", body))
            }
        }
    }

    /// Says whether security notices reach the person.
    fn security_emails(&self) -> &'static str {
        match self.person.app().sends_mail() {
            true => "We email you when your password, email, passkeys or two-step sign-in change.",
            false => {
                "This server doesn't send email, so you won't get security notices or password reset links."
            }
        }
    }

    fn session_section(&self) -> Markup {
        let (now, token) = (self.person.app().clock.now(), &self.person.form_token);
        html! {
            section.card aria-labelledby="sessions" {
                h2 id="sessions" { "Active sessions" }
                ul.rows {
                    @for session in &self.sessions {
                        @let here = session.id == self.person.session.id;
                        li {
                            span.what {
                                (device(session.agent.as_deref()))
                                @if here { " " span.badge.good { "This device" } }
                                span.soft {
                                    (address_of(session)) ", signed in with " (method(session.method)) ", active " (self.person.view.time_ago(session.seen_at, now))
                                }
                            }
                            @if !here {
                                (fields::button(
                                    &format!("/settings/security/sessions/{}/revoke", session.id),
                                    token, "Sign out", "outlined"))
                            }
                        }
                    }
                }
                @if self.sessions.len() > 1 {
                    (fields::button("/settings/security/sessions/revoke-others", token,
                        "Sign out all other devices", "outlined"))
                }
            }
        }
    }

    fn leaving_section(&self) -> Markup {
        let body = html! {
            (self.password_field("Password", "leave-"))
            (fields::check("sure", "1", "Permanently delete my account and all my data", false))
            button.danger type="submit" { "Delete account" }
        };
        html! {
            section.card aria-labelledby="leaving" {
                h2 id="leaving" { "Delete account" }
                p.soft {
                    "This permanently deletes your account, your data, API keys and app access. Download your data \
                     first if you want to keep it."
                }
                (self.wrong_of("delete"))
                (self.proved_by_password("/settings/security/delete", body))
            }
        }
    }
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Password => "password",
        Method::Passkey => "passkey",
        Method::PasswordAndPasskey => "password and passkey",
        Method::PasswordAndRecoveryCode => "password and recovery code",
        Method::SetupCode => "setup code",
        Method::Invitation => "invitation",
        Method::SignUp => "sign-up",
        Method::SingleSignOn => "single sign-on",
        Method::SingleSignOnAndPasskey => "single sign-on and passkey",
        Method::SingleSignOnAndRecoveryCode => "single sign-on and recovery code",
    }
}

fn address_of(session: &Session) -> &str {
    session.address.as_deref().unwrap_or("Unknown address")
}

/// The name of a browser and system, from the user agent.
fn device(agent: Option<&str>) -> String {
    let Some(agent) = agent else { return "Unknown browser".to_owned() };
    let find = |words: &[(&str, &'static str)]| {
        words.iter().find(|(sign, _)| agent.contains(sign)).map(|(_, name)| *name)
    };
    let browser = find(&[
        ("Firefox/", "Firefox"),
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = find(&[
        ("iPhone", "an iPhone"),
        ("iPad", "an iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS", "a Mac"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        _ => agent.chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_named_as_people_call_it() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
                "Safari on an iPhone",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
                "Edge on Windows",
            ),
            ("curl/8.5.0", "curl/8.5.0"),
        ] {
            assert_eq!(device(Some(agent)), name);
        }
        assert_eq!(device(None), "Unknown browser");
    }
}
