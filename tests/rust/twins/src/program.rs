// Included twice, with `candle_graph` being one crate and the other: nothing here may know which.
use crate::Model;
use anyhow::Result;
use candle_core::Tensor;
use candle_graph::candle::{self as cg, CandleCapture, CandleOpCapture, GradientCapturePlan};
use candle_graph::trace::{GradientState, MemoryCategory};
use candle_graph::{
    CaptureContract, ComparisonIdentity, CoverageLevel, DeviceIntervalRecord, DeviceMemoryRecord,
    ExecutionStep, GradientFamilyContract, MeasurementScope, MemoryRecord, ProfileRun, SpanId,
    SpanKind, TensorRecord, TraceSession,
};
use candle_nn::Module;
use std::path::Path;

pub struct Recorder {
    session: TraceSession,
    statistics: bool,
}

fn memory(
    session: &TraceSession,
    span: SpanId,
    tensor: &Tensor,
    op: Option<&str>,
    category: MemoryCategory,
) -> Result<()> {
    let capture = CandleCapture::from_tensor(tensor, None);
    let record = MemoryRecord {
        storage_id: capture.storage_id(),
        tensor_id: capture.tensor_id(),
        device: &capture.device,
        bytes: capture.tensor_bytes,
        dtype: &capture.dtype,
        category,
        timestamp_ns: None,
        op_name: op,
        shape: &capture.shape,
    };
    match op {
        Some(_) => session.record_memory_alloc(span, record),
        None => session.record_memory_free(span, record),
    }
}

pub fn plan(model: &Model) -> Result<GradientCapturePlan> {
    GradientCapturePlan::from_named_vars(
        "mlp",
        model.vars(),
        |key| key.split('.').next().unwrap_or("other").to_owned(),
        vec![
            GradientFamilyContract::active("body", 2),
            GradientFamilyContract::data_conditional("gate", 1),
            GradientFamilyContract::inactive("frozen"),
        ],
    )
}

impl Recorder {
    pub fn open(path: &Path, plan: &GradientCapturePlan, statistics: bool) -> Result<Self> {
        let contract = CaptureContract {
            measurement_scope: MeasurementScope::ProductionEquivalent,
            operations: CoverageLevel::Partial,
            tensors: CoverageLevel::Partial,
            gradients: CoverageLevel::Complete,
            gradient_contract: Some(plan.contract().clone()),
            logical_memory: CoverageLevel::Complete,
            physical_memory: CoverageLevel::Partial,
            device_timing: CoverageLevel::Partial,
            gpu_expected_semantic_labels: vec![],
            cpu_only_semantic_labels: vec!["mlp/forward".into()],
            required_semantic_labels: vec!["mlp/forward".into()],
        };
        let identity = ComparisonIdentity {
            implementation_id: Some("rev-a".into()),
            workload_id: "twins".into(),
            model_id: "mlp".into(),
            config_id: "default".into(),
            data_id: "blobs".into(),
            seed_policy: "fixed".into(),
            physical_batch: 24,
            accumulation_steps: 1,
            precision: "f32".into(),
            device_state: "shared".into(),
            pair_id: None,
        };
        let run = ProfileRun::training("twins::mlp::update", 4, "cpu")
            .capture_contract(contract)
            .comparison_identity(identity)
            .tag("dataset", "blobs");
        Ok(Self { session: TraceSession::open(path, run)?, statistics })
    }

    fn op(
        &self,
        span: SpanId,
        name: &str,
        inputs: &[&Tensor],
        run: impl FnOnce() -> candle_core::Result<Tensor>,
    ) -> Result<Tensor> {
        let session = &self.session;
        let started = session.elapsed_ns();
        let output = run()?;
        let duration = session.elapsed_ns() - started;
        let capture = CandleOpCapture::new(
            name,
            inputs.iter().map(|tensor| cg::tensor_id(tensor)).collect(),
            &output,
            cg::inputs_dense_bytes(inputs),
            duration,
            started,
            Some(ExecutionStep::Forward),
        );
        cg::record_op(session, span, &capture)?;
        memory(session, span, &output, Some(name), MemoryCategory::Activation)?;
        Ok(output)
    }

