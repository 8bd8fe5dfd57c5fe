use standardwebhooks::{Webhook, WebhookError};

/// The headers and the body as they came, before anything reads them as JSON.
pub fn verify(secret: &str, headers: &http::HeaderMap, body: &[u8]) -> Result<(), WebhookError> {
    Webhook::new(secret)?.verify(body, headers)
}
