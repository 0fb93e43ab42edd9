//! Spans that a program has already: a layer of the crate `tracing` that makes them spans of a
//! session. The models of candle-transformers are full of them.
//!
//! ```no_run
//! use std::sync::Arc;
//! use candle_graph::{tracing::CaptureLayer, ProfileRun, TraceSession};
//!
//! # fn main() -> candle_graph::Result<()> {
//! let session = Arc::new(TraceSession::open("run.jsonl", ProfileRun::inference("app::embed", 1, "cpu"))?);
//! let _capture = CaptureLayer::new(&session).install_here();
//! let _measured = session.begin_measurement("embed");
//! // model.forward(...)
//! # Ok(())
//! # }
//! ```
//!
//! A span of `tracing` may be entered many times; each time is a span of the session. It stands
//! inside the innermost open span of its thread.
use std::cell::RefCell;
use std::sync::{Arc, Weak};

use candlegraph_sys as sys;
use tracing::span::{Attributes, Id};
use tracing::subscriber::DefaultGuard;
use tracing::Subscriber;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::names;
use crate::session::TraceSession;
use crate::words::SpanKind;

thread_local! {
    /// What this thread entered and has not left: the session's serial, whose span, ours.
    static ENTERED: RefCell<Vec<(u64, u64, sys::cg_record_span)>> = const { RefCell::new(Vec::new()) };
}

/// A layer that begins a span of the session where a span is entered, and ends it where it is left.
///
/// The layer does not keep the session: after `finish` it does nothing.
pub struct CaptureLayer {
    session: Weak<TraceSession>,
    kind: SpanKind,
    prefix: String,
}

impl CaptureLayer {
    pub fn new(session: &Arc<TraceSession>) -> Self {
        Self { session: Arc::downgrade(session), kind: SpanKind::Module, prefix: String::new() }
    }

    /// Which kind the spans have; modules, when nothing is said.
    pub fn kind(mut self, kind: SpanKind) -> Self {
        self.kind = kind;
        self
    }

    /// What is put before the name of every span.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// As the only subscriber of this thread, until the guard goes.
    pub fn install_here(self) -> DefaultGuard {
        tracing::subscriber::set_default(tracing_subscriber::registry().with(self))
    }
}

/// The name under which a span is recorded.
struct Name(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for CaptureLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if self.prefix.is_empty() {
            return;
        }
        if let Some(span) = context.span(id) {
            let name = format!("{}{}", self.prefix, attributes.metadata().name());
            span.extensions_mut().replace(Name(name));
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let (Some(session), Some(span)) = (self.session.upgrade(), context.span(id)) else {
            return;
        };
        let extensions = span.extensions();
        let text = match extensions.get::<Name>() {
            Some(name) => name.0.as_str(),
            None => span.metadata().name(),
        };
        let name = names::name(&session, text);
        // SAFETY: the session is open.
        let ours = unsafe { sys::cg_record_begin_on(session.raw(), name, self.kind as u32) };
        ENTERED.with_borrow_mut(|all| all.push((session.serial(), id.into_u64(), ours)));
    }

    fn on_exit(&self, id: &Id, _context: Context<'_, S>) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        let ours = ENTERED.with_borrow_mut(|all| {
            let key = (session.serial(), id.into_u64());
            let at = all.iter().rposition(|entry| (entry.0, entry.1) == key)?;
            Some(all.remove(at).2)
        });
        if let Some(ours) = ours {
            // SAFETY: the session is open; its own span.
            unsafe { sys::cg_record_span_end_on(session.raw(), ours) };
        }
    }
}
