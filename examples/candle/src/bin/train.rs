//! Train a small classifier, and record one update: layers, operations, statistics, memory, and
//! the gradient of every parameter against an exact manifest.
use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use candle_graph::candle::GradientCapturePlan;
use candle_graph::*;
use candle_nn::{Linear, Module, Optimizer, VarBuilder, VarMap};
use candle_programs::{blobs, output, release, step};

const UPDATES: u64 = 20;
const CAPTURED: u64 = 10;

struct Classifier {
    hidden: Linear,
    output: Linear,
}

impl Classifier {
    fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        let hidden = candle_nn::linear(6, 16, vb.pp("hidden"))?;
        let output = candle_nn::linear(16, 3, vb.pp("output"))?;
        Ok(Self { hidden, output })
    }

    fn forward(&self, points: &Tensor) -> candle_core::Result<Tensor> {
        self.output.forward(&self.hidden.forward(points)?.relu()?)
    }
}

fn contract(plan: &GradientCapturePlan) -> CaptureContract {
    CaptureContract {
        measurement_scope: MeasurementScope::ProductionEquivalent,
        operations: CoverageLevel::Partial,
        tensors: CoverageLevel::Partial,
        gradients: CoverageLevel::Complete,
        gradient_contract: Some(plan.contract().clone()),
        logical_memory: CoverageLevel::Partial,
        required_semantic_labels: vec!["update".into(), "update/backward".into()],
        cpu_only_semantic_labels: vec!["update".into(), "update/backward".into()],
        ..Default::default()
    }
}

/// The same update as the others, with everything it does recorded.
fn recorded_update(
    session: &TraceSession,
    model: &Classifier,
    plan: &GradientCapturePlan,
    optimizer: &mut candle_nn::AdamW,
    points: &Tensor,
    labels: &Tensor,
) -> Result<f32> {
    let measured = session.begin_measurement("update");
    let (hidden, active, logits, loss);
    {
        let _forward =
            session.begin_step_span("update/forward", ExecutionStep::Forward, SpanKind::Function);
        {
            let layer = session.begin_span("hidden", SpanKind::Module);
            let weights = [points, model.hidden.weight()];
            hidden = step(session, layer.id(), "linear", "hidden/out", &weights, || {
                model.hidden.forward(points)
            })?;
            active =
                step(session, layer.id(), "relu", "hidden/relu", &[&hidden], || hidden.relu())?;
        }
        let layer = session.begin_span("output", SpanKind::Module);
        let weights = [&active, model.output.weight()];
        logits = step(session, layer.id(), "linear", "output/logits", &weights, || {
            model.output.forward(&active)
        })?;
        drop(layer);
        let layer = session.begin_span("loss", SpanKind::Op);
        loss = step(session, layer.id(), "cross_entropy", "loss", &[&logits, labels], || {
            candle_nn::loss::cross_entropy(&logits, labels)
        })?;
    }
    let grads = {
        let _backward =
            session.begin_step_span("update/backward", ExecutionStep::Backward, SpanKind::Function);
        let grads = loss.backward()?;
        plan.record(session, &grads)?;
        grads
    };
    {
        let span = session.begin_step_span(
            "update/optimizer",
            ExecutionStep::Optimizer,
            SpanKind::Function,
        );
        optimizer.step(&grads)?;
        for tensor in [&hidden, &active, &logits, &loss] {
            release(session, span.id(), tensor)?;
        }
    }
    let value = loss.to_scalar()?;
    session.record_scalar(measured.id(), "loss/value", f64::from(value))?;
    Ok(value)
}

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let model = Classifier::new(vb)?;
    let (points, labels) = blobs(48, 6, 3)?;
    let mut optimizer = candle_nn::AdamW::new_lr(varmap.all_vars(), 0.05)?;
    let selector = CaptureSelector::new(CAPTURED)?;
    let named: Vec<_> =
        varmap.data().lock().unwrap().iter().map(|(key, var)| (key.clone(), var.clone())).collect();
    let plan = GradientCapturePlan::from_named_vars(
        "vb",
        named,
        |key| key.split('.').next().unwrap_or("other").to_owned(),
        vec![
            GradientFamilyContract::active("hidden", 2),
            GradientFamilyContract::active("output", 2),
        ],
    )?;
    for update in 1..=UPDATES {
        if !selector.is_selected(update) {
            let loss = candle_nn::loss::cross_entropy(&model.forward(&points)?, &labels)?;
            optimizer.backward_step(&loss)?;
            continue;
        }
        let run = ProfileRun::training("train::update", update, "cpu")
            .capture_contract(contract(&plan))
            .tag("dataset", "blobs");
        let session = TraceSession::open(output("train"), run)?;
        let loss = recorded_update(&session, &model, &plan, &mut optimizer, &points, &labels)?;
        println!("update {update}: loss {loss}, recorded to {}", session.finish()?.display());
    }
    Ok(())
}
