use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::{linear, AdamW, Linear, Optimizer, VarBuilder, VarMap};

struct Net<M: Module> {
    first: Linear,
    inner: M,
}

impl<M: Module> Net<M> {
    fn new(vb: VarBuilder, inner: M) -> Result<Self> {
        Ok(Self { first: linear(8, 16, vb.pp("first"))?, inner })
    }
}

impl<M: Module> Module for Net<M> {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.inner.forward(&self.first.forward(x)?.relu()?)
    }
}

/// The targets of `main` are too wide, and nothing else says so.
fn train<M: Module>(net: &Net<M>, map: &VarMap, x: &Tensor, y: &Tensor) -> Result<()> {
    let mut optimizer = AdamW::new_lr(map.all_vars(), 1e-3)?;
    let loss = candle_nn::loss::mse(&net.forward(x)?, y)?;
    optimizer.backward_step(&loss)
}

fn main() -> Result<()> {
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    let last = linear(16, 1, vb.pp("last"))?;
    let net = Net::new(vb, last)?;
    let x = Tensor::zeros((4, 8), DType::F32, &Device::Cpu)?;
    let y = Tensor::zeros((4, 2), DType::F32, &Device::Cpu)?;
    train(&net, &map, &x, &y)
}
