//! What Candle's tensors say about themselves, and recording them.
//!
//! Nothing here changes a tensor or keeps one alive. Captures are small values without heap memory
//! for tensors of up to six axes.
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Mutex, OnceLock};

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, DType, Device, DeviceLocation, Storage, Tensor, Var};
use candlegraph_sys as sys;

use crate::describe::{ExpectedGradient, GradientContract, GradientFamilyContract};
use crate::error::Result;
use crate::identity::{Identity, StorageKey, TensorKey};
use crate::names;
use crate::session::{MemoryRecord, OpRecord, SpanId, TensorRecord, TraceSession};
use crate::words::{ExecutionStep, MemoryCategory};

/// Takes the one number a `TensorId` is made of, which Candle shows as text only.
struct NumberOf(u64);

impl Hasher for NumberOf {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.0 = number as u64;
    }
}

/// Identity of a tensor: prints as Candle's own, `TensorId(17)`.
#[inline]
pub fn tensor_id(tensor: &Tensor) -> TensorKey {
    let mut number = NumberOf(0);
    tensor.id().hash(&mut number);
    TensorKey(number.finish())
}

/// Identity of the storage: equal for views and aliases. An address may be used again after it
/// was freed.
#[inline]
pub fn storage_id(tensor: &Tensor) -> StorageKey {
    let (storage, _) = tensor.storage_and_layout();
    StorageKey(std::ptr::from_ref::<Storage>(&storage) as u64)
}

/// `cpu`, `cuda:0`, `metal:0`.
#[inline]
pub fn device_label(device: &Device) -> &'static str {
    match device {
        Device::Cpu => "cpu",
        other => accelerator_label(other.location()),
    }
}

/// One text for each device of the machine, kept for good.
fn accelerator_label(location: DeviceLocation) -> &'static str {
    static LABELS: OnceLock<Mutex<HashMap<(bool, usize), &'static str>>> = OnceLock::new();
    let (is_cuda, ordinal) = match location {
        DeviceLocation::Cpu => return "cpu",
        DeviceLocation::Cuda { gpu_id } => (true, gpu_id),
        DeviceLocation::Metal { gpu_id } => (false, gpu_id),
    };
    let kind = if is_cuda { "cuda" } else { "metal" };
    LABELS
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .entry((is_cuda, ordinal))
        .or_insert_with(|| Box::leak(format!("{kind}:{ordinal}").into_boxed_str()))
}

/// Lower case, as Candle writes it.
pub fn dtype_label(dtype: DType) -> &'static str {
    dtype.as_str()
}

/// Product of the axes times the size of an element; not what was allocated.
#[inline]
pub fn tensor_dense_bytes(tensor: &Tensor) -> u64 {
    (tensor.elem_count() as u64).saturating_mul(tensor.dtype().size_in_bytes() as u64)
}

/// The sum over all inputs of an operation.
#[inline]
pub fn inputs_dense_bytes(inputs: &[&Tensor]) -> u64 {
    inputs.iter().fold(0, |sum, input| sum.saturating_add(tensor_dense_bytes(input)))
}

/// The category a tensor has at a part of the step.
pub fn memory_category(step: Option<ExecutionStep>, requires_grad: bool) -> MemoryCategory {
    MemoryCategory::of(step, requires_grad)
}

/// Axes of a tensor, a slice.
#[derive(Clone)]
pub struct Axes {
    few: [usize; Self::FEW],
    many: Option<Box<[usize]>>,
    count: u8,
}

impl Axes {
    const FEW: usize = 6;

    #[inline]
    fn new(axes: &[usize]) -> Self {
        let mut few = [0; Self::FEW];
        if axes.len() > Self::FEW {
            return Self { few, many: Some(axes.into()), count: 0 };
        }
        few[..axes.len()].copy_from_slice(axes);
        Self { few, many: None, count: axes.len() as u8 }
    }
}

impl Deref for Axes {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        self.many.as_deref().unwrap_or(&self.few[..self.count as usize])
    }
}