    /// The update without a measured region, for many in one session.
    pub fn forward(&self, model: &Model, xs: &Tensor, ys: &Tensor) -> Result<Tensor> {
        let session = &self.session;
        let forward =
            session.begin_step_span("mlp/forward", ExecutionStep::Forward, SpanKind::Function);
        let mut made = Vec::new();
        let mut x = xs.clone();
        for (number, layer) in model.layers.iter().enumerate() {
            let span = session.begin_span(model.names[number].as_str(), SpanKind::Module);
            let w = layer.weight();
            let wt = self.op(span.id(), "transpose", &[w], || w.t())?;
            let z = self.op(span.id(), "matmul", &[&x, &wt], || x.matmul(&wt))?;
            let b = layer.bias().unwrap();
            let z = self.op(span.id(), "broadcast_add", &[&z, b], || z.broadcast_add(b))?;
            let y = self.op(span.id(), "relu", &[&z], || z.relu())?;
            if self.statistics {
                session.record_tensor_stats(span.id(), &model.names[number], &y)?;
                cg::record_tensor_with_label(session, span.id(), &model.names[number], &y, None)?;
            }
            made.extend([wt, z]);
            if number > 0 {
                made.push(x);
            }
            x = y;
        }
        let logits = self.op(forward.id(), "broadcast_mul", &[&x, &model.gate], || {
            x.broadcast_mul(&model.gate)
        })?;
        let loss = self.op(forward.id(), "cross_entropy", &[&logits, ys], || {
            candle_nn::loss::cross_entropy(&logits, ys)
        })?;
        for tensor in &made {
            memory(session, forward.id(), tensor, None, MemoryCategory::Activation)?;
        }
        Ok(loss)
    }

    pub fn update(
        &self,
        model: &Model,
        xs: &Tensor,
        ys: &Tensor,
        plan: &GradientCapturePlan,
    ) -> Result<()> {
        let session = &self.session;
        let measured = session.begin_measurement("mlp/update");
        let loss = self.forward(model, xs, ys)?;
        session.record_scalar(measured.id(), "loss", loss.to_scalar::<f32>()? as f64)?;
        session.record_scalar(measured.id(), "not-finite", f64::NEG_INFINITY)?;
        session.record_device_memory(DeviceMemoryRecord {
            device: "sim:0",
            used_bytes: Some(1 << 20),
            free_bytes: None,
            reserved_bytes: Some(1 << 21),
            capacity_bytes: Some(1 << 24),
            timestamp_ns: None,
        })?;
        let backward =
            session.begin_step_span("mlp/backward", ExecutionStep::Backward, SpanKind::Function);
        session.record_device_interval(
            backward.id(),
            DeviceIntervalRecord {
                device: "sim:0",
                stream_id: "0",
                clock_id: "sim-clock",
                backend: "simulated",
                start_ns: 1_000,
                duration_ns: 4_000,
            },
        )?;
        let grads = loss.backward()?;
        plan.record(session, &grads)?;
        let w = model.layers[0].weight();
        if let Some(gradient) = grads.get(w) {
            session.record_tensor_stats(backward.id(), "grad/first", gradient)?;
            let capture = CandleCapture::from_tensor(gradient, Some(ExecutionStep::Backward))
                .with_label("grad/first");
            cg::record_tensor(session, backward.id(), &capture)?;
            memory(session, backward.id(), gradient, Some("backward"), MemoryCategory::Gradient)?;
        }
        session.record_tensor(
            backward.id(),
            TensorRecord {
                tensor_id: &cg::tensor_id(w),
                label: Some("weight"),
                shape: w.dims(),
                dtype: "f32",
                device: "cpu",
                requires_grad: true,
                dense_bytes: None,
                category: MemoryCategory::Parameter,
            },
        )?;
        session.record_data_edge(&cg::tensor_id(w), &cg::tensor_id(&loss))?;
        Ok(())
    }

    pub fn finish(self) -> Result<()> {
        self.session.finish()?;
        Ok(())
    }

    pub fn fail(self, model: &Model, xs: &Tensor) -> Result<()> {
        {
            let session = &self.session;
            let measured = session.begin_measurement("mlp/update");
            let forward =
                session.begin_step_span("mlp/forward", ExecutionStep::Forward, SpanKind::Function);
            let y = model.layers[0].forward(xs)?;
            memory(session, forward.id(), &y, Some("linear"), MemoryCategory::Activation)?;
            session.record_gradient("mlp", "gate.scale", GradientState::Present, Some(0.5))?;
            session.record_scalar(measured.id(), "loss", f64::NAN)?;
            std::mem::forget(forward);
            std::mem::forget(measured);
        }
        self.session.finish_failed("loss became NaN | \"step\" 4")?;
        Ok(())
    }
}
