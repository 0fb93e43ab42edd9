use candle_core::{Module, Result, Tensor};
use candle_nn::{Linear, VarBuilder, linear_no_bias};

pub struct Net {
    a: Linear,
    b: Linear,
}

impl Net {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { a: linear_no_bias(4, 4, vb.pp("a"))?, b: linear_no_bias(4, 4, vb.pp("b"))? })
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.a.forward(x)
    }
}

fn main() {}
