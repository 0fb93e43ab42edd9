//! BERT of candle-transformers with random weights and a head of ours: its own spans become spans
//! of the capture, and the gradients show what the fused layer norms of the model let through.
use std::sync::Arc;

use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use candle_graph::candle::GradientCapturePlan;
use candle_graph::tracing::CaptureLayer;
use candle_graph::*;
use candle_nn::{Module, VarBuilder, VarMap};
use candle_programs::{output, step};
use candle_transformers::models::bert::{BertModel, Config};

fn main() -> Result<()> {
    let config = Config {
        vocab_size: 64,
        hidden_size: 32,
        num_hidden_layers: 3,
        num_attention_heads: 4,
        intermediate_size: 64,
        max_position_embeddings: 16,
        ..Default::default()
    };
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let head = candle_nn::linear(config.hidden_size, 2, vb.pp("head"))?;
    let ids = Tensor::new(&[[1u32, 5, 9, 2, 30, 7], [1, 8, 4, 4, 11, 2]], &Device::Cpu)?;
    let types = ids.zeros_like()?;
    let labels = Tensor::new(&[0u32, 1], &Device::Cpu)?;

    // Spans of the model are made when it is: the layer comes first.
    let capture = CaptureLayer::idle().install_here();
    let model = BertModel::load(vb.pp("bert"), &config)?;

    let named: Vec<_> =
        varmap.data().lock().unwrap().iter().map(|(key, var)| (key.clone(), var.clone())).collect();
    let plan = GradientCapturePlan::from_named_vars(
        "vb",
        named,
        |key| key.split('.').next().unwrap_or("other").to_owned(),
        vec![
            GradientFamilyContract::active("head", 2),
            // LayerNorm::forward is fused for contiguous input and has no backward step: nothing
            // of the encoder learns in this version of candle.
            GradientFamilyContract::inactive("bert"),
        ],
    )?;
    let session = Arc::new(TraceSession::open(output("bert"), run(&plan))?);
    capture.record_into(&session);
    {
        let measured = session.begin_measurement("bert/step");
        let hidden = {
            let forward =
                session.begin_step_span("bert/forward", ExecutionStep::Forward, SpanKind::Function);
            step(&session, forward.id(), "bert", "bert/hidden", &[&ids, &types], || {
                model.forward(&ids, &types, None)
            })?
        };
        let span = session.begin_span("head", SpanKind::Module);
        let first = step(&session, span.id(), "narrow", "head/first", &[&hidden], || {
            hidden.narrow(1, 0, 1)?.squeeze(1)?.contiguous()
        })?;
        let inputs = [&first, head.weight()];
        let logits =
            step(&session, span.id(), "linear", "head/logits", &inputs, || head.forward(&first))?;
        let loss = step(&session, span.id(), "cross_entropy", "loss", &[&logits, &labels], || {
            candle_nn::loss::cross_entropy(&logits, &labels)
        })?;
        drop(span);
        let _backward =
            session.begin_step_span("bert/backward", ExecutionStep::Backward, SpanKind::Function);
        plan.record(&session, &loss.backward()?)?;
        session.record_scalar(measured.id(), "loss/value", f64::from(loss.to_scalar::<f32>()?))?;
    }
    println!("recorded to {}", TraceSession::finish_shared(session)?.display());
    Ok(())
}

fn run(plan: &GradientCapturePlan) -> ProfileRun {
    let contract = CaptureContract {
        measurement_scope: MeasurementScope::ProfiledWork,
        operations: CoverageLevel::Partial,
        tensors: CoverageLevel::Partial,
        gradients: CoverageLevel::Complete,
        gradient_contract: Some(plan.contract().clone()),
        logical_memory: CoverageLevel::Partial,
        ..Default::default()
    };
    ProfileRun::training("bert::step", 1, "cpu").capture_contract(contract).tag("model", "bert")
}
