//! A session: one selected update or call while it runs.
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use candlegraph_sys as sys;

use crate::describe::ProfileRun;
use crate::error::{tell, Result, Texts};
use crate::identity::Identity;
use crate::names;
use crate::words::{ExecutionStep, GradientState, MemoryCategory, SpanKind};

/// Handle of a span, open or closed. May be handed to other threads.
#[derive(Clone, Copy)]
pub struct SpanId(pub(crate) sys::cg_record_span);

impl PartialEq for SpanId {
    fn eq(&self, other: &Self) -> bool {
        (self.0.reference, self.0.session) == (other.0.reference, other.0.session)
    }
}

impl Eq for SpanId {}

impl std::fmt::Debug for SpanId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "SpanId({:#x})", self.0.reference)
    }
}

/// An operation: it ran inside `span` and made one tensor.
#[derive(Clone, Copy, Debug)]
pub struct OpRecord<'a, I = &'a str, O = &'a str> {
    pub op_name: &'a str,
    pub inputs: &'a [I],
    pub output: Option<O>,
    pub shape: &'a [usize],
    pub dtype: &'a str,
    pub device: &'a str,
    pub duration_ns: u64,
    /// When it began, as [`TraceSession::elapsed_ns`] tells it; 0: it ended now.
    pub timestamp_ns: u64,
    /// Taken from shape and element type; what is given here is not used.
    pub output_dense_bytes: Option<u64>,
    pub input_dense_bytes: u64,
}

/// A tensor as it is at the moment.
#[derive(Clone, Copy, Debug)]
pub struct TensorRecord<'a, T = &'a str> {
    pub tensor_id: T,
    pub label: Option<&'a str>,
    pub shape: &'a [usize],
    pub dtype: &'a str,
    pub device: &'a str,
    pub requires_grad: bool,
    /// Taken from shape and element type; what is given here is not used.
    pub dense_bytes: Option<u64>,
    pub category: MemoryCategory,
}

/// A storage that begins or ends.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRecord<'a, S = &'a str, T = &'a str> {
    pub storage_id: S,
    pub tensor_id: T,
    pub device: &'a str,
    pub bytes: u64,
    pub dtype: &'a str,
    pub category: MemoryCategory,
    /// None: now.
    pub timestamp_ns: Option<u64>,
    pub op_name: Option<&'a str>,
    pub shape: &'a [usize],
}

/// What a device says about its memory; at least one number.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceMemoryRecord<'a> {
    pub device: &'a str,
    pub used_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    pub reserved_bytes: Option<u64>,
    pub capacity_bytes: Option<u64>,
    pub timestamp_ns: Option<u64>,
}

/// An interval on a device clock, which has nothing to do with the host's.
#[derive(Clone, Copy, Debug)]
pub struct DeviceIntervalRecord<'a> {
    pub device: &'a str,
    pub stream_id: &'a str,
    pub clock_id: &'a str,
    pub backend: &'a str,
    pub start_ns: u64,
    pub duration_ns: u64,
}

/// What to do when a thread's ring is full, and how large it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionOptions {
    /// Leave records out and say so in the trace, instead of waiting for the disk.
    pub drop_when_full: bool,
    /// Of each thread; 0 is 1 MiB.
    pub ring_bytes: u32,
}

/// A live session. Any number of threads record into it without a lock; each has its own stack of
/// open spans, which begins at the root span.
///
/// What was recorded survives the death of the process: `candle-graph recover PATH.spool`.
pub struct TraceSession {
    raw: *mut sys::cg_record,
    path: PathBuf,
    serial: u64,
}

// SAFETY: the recorder is made for calls from any thread.
unsafe impl Send for TraceSession {}
// SAFETY: as above.
unsafe impl Sync for TraceSession {}

static SERIAL: AtomicU64 = AtomicU64::new(1);

impl TraceSession {
    /// Open a session that will write `path`, making the directories it needs. Nothing is created
    /// when the description breaks a rule of the format.
    pub fn open(path: impl AsRef<Path>, run: ProfileRun) -> Result<Self> {
        Self::open_with(path, run, SessionOptions::default())
    }

