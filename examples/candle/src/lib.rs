//! What the programs share.
use anyhow::Result;
use candle_core::{Device, Tensor};
use candle_graph::candle::{self as cg, CandleCapture};
use candle_graph::{SpanId, TraceSession};

/// Numbers that are the same in every run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn roll(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f32 / (1u64 << 31) as f32
    }
}

/// Points around `classes` centres, and the class of each.
pub fn blobs(count: usize, width: usize, classes: usize) -> Result<(Tensor, Tensor)> {
    let mut dice = Dice::new(7);
    let mut points = Vec::with_capacity(count * width);
    for point in 0..count {
        for axis in 0..width {
            let centre = if axis % classes == point % classes { 1.5 } else { -0.5 };
            points.push(centre + dice.roll() - 0.5);
        }
    }
    let labels: Vec<u32> = (0..count).map(|point| (point % classes) as u32).collect();
    let points = Tensor::from_vec(points, (count, width), &Device::Cpu)?;
    Ok((points, Tensor::from_vec(labels, count, &Device::Cpu)?))
}

/// Run an operation; record it, what it made, its statistics and its storage under `label`.
pub fn step(
    session: &TraceSession,
    span: SpanId,
    op: &str,
    label: &str,
    inputs: &[&Tensor],
    run: impl FnOnce() -> candle_core::Result<Tensor>,
) -> Result<Tensor> {
    let output = cg::observe_op(session, span, op, inputs, run)?;
    let capture = CandleCapture::from_tensor(&output, None).with_label(label);
    cg::record_tensor(session, span, &capture)?;
    session.record_memory_alloc(span, capture.memory(Some(op)))?;
    session.record_tensor_stats(span, label, &output)?;
    Ok(output)
}

/// The storage of a tensor ends here.
pub fn release(session: &TraceSession, span: SpanId, tensor: &Tensor) -> Result<()> {
    session.record_memory_free(span, CandleCapture::from_tensor(tensor, None).memory(None))
}

/// Where the trace goes: the first argument.
pub fn output(name: &str) -> std::path::PathBuf {
    std::env::args().nth(1).unwrap_or_else(|| format!("{name}.jsonl")).into()
}
