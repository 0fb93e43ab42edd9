//! Short probe runs for the analysis of the source: what tensors looked like, which parameters got
//! a gradient, how long operations took (`candle-graph/runtime/1`, `/2`, `/3`).
//!
//! `candle-graph check --runtime-trace FILE` joins them to the source.
use std::borrow::Borrow;
use std::ffi::{c_char, c_void};
use std::io::Write;
use std::path::Path;
use std::ptr::null_mut;

use candlegraph_sys as sys;

use crate::error::{tell, Result, Texts};
pub use crate::words::GradientState;

pub const RUNTIME_SCHEMA_V1: &str = "candle-graph/runtime/1";
/// Adds steps and value observations.
pub const RUNTIME_SCHEMA_V2: &str = "candle-graph/runtime/2";
/// Adds the phase, durations and edge timings.
pub const RUNTIME_SCHEMA_V3: &str = "candle-graph/runtime/3";

/// The run. Texts are free, except for `phase`: train or infer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunMetadata {
    pub entrypoint: String,
    /// `debug` or `release`.
    pub profile: String,
    pub cargo_features: Vec<String>,
    pub cfg: Vec<String>,
    /// Of the scan this run belongs to.
    pub analysis_id: Option<String>,
    pub build_id: Option<String>,
    pub phase: Option<String>,
}

/// A tensor of the program. Event ids are not empty and used once in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorObservation {
    pub event_id: String,
    pub static_id: Option<String>,
    pub source: Option<String>,
    pub step: Option<u64>,
    pub shape: Vec<usize>,
    pub dtype: String,
    pub device: String,
    pub contiguous: bool,
    pub requires_grad: bool,
    pub storage_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationObservation {
    pub event_id: String,
    pub op: String,
    pub static_id: Option<String>,
    pub source: Option<String>,
    pub inputs: Vec<String>,
    pub output: Option<String>,
    pub step: Option<u64>,
    pub duration_ns: Option<u64>,
}

/// A norm belongs to a present gradient, may be 0 for a zero one and not finite for one that is
/// not; a missing gradient has none.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientFact {
    pub event_id: String,
    pub root: String,
    pub key: String,
    pub state: GradientState,
    pub step: Option<u64>,
    pub norm: Option<f64>,
}

/// The range of a tensor's finite elements, and how many are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueObservation {
    pub event_id: String,
    pub static_id: Option<String>,
    pub source: Option<String>,
    pub step: Option<u64>,
    pub min: f64,
    pub max: f64,
    pub abs_max: f64,
    pub nonfinite_count: u64,
    pub saturated_count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeTimingObservation {
    pub event_id: String,
    pub from_static_id: String,
    pub to_static_id: String,
    pub duration_ns: u64,
    pub step: Option<u64>,
}

/// One record a line, or all in one document at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Lines,
    Document,
}

impl RunMetadata {
    fn with_raw<R>(
        &self,
        schema: &str,
        call: impl FnOnce(&sys::cg_runtime_run) -> Result<R>,
    ) -> Result<R> {
        let mut texts = Texts::default();
        let features = texts.put_all(&self.cargo_features)?;
        let cfg = texts.put_all(&self.cfg)?;
        call(&sys::cg_runtime_run {
            size: size_of::<sys::cg_runtime_run>() as u32,
            schema: texts.put(schema)?,
            entrypoint: texts.put(&self.entrypoint)?,
            profile: texts.put(&self.profile)?,
            cargo_features: features.as_ptr(),
            cargo_feature_count: features.len(),
            cfg: cfg.as_ptr(),
            cfg_count: cfg.len(),
            analysis_id: texts.put_option(self.analysis_id.as_deref())?,
            build_id: texts.put_option(self.build_id.as_deref())?,
            phase: texts.put_option(self.phase.as_deref())?,
        })
    }
}

/// The writer itself, without what it writes into.
pub(crate) struct Raw(*mut sys::cg_runtime);

// SAFETY: calls on one writer may come from any thread.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

impl Raw {
    pub fn open_path(path: &Path, form: Form, schema: &str, run: &RunMetadata) -> Result<Self> {
        let mut texts = Texts::default();
        let path = texts.put_path(path)?;
        let mut raw = null_mut();
        run.with_raw(schema, |run| {
            // SAFETY: everything lives until the call returns, and is copied.
            tell(|err| unsafe { sys::cg_runtime_open(path, form as u32, run, &mut raw, err) })
        })?;
        Ok(Self(raw))
    }

