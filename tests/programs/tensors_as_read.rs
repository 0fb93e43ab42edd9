use candle_core::{DType, Device, Result};
use candle_nn::{linear, Linear, VarBuilder};
//? use std::collections::HashMap;

struct Model {
    a: Linear,
    b: Linear,
}

impl Model {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { a: linear(4, 8, vb.pp("a"))?, b: linear(8, 2, vb.pp("b"))? })
    }
}

fn main() -> anyhow::Result<()> {
    let dev = Device::Cpu;
    let tensors = candle_core::safetensors::load("m.safetensors", &dev)?;
    //? let tensors: HashMap<String, candle_core::Tensor> = tensors
    //?     .into_iter()
    //?     .map(|(key, tensor)| (key.trim_start_matches("all.").to_string(), tensor))
    //?     .collect();
    let model = Model::new(VarBuilder::from_tensors(tensors, DType::F32, &dev))?;
    let _ = (model.a, model.b);
    Ok(())
}
//! key Model vb a.bias 8
//! key Model vb a.weight 8,4
//! key Model vb b.bias 2
//! key Model vb b.weight 2,8
//! held a.bias 8
//! held a.weight 8,4
//! held b.bias 2
//! held b.weight 2,8
//! again
//! then renamed
