use candle_core::{Result, Tensor};
use candle_nn::{linear_no_bias, Linear, Module, VarBuilder};

/// A scale and a shift for each channel.
pub struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    fn new(width: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            weight: vb.get(width, "weight")?,
            bias: vb.get(width, "bias")?,
        })
    }

    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        xs.broadcast_mul(&self.weight)?.broadcast_add(&self.bias)
    }
}

pub struct Block {
    norm: Norm,
    up: Linear,
    down: Linear,
}

impl Block {
    pub fn new(width: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            norm: Norm::new(width, vb.pp("norm"))?,
            up: linear_no_bias(width, 4 * width, vb.pp("up"))?,
            down: linear_no_bias(4 * width, width, vb.pp("down"))?,
        })
    }

    pub fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let ys = self.up.forward(&self.norm.forward(xs)?)?.gelu()?;

        xs + self.down.forward(&ys)?
    }
}
