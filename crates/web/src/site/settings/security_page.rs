//! The security page as it looks: the ways in, the places one is signed in, the way out.

use maud::{Markup, html};
use service::access::passkeys::{Party, Passkey};
use service::access::sessions::{Method, Session};
use service::access::users::PASSWORD_LENGTH_MIN;

use crate::site::auth::passkey_button;
use crate::site::fields::{self, Field, FormError};
use crate::site::format::{plural, time_ago};
use crate::site::person::Person;

pub(super) struct SecurityPage<'a> {
    pub(super) person: &'a Person,
    pub(super) has_password: bool,
    pub(super) passkeys: Vec<Passkey>,
    pub(super) codes_left: i64,
    pub(super) sessions: Vec<Session>,
    /// Whether the person showed lately who they are.
    pub(super) fresh: bool,
    /// Where to show it.
    pub(super) confirm: String,
    /// New recovery codes, to be seen this once.
    pub(super) codes: Vec<String>,
    /// The form that something is wrong with.
    pub(super) wrong: Option<(&'static str, FormError)>,
}

impl SecurityPage<'_> {
    pub(super) fn show(&self) -> Markup {
        html! {
            (self.new_codes())
            (self.passkey_section())
            (self.second_step_section())
            div.columns { (self.password_section()) (self.email_section()) }
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

    /// What stands in place of a change that asks for a fresh proof.
    fn confirm_first(&self) -> Markup {
        html! { p { a.button.outlined href=(self.confirm) { "Confirm that it is you to change this" } } }
    }

    /// A form with a field for the password. Somebody who has none confirms first.
    fn proved_by_password(&self, action: &str, body: Markup) -> Markup {
        if self.has_password || self.fresh { self.form(action, body) } else { self.confirm_first() }
    }

    fn new_codes(&self) -> Markup {
        html! {
            @if !self.codes.is_empty() {
                section.card aria-labelledby="codes" {
                    h2 id="codes" { "Your new recovery codes" }
                    p {
                        "Keep them where you will find them without this device. Each works once in \
                         place of your passkey. They are shown this once; the old ones no longer \
                         work."
                    }
                    ul.codes { @for code in &self.codes { li { code { (code) } } } }
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
                    "A passkey is kept by your device and unlocked by its code, your finger or your \
                     face. It cannot be guessed or given away by mistake."
                }
                (self.wrong_of("passkeys"))
                ul.rows {
                    @for passkey in &self.passkeys {
                        li {
                            span.what {
                                (passkey.name)
                                span.soft {
                                    "Added " (time_ago(passkey.created_at, now)) ", "
                                    @match passkey.last_used_at {
                                        Some(at) => { "last used " (time_ago(at, now)) },
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
            label.hush for=(id) { "New name of " (passkey.name) }
            input id=(id) name="name" type="text" value=(passkey.name) maxlength="80" required;
            button.quiet type="submit" { "Save the name" }
        };
        let action = format!("/settings/security/passkeys/{}/rename", passkey.id);
        html! { details { summary { "Rename" } (self.form(&action, body)) } }
    }

    fn remove(&self, passkey: &Passkey) -> Markup {
        let action = format!("/settings/security/passkeys/{}/remove", passkey.id);
        let label = html! { "Remove" span.hush { " the passkey " (passkey.name) } };
        self.form(&action, html! { button.danger type="submit" { (label) } })
    }

    fn add(&self) -> Markup {
        let token = &self.person.form_token;
        html! {
            @match Party::of(self.person.public_url()) {
                Err(reason) => p.warning { (reason) },
                Ok(party) => {
                    div.field {
                        label for="passkey-name" { "Name of the new passkey" }
                        input id="passkey-name" type="text" maxlength="80" autocomplete="off"
                            placeholder="My phone" data-passkey-name;
                    }
                    (passkey_button(&party, "register", "Add a passkey", token, "/settings/security"))
                }
            }
        }
    }

    fn second_step_section(&self) -> Markup {
        let on = self.person.user.second_step;
        let switch = html! {
            input type="hidden" name="on" value=(if on { "0" } else { "1" });
            button type="submit" { (if on { "Switch it off" } else { "Switch it on" }) }
        };
        html! {
            section.card aria-labelledby="second" {
                h2 id="second" { "Second step" }
                p {
                    @if on { "On: after your password, your passkey is asked for." }
                    @else { "Off: your password alone opens your account." }
                }
                (self.wrong_of("second-step"))
                (self.wrong_of("codes"))
                p.soft {
                    "Recovery codes stand in for a lost passkey. You have "
                    (plural(self.codes_left, "unused code", "unused codes")) "."
                }
                @if !self.fresh { (self.confirm_first()) } @else {
                    @if on || !self.passkeys.is_empty() {
                        (self.form("/settings/security/second-step", switch))
                    } @else {
                        p.soft { "Add a passkey first to switch it on." }
                    }
                    (fields::button("/settings/security/recovery-codes", &self.person.form_token,
                        "Make new recovery codes", "outlined"))
                }
            }
        }
    }

    fn password_section(&self) -> Markup {
        let hint = format!("At least {PASSWORD_LENGTH_MIN} characters; longer is better.");
        let new = Field::text("new_password", "New password", "").autocomplete("new-password");
        let body = html! {
            (self.password_field("Present password", "change-"))
            (new.kind("password").hint(&hint).show(&FormError::default()))
            button type="submit" { "Change the password" }
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
            button type="submit" { "Change the email" }
        };
        html! {
            section.card aria-labelledby="email" {
                h2 id="email" { "Email" }
                (self.wrong_of("email"))
                (self.proved_by_password("/settings/security/email", body))
            }
        }
    }

    fn session_section(&self) -> Markup {
        let (now, token) = (self.person.app().clock.now(), &self.person.form_token);
        html! {
            section.card aria-labelledby="sessions" {
                h2 id="sessions" { "Where you are signed in" }
                ul.rows {
                    @for session in &self.sessions {
                        @let here = session.id == self.person.session.id;
                        li {
                            span.what {
                                (device(session.agent.as_deref()))
                                @if here { " " span.badge.good { "This one" } }
                                span.soft {
                                    (address_of(session)) ", by " (method(session.method))
                                    ", seen " (time_ago(session.seen_at, now))
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
                        "Sign out everywhere else", "outlined"))
                }
            }
        }
    }

    fn leaving_section(&self) -> Markup {
        let body = html! {
            (self.password_field("Password", "leave-"))
            (fields::check("sure", "1", "I want everything of mine to be gone for good", false))
            button.danger type="submit" { "Delete my account" }
        };
        html! {
            section.card aria-labelledby="leaving" {
                h2 id="leaving" { "Leave" }
                p.soft {
                    "Your account, all your data and every key and app you allowed are removed at \
                     once and for good. Download your data first if you want to keep it."
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
        Method::SignUp => "signing up",
    }
}

fn address_of(session: &Session) -> &str {
    session.address.as_deref().unwrap_or("An unknown address")
}

/// What a person calls a browser, as far as it can be told from what the browser says.
fn device(agent: Option<&str>) -> String {
    let Some(agent) = agent else { return "An unknown browser".to_owned() };
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
        assert_eq!(device(None), "An unknown browser");
    }
}
