use candle_core::{Module, Result, Tensor};
use candle_nn::{linear_no_bias, rms_norm, Linear, RmsNorm, VarBuilder};

pub struct Block {
    up: Linear,
    norm: Option<RmsNorm>,
}

impl Block {
    pub fn new(normed: bool, vb: VarBuilder) -> Result<Self> {
        let norm = if normed { Some(rms_norm(8, 1e-5, vb.pp("norm"))?) } else { None };
        Ok(Self { up: linear_no_bias(8, 8, vb.pp("up"))?, norm })
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.up.forward(x)?;
        match &self.norm {
            Some(norm) => norm.forward(&y),
            None => Ok(y),
        }
    }
}
