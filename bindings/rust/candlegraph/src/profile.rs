//! How long operations of the source take in a probe run (`candle-graph/runtime/3`).
//!
//! Times are wall time of the host. Where a device works asynchronously that is the time of the
//! launch, unless the program synchronises before it ends the operation.
use std::path::{Path, PathBuf};

use candlegraph_sys as sys;

use crate::error::{tell, Result, Texts};
use crate::runtime::{Form, Raw, RunMetadata, RUNTIME_SCHEMA_V3};
use crate::words::ExecutionPhase;

/// What is profiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileConfig {
    pub entrypoint: String,
    pub phase: ExecutionPhase,
    pub profile: String,
    pub cargo_features: Vec<String>,
    /// Of the scan this run belongs to.
    pub analysis_id: Option<String>,
    pub build_id: Option<String>,
}

impl ProfileConfig {
    fn new(phase: ExecutionPhase, entrypoint: impl Into<String>) -> Self {
        Self {
            entrypoint: entrypoint.into(),
            phase,
            profile: "release".to_owned(),
            cargo_features: Vec::new(),
            analysis_id: None,
            build_id: None,
        }
    }

    pub fn train(entrypoint: impl Into<String>) -> Self {
        Self::new(ExecutionPhase::Train, entrypoint)
    }

    pub fn infer(entrypoint: impl Into<String>) -> Self {
        Self::new(ExecutionPhase::Infer, entrypoint)
    }
}

/// A profile being written, line by line. Operations may be timed inside each other, on any thread.
pub struct ProfileSession {
    raw: Raw,
    path: PathBuf,
}

impl ProfileSession {
    /// Truncates `path`, and makes the directories it needs.
    pub fn open(path: impl AsRef<Path>, config: ProfileConfig) -> Result<Self> {
        let path = path.as_ref();
        let run = RunMetadata {
            entrypoint: config.entrypoint,
            profile: config.profile,
            cargo_features: config.cargo_features,
            cfg: Vec::new(),
            analysis_id: config.analysis_id,
            build_id: config.build_id,
            phase: Some(config.phase.to_string()),
        };
        let raw = Raw::open_path(path, Form::Lines, RUNTIME_SCHEMA_V3, &run)?;
        Ok(Self { raw, path: path.to_owned() })
    }

    /// The step of what comes; 0 at first.
    pub fn set_step(&self, step: u64) {
        // SAFETY: open until `self` goes; as for every call below.
        unsafe { sys::cg_runtime_set_step(self.raw.at(), step) };
    }

    /// Begin an operation, and tell its event id.
    pub fn begin_operation(
        &self,
        static_id: impl AsRef<str>,
        op: impl AsRef<str>,
        inputs: &[String],
    ) -> Result<String> {
        let mut texts = Texts::default();
        let (static_id, op) = (texts.put(static_id.as_ref())?, texts.put(op.as_ref())?);
        let inputs = texts.put_all(inputs)?;
        let mut timed = sys::cg_runtime_timed::zeroed();
        tell(|err| unsafe {
            let (at, count) = (self.raw.at(), inputs.len());
            sys::cg_runtime_begin(at, static_id, op, inputs.as_ptr(), count, &mut timed, err)
        })?;
        // SAFETY: terminated by the recorder.
        let event_id = unsafe { std::ffi::CStr::from_ptr(timed.event_id.as_ptr()) };
        Ok(event_id.to_string_lossy().into_owned())
    }

    /// Write it, and tell how long it took.
    pub fn end_operation(&self, event_id: impl AsRef<str>, output: Option<String>) -> Result<u64> {
        let event_id = event_id.as_ref();
        let mut texts = Texts::default();
        let output = texts.put_option(output.as_deref())?;
        // An event id ends with the operation's number.
        let mut timed = sys::cg_runtime_timed::zeroed();
        timed.number = event_id.rsplit('-').next().and_then(|text| text.parse().ok()).unwrap_or(0);
        for (to, from) in timed.event_id.iter_mut().zip(event_id.bytes().take(63)) {
            *to = from as std::ffi::c_char;
        }
        let mut duration = 0;
        tell(|err| unsafe {
            sys::cg_runtime_end(self.raw.at(), &timed, output, &mut duration, err)
        })?;
        Ok(duration)
    }

    pub fn record_edge_timing(
        &self,
        from_static_id: impl AsRef<str>,
        to_static_id: impl AsRef<str>,
        duration_ns: u64,
    ) -> Result<()> {
        let mut texts = Texts::default();
        let from = texts.put(from_static_id.as_ref())?;
        let to = texts.put(to_static_id.as_ref())?;
        tell(|err| unsafe { sys::cg_runtime_time_edge(self.raw.at(), from, to, duration_ns, err) })
    }

    pub fn flush(&self) -> Result<()> {
        tell(|err| unsafe { sys::cg_runtime_flush(self.raw.at(), err) })
    }

    /// Operations that are still open are an error that names them; the rest is written.
    pub fn finish(self) -> Result<PathBuf> {
        self.raw.finish()?;
        Ok(self.path)
    }
}

/// An operation that is timed until the end of its scope.
#[must_use = "the operation ends when this goes"]
pub struct TimedOperation<'a> {
    session: &'a ProfileSession,
    event_id: Option<String>,
}

impl<'a> TimedOperation<'a> {
    pub fn begin(
        session: &'a ProfileSession,
        static_id: impl AsRef<str>,
        op: impl AsRef<str>,
        inputs: &[String],
    ) -> Result<Self> {
        let event_id = session.begin_operation(static_id, op, inputs)?;
        Ok(Self { session, event_id: Some(event_id) })
    }

    /// End it here, and tell how long it took.
    pub fn end(mut self, output: Option<String>) -> Result<u64> {
        self.session.end_operation(self.event_id.take().unwrap_or_default(), output)
    }
}

impl Drop for TimedOperation<'_> {
    fn drop(&mut self) {
        if let Some(event_id) = self.event_id.take() {
            // An output that broke says so at finish.
            let _ = self.session.end_operation(event_id, None);
        }
    }
}