impl fmt::Debug for Axes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

/// A tensor as it is at the moment.
#[derive(Clone, Debug)]
pub struct CandleCapture {
    tensor: TensorKey,
    storage: StorageKey,
    pub label: Option<String>,
    pub shape: Axes,
    pub dtype: &'static str,
    pub device: &'static str,
    /// Dense bytes.
    pub tensor_bytes: u64,
    pub requires_grad: bool,
    pub category: MemoryCategory,
}

impl CandleCapture {
    #[inline]
    pub fn from_tensor(tensor: &Tensor, step: Option<ExecutionStep>) -> Self {
        let requires_grad = tensor.is_variable();
        Self {
            tensor: tensor_id(tensor),
            storage: storage_id(tensor),
            label: None,
            shape: Axes::new(tensor.dims()),
            dtype: tensor.dtype().as_str(),
            device: device_label(tensor.device()),
            tensor_bytes: tensor_dense_bytes(tensor),
            requires_grad,
            category: MemoryCategory::of(step, requires_grad),
        }
    }

    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    #[inline]
    pub fn tensor_id(&self) -> TensorKey {
        self.tensor
    }

    #[inline]
    pub fn storage_id(&self) -> StorageKey {
        self.storage
    }

    /// The storage as a record of memory.
    pub fn memory<'a>(
        &'a self,
        op_name: Option<&'a str>,
    ) -> MemoryRecord<'a, StorageKey, TensorKey> {
        MemoryRecord {
            storage_id: self.storage,
            tensor_id: self.tensor,
            device: self.device,
            bytes: self.tensor_bytes,
            dtype: self.dtype,
            category: self.category,
            timestamp_ns: None,
            op_name,
            shape: &self.shape,
        }
    }
}

/// An operation that ran: its name, what went in and what came out.
#[derive(Clone, Debug)]
pub struct CandleOpCapture<N = String, I = TensorKey> {
    pub op_name: N,
    pub inputs: Vec<I>,
    pub output: CandleCapture,
    pub input_tensor_bytes: u64,
    pub duration_ns: u64,
    pub timestamp_ns: u64,
}

impl<N: AsRef<str>, I: Identity> CandleOpCapture<N, I> {
    /// `timestamp_ns` is when it began, as [`TraceSession::elapsed_ns`] tells it.
    #[inline]
    pub fn new(
        op_name: N,
        inputs: Vec<I>,
        output: &Tensor,
        input_tensor_bytes: u64,
        duration_ns: u64,
        timestamp_ns: u64,
        step: Option<ExecutionStep>,
    ) -> Self {
        Self {
            op_name,
            inputs,
            output: CandleCapture::from_tensor(output, step),
            input_tensor_bytes,
            duration_ns,
            timestamp_ns,
        }
    }
}

#[inline]
pub fn record_op<N: AsRef<str>, I: Identity>(
    session: &TraceSession,
    span: SpanId,
    capture: &CandleOpCapture<N, I>,
) -> Result<()> {
    session.record_op(
        span,
        OpRecord {
            op_name: capture.op_name.as_ref(),
            inputs: &capture.inputs,
            output: Some(capture.output.tensor),
            shape: &capture.output.shape,
            dtype: capture.output.dtype,
            device: capture.output.device,
            duration_ns: capture.duration_ns,
            timestamp_ns: capture.timestamp_ns,
            output_dense_bytes: None,
            input_dense_bytes: capture.input_tensor_bytes,
        },
    )
}

/// Run and record an operation in one call. Nothing is recorded of one that fails.
#[inline]
pub fn observe_op<'a>(
    session: &TraceSession,
    span: SpanId,
    name: &str,
    inputs: &[&'a Tensor],
    run: impl FnOnce() -> candle_core::Result<Tensor>,
) -> Result<Tensor> {
    let started = session.elapsed_ns();
    let output = run()?;
    let duration = session.elapsed_ns() - started;
    let ids = inputs.iter().map(|input| tensor_id(input)).collect();
    let dense = inputs_dense_bytes(inputs);
    let capture = CandleOpCapture::new(name, ids, &output, dense, duration, started, None);
    record_op(session, span, &capture)?;
    Ok(output)
}