    pub fn open_with(
        path: impl AsRef<Path>,
        run: ProfileRun,
        options: SessionOptions,
    ) -> Result<Self> {
        let path = path.as_ref();
        let mut texts = Texts::default();
        let raw_path = texts.put_path(path)?;
        let raw_options = sys::cg_record_options {
            size: size_of::<sys::cg_record_options>() as u32,
            full_ring: options.drop_when_full as u32,
            ring_bytes: options.ring_bytes,
        };
        let mut raw = null_mut();
        run.with_raw(|run| {
            // SAFETY: everything lives until the call returns, and is copied.
            tell(|err| unsafe { sys::cg_record_open(raw_path, run, &raw_options, &mut raw, err) })
        })?;
        Ok(Self { raw, path: path.to_owned(), serial: SERIAL.fetch_add(1, Ordering::Relaxed) })
    }

    #[inline]
    pub(crate) fn raw(&self) -> *mut sys::cg_record {
        self.raw
    }

    #[inline]
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Write the trace and put it in place. Spans that are still open are an error, and the trace
    /// is a failed capture then; so are records that were left out because of their arguments.
    pub fn finish(mut self) -> Result<PathBuf> {
        let raw = std::mem::replace(&mut self.raw, null_mut());
        // SAFETY: open until here, and nobody else has it.
        tell(|err| unsafe { sys::cg_record_finish(raw, null_mut(), err) })?;
        Ok(std::mem::take(&mut self.path))
    }

    /// The same for a run that failed; open spans stay open. A blank reason is refused, and a
    /// stated one is written instead.
    pub fn finish_failed(mut self, reason: impl AsRef<str>) -> Result<PathBuf> {
        let mut texts = Texts::default();
        let reason = reason.as_ref();
        let raw_reason = texts.put(&reason.replace('\0', "\u{fffd}"))?;
        let raw = std::mem::replace(&mut self.raw, null_mut());
        // SAFETY: as in `finish`.
        tell(|err| unsafe { sys::cg_record_finish_failed(raw, raw_reason, null_mut(), err) })?;
        anyhow::ensure!(!reason.trim().is_empty(), "a failed capture needs a reason");
        Ok(std::mem::take(&mut self.path))
    }

    /// [`Self::finish`] for a session that is shared; an error while somebody else still has it.
    pub fn finish_shared(session: std::sync::Arc<Self>) -> Result<PathBuf> {
        std::sync::Arc::into_inner(session)
            .ok_or_else(|| anyhow::anyhow!("the session is still in use elsewhere"))?
            .finish()
    }

    /// Everything recorded so far to the disk.
    pub fn flush(&self) -> Result<()> {
        // SAFETY: open until `self` goes; as for every call below.
        tell(|err| unsafe { sys::cg_record_flush(self.raw, err) })
    }

    /// Nanoseconds since the session began.
    #[inline]
    pub fn elapsed_ns(&self) -> u64 {
        unsafe { sys::cg_record_elapsed_ns(self.raw) }
    }

    /// The same for a moment that has passed. A moment before the session is an error.
    pub fn host_timestamp_ns(&self, moment: Instant) -> Result<u64> {
        let elapsed = self.elapsed_ns();
        let now = Instant::now();
        let back = now.saturating_duration_since(moment).as_nanos() as u64;
        elapsed
            .checked_sub(back)
            .ok_or_else(|| anyhow::anyhow!("the moment lies before the session began"))
    }

    #[inline]
    fn time_at(&self, elapsed_ns: u64) -> sys::cg_record_time {
        unsafe { sys::cg_record_time_at(self.raw, elapsed_ns) }
    }