    pub fn at(&self) -> *mut sys::cg_runtime {
        self.0
    }

    pub fn finish(mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.0, null_mut());
        // SAFETY: open until here, and nobody else has it.
        tell(|err| unsafe { sys::cg_runtime_finish(raw, null_mut(), err) })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: null after `finish`; else open until here.
        unsafe { sys::cg_runtime_finish(self.0, null_mut(), null_mut()) };
    }
}

struct Sink<W> {
    writer: W,
    error: Option<std::io::Error>,
}

unsafe extern "C" fn write_to<W: Write>(
    context: *mut c_void,
    bytes: *const c_char,
    count: usize,
) -> sys::cg_code {
    const OUTPUT: sys::cg_code = 7;
    // SAFETY: the sink that was given at open, used by one call at a time under the writer's lock.
    let sink = unsafe { &mut *context.cast::<Sink<W>>() };
    // SAFETY: so many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
    match sink.writer.write_all(bytes) {
        Ok(()) => sys::CG_OK,
        Err(error) => {
            sink.error = Some(error);
            OUTPUT
        }
    }
}

/// Writes a runtime trace into anything that can be written to. The description of the run is
/// written at once, lines as they come.
pub struct RuntimeTraceWriter<W: Write> {
    raw: Option<Raw>,
    sink: Box<Sink<W>>,
}

impl<W: Write> RuntimeTraceWriter<W> {
    /// Lines of the first schema.
    pub fn new(sink: W, run: RunMetadata) -> Result<Self> {
        Self::new_with_schema(sink, RUNTIME_SCHEMA_V1, run)
    }

    pub fn new_with_schema(sink: W, schema: impl AsRef<str>, run: RunMetadata) -> Result<Self> {
        Self::new_with(sink, Form::Lines, schema.as_ref(), &run)
    }

    /// One document, written by [`Self::finish`].
    pub fn new_document(sink: W, schema: impl AsRef<str>, run: RunMetadata) -> Result<Self> {
        Self::new_with(sink, Form::Document, schema.as_ref(), &run)
    }

    fn new_with(writer: W, form: Form, schema: &str, run: &RunMetadata) -> Result<Self> {
        let mut sink = Box::new(Sink { writer, error: None });
        let mut raw = null_mut();
        let face = sys::cg_sink { context: (&raw mut *sink).cast(), write: Some(write_to::<W>) };
        let opened = run.with_raw(schema, |run| {
            // SAFETY: the sink stays where it is until the writer is finished.
            tell(|err| unsafe { sys::cg_runtime_open_sink(face, form as u32, run, &mut raw, err) })
        });
        match (opened, sink.error.take()) {
            (Err(error), Some(cause)) => Err(anyhow::Error::from(cause).context(error)),
            (Err(error), None) => Err(error),
            (Ok(()), _) => Ok(Self { raw: Some(Raw(raw)), sink }),
        }
    }

    fn at(&self) -> *mut sys::cg_runtime {
        self.raw.as_ref().map_or(null_mut(), Raw::at)
    }

    /// The cause of an output that broke, when the sink said one.
    fn told(&mut self, result: Result<()>) -> Result<()> {
        match (result, self.sink.error.take()) {
            (Err(error), Some(cause)) => Err(anyhow::Error::from(cause).context(error)),
            (result, _) => result,
        }
    }

    pub fn tensor(&mut self, record: impl Borrow<TensorObservation>) -> Result<()> {
        let record = record.borrow();
        let mut texts = Texts::default();
        let shape: Vec<u64> = record.shape.iter().map(|axis| *axis as u64).collect();
        let raw = sys::cg_runtime_tensor {
            size: size_of::<sys::cg_runtime_tensor>() as u32,
            rank: shape.len() as u32,
            shape: shape.as_ptr(),
            event_id: texts.put(&record.event_id)?,
            static_id: texts.put_option(record.static_id.as_deref())?,
            source: texts.put_option(record.source.as_deref())?,
            dtype: texts.put(&record.dtype)?,
            device: texts.put(&record.device)?,
            storage_id: texts.put_option(record.storage_id.as_deref())?,
            is_contiguous: record.contiguous,
            is_grad_required: record.requires_grad,
            has_step: record.step.is_some(),
            step: record.step.unwrap_or(0),
        };
        // SAFETY: everything lives until the call returns; as for every record below.
        let done = tell(|err| unsafe { sys::cg_runtime_write_tensor(self.at(), &raw, err) });
        self.told(done)
    }

