use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{layer_norm, linear, loss, AdamW, LayerNorm, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap};

struct Rings {
    body: Linear,
    norm: LayerNorm,
    head: Linear,
}

impl Rings {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            body: linear(2, 16, vb.pp("body"))?,
            norm: layer_norm(16, 1e-5, vb.pp("norm"))?,
            head: linear(16, 2, vb.pp("head"))?,
        })
    }

    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let xs = self.body.forward(xs)?.relu()?;
        let xs = self.norm.forward(&xs)?;
        self.head.forward(&xs)
    }
}

fn shifted(xs: &Tensor) -> Result<Tensor> {
    xs + Tensor::ones((64, 2), DType::F32, xs.device())?
}

fn main() -> Result<()> {
    let device = Device::Cpu;
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &device);
    let model = Rings::new(vb)?;
    let mut optimizer = AdamW::new(map.all_vars(), ParamsAdamW::default())?;
    let xs = Tensor::randn(0f32, 1f32, (64, 2), &device)?;
    let ys = Tensor::zeros(64, DType::U32, &device)?;
    for _ in 0..100 {
        let logits = model.forward(&shifted(&xs)?)?;
        let loss = loss::cross_entropy(&logits, &ys)?;
        optimizer.backward_step(&loss)?;
    }
    Ok(())
}
