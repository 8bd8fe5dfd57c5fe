//! The site's cookies: reading them from a request, and writing them with safe flags.

use http::{HeaderMap, HeaderValue, header};

/// The session of the signed-in person.
pub(crate) const SESSION: &str = "evenkeel_session";
/// Ties the forms of a visitor who is not signed in to their browser.
pub(crate) const VISIT: &str = "evenkeel_visit";
/// The session of a guest in the webhook portal.
pub(crate) const PORTAL: &str = "evenkeel_portal";
/// The pending sign-in between the password and the second step.
pub(crate) const SECOND: &str = "evenkeel_second";
/// A browser in which someone signed in before.
pub(crate) const DEVICE: &str = "evenkeel_device";
/// A message to show once on the next page.
pub(crate) const NOTICE: &str = "evenkeel_notice";
/// The edit that the message of the next page offers to undo.
pub(crate) const UNDO: &str = "evenkeel_undo";
/// Display settings: hidden amounts and the theme.
pub(crate) const HIDE: &str = "evenkeel_hide";
pub(crate) const THEME: &str = "evenkeel_theme";
/// Whether the checklist of first steps is hidden.
pub(crate) const CHECKLIST: &str = "evenkeel_checklist";
/// The time range that was last chosen for a chart.
pub(crate) const RANGE: &str = "evenkeel_range";

pub(crate) const YEAR_SECONDS: i64 = 31_536_000;

/// On https the `__Host-` prefix binds a cookie to this host, so that a neighboring host cannot set one.
fn full_name(name: &str, secure: bool) -> String {
    if secure { format!("__Host-{name}") } else { name.to_owned() }
}

pub(crate) fn is_secure(public_url: &str) -> bool {
    public_url.starts_with("https://")
}

/// The value of a cookie; none if two cookies have the same name, because one of them may be planted.
pub(crate) fn get<'a>(headers: &'a HeaderMap, name: &str, secure: bool) -> Option<&'a str> {
    let name = full_name(name, secure);
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
    let pairs = lines.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    let mut values = pairs.filter(|(it, _)| *it == name).map(|(_, value)| value);
    match (values.next(), values.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

/// A `Set-Cookie` value. Without seconds the cookie lasts until the browser closes; 0 deletes it.
pub(crate) fn set(name: &str, value: &str, seconds: Option<i64>, secure: bool) -> HeaderValue {
    let name = full_name(name, secure);
    let age = seconds.map_or(String::new(), |it| format!("; Max-Age={it}"));
    let only = if secure { "; Secure" } else { "" };
    let line = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{age}{only}");
    // Values consist of letters, digits and percent signs, so this never fails.
    HeaderValue::from_str(&line).unwrap_or_else(|_| HeaderValue::from_static("evenkeel_visit="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_bound_to_this_host_and_hidden_from_scripts() {
        let line = set(SESSION, "abc", Some(60), true);
        let expected = "__Host-evenkeel_session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; \
                        Secure";
        assert_eq!(line, expected);
        assert_eq!(
            set(VISIT, "x", None, false),
            "evenkeel_visit=x; Path=/; HttpOnly; SameSite=Lax"
        );
    }

    #[test]
    fn two_cookies_with_the_same_name_are_both_ignored() {
        let read = |line: &'static str, secure| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_static(line));
            get(&headers, SESSION, secure).map(str::to_owned)
        };
        assert_eq!(read("a=1; evenkeel_session=x", false).as_deref(), Some("x"));
        assert_eq!(read("evenkeel_session=x; evenkeel_session=y", false), None);
        assert_eq!(read("evenkeel_session=x", true), None);
        assert_eq!(read("__Host-evenkeel_session=x", true).as_deref(), Some("x"));
    }
}
