//! The run that is recorded, and what its capture promises to hold.
use std::collections::BTreeMap;
use std::ptr::null;

use candlegraph_sys as sys;

use crate::error::{Result, Texts};
use crate::words::{
    CoverageLevel, ExecutionPhase, GradientFamilyExpectation, MeasurementScope, TimingMode,
};

pub const TRACE_SCHEMA: &str = "candle-graph/trace/10";
pub const GRADIENT_MANIFEST_SCHEMA: &str = "candle-graph/gradient-manifest/1";

/// Whether an invocation is the selected one: one comparison, so the gate may stand in a hot loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureSelector {
    invocation: u64,
}

impl CaptureSelector {
    /// `invocation` counts from one; 0 is refused.
    pub fn new(invocation: u64) -> Result<Self> {
        anyhow::ensure!(invocation != 0, "invocations are counted from 1, 0 selects none");
        Ok(Self { invocation })
    }

    #[inline]
    pub fn is_selected(&self, invocation: u64) -> bool {
        self.invocation == invocation
    }

    pub fn invocation(&self) -> u64 {
        self.invocation
    }
}

/// One gradient that is owed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpectedGradient {
    pub root: String,
    pub key: String,
    pub family: String,
}

/// What is expected of a family of gradients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradientFamilyContract {
    pub family: String,
    pub expectation: GradientFamilyExpectation,
    pub min_present: u64,
}

impl GradientFamilyContract {
    fn new(family: impl Into<String>, expectation: GradientFamilyExpectation, least: u64) -> Self {
        Self { family: family.into(), expectation, min_present: least }
    }

    /// At least `min_present` of its gradients are there in every capture.
    pub fn active(family: impl Into<String>, min_present: u64) -> Self {
        Self::new(family, GradientFamilyExpectation::Active, min_present)
    }

    /// Off the path to the loss on purpose.
    pub fn inactive(family: impl Into<String>) -> Self {
        Self::new(family, GradientFamilyExpectation::Inactive, 0)
    }

    /// Whether they are there depends on the data.
    pub fn data_conditional(family: impl Into<String>, min_present: u64) -> Self {
        Self::new(family, GradientFamilyExpectation::DataConditional, min_present)
    }
}

/// The exact manifest of gradients. The recorder writes its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GradientContract {
    pub expected: Vec<ExpectedGradient>,
    pub families: Vec<GradientFamilyContract>,
}

impl GradientContract {
    /// Sorted by key; every entry's family must be described once.
    pub fn new(
        mut expected: Vec<ExpectedGradient>,
        families: Vec<GradientFamilyContract>,
    ) -> Result<Self> {
        expected.sort_by(|a, b| (&a.root, &a.key).cmp(&(&b.root, &b.key)));
        for entry in &expected {
            anyhow::ensure!(
                families.iter().any(|family| family.family == entry.family),
                "the family `{}` of `{}` is not among the described ones",
                entry.family,
                entry.key
            );
        }
        Ok(Self { expected, families })
    }
}

/// What the capture promises. The default promises nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureContract {
    pub measurement_scope: MeasurementScope,
    pub operations: CoverageLevel,
    pub tensors: CoverageLevel,
    pub gradients: CoverageLevel,
    pub gradient_contract: Option<GradientContract>,
    pub logical_memory: CoverageLevel,
    pub physical_memory: CoverageLevel,
    pub device_timing: CoverageLevel,
    pub required_semantic_labels: Vec<String>,
    pub gpu_expected_semantic_labels: Vec<String>,
    pub cpu_only_semantic_labels: Vec<String>,
}

/// What makes runs comparable: all but the build and the pair must agree.
///
/// ```
/// use candle_graph::{ComparisonIdentity, ProfileRun};
///
/// let identity = ComparisonIdentity {
///     implementation_id: Some("before".into()), // the build: a commit, for example
///     workload_id: "rings/train".into(),
///     model_id: "rings".into(),
///     config_id: "width-32".into(),
///     data_id: "points-v1".into(),
///     seed_policy: "fixed".into(),
///     physical_batch: 96,
///     accumulation_steps: 1,
///     precision: "f32".into(),
///     device_state: "idle".into(),
///     pair_id: Some("p1".into()), // as `compare plan` prints it
/// };
/// let run = ProfileRun::training("rings::step", 100, "cpu").comparison_identity(identity);
/// assert_eq!(run.comparison_identity.unwrap().physical_batch, 96);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparisonIdentity {
    pub implementation_id: Option<String>,
    pub workload_id: String,
    pub model_id: String,
    pub config_id: String,
    pub data_id: String,
    pub seed_policy: String,
    pub physical_batch: u64,
    pub accumulation_steps: u64,
    pub precision: String,
    pub device_state: String,
    pub pair_id: Option<String>,
}

/// The run that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRun {
    pub entrypoint: String,
    pub correlation_id: String,
    pub phase: ExecutionPhase,
    pub capture_step: u64,
    pub warmup_steps: u64,
    pub device: String,
    pub timing_mode: TimingMode,
    pub measured_region_device_synchronized: bool,
    pub capture_contract: CaptureContract,
    pub comparison_identity: Option<ComparisonIdentity>,
    pub tags: BTreeMap<String, String>,
}

