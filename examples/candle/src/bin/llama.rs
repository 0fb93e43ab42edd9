//! Llama of candle-transformers with random weights generates a few tokens. The model is not
//! touched: three lines make a trace of its spans, a few more add what goes in and comes out.
use std::sync::Arc;

use anyhow::Result;
use candle_core::{DType, Device, Tensor, D};
use candle_graph::tracing::CaptureLayer;
use candle_graph::*;
use candle_nn::{VarBuilder, VarMap};
use candle_programs::{output, step};
use candle_transformers::models::llama::{Cache, Config, Llama};

fn main() -> Result<()> {
    let config = Config {
        hidden_size: 32,
        intermediate_size: 64,
        vocab_size: 64,
        num_hidden_layers: 3,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        use_flash_attn: false,
        rms_norm_eps: 1e-5,
        rope_theta: 10_000.0,
        bos_token_id: None,
        eos_token_id: None,
        rope_scaling: None,
        max_position_embeddings: 64,
        tie_word_embeddings: false,
    };
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let contract = CaptureContract {
        measurement_scope: MeasurementScope::ProfiledWork,
        operations: CoverageLevel::Partial,
        tensors: CoverageLevel::Partial,
        logical_memory: CoverageLevel::Partial,
        required_semantic_labels: vec!["generate".into()],
        cpu_only_semantic_labels: vec!["generate".into()],
        ..Default::default()
    };
    let run = ProfileRun::inference("llama::generate", 1, "cpu").capture_contract(contract);

    // Spans of the model are made when it is: the layer comes first.
    let capture = CaptureLayer::idle().install_here();
    let model = Llama::load(vb, &config)?;
    let mut cache = Cache::new(true, DType::F32, &config, &Device::Cpu)?;
    let mut tokens = vec![1u32, 7, 11, 3];
    let session = Arc::new(TraceSession::open(output("llama"), run)?);
    capture.record_into(&session);
    {
        let measured = session.begin_measurement("generate");
        let mut seen = 0;
        for number in 0..5 {
            let token = session.begin_span("token", SpanKind::Function);
            let input = Tensor::new(&tokens[seen..], &Device::Cpu)?.unsqueeze(0)?;
            let logits = step(&session, token.id(), "llama", "logits", &[&input], || {
                model.forward(&input, seen, &mut cache)
            })?;
            seen = tokens.len();
            let next = logits.argmax(D::Minus1)?.squeeze(0)?.to_scalar::<u32>()?;
            session.record_scalar(measured.id(), format!("token/{number}"), f64::from(next))?;
            tokens.push(next);
        }
    }
    println!("{tokens:?}, recorded to {}", TraceSession::finish_shared(session)?.display());
    Ok(())
}
