//! Sends finished spans to the collector that the operator names, in the background. A collector that fails or hangs costs
//! spans, and nothing else.

use std::time::Duration;

use anyhow::{Context as _, Result};
use base::{Clock, Entropy};
use bytes::Bytes;
use net::{Guard, HttpClient, HttpRequest, Limits, Policy};
use tokio::sync::oneshot;
use tokio::time::Instant;
use trace::{FinishedSpan, Queued, SpanQueue, Tracer, otlp};

use crate::config::{Config, Traces};

/// Spans in one request.
const BATCH_MAX: usize = 512;
/// How long spans wait for others before they are sent.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// A request is repeated this often, after a second and then twice as long each time.
const TRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_secs(1);
const CONNECT_MAX: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 64 * 1_024;

/// The tracer of a server, whose spans a task of this process sends. Off unless the operator names a collector.
pub(crate) fn start(config: &Config, clock: &Clock) -> Result<Tracer> {
    let Some(settings) = &config.traces else { return Ok(Tracer::off()) };
    let read = |path: &std::path::PathBuf| {
        let read = std::fs::read(path);
        read.with_context(|| {
            format!("cannot read OTEL_EXPORTER_OTLP_CERTIFICATE {}", path.display())
        })
    };
    let extra_ca = settings.ca_file.as_ref().map(read).transpose()?;
    // The operator chose this address, so private networks are allowed.
    let client = HttpClient::new(Policy { guard: Guard::Any, extra_ca })
        .context("cannot prepare requests to the collector of traces")?;
    let (tracer, queue) = Tracer::new(settings.sampler, clock.clone(), Entropy::System);
    let exporter = Exporter { client, tracer: tracer.clone(), settings: settings.clone() };
    tokio::spawn(exporter.run(queue));
    tracing::info!("traces are sent to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names");
    Ok(tracer)
}

struct Exporter {
    client: HttpClient,
    tracer: Tracer,
    settings: Traces,
}

/// Spans that are sent together, and who waits for that.
#[derive(Default)]
struct Batch {
    spans: Vec<FinishedSpan>,
    flushes: Vec<oneshot::Sender<()>>,
}

impl Batch {
    fn add(&mut self, queued: Queued) {
        match queued {
            Queued::Span(span) => self.spans.push(span),
            Queued::Flush(done) => self.flushes.push(done),
        }
    }

    fn is_due(&self) -> bool {
        self.spans.len() >= BATCH_MAX || !self.flushes.is_empty()
    }
}

impl Exporter {
    async fn run(self, mut queue: SpanQueue) {
        let mut is_failing = false;
        while let Some(first) = queue.recv().await {
            let mut batch = Batch::default();
            batch.add(first);
            let until = Instant::now() + BATCH_DELAY;
            while !batch.is_due() {
                match tokio::time::timeout_at(until, queue.recv()).await {
                    Ok(Some(next)) => batch.add(next),
                    _ => break,
                }
            }
            if !batch.spans.is_empty() {
                let sent = self.send(&batch.spans).await;
                self.tracer.count_sent(batch.spans.len(), sent.is_ok());
                match sent {
                    Ok(()) if is_failing => tracing::info!("the collector takes traces again"),
                    Err(reason) if !is_failing => {
                        tracing::warn!(
                            reason,
                            "the collector does not take traces; they are dropped"
                        );
                    }
                    _ => {}
                }
                is_failing = sent.is_err();
            }
            for done in batch.flushes {
                let _ = done.send(());
            }
        }
    }

    /// Sends one request, and repeats it where the protocol allows that.
    async fn send(&self, spans: &[FinishedSpan]) -> Result<(), &'static str> {
        let body = Bytes::from(otlp::encode(&self.settings.resource, spans));
        let limits = Limits {
            connect: CONNECT_MAX.min(self.settings.timeout),
            total: self.settings.timeout,
            body_max: ANSWER_BYTES_MAX,
        };
        let mut reason = "";
        for attempt in 0..TRIES {
            if attempt > 0 {
                tokio::time::sleep(FIRST_WAIT * 2_u32.pow(attempt - 1)).await;
            }
            let mut request = HttpRequest::post(self.settings.url.clone(), body.clone())
                .header("content-type", otlp::CONTENT_TYPE)
                .pooled("traces");
            for (name, value) in &self.settings.headers {
                request = request.header(name.clone(), value.clone());
            }
            reason = match self.client.send(request, limits).await {
                Ok(response) => match response.status {
                    200..=299 => return Ok(()),
                    429 | 502 | 503 | 504 => "it is busy",
                    _ => {
                        return Err(
                            "it refuses them; check the address and OTEL_EXPORTER_OTLP_HEADERS",
                        );
                    }
                },
                Err(failure) => failure.code(),
            };
        }
        Err(reason)
    }
}