    #[inline]
    fn begin(&self, name: &str, what: u32) -> SpanGuard<'_> {
        let name = names::name(self, name);
        SpanGuard { session: self, span: unsafe { sys::cg_record_begin_on(self.raw, name, what) } }
    }

    /// Begin a span inside the innermost open one of this thread. It ends with the guard.
    #[inline]
    pub fn begin_span(&self, name: impl AsRef<str>, kind: SpanKind) -> SpanGuard<'_> {
        self.begin(name.as_ref(), kind as u32)
    }

    #[inline]
    pub fn begin_step_span(
        &self,
        name: impl AsRef<str>,
        step: ExecutionStep,
        kind: SpanKind,
    ) -> SpanGuard<'_> {
        self.begin(name.as_ref(), kind as u32 | (step as u32) << 2)
    }

    /// The measured region; a complete capture has exactly one.
    #[inline]
    pub fn begin_measurement(&self, name: impl AsRef<str>) -> SpanGuard<'_> {
        self.begin(name.as_ref(), 1 << 4)
    }

    /// Begin a span under one that another thread began.
    pub fn begin_span_under(
        &self,
        parent: SpanId,
        name: impl AsRef<str>,
        kind: SpanKind,
    ) -> SpanGuard<'_> {
        let name = names::name(self, name.as_ref());
        SpanGuard {
            session: self,
            span: unsafe {
                sys::cg_record_span_begin_under(self.raw, parent.0, name, kind as u32, 0)
            },
        }
    }

    pub fn root(&self) -> SpanId {
        SpanId(unsafe { sys::cg_record_root(self.raw) })
    }

    /// The innermost open span of this thread.
    #[inline]
    pub fn current(&self) -> SpanId {
        SpanId(unsafe { sys::cg_record_current(self.raw) })
    }

    /// Work that is over, of any thread: `start_ns` as [`Self::host_timestamp_ns`] tells it.
    pub fn record_completed_host_span(
        &self,
        name: impl AsRef<str>,
        kind: SpanKind,
        start_ns: u64,
        duration_ns: u64,
    ) -> Result<()> {
        anyhow::ensure!(duration_ns > 0, "a completed span needs a duration above 0");
        let end_ns = start_ns
            .checked_add(duration_ns)
            .ok_or_else(|| anyhow::anyhow!("start and duration of the span overflow"))?;
        let now = self.elapsed_ns();
        // The program's clock and the recorder's may differ by what neither can tell.
        let near = 1000 + duration_ns / 1000;
        anyhow::ensure!(
            end_ns.saturating_sub(now) <= near,
            "the span ends at {end_ns} ns, and it is {now} ns now"
        );
        let end_ns = end_ns.min(now);
        let name = names::name(self, name.as_ref());
        let start = self.time_at(start_ns.min(end_ns.saturating_sub(1)));
        let end = self.time_at(end_ns).max(start + 1);
        let root = self.root();
        unsafe {
            sys::cg_record_span_completed(self.raw, root.0, name, kind as u32, start, end);
        }
        Ok(())
    }

    #[inline]
    pub fn record_op<I: Identity, O: Identity>(
        &self,
        span: SpanId,
        record: OpRecord<'_, I, O>,
    ) -> Result<()> {
        const FEW: usize = 8;
        let count = record.inputs.len();
        let mut few = [0; FEW];
        let mut many = Vec::new();
        if count <= FEW {
            for (to, from) in few.iter_mut().zip(record.inputs) {
                *to = from.number(self);
            }
        } else {
            anyhow::ensure!(count <= 255, "an operation of {count} inputs; at most 255");
            many.extend(record.inputs.iter().map(|input| input.number(self)));
        }
        let (start, duration_ns) = match record.timestamp_ns {
            0 => (0, record.duration_ns),
            // A start without a duration would mean `until now`.
            at => (self.time_at(at), record.duration_ns.max(1)),
        };
        let args = sys::cg_record_op_args {
            size: size_of::<sys::cg_record_op_args>() as u32,
            name: names::name(self, record.op_name),
            layout: names::layout(self, record.dtype, record.device, record.shape),
            input_count: count as u32,
            inputs: if count <= FEW { few.as_ptr() } else { many.as_ptr() },
            output: record.output.map_or(0, |output| output.number(self)),
            duration_ns,
            start,
            input_dense_bytes: record.input_dense_bytes,
        };
        anyhow::ensure!(args.name != 0, "the operation's name is missing or too long");
        anyhow::ensure!(args.layout != 0, "the operation's element type or device is missing");
        unsafe { sys::cg_record_op_on(self.raw, span.0, &args) };
        Ok(())
    }

    #[inline]
    pub fn record_tensor<T: Identity>(
        &self,
        span: SpanId,
        record: TensorRecord<'_, T>,
    ) -> Result<()> {
        let args = sys::cg_record_tensor_args {
            size: size_of::<sys::cg_record_tensor_args>() as u32,
            label: record.label.map_or(0, |label| names::name(self, label)),
            id: record.tensor_id.number(self),
            layout: names::layout(self, record.dtype, record.device, record.shape),
            category: record.category as u32,
            is_grad_required: record.requires_grad,
        };
        anyhow::ensure!(args.id != 0, "the tensor's identity is missing");
        anyhow::ensure!(args.layout != 0, "the tensor's element type or device is missing");
        unsafe { sys::cg_record_tensor_on(self.raw, span.0, &args) };
        Ok(())
    }

    /// A number under a label. One that is not finite is recorded as such.
    #[inline]
    pub fn record_scalar(&self, span: SpanId, label: impl AsRef<str>, value: f64) -> Result<()> {
        let label = self.label(label.as_ref())?;
        unsafe { sys::cg_record_scalar_on(self.raw, span.0, label, value) };
        Ok(())
    }

    pub(crate) fn label(&self, label: &str) -> Result<sys::cg_record_name> {
        anyhow::ensure!(!label.trim().is_empty(), "a label must not be blank");
        let number = names::name(self, label);
        anyhow::ensure!(number != 0, "a label of {} bytes is too long", label.len());
        Ok(number)
    }

    #[inline]
    fn memory<S: Identity, T: Identity>(
        &self,
        record: &MemoryRecord<'_, S, T>,
    ) -> Result<sys::cg_record_memory_args> {
        let args = sys::cg_record_memory_args {
            size: size_of::<sys::cg_record_memory_args>() as u32,
            category: record.category as u32,
            storage: record.storage_id.number(self),
            tensor: record.tensor_id.number(self),
            bytes: record.bytes,
            layout: names::layout(self, record.dtype, record.device, record.shape),
            op_name: record.op_name.map_or(0, |name| names::name(self, name)),
            time: record.timestamp_ns.map_or(0, |at| self.time_at(at)),
        };
        anyhow::ensure!(args.storage != 0, "the storage's identity is missing");
        anyhow::ensure!(args.layout != 0, "the storage's element type or device is missing");
        Ok(args)
    }

    #[inline]
    pub fn record_memory_alloc<S: Identity, T: Identity>(
        &self,
        span: SpanId,
        record: MemoryRecord<'_, S, T>,
    ) -> Result<()> {
        let args = self.memory(&record)?;
        unsafe { sys::cg_record_memory_alloc(self.raw, span.0, &args) };
        Ok(())
    }

    #[inline]
    pub fn record_memory_free<S: Identity, T: Identity>(
        &self,
        span: SpanId,
        record: MemoryRecord<'_, S, T>,
    ) -> Result<()> {
        let args = self.memory(&record)?;
        unsafe { sys::cg_record_memory_free(self.raw, span.0, &args) };
        Ok(())
    }

    pub fn record_device_memory(&self, record: DeviceMemoryRecord<'_>) -> Result<()> {
        let numbers =
            [record.used_bytes, record.free_bytes, record.reserved_bytes, record.capacity_bytes];
        anyhow::ensure!(
            numbers.iter().any(Option::is_some),
            "a sample of a device's memory needs at least one number"
        );
        let args = sys::cg_record_device_memory_args {
            size: size_of::<sys::cg_record_device_memory_args>() as u32,
            device: names::name(self, record.device),
            has_used: numbers[0].is_some(),
            has_free: numbers[1].is_some(),
            has_reserved: numbers[2].is_some(),
            has_capacity: numbers[3].is_some(),
            used_bytes: numbers[0].unwrap_or(0),
            free_bytes: numbers[1].unwrap_or(0),
            reserved_bytes: numbers[2].unwrap_or(0),
            capacity_bytes: numbers[3].unwrap_or(0),
            time: record.timestamp_ns.map_or(0, |at| self.time_at(at)),
        };
        unsafe { sys::cg_record_device_memory(self.raw, &args) };
        Ok(())
    }

    pub fn record_device_interval(
        &self,
        span: SpanId,
        record: DeviceIntervalRecord<'_>,
    ) -> Result<()> {
        anyhow::ensure!(record.duration_ns > 0, "a device interval needs a duration above 0");
        let args = sys::cg_record_device_interval_args {
            size: size_of::<sys::cg_record_device_interval_args>() as u32,
            device: names::name(self, record.device),
            stream: names::name(self, record.stream_id),
            clock: names::name(self, record.clock_id),
            backend: names::name(self, record.backend),
            start_ns: record.start_ns,
            duration_ns: record.duration_ns,
        };
        unsafe { sys::cg_record_device_interval(self.raw, span.0, &args) };
        Ok(())
    }

    /// A norm belongs to a present gradient (finite, above 0) and may be 0 for a zero one.
    pub fn record_gradient(
        &self,
        root: impl AsRef<str>,
        key: impl AsRef<str>,
        state: GradientState,
        norm: Option<f64>,
    ) -> Result<()> {
        let (root, key) = (root.as_ref(), key.as_ref());
        anyhow::ensure!(!root.trim().is_empty(), "the gradient's root must not be blank");
        anyhow::ensure!(!key.trim().is_empty(), "the gradient's key must not be blank");
        let fits = match (state, norm) {
            (GradientState::Present, norm) => {
                norm.is_some_and(|norm| norm.is_finite() && norm > 0.0)
            }
            (GradientState::Zero, norm) => norm.is_none_or(|norm| norm == 0.0),
            (GradientState::NonFinite, norm) => norm.is_none_or(|norm| !norm.is_finite()),
            (GradientState::Missing, norm) => norm.is_none(),
        };
        anyhow::ensure!(fits, "the norm {norm:?} does not fit a gradient that is {state}");
        let norm = norm.filter(|_| state == GradientState::Present).unwrap_or(0.0);
        let (root, key) = (names::name(self, root), names::name(self, key));
        unsafe { sys::cg_record_gradient(self.raw, root, key, state as u32, norm) };
        Ok(())
    }

    /// `from` is the parent of `to`. The duration written is that of `to`, whatever is said here.
    pub fn record_call_edge(&self, from: SpanId, to: SpanId, _duration_ns: u64) -> Result<()> {
        unsafe { sys::cg_record_call_edge(self.raw, from.0, to.0) };
        Ok(())
    }

    /// Both must be tensors of this trace.
    pub fn record_data_edge(&self, from: impl Identity, to: impl Identity) -> Result<()> {
        anyhow::ensure!(!from.is_blank() && !to.is_blank(), "an edge joins two tensors");
        let (from, to) = (from.number(self), to.number(self));
        unsafe { sys::cg_record_data_edge(self.raw, from, to) };
        Ok(())
    }
}

