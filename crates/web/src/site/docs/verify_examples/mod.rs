//! Example programs that verify webhook signatures, in several languages.

#[cfg(test)]
#[expect(unreachable_pub, reason = "it is shown as others write it")]
mod verify;

use maud::{Markup, html};

use super::super::snippet;

/// The language and source of each example.
const PROGRAMS: [(&str, &str); 5] = [
    ("Python", include_str!("verify.py")),
    ("JavaScript", include_str!("verify.mjs")),
    ("Rust, with the crate standardwebhooks", include_str!("verify.rs")),
    ("Go", include_str!("verify.go")),
    ("Shell", include_str!("verify.sh")),
];

/// All examples as code blocks.
pub(in super::super) fn programs() -> Markup {
    html! {
        @for (caption, text) in PROGRAMS { (snippet::text(caption, text.trim_end())) }
    }
}

#[cfg(test)]
mod tests {
    use super::verify::verify;
    use http::HeaderMap;
    use standardwebhooks::{Webhook, WebhookError};

    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const BODY: &[u8] = b"{\"id\":\"evt_1\"}";

    fn headers(sent_at: i64) -> HeaderMap {
        let signature = Webhook::new(SECRET).unwrap().sign("evt_1", sent_at, BODY).unwrap();
        let all = [
            ("webhook-id", "evt_1".to_owned()),
            ("webhook-timestamp", sent_at.to_string()),
            ("webhook-signature", format!("v1,AAAA {signature}")),
        ];
        all.into_iter().map(|(name, it)| (name.parse().unwrap(), it.parse().unwrap())).collect()
    }

    #[test]
    fn the_rust_example_accepts_only_valid_signatures() {
        let now = base::Clock::System.now().as_second();
        verify(SECRET, &headers(now), BODY).unwrap();
        let wrong = |result: Result<(), WebhookError>| assert!(result.is_err());
        wrong(verify(SECRET, &headers(now), b"{\"id\":\"evt_2\"}"));
        wrong(verify(SECRET, &headers(now - 400), BODY));
        wrong(verify("whsec_AAAA", &headers(now), BODY));
        wrong(verify(SECRET, &HeaderMap::new(), BODY));
    }
}