#[inline]
pub fn record_tensor(session: &TraceSession, span: SpanId, capture: &CandleCapture) -> Result<()> {
    record(session, span, capture.label.as_deref(), capture)
}

#[inline]
pub fn record_tensor_with_label(
    session: &TraceSession,
    span: SpanId,
    label: impl AsRef<str>,
    tensor: &Tensor,
    step: Option<ExecutionStep>,
) -> Result<()> {
    record(session, span, Some(label.as_ref()), &CandleCapture::from_tensor(tensor, step))
}

#[inline]
fn record(
    session: &TraceSession,
    span: SpanId,
    label: Option<&str>,
    capture: &CandleCapture,
) -> Result<()> {
    session.record_tensor(
        span,
        TensorRecord {
            tensor_id: capture.tensor,
            label,
            shape: &capture.shape,
            dtype: capture.dtype,
            device: capture.device,
            requires_grad: capture.requires_grad,
            dense_bytes: None,
            category: capture.category,
        },
    )
}

/// Hand the elements to `call`, in place when they are in the host's memory.
fn with_view<R>(tensor: &Tensor, call: impl FnOnce(&sys::cg_record_view) -> R) -> Result<R> {
    let copy;
    let tensor = match (tensor.device(), tensor.dtype()) {
        (
            Device::Cpu,
            DType::U8
            | DType::U32
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::BF16
            | DType::F16
            | DType::F32
            | DType::F64,
        ) => tensor,
        (Device::Cpu, _) => {
            copy = tensor.to_dtype(DType::F32)?;
            &copy
        }
        _ => {
            copy = tensor.to_device(&Device::Cpu)?;
            return with_view(&copy, call);
        }
    };
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(elements) = &*storage else {
        anyhow::bail!("a tensor of the host that is not in its memory");
    };
    let from = layout.start_offset();
    let count = layout.shape().elem_count();
    macro_rules! start {
        ($elements:expr, $number:expr) => {
            (
                $number,
                if count == 0 { std::ptr::null() } else { (&raw const $elements[from]).cast() },
            )
        };
    }
    // The numbers of `record.h`.
    let (type_, data) = match elements {
        CpuStorage::F32(at) => start!(at, 0),
        CpuStorage::F64(at) => start!(at, 1),
        CpuStorage::F16(at) => start!(at, 2),
        CpuStorage::BF16(at) => start!(at, 3),
        CpuStorage::U8(at) => start!(at, 5),
        CpuStorage::I16(at) => start!(at, 6),
        CpuStorage::I32(at) => start!(at, 8),
        CpuStorage::U32(at) => start!(at, 9),
        CpuStorage::I64(at) => start!(at, 10),
        _ => anyhow::bail!("elements of type {} cannot be reduced", tensor.dtype().as_str()),
    };
    let shape: Vec<u64> = layout.dims().iter().map(|axis| *axis as u64).collect();
    let strides: Vec<i64> = layout.stride().iter().map(|stride| *stride as i64).collect();
    Ok(call(&sys::cg_record_view {
        size: size_of::<sys::cg_record_view>() as u32,
        type_,
        data,
        rank: shape.len() as u32,
        shape: shape.as_ptr(),
        strides: strides.as_ptr(),
    }))
}

