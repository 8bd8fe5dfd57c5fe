//! Traces: the spans of requests and background work, which an operator can have sent to an OpenTelemetry collector.
//!
//! Off by default, and then nearly free. A span belongs to the task that runs its work, so that the database and the HTTP
//! client need not be told. Finished spans go into a bounded queue; `app` sends them (`otlp` encodes them). When the queue is
//! full they are dropped and counted: no request ever waits for a collector.
//!
//! Nothing personal is in a span: attributes are words of the program and numbers. Paths, queries, ids, names, addresses and
//! amounts are none of these.

mod context;
pub mod otlp;
mod sampler;
mod span;

pub use context::TraceContext;
pub use sampler::Sampler;
pub use span::{
    Attribute, FinishedSpan, Queued, Span, SpanKind, SpanQueue, Tracer, current, record,
    start_child,
};
