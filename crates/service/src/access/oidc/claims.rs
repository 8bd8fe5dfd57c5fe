//! Claims: what a provider says about a person, in an ID token or at its userinfo endpoint.

use base::{TimeZone, Timestamp};
use serde_json::{Map, Value};

const NAME_MAX: usize = 80;
const GROUPS_MAX: usize = 1_000;

#[derive(Debug, Clone, Default)]
pub(super) struct Claims(pub(super) Map<String, Value>);

impl Claims {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// A moment in seconds. Providers may write fractions, which are dropped.
    pub(super) fn seconds(&self, name: &str) -> Option<i64> {
        let value = self.0.get(name)?;
        value.as_i64().or_else(|| value.to_string().split('.').next()?.parse().ok())
    }

    /// One text or several.
    fn texts(value: &Value) -> Vec<String> {
        match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(items) => {
                let texts = items.iter().take(GROUPS_MAX).filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn audiences(&self) -> Vec<String> {
        self.0.get("aud").map(Claims::texts).unwrap_or_default()
    }

    /// The person's email, and whether the provider has verified that it is theirs. Some providers write the answer as a
    /// text; anything but yes is no.
    pub(super) fn email(&self) -> (Option<&str>, bool) {
        let verified = match self.0.get("email_verified") {
            Some(Value::Bool(verified)) => *verified,
            Some(Value::String(text)) => text == "true",
            _ => false,
        };
        (self.text("email"), verified)
    }

    /// The groups in a claim, which may be inside of others: `groups`, or `realm_access.roles`.
    pub(super) fn groups(&self, claim: &str) -> Option<Vec<String>> {
        if let Some(found) = self.0.get(claim) {
            return Some(Claims::texts(found));
        }
        let mut path = claim.split('.');
        let first = self.0.get(path.next()?)?;
        let found = path.try_fold(first, |inside, name| inside.get(name))?;
        Some(Claims::texts(found))
    }

    /// The person's name, in one line and of a length that a profile may have.
    pub(super) fn name(&self) -> Option<String> {
        let name = self.text("name").or_else(|| self.text("preferred_username"))?;
        let plain: String = name.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
        Some(plain.trim().to_owned()).filter(|it| !it.is_empty())
    }

    pub(super) fn timezone(&self) -> TimeZone {
        let named = self.text("zoneinfo").and_then(|it| TimeZone::parse(it).ok());
        named.unwrap_or_else(TimeZone::utc)
    }

    /// When the person last signed in at the provider.
    pub(super) fn authenticated_at(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.seconds("auth_time")?).ok()
    }

    /// Adds the claims that are missing here.
    pub(super) fn complete_with(&mut self, others: Claims) {
        // Whether an email is verified belongs to the email beside it.
        if self.0.contains_key("email") {
            self.0.entry("email_verified").or_insert(Value::Null);
        }
        for (name, value) in others.0 {
            self.0.entry(name).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claims(value: Value) -> Claims {
        Claims(value.as_object().unwrap().clone())
    }

    #[test]
    fn an_email_is_verified_only_if_the_provider_says_yes() {
        for (value, verified) in [
            (json!(true), true),
            (json!("true"), true),
            (json!(false), false),
            (json!("false"), false),
            (json!(1), false),
            (json!(null), false),
            (json!("yes"), false),
        ] {
            let found = claims(json!({ "email": "a@b.c", "email_verified": value }));
            assert_eq!(found.email(), (Some("a@b.c"), verified));
        }
        assert_eq!(claims(json!({ "email": "a@b.c" })).email(), (Some("a@b.c"), false));
    }

    #[test]
    fn a_verification_of_one_email_does_not_verify_another() {
        let mut found = claims(json!({ "email": "mine@example.com" }));
        let other =
            json!({ "email": "other@example.com", "email_verified": true, "name": "Robin" });
        found.complete_with(claims(other));
        assert_eq!(found.email(), (Some("mine@example.com"), false));
        assert_eq!(found.name().as_deref(), Some("Robin"));
    }

    #[test]
    fn moments_are_whole_seconds() {
        let found = claims(json!({ "iat": 1_770_000_000, "exp": 1_770_000_000.75, "nbf": "5" }));
        let moments = ["iat", "exp", "nbf", "none"].map(|it| found.seconds(it));
        assert_eq!(moments, [Some(1_770_000_000), Some(1_770_000_000), None, None]);
    }

    #[test]
    fn groups_are_found_by_name_or_by_path() {
        let found = claims(json!({
            "groups": ["family", 5, "admins"], "role": "one", "realm_access": { "roles": ["x"] },
            "https://example.com/groups": ["namespaced"],
        }));
        let groups = |claim: &str| found.groups(claim);
        assert_eq!(groups("groups"), Some(vec!["family".to_owned(), "admins".to_owned()]));
        assert_eq!(groups("role"), Some(vec!["one".to_owned()]));
        assert_eq!(groups("realm_access.roles"), Some(vec!["x".to_owned()]));
        assert_eq!(groups("https://example.com/groups"), Some(vec!["namespaced".to_owned()]));
        assert_eq!(groups("realm_access.none"), None);
        assert_eq!(groups("none"), None);
    }
}
