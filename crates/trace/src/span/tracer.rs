//! The tracer: starts spans, decides which traces are recorded, and queues finished spans for the exporter.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use base::metrics::{Counter, MetricFamily};
use base::{Clock, Entropy};
use tokio::sync::{mpsc, oneshot};

use crate::context::TraceContext;
use crate::sampler::Sampler;
use crate::span::{FinishedSpan, Span, SpanKind, current};

/// Finished spans that wait to be sent. Further ones are dropped.
const QUEUE_MAX: usize = 4_096;

/// Starts spans; off unless the operator names a collector. Clones share the queue.
#[derive(Clone, Default)]
pub struct Tracer(Option<Arc<Shared>>);

struct Shared {
    clock: Clock,
    entropy: Entropy,
    sampler: Sampler,
    queue: mpsc::Sender<Queued>,
    dropped: Counter,
    exported: Counter,
    failed: Counter,
}

/// An item of the exporter's queue.
pub enum Queued {
    Span(FinishedSpan),
    /// Everything before this is to be sent at once, and then this is to be answered.
    Flush(oneshot::Sender<()>),
}

/// The queue of the exporter.
pub type SpanQueue = mpsc::Receiver<Queued>;

impl Tracer {
    /// A tracer that records nothing.
    pub fn off() -> Tracer {
        Tracer(None)
    }

    pub fn new(sampler: Sampler, clock: Clock, entropy: Entropy) -> (Tracer, SpanQueue) {
        let (queue, spans) = mpsc::channel(QUEUE_MAX);
        let [dropped, exported, failed] = [(); 3].map(|()| Counter::default());
        let shared = Shared { clock, entropy, sampler, queue, dropped, exported, failed };
        (Tracer(Some(Arc::new(shared))), spans)
    }

    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Starts a part of the span whose work this task does, or a trace of its own.
    pub fn start(&self, name: impl Into<Cow<'static, str>>, kind: SpanKind) -> Span {
        self.span(name.into(), kind, current())
    }

    /// Starts the span of a request, as a part of the span that its `traceparent` names.
    pub fn start_request(&self, traceparent: Option<&str>) -> Span {
        let parent = traceparent.filter(|_| self.is_on()).and_then(TraceContext::parse);
        self.span(Cow::Borrowed(""), SpanKind::Server, parent)
    }

    pub(crate) fn span(
        &self,
        name: Cow<'static, str>,
        kind: SpanKind,
        parent: Option<TraceContext>,
    ) -> Span {
        let Some(shared) = &self.0 else { return Span::none() };
        let trace_id = parent.map_or_else(|| shared.entropy.bytes(), |it| it.trace_id);
        // A part of a trace of this process is recorded if the trace is.
        let is_sampled = match (&parent, current()) {
            (Some(parent), Some(own)) if parent.trace_id == own.trace_id => parent.is_sampled,
            _ => shared.sampler.samples(trace_id, parent.as_ref()),
        };
        let context = TraceContext { trace_id, span_id: shared.entropy.bytes(), is_sampled };
        let started_at = shared.clock.now().as_microsecond();
        let span = FinishedSpan {
            context,
            parent: parent.map(|it| it.span_id),
            name,
            kind,
            started_at,
            ended_at: started_at,
            attributes: Vec::new(),
            is_error: false,
        };
        Span::new(self.clone(), span)
    }

    pub(crate) fn finish(&self, mut span: FinishedSpan) {
        let Some(shared) = self.0.as_ref().filter(|_| span.context.is_sampled) else { return };
        span.ended_at = shared.clock.now().as_microsecond().max(span.started_at);
        if shared.queue.try_send(Queued::Span(span)).is_err() {
            shared.dropped.increment();
        }
    }

    /// Waits until the exporter has sent what is queued, for at most this long.
    pub async fn flush(&self, within: Duration) {
        let Some(shared) = &self.0 else { return };
        let flushed = async {
            let (done, is_done) = oneshot::channel();
            if shared.queue.send(Queued::Flush(done)).await.is_ok() {
                let _ = is_done.await;
            }
        };
        let _ = tokio::time::timeout(within, flushed).await;
    }

    /// Counts spans that a collector has accepted, or that could not be sent.
    pub fn count_sent(&self, spans: usize, is_accepted: bool) {
        let Some(shared) = &self.0 else { return };
        let counter = if is_accepted { &shared.exported } else { &shared.failed };
        counter.add(spans as u64);
    }

    pub fn metrics(&self) -> MetricFamily {
        let family = MetricFamily::counter("trace_spans", "Spans of traces, by outcome");
        let Some(shared) = &self.0 else { return family };
        family
            .with(&[("outcome", "exported")], &shared.exported)
            .with(&[("outcome", "failed")], &shared.failed)
            .with(&[("outcome", "dropped")], &shared.dropped)
    }
}
