//! The driver puts a prefix in front of every key; a clamp is used in one mode only.
use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, loss, Linear, Module, Optimizer, VarBuilder, VarMap, SGD};

pub struct Net {
    body: Linear,
    out: Linear,
    is_careful: bool,
}

impl Net {
    pub fn new(dim: usize, is_careful: bool, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            body: linear(dim, dim, vb.pp("body"))?,
            out: linear(dim, 1, vb.pp("out"))?,
            is_careful,
        })
    }

    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.body.forward(x)?.relu()?;
        if self.is_careful {
            return self.out.forward(&x.clamp(0f32, 6f32)?);
        }
        self.out.forward(&x)
    }

    pub fn loss(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        loss::mse(&self.forward(x)?, y)
    }
}

pub fn train(steps: usize, x: &Tensor, y: &Tensor) -> Result<()> {
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    let net = Net::new(8, steps > 100, vb.pp("net"))?;
    let mut descent = SGD::new(map.all_vars(), 0.1)?;
    for _ in 0..steps {
        descent.backward_step(&net.loss(x, y)?)?;
    }
    Ok(())
}
