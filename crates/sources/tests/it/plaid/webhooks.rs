//! Webhooks: only what Plaid signed for this body a moment ago is believed.

use base::Clock;
use sources::provider::{NewsKind, WebhookError};
use testkit::plaid::{Plaid, WebhookSigner};

use super::{context, now, provider};

#[tokio::test]
async fn a_signed_webhook_is_read_and_everything_else_is_refused() {
    let server = Plaid::start(Clock::frozen_at("2026-03-10T12:00:00Z")).await;
    let (signer, at) = (server.signer(), now().as_second());
    let context = context(&server, now());
    let body = WebhookSigner::body("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", "item1");
    let good = signer.sign(&body, at);
    let key_id = provider().webhook_key_id(&good).unwrap();
    assert_eq!(key_id, signer.key_id);
    let key = provider().webhook_key(&context, &key_id).await.unwrap();
    let read = |signature: &str, body: &[u8]| provider().read_webhook(&key, signature, body, now());
    let news = read(&good, &body).unwrap();
    assert_eq!((news.login.as_str(), news.kind), ("item1", NewsKind::SyncNow));
    let other = WebhookSigner::body("TRANSACTIONS", "SYNC_UPDATES_AVAILABLE", "item2");
    assert_eq!(read(&good, &other), Err(WebhookError::Forged), "another body");
    assert_eq!(read(&signer.sign(&body, at - 301), &body), Err(WebhookError::Stale));
    assert_eq!(read(&signer.sign(&body, at + 61), &body), Err(WebhookError::Stale));
    assert!(read(&signer.sign(&body, at - 299), &body).is_ok());
    let forger = WebhookSigner::generate();
    assert_eq!(read(&forger.sign(&body, at), &body), Err(WebhookError::Forged), "another key");
    for algorithm in ["none", "HS256", "ES384"] {
        let signature = signer.sign_with(algorithm, &body, at);
        assert_eq!(provider().webhook_key_id(&signature), None);
        assert_eq!(read(&signature, &body), Err(WebhookError::Forged), "{algorithm}");
    }
    for text in ["", "a.b.c", "....", &good[..good.len() - 4], &good.replace('.', "")] {
        assert_eq!(read(text, &body), Err(WebhookError::Forged), "{text}");
    }
    assert!(provider().webhook_key(&context, "unknown").await.is_err());
    let expired = key.replace("\"expired_at\":null", "\"expired_at\":1700000000");
    let refused = provider().read_webhook(&expired, &good, &body, now());
    assert_eq!(refused, Err(WebhookError::Forged), "an expired key");
}

#[tokio::test]
async fn webhooks_that_bring_no_news_need_no_sync() {
    let server = Plaid::start(Clock::frozen_at("2026-03-10T12:00:00Z")).await;
    let signer = server.signer();
    let key = signer.jwk().to_string();
    for (kind, code, news) in [
        ("ITEM", "ERROR", NewsKind::SyncNow),
        ("ITEM", "LOGIN_REPAIRED", NewsKind::SyncNow),
        ("ITEM", "WEBHOOK_UPDATE_ACKNOWLEDGED", NewsKind::Nothing),
        ("HOLDINGS", "DEFAULT_UPDATE", NewsKind::SyncNow),
        ("TRANSACTIONS", "DEFAULT_UPDATE", NewsKind::Nothing),
        ("LINK", "EVENTS", NewsKind::Nothing),
    ] {
        let body = WebhookSigner::body(kind, code, "item1");
        let signature = signer.sign(&body, now().as_second());
        let read = provider().read_webhook(&key, &signature, &body, now()).unwrap();
        assert_eq!(read.kind, news, "{kind} {code}");
    }
}
