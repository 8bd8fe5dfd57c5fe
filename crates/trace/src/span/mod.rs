//! One span: a piece of work with a beginning, an end and attributes. It is recorded when it is dropped.

mod tracer;

use std::borrow::Cow;
use std::future::Future;
use std::time::Duration;

use tracing::Instrument as _;

use crate::context::TraceContext;

pub use tracer::{Queued, SpanQueue, Tracer};

/// The role of a span in an exchange, with the numbers of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
    Producer = 4,
}

/// A value of an attribute. There is no way to put a client's text in: words are of the program, and routes and tables come
/// from its lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    Word(Cow<'static, str>),
    Number(i64),
}

impl From<&'static str> for Attribute {
    fn from(word: &'static str) -> Attribute {
        Attribute::Word(Cow::Borrowed(word))
    }
}

impl From<i64> for Attribute {
    fn from(number: i64) -> Attribute {
        Attribute::Number(number)
    }
}

/// A span that has ended, as it is exported.
#[derive(Debug, Clone)]
pub struct FinishedSpan {
    pub context: TraceContext,
    pub parent: Option<[u8; 8]>,
    pub name: Cow<'static, str>,
    pub kind: SpanKind,
    /// Microseconds since 1970.
    pub started_at: i64,
    pub ended_at: i64,
    pub attributes: Vec<(&'static str, Attribute)>,
    pub is_error: bool,
}

/// A span that is under way. It has no effect if traces are off, and is not recorded if its trace is not sampled.
pub struct Span(Option<Box<Running>>);

struct Running {
    tracer: Tracer,
    span: FinishedSpan,
}

/// The span whose work a task does.
#[derive(Clone)]
struct Active {
    tracer: Tracer,
    context: TraceContext,
}

tokio::task_local! {
    static CURRENT: Option<Active>;
}

fn active() -> Option<Active> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}

/// The context of the span whose work this task does.
pub fn current() -> Option<TraceContext> {
    active().map(|it| it.context)
}

/// Starts a part of the span whose work this task does. Without one, the new span has no effect.
pub fn start_child(name: impl Into<Cow<'static, str>>, kind: SpanKind) -> Span {
    match active() {
        Some(active) => active.tracer.span(name.into(), kind, Some(active.context)),
        None => Span(None),
    }
}

/// Records a part of the span whose work this task does, which has just ended. `describe` is called only if it is recorded.
pub fn record(
    kind: SpanKind,
    took: Duration,
    describe: impl FnOnce(&mut Span) -> Cow<'static, str>,
) {
    let is_recorded =
        CURRENT.try_with(|it| it.as_ref().is_some_and(|it| it.context.is_sampled)).unwrap_or(false);
    if !is_recorded {
        return;
    }
    let mut span = start_child("", kind);
    let name = describe(&mut span);
    if let Some(running) = &mut span.0 {
        running.span.name = name;
        let microseconds = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
        running.span.started_at = running.span.started_at.saturating_sub(microseconds);
    }
}

impl Span {
    pub(crate) fn new(tracer: Tracer, span: FinishedSpan) -> Span {
        Span(Some(Box::new(Running { tracer, span })))
    }

    pub(crate) fn none() -> Span {
        Span(None)
    }

    pub fn context(&self) -> Option<TraceContext> {
        self.0.as_ref().map(|it| it.span.context)
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Attribute>) {
        if let Some(running) = &mut self.0
            && running.span.context.is_sampled
        {
            running.span.attributes.push((name, value.into()));
        }
    }

    /// Sets an attribute to a word that is known only at run time, such as a route. It must be one of the program's own.
    pub fn set_word(&mut self, name: &'static str, word: &str) {
        if self.context().is_some_and(|it| it.is_sampled) {
            self.set(name, Attribute::Word(Cow::Owned(word.to_owned())));
        }
    }

    /// Sets the name, if it became known only now.
    pub fn rename(&mut self, name: impl FnOnce() -> Cow<'static, str>) {
        if let Some(running) = &mut self.0
            && running.span.context.is_sampled
        {
            running.span.name = name();
        }
    }

    /// Marks the span as failed, with the kind of error.
    pub fn fail(&mut self, error_type: impl Into<Cow<'static, str>>) {
        self.set("error.type", Attribute::Word(error_type.into()));
        if let Some(running) = &mut self.0 {
            running.span.is_error = true;
        }
    }

    /// Does the work of this span: spans that it starts become parts of this one, and its log lines have the id of the trace.
    pub fn scope<W: Future>(&self, work: W) -> impl Future<Output = W::Output> + use<W> {
        let (active, log) = match &self.0 {
            Some(running) => {
                let context = running.span.context;
                let trace_id = context.trace_id_text();
                (
                    Some(Active { tracer: running.tracer.clone(), context }),
                    tracing::error_span!("trace", trace_id),
                )
            }
            None => (active(), tracing::Span::none()),
        };
        CURRENT.scope(active, work.instrument(log))
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            let Running { tracer, span } = *running;
            tracer.finish(span);
        }
    }
}

#[cfg(test)]
mod tests;
