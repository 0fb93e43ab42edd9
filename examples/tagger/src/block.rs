use crate::Config;
use candle_core::{Result, Tensor};
use candle_nn::{linear_no_bias, rms_norm, Linear, Module, RmsNorm, VarBuilder};

pub struct Block {
    norm: RmsNorm,
    up: Linear,
    down: Linear,
}

impl Block {
    pub fn new(config: &Config, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            norm: rms_norm(config.width, 1e-6, vb.pp("norm"))?,
            up: linear_no_bias(config.width, config.inner, vb.pp("up"))?,
            down: linear_no_bias(config.inner, config.width, vb.pp("down"))?,
        })
    }
}

impl Module for Block {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let inner = self.up.forward(&self.norm.forward(x)?)?.silu()?;
        x + self.down.forward(&inner)?
    }
}
