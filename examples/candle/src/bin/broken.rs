//! A network that does not learn and then dies, for two reasons the tool names:
//!
//! * `RmsNorm::forward` has no backward step, so nothing before the norm gets a gradient
//!   (`candle-graph check --path examples/candle --cargo-target broken`, and
//!   `candle-graph summary broken.gradients.jsonl`: the first update, against an exact manifest);
//! * `binary_cross_entropy_with_logit` takes the logarithm of a saturated sigmoid: once a logit is
//!   large the loss is NaN (`candle-graph query broken.jsonl --kind nan-origin`: the second update).
use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use candle_graph::candle::GradientCapturePlan;
use candle_graph::*;
use candle_nn::{Linear, Module, Optimizer, RmsNorm, VarBuilder, VarMap};
use candle_programs::{blobs, output, step};

pub struct Broken {
    body: Linear,
    norm: RmsNorm,
    head: Linear,
}

impl Broken {
    pub fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        let body = candle_nn::linear(6, 16, vb.pp("body"))?;
        let norm = candle_nn::rms_norm(16, 1e-5, vb.pp("norm"))?;
        let head = candle_nn::linear(16, 1, vb.pp("head"))?;
        Ok(Self { body, norm, head })
    }

    pub fn loss(&self, points: &Tensor, target: &Tensor) -> candle_core::Result<Tensor> {
        let hidden = self.body.forward(points)?;
        let normed = self.norm.forward(&hidden)?;
        let logits = self.head.forward(&normed)?;
        candle_nn::loss::binary_cross_entropy_with_logit(&logits, target)
    }
}

fn recorded(
    session: &TraceSession,
    model: &Broken,
    plan: &GradientCapturePlan,
    points: &Tensor,
    target: &Tensor,
) -> Result<f32> {
    let measured = session.begin_measurement("update");
    let loss = {
        let forward =
            session.begin_step_span("forward", ExecutionStep::Forward, SpanKind::Function);
        let span = forward.id();
        let inputs = [points, model.body.weight()];
        let hidden =
            step(session, span, "linear", "body/out", &inputs, || model.body.forward(points))?;
        let normed = step(session, span, "rms_norm", "norm/out", &[&hidden], || {
            model.norm.forward(&hidden)
        })?;
        let inputs = [&normed, model.head.weight()];
        let logits =
            step(session, span, "linear", "head/logits", &inputs, || model.head.forward(&normed))?;
        session.record_tensor_stats(span, "points", points)?;
        session.record_tensor_stats(span, "target", target)?;
        candle_graph::candle::record_tensor_with_label(session, span, "target", target, None)?;
        let name = "binary_cross_entropy_with_logit";
        step(session, span, name, "loss", &[&logits, target], || {
            candle_nn::loss::binary_cross_entropy_with_logit(&logits, target)
        })?
    };
    let _backward =
        session.begin_step_span("backward", ExecutionStep::Backward, SpanKind::Function);
    plan.record(session, &loss.backward()?)?;
    let value = loss.to_scalar::<f32>()?;
    session.record_scalar(measured.id(), "loss/value", f64::from(value))?;
    Ok(value)
}

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let model = Broken::new(vb)?;
    let (points, labels) = blobs(48, 6, 2)?;
    let target = labels.to_dtype(DType::F32)?.unsqueeze(1)?;
    // A learning rate that is far too large: logits grow until the sigmoid is exactly 0 or 1.
    let mut optimizer = candle_nn::SGD::new(varmap.all_vars(), 5e3)?;
    let named: Vec<_> =
        varmap.data().lock().unwrap().iter().map(|(key, var)| (key.clone(), var.clone())).collect();
    let plan = GradientCapturePlan::from_named_vars(
        "vb",
        named,
        |key| key.split('.').next().unwrap_or("other").to_owned(),
        vec![
            GradientFamilyContract::active("body", 2),
            GradientFamilyContract::active("norm", 1),
            GradientFamilyContract::active("head", 2),
        ],
    )?;
    for update in 1..=2 {
        let mut contract = CaptureContract {
            measurement_scope: MeasurementScope::ProfiledWork,
            operations: CoverageLevel::Partial,
            tensors: CoverageLevel::Partial,
            gradients: CoverageLevel::Partial,
            ..Default::default()
        };
        let mut path = output("broken");
        if update == 1 {
            contract.gradients = CoverageLevel::Complete;
            contract.gradient_contract = Some(plan.contract().clone());
            path.set_extension("gradients.jsonl");
        }
        let run = ProfileRun::training("broken::update", update, "cpu").capture_contract(contract);
        let session = TraceSession::open(path, run)?;
        let loss = recorded(&session, &model, &plan, &points, &target)?;
        println!("update {update}: loss {loss}, recorded to {}", session.finish()?.display());
        optimizer.backward_step(&model.loss(&points, &target)?)?;
    }
    Ok(())
}