/// A session that goes without `finish` leaves a failed capture that says so.
impl Drop for TraceSession {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        let reason = match std::thread::panicking() {
            true => c"a panic ended the session",
            false => c"the session was dropped without finish",
        };
        // SAFETY: open until here, and nobody else has it.
        unsafe { sys::cg_record_finish_failed(self.raw, reason.as_ptr(), null_mut(), null_mut()) };
    }
}

/// An open span, which ends with the guard. Spans still open inside it end with it.
#[must_use = "the span ends when the guard goes"]
pub struct SpanGuard<'a> {
    session: &'a TraceSession,
    span: sys::cg_record_span,
}

impl SpanGuard<'_> {
    #[inline]
    pub fn id(&self) -> SpanId {
        SpanId(self.span)
    }

    pub fn session(&self) -> &TraceSession {
        self.session
    }
}

impl Drop for SpanGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard borrows its session, so it is open.
        unsafe { sys::cg_record_span_end_on(self.session.raw, self.span) };
    }
}

impl std::fmt::Debug for TraceSession {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("TraceSession").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Turn the spool of a dead process into a failed capture, and tell its reason.
pub fn recover(spool: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<String> {
    let mut texts = Texts::default();
    let (from, to) = (texts.put_path(spool.as_ref())?, texts.put_path(output.as_ref())?);
    let mut account = sys::cg_record_recovery::zeroed();
    account.size = size_of::<sys::cg_record_recovery>() as u32;
    // SAFETY: terminated paths, a structure with its size.
    tell(|err| unsafe { sys::cg_record_recover(from, to, &mut account, err) })?;
    let reason = if account.reason == null::<std::ffi::c_char>().cast_mut() {
        String::new()
    } else {
        // SAFETY: a terminated text, until the account is freed.
        unsafe { std::ffi::CStr::from_ptr(account.reason) }.to_string_lossy().into_owned()
    };
    // SAFETY: filled by cg_record_recover.
    unsafe { sys::cg_record_recovery_free(&mut account) };
    Ok(reason)
}