impl ProfileRun {
    fn new(
        phase: ExecutionPhase,
        entrypoint: impl Into<String>,
        step: u64,
        device: impl Into<String>,
    ) -> Self {
        let entrypoint = entrypoint.into();
        let what = match phase {
            ExecutionPhase::Train => "update",
            ExecutionPhase::Infer => "inference",
        };
        Self {
            correlation_id: format!("{entrypoint}/{what}-{step}"),
            entrypoint,
            phase,
            capture_step: step,
            warmup_steps: step.saturating_sub(1),
            device: device.into(),
            timing_mode: TimingMode::Host,
            measured_region_device_synchronized: false,
            capture_contract: CaptureContract::default(),
            comparison_identity: None,
            tags: BTreeMap::new(),
        }
    }

    /// One update, counted from one; what came before it is warm-up.
    pub fn training(entrypoint: impl Into<String>, step: u64, device: impl Into<String>) -> Self {
        Self::new(ExecutionPhase::Train, entrypoint, step, device)
    }

    /// One call, counted from one.
    pub fn inference(entrypoint: impl Into<String>, step: u64, device: impl Into<String>) -> Self {
        Self::new(ExecutionPhase::Infer, entrypoint, step, device)
    }

    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.correlation_id = id.into();
        self
    }

    pub fn tag(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.tags.insert(key.into(), value.into());
        self
    }

    pub fn capture_contract(mut self, contract: CaptureContract) -> Self {
        self.capture_contract = contract;
        self
    }

    pub fn comparison_identity(mut self, identity: ComparisonIdentity) -> Self {
        self.comparison_identity = Some(identity);
        self
    }

    /// The measured region waits for its device.
    pub fn measured_region_device_synchronized(mut self) -> Self {
        self.measured_region_device_synchronized = true;
        self
    }

    /// Everything waits for its device.
    pub fn device_synchronized(mut self) -> Self {
        self.timing_mode = TimingMode::DeviceSynchronized;
        self.measured_region_device_synchronized = true;
        self
    }

    /// Hand the run to `call` as `record.h` has it.
    pub(crate) fn with_raw<R>(
        &self,
        call: impl FnOnce(&sys::cg_record_run) -> Result<R>,
    ) -> Result<R> {
        let mut texts = Texts::default();
        let contract = &self.capture_contract;
        let exact = contract.gradient_contract.clone().unwrap_or_default();
        let mut expected = Vec::with_capacity(exact.expected.len());
        for entry in &exact.expected {
            expected.push(sys::cg_record_gradient_entry {
                root: texts.put(&entry.root)?,
                key: texts.put(&entry.key)?,
                family: texts.put(&entry.family)?,
            });
        }
        let mut families = Vec::with_capacity(exact.families.len());
        for family in &exact.families {
            families.push(sys::cg_record_family {
                family: texts.put(&family.family)?,
                expectation: family.expectation as u32,
                min_present: family.min_present,
            });
        }
        let manifest = sys::cg_record_gradients {
            expected: expected.as_ptr(),
            expected_count: expected.len(),
            families: families.as_ptr(),
            family_count: families.len(),
        };
        let required = texts.put_all(&contract.required_semantic_labels)?;
        let gpu = texts.put_all(&contract.gpu_expected_semantic_labels)?;
        let cpu = texts.put_all(&contract.cpu_only_semantic_labels)?;
        let raw_contract = sys::cg_record_contract {
            size: size_of::<sys::cg_record_contract>() as u32,
            measurement_scope: contract.measurement_scope as u32,
            operations: contract.operations as u32,
            tensors: contract.tensors as u32,
            gradients: contract.gradients as u32,
            logical_memory: contract.logical_memory as u32,
            physical_memory: contract.physical_memory as u32,
            device_timing: contract.device_timing as u32,
            gradient_manifest: contract.gradient_contract.as_ref().map_or(null(), |_| &manifest),
            required_labels: required.as_ptr(),
            required_label_count: required.len(),
            gpu_labels: gpu.as_ptr(),
            gpu_label_count: gpu.len(),
            cpu_labels: cpu.as_ptr(),
            cpu_label_count: cpu.len(),
        };
        let mut raw_identity = sys::cg_record_identity::zeroed();
        if let Some(identity) = &self.comparison_identity {
            raw_identity = sys::cg_record_identity {
                size: size_of::<sys::cg_record_identity>() as u32,
                implementation_id: texts.put_option(identity.implementation_id.as_deref())?,
                workload_id: texts.put(&identity.workload_id)?,
                model_id: texts.put(&identity.model_id)?,
                config_id: texts.put(&identity.config_id)?,
                data_id: texts.put(&identity.data_id)?,
                seed_policy: texts.put(&identity.seed_policy)?,
                physical_batch: identity.physical_batch,
                accumulation_steps: identity.accumulation_steps,
                precision: texts.put(&identity.precision)?,
                device_state: texts.put(&identity.device_state)?,
                pair_id: texts.put_option(identity.pair_id.as_deref())?,
            };
        }
        let mut tags = Vec::with_capacity(self.tags.len());
        for (key, value) in &self.tags {
            tags.push(sys::cg_record_tag { key: texts.put(key)?, value: texts.put(value)? });
        }
        let run = sys::cg_record_run {
            size: size_of::<sys::cg_record_run>() as u32,
            phase: self.phase as u32,
            entrypoint: texts.put(&self.entrypoint)?,
            run_id: null(),
            correlation_id: texts.put(&self.correlation_id)?,
            device: texts.put(&self.device)?,
            capture_step: self.capture_step,
            warmup_steps: self.warmup_steps,
            timing_mode: self.timing_mode as u32,
            is_device_synchronized: self.measured_region_device_synchronized,
            contract: &raw_contract,
            identity: self.comparison_identity.as_ref().map_or(null(), |_| &raw_identity),
            tags: tags.as_ptr(),
            tag_count: tags.len(),
        };
        call(&run)
    }
}
