//! The few cookies: read from a request, and written with the flags that keep them from everyone else.

use http::{HeaderMap, HeaderValue, header};

/// Who is signed in.
pub(crate) const SESSION: &str = "evenkeel_session";
/// Whose forms at the door these are.
pub(crate) const VISIT: &str = "evenkeel_visit";
/// Who looks through the webhook portal.
pub(crate) const PORTAL: &str = "evenkeel_portal";
/// Between the password and the passkey.
pub(crate) const SECOND: &str = "evenkeel_second";
/// A browser in which somebody signed in before.
pub(crate) const DEVICE: &str = "evenkeel_device";
/// What to say once on the next page.
pub(crate) const NOTICE: &str = "evenkeel_notice";
/// How the person likes to look at pages.
pub(crate) const HIDE: &str = "evenkeel_hide";
pub(crate) const THEME: &str = "evenkeel_theme";

pub(crate) const YEAR_SECONDS: i64 = 31_536_000;

/// On https the name binds a cookie to this very host, so that no neighbouring site can plant one.
fn full_name(name: &str, secure: bool) -> String {
    if secure { format!("__Host-{name}") } else { name.to_owned() }
}

pub(crate) fn is_secure(public_url: &str) -> bool {
    public_url.starts_with("https://")
}

/// The value of a cookie. Of two with one name neither is believed.
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

/// A `Set-Cookie` line; without seconds it ends with the browser, with 0 it ends now.
pub(crate) fn set(name: &str, value: &str, seconds: Option<i64>, secure: bool) -> HeaderValue {
    let name = full_name(name, secure);
    let age = seconds.map_or(String::new(), |it| format!("; Max-Age={it}"));
    let only = if secure { "; Secure" } else { "" };
    let line = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{age}{only}");
    // What is put here is made of letters, digits and percent signs.
    HeaderValue::from_str(&line).unwrap_or_else(|_| HeaderValue::from_static("evenkeel_visit="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_for_this_host_and_no_script() {
        let line = set(SESSION, "abc", Some(60), true);
        let wanted = "__Host-evenkeel_session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; \
                      Secure";
        assert_eq!(line, wanted);
        assert_eq!(
            set(VISIT, "x", None, false),
            "evenkeel_visit=x; Path=/; HttpOnly; SameSite=Lax"
        );
    }

    #[test]
    fn one_of_two_cookies_with_the_same_name_is_a_plant_and_neither_counts() {
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
