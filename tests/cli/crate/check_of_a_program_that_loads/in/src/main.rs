use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::{layer_norm, linear, AdamW, LayerNorm, Linear, Optimizer, VarBuilder, VarMap};

struct Net {
    up: Linear,
    norm: LayerNorm,
}

impl Net {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { up: linear(4, 4, vb.pp("up"))?, norm: layer_norm(4, 1e-5, vb.pp("norm"))? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.norm.forward(&self.up.forward(x)?)
    }
}

fn main() -> Result<()> {
    let device = Device::Cpu;
    let vb = unsafe { VarBuilder::from_mmaped_safetensors(&["net.safetensors"], DType::F32, &device)? };
    let net = Net::new(vb)?;
    println!("{}", net.forward(&Tensor::zeros((1, 4), DType::F32, &device)?)?);
    Ok(())
}