    pub fn operation(&mut self, record: impl Borrow<OperationObservation>) -> Result<()> {
        let record = record.borrow();
        let mut texts = Texts::default();
        let inputs = texts.put_all(&record.inputs)?;
        let raw = sys::cg_runtime_operation {
            size: size_of::<sys::cg_runtime_operation>() as u32,
            event_id: texts.put(&record.event_id)?,
            op: texts.put(&record.op)?,
            static_id: texts.put_option(record.static_id.as_deref())?,
            source: texts.put_option(record.source.as_deref())?,
            inputs: inputs.as_ptr(),
            input_count: inputs.len(),
            output: texts.put_option(record.output.as_deref())?,
            has_step: record.step.is_some(),
            has_duration: record.duration_ns.is_some(),
            step: record.step.unwrap_or(0),
            duration_ns: record.duration_ns.unwrap_or(0),
        };
        let done = tell(|err| unsafe { sys::cg_runtime_write_operation(self.at(), &raw, err) });
        self.told(done)
    }

    pub fn gradient(&mut self, record: impl Borrow<GradientFact>) -> Result<()> {
        let record = record.borrow();
        let mut texts = Texts::default();
        let raw = sys::cg_runtime_gradient {
            size: size_of::<sys::cg_runtime_gradient>() as u32,
            state: record.state as u32,
            event_id: texts.put(&record.event_id)?,
            root: texts.put(&record.root)?,
            key: texts.put(&record.key)?,
            has_step: record.step.is_some(),
            has_norm: record.norm.is_some(),
            step: record.step.unwrap_or(0),
            norm: record.norm.unwrap_or(0.0),
        };
        let done = tell(|err| unsafe { sys::cg_runtime_write_gradient(self.at(), &raw, err) });
        self.told(done)
    }

    /// `min`, `max` and `abs_max` must be finite: take them over the finite elements.
    pub fn value(&mut self, record: impl Borrow<ValueObservation>) -> Result<()> {
        let record = record.borrow();
        let mut texts = Texts::default();
        let raw = sys::cg_runtime_value {
            size: size_of::<sys::cg_runtime_value>() as u32,
            event_id: texts.put(&record.event_id)?,
            static_id: texts.put_option(record.static_id.as_deref())?,
            source: texts.put_option(record.source.as_deref())?,
            has_step: record.step.is_some(),
            step: record.step.unwrap_or(0),
            min: record.min,
            max: record.max,
            abs_max: record.abs_max,
            nonfinite_count: record.nonfinite_count,
            saturated_count: record.saturated_count,
        };
        let done = tell(|err| unsafe { sys::cg_runtime_write_value(self.at(), &raw, err) });
        self.told(done)
    }

    pub fn edge_timing(&mut self, record: impl Borrow<EdgeTimingObservation>) -> Result<()> {
        let record = record.borrow();
        let mut texts = Texts::default();
        let raw = sys::cg_runtime_edge {
            size: size_of::<sys::cg_runtime_edge>() as u32,
            event_id: texts.put(&record.event_id)?,
            from_static_id: texts.put(&record.from_static_id)?,
            to_static_id: texts.put(&record.to_static_id)?,
            duration_ns: record.duration_ns,
            has_step: record.step.is_some(),
            step: record.step.unwrap_or(0),
        };
        let done = tell(|err| unsafe { sys::cg_runtime_write_edge(self.at(), &raw, err) });
        self.told(done)
    }

    pub fn flush(&mut self) -> Result<()> {
        let done = tell(|err| unsafe { sys::cg_runtime_flush(self.at(), err) });
        self.told(done)?;
        Ok(self.sink.writer.flush()?)
    }

    /// Write what is left and give the sink back.
    pub fn finish(mut self) -> Result<W> {
        if let Some(raw) = self.raw.take() {
            let done = raw.finish();
            self.told(done)?;
        }
        let mut sink = self.sink.writer;
        sink.flush()?;
        Ok(sink)
    }
}
