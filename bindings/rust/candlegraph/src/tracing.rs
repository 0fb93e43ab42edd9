//! Spans that a program has already: a layer of the crate `tracing` that makes them spans of a
//! session. The models of candle-transformers are full of them.
//!
//! ```no_run
//! use std::sync::Arc;
//! use candle_graph::{tracing::CaptureLayer, ProfileRun, TraceSession};
//!
//! # fn main() -> candle_graph::Result<()> {
//! let capture = CaptureLayer::idle().install_here(); // before the model is made
//! // let model = BertModel::load(vb, &config)?;
//! let session = Arc::new(TraceSession::open("run.jsonl", ProfileRun::inference("app::embed", 1, "cpu"))?);
//! capture.record_into(&session);
//! // { let _measured = session.begin_measurement("embed"); model.forward(...)?; }
//! TraceSession::finish_shared(session)?;
//! # Ok(())
//! # }
//! ```
//!
//! A span of `tracing` belongs to the subscriber that was there when it was made, and models make
//! theirs when they are loaded: the layer comes first, and is told later which session is on.
//!
//! A span may be entered many times; each time is a span of the session. It stands inside the
//! innermost open span of its thread.
use std::cell::RefCell;
use std::sync::{Arc, RwLock, Weak};

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

/// Which session is on, if any. Shared by a layer and its handles; keeps no session alive.
#[derive(Clone, Default)]
pub struct CaptureHandle(Arc<RwLock<Weak<TraceSession>>>);

impl CaptureHandle {
    /// Spans that are entered from here on go to `session`, until it is finished.
    pub fn record_into(&self, session: &Arc<TraceSession>) {
        *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = Arc::downgrade(session);
    }

    /// Nothing is recorded any more.
    pub fn stop(&self) {
        *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()) = Weak::new();
    }

    fn session(&self) -> Option<Arc<TraceSession>> {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).upgrade()
    }
}

/// A layer that is the only subscriber of its thread, until this goes.
pub struct InstalledCapture {
    handle: CaptureHandle,
    _subscriber: DefaultGuard,
}

impl std::ops::Deref for InstalledCapture {
    type Target = CaptureHandle;

    fn deref(&self) -> &CaptureHandle {
        &self.handle
    }
}

/// A layer that begins a span of the session where a span is entered, and ends it where it is left.
pub struct CaptureLayer {
    target: CaptureHandle,
    kind: SpanKind,
    prefix: String,
}

impl CaptureLayer {
    /// For spans that are made from here on, into `session`.
    pub fn new(session: &Arc<TraceSession>) -> Self {
        let layer = Self::idle();
        layer.target.record_into(session);
        layer
    }

    /// Records nothing until its handle is told a session.
    pub fn idle() -> Self {
        Self { target: CaptureHandle::default(), kind: SpanKind::Module, prefix: String::new() }
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

    /// For a layer that goes into a subscriber of the program's own.
    pub fn handle(&self) -> CaptureHandle {
        self.target.clone()
    }

    /// As the only subscriber of this thread, until the result goes.
    pub fn install_here(self) -> InstalledCapture {
        let handle = self.handle();
        let subscriber = tracing_subscriber::registry().with(self);
        InstalledCapture { handle, _subscriber: tracing::subscriber::set_default(subscriber) }
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
        let (Some(session), Some(span)) = (self.target.session(), context.span(id)) else {
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
        let Some(session) = self.target.session() else {
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
