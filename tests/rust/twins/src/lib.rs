//! One program, written once, through two crates.
use anyhow::Result;
use candle_core::{DType, Device, Tensor, Var};
use candle_nn::{Linear, Module, VarBuilder, VarMap};

/// A classifier with a part that never learns.
pub struct Model {
    pub varmap: VarMap,
    pub layers: Vec<Linear>,
    pub names: Vec<String>,
    pub gate: Tensor,
}

impl Model {
    pub fn new(widths: &[usize]) -> Result<Self> {
        let varmap = VarMap::new();
        let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
        let mut layers = Vec::new();
        let mut names = Vec::new();
        for (number, pair) in widths.windows(2).enumerate() {
            names.push(format!("body.{number}"));
            layers.push(candle_nn::linear(pair[0], pair[1], vb.pp(&names[number]))?);
        }
        let gate = vb.pp("gate").get_with_hints(1, "scale", candle_nn::Init::Const(1.0))?;
        candle_nn::linear(4, 4, vb.pp("frozen"))?;
        Ok(Self { varmap, layers, names, gate })
    }

    pub fn vars(&self) -> Vec<(String, Var)> {
        let data = self.varmap.data().lock().unwrap();
        data.iter().map(|(key, var)| (key.clone(), var.clone())).collect()
    }

    /// The same as the recorded one, with nothing recorded.
    pub fn forward(&self, xs: &Tensor, ys: &Tensor) -> Result<Tensor> {
        let mut x = xs.clone();
        for layer in &self.layers {
            x = layer.forward(&x)?.relu()?;
        }
        Ok(candle_nn::loss::cross_entropy(&x.broadcast_mul(&self.gate)?, ys)?)
    }
}

pub fn data(count: usize, width: usize, classes: usize) -> Result<(Tensor, Tensor)> {
    let xs = Tensor::randn(0f32, 1f32, (count, width), &Device::Cpu)?;
    let ys = Tensor::from_vec(
        (0..count).map(|row| (row % classes) as u32).collect(),
        count,
        &Device::Cpu,
    )?;
    Ok((xs, ys))
}

pub mod ours {
    use ::ours as candle_graph;
    include!("program.rs");
}

pub mod theirs {
    use ::theirs as candle_graph;
    include!("program.rs");
}
