//! Tests of spans and their tracer.

use std::time::Duration;

use base::{Clock, Entropy};

use super::*;
use crate::sampler::Sampler;

fn tracer(sampler: Sampler) -> (Tracer, SpanQueue, Clock) {
    let clock = Clock::frozen_at("2026-03-10T12:00:00Z");
    let (tracer, queue) = Tracer::new(sampler, clock.clone(), Entropy::seeded(1));
    (tracer, queue, clock)
}

fn finished(queue: &mut SpanQueue) -> Vec<FinishedSpan> {
    let mut spans = Vec::new();
    while let Ok(Queued::Span(span)) = queue.try_recv() {
        spans.push(span);
    }
    spans
}

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn work_inside_a_span_becomes_a_part_of_it() {
    let (tracer, mut queue, clock) = tracer(Sampler::ALWAYS);
    let mut request = tracer.start_request(Some(PARENT));
    let sent = request
        .scope(async {
            clock.advance(Duration::from_millis(5));
            record(SpanKind::Client, Duration::from_millis(2), |span| {
                span.set("db.system.name", "sqlite");
                Cow::Borrowed("SELECT accounts")
            });
            let outgoing = start_child("POST", SpanKind::Client);
            outgoing.context().unwrap()
        })
        .await;
    request.rename(|| Cow::Borrowed("GET /v1/accounts"));
    request.fail("500");
    let own = request.context().unwrap();
    drop(request);
    let parent = TraceContext::parse(PARENT).unwrap();
    let spans = finished(&mut queue);
    let names: Vec<&str> = spans.iter().map(|it| it.name.as_ref()).collect();
    assert_eq!(names, ["SELECT accounts", "POST", "GET /v1/accounts"]);
    assert!(spans.iter().all(|it| it.context.trace_id == parent.trace_id));
    let parents: Vec<_> = spans.iter().map(|it| it.parent).collect();
    assert_eq!(parents, [Some(own.span_id), Some(own.span_id), Some(parent.span_id)]);
    assert_eq!(spans[1].context, sent);
    assert_eq!(spans[0].ended_at - spans[0].started_at, 2_000);
    assert_eq!(spans[2].ended_at - spans[2].started_at, 5_000);
    assert_eq!((spans[0].is_error, spans[2].is_error), (false, true));
    assert_eq!(spans[2].attributes, [("error.type", Attribute::Word("500".into()))]);
    assert!(current().is_none(), "the scope has ended");
}

#[tokio::test]
async fn without_a_collector_nothing_is_recorded_or_passed_on() {
    let tracer = Tracer::off();
    let mut span = tracer.start_request(Some(PARENT));
    span.set("http.request.method", "GET");
    let inside = span.scope(async { (current(), start_child("POST", SpanKind::Client).context()) });
    assert_eq!(inside.await, (None, None));
    assert!(span.context().is_none() && tracer.metrics().samples.is_empty());
}

#[tokio::test]
async fn a_trace_that_is_not_sampled_is_passed_on_as_such() {
    let (tracer, mut queue, _) = tracer(Sampler::parse("always_off", None).unwrap());
    let span = tracer.start_request(Some(PARENT));
    let sent = span.scope(async {
        record(SpanKind::Client, Duration::ZERO, |_| panic!("it is not recorded"));
        start_child("POST", SpanKind::Client).context().unwrap()
    });
    let sent = sent.await;
    assert_eq!(sent.trace_id_text(), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert!(sent.to_string().ends_with("-00"), "{sent}");
    drop(span);
    assert!(finished(&mut queue).is_empty());
}

#[tokio::test]
async fn spans_beyond_the_queue_are_dropped_and_counted() {
    let (tracer, mut queue, _) = tracer(Sampler::ALWAYS);
    for _ in 0..5_000 {
        drop(tracer.start("work", SpanKind::Internal));
    }
    let queued = finished(&mut queue).len();
    let dropped = tracer.metrics().samples.into_iter().find(|it| it.labels[0].1 == "dropped");
    let base::metrics::MetricValue::Number(dropped) = dropped.unwrap().value else { panic!() };
    assert!(queued < 5_000 && queued as i64 + dropped == 5_000, "{queued} and {dropped}");
}

#[tokio::test(start_paused = true)]
async fn a_flush_that_nobody_answers_ends_in_time() {
    let (tracer, _queue, _) = tracer(Sampler::ALWAYS);
    tracer.flush(Duration::from_millis(800)).await;
}