impl TraceSession {
    /// Root mean square, mean and largest magnitude under a label, reduced in f64 on the host.
    /// Elements that are not finite are counted.
    pub fn record_tensor_stats(
        &self,
        span: SpanId,
        label: impl AsRef<str>,
        tensor: &Tensor,
    ) -> Result<()> {
        let label = self.label(label.as_ref())?;
        let mut stats = sys::cg_record_stats::zeroed();
        // SAFETY: a view of elements that stay where they are during the call.
        let is_done = with_view(tensor, |view| unsafe { sys::cg_record_reduce(view, &mut stats) })?;
        anyhow::ensure!(is_done, "a tensor of {} axes cannot be reduced", tensor.rank());
        let device = device_label(tensor.device());
        let layout = names::layout(self, tensor.dtype().as_str(), device, tensor.dims());
        // SAFETY: the session is open.
        unsafe { sys::cg_record_tensor_stats_of(self.raw(), span.0, label, layout, &stats) };
        Ok(())
    }
}

/// Statistics of one tensor, as [`TraceSession::record_tensor_stats`].
pub fn record_tensor_stats(
    session: &TraceSession,
    span: SpanId,
    label: impl AsRef<str>,
    tensor: &Tensor,
) -> Result<()> {
    session.record_tensor_stats(span, label, tensor)
}

/// Which gradients are owed, and how to look at each after a backward pass.
pub struct GradientCapturePlan {
    root: String,
    contract: GradientContract,
    vars: Vec<Var>, // in the order of contract.expected
}

impl GradientCapturePlan {
    /// From named variables (those of a `VarMap`): sorted by key, each in the family that
    /// `family_of` gives for its key.
    pub fn from_named_vars<F: Into<String>>(
        root: impl Into<String>,
        vars: impl IntoIterator<Item = (String, Var)>,
        family_of: impl Fn(&str) -> F,
        families: Vec<GradientFamilyContract>,
    ) -> Result<Self> {
        let root = root.into();
        let mut vars: Vec<(String, Var)> = vars.into_iter().collect();
        vars.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = vars
            .iter()
            .map(|(key, _)| ExpectedGradient {
                root: root.clone(),
                key: key.clone(),
                family: family_of(key).into(),
            })
            .collect();
        let contract = GradientContract::new(expected, families)?;
        Ok(Self { root, contract, vars: vars.into_iter().map(|(_, var)| var).collect() })
    }

    /// Everything learns: all variables of a `VarMap` (`varmap.data().lock().unwrap().clone()`),
    /// each in the family of its key's first word, and a gradient promised for every one. Running
    /// means and variances, which layers keep themselves, are a family without gradients.
    pub fn of_all(
        root: impl Into<String>,
        vars: impl IntoIterator<Item = (String, Var)>,
    ) -> Result<Self> {
        let family_of = |key: &str| match key.rsplit('.').next() {
            Some("running_mean" | "running_var") => "running statistics".to_owned(),
            _ => key.split('.').next().unwrap_or(key).to_owned(),
        };
        let vars: Vec<(String, Var)> = vars.into_iter().collect();
        let mut counts = std::collections::BTreeMap::new();
        for (key, _) in &vars {
            *counts.entry(family_of(key)).or_insert(0) += 1;
        }
        let families = counts
            .into_iter()
            .map(|(family, count)| match &*family {
                "running statistics" => GradientFamilyContract::inactive(family),
                _ => GradientFamilyContract::active(family, count),
            })
            .collect();
        Self::from_named_vars(root, vars, family_of, families)
    }

    pub fn contract(&self) -> &GradientContract {
        &self.contract
    }

    /// One record for every entry of the manifest, in its order.
    pub fn record(&self, session: &TraceSession, grads: &GradStore) -> Result<()> {
        let root = names::name(session, &self.root);
        for (entry, var) in self.contract.expected.iter().zip(&self.vars) {
            let key = names::name(session, &entry.key);
            let record = |view: *const sys::cg_record_view| {
                // SAFETY: the session is open; a view of elements that stay during the call.
                unsafe { sys::cg_record_gradient_view(session.raw(), root, key, view) }
            };
            match grads.get(var.as_tensor()) {
                Some(gradient) => with_view(gradient, |view| record(view))?,
                None => record(std::ptr::null()),
            }
        }
        Ok(())
    }
}
