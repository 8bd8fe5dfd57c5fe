//! One attempt: a signed HTTP request to an endpoint, and the receiver's answer.

use std::time::Duration;

use net::{Failure, HttpRequest, Limits};
use trace::SpanKind;

use crate::context::Webhooks;
use crate::delivery::Delivery;
use crate::outcome::Outcome;
use crate::signatures::sign;

const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    total: Duration::from_secs(15),
    body_max: 64 * 1_024,
};
/// Bytes of a receiver's answer that are kept and shown to the owner of the endpoint.
const RESPONSE_KEPT: usize = 1_024;

/// Sends one delivery and returns the outcome. Nothing is written.
pub(crate) async fn send(webhooks: &Webhooks, delivery: Delivery) -> Outcome {
    let at = webhooks.clock.now();
    let id = delivery.event.to_string();
    let signature = sign(&delivery.to.secrets, &id, at, &delivery.body);
    let request = HttpRequest::post(delivery.to.url.clone(), delivery.body.clone())
        .header("content-type", "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", at.as_second().to_string())
        .header("webhook-signature", signature)
        // Endpoints of different people never share a connection.
        .pooled(delivery.to.id.to_string());
    let mut span = webhooks.tracer.start("deliver webhook", SpanKind::Producer);
    span.set("evenkeel.attempt", delivery.attempts + 1);
    span.set("evenkeel.trigger", delivery.trigger.as_str());
    let reply = match &webhooks.client {
        Some(client) => span.scope(client.send(request, LIMITS)).await,
        None => Err(Failure::Tls),
    };
    if !reply.as_ref().is_ok_and(|it| (200..300).contains(&it.status)) {
        span.fail("not_delivered");
    }
    drop(span);
    let duration_ms = (webhooks.clock.now().as_microsecond() - at.as_microsecond()).max(0) / 1_000;
    let mut outcome = Outcome::new(delivery, at, duration_ms);
    match reply {
        Ok(reply) => {
            let is_success = (200..300).contains(&reply.status);
            outcome.code = Some(i64::from(reply.status));
            outcome.body = Some(shorten(&reply.body));
            outcome.retry_after = reply.header("retry-after").map(str::to_owned);
            outcome.error = reply.failure().filter(|_| !is_success).map(Failure::code);
            outcome.is_success = is_success;
        }
        Err(failure) => outcome.error = Some(failure.code()),
    }
    outcome
}

/// The beginning of an answer, as text that both databases can store.
fn shorten(body: &[u8]) -> String {
    let end = body.len().min(RESPONSE_KEPT);
    String::from_utf8_lossy(&body[..end]).replace('\0', "\u{fffd}")
}
