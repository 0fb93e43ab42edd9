use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::{linear, loss, rms_norm, AdamW, Linear, Optimizer, RmsNorm, VarBuilder, VarMap};

struct Backbone {
    l: Linear,
    n: RmsNorm,
}

impl Backbone {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { l: linear(4, 8, vb.pp("l"))?, n: rms_norm(8, 1e-6, vb.pp("n"))? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.n.forward(&self.l.forward(x)?)
    }
}

struct Adapter {
    base: Linear,
    down: Linear,
}

impl Adapter {
    fn new(base: VarBuilder, own: VarBuilder) -> Result<Self> {
        Ok(Self { base: linear(8, 8, base.pp("q"))?, down: linear(8, 8, own.pp("q"))? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let both = (self.base.forward(x)? + self.down.forward(x)?)?;
        candle_nn::ops::softmax_last_dim(&both)
    }
}

struct Head {
    fc: Linear,
}

impl Head {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { fc: linear(8, 2, vb.pp("fc"))? })
    }
}

fn main() -> anyhow::Result<()> {
    let dev = Device::Cpu;
    let base = unsafe { VarBuilder::from_mmaped_safetensors(&["b.safetensors"], DType::F32, &dev)? };
    let backbone = Backbone::new(base.pp("backbone"))?;
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &dev);
    let adapter = Adapter::new(base.pp("adapter"), vb.pp("adapter"))?;
    let head = Head::new(vb.pp("head"))?;
    let mut opt = AdamW::new_lr(map.all_vars(), 1e-3)?;
    let x = Tensor::randn(0f32, 1., (3, 4), &dev)?;
    let y = Tensor::zeros(3, DType::U32, &dev)?;
    let features = adapter.forward(&backbone.forward(&x)?)?;
    let loss = loss::cross_entropy(&head.fc.forward(&features)?, &y)?;
    opt.backward_step(&loss)?;
    Ok(())
}
//! key Adapter base q.bias 8
//! key Adapter base q.weight 8,8
//! key Adapter own q.bias 8
//! key Adapter own q.weight 8,8
//! key Backbone vb l.bias 8
//! key Backbone vb l.weight 8,4
//! key Backbone vb n.weight 8
//! key Head vb fc.bias 2
//! key Head vb fc.weight 2,8
//! finding gradient-cut Adapter::forward:31 own q.bias q.weight
