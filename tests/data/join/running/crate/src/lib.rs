//! A convolution, its batch normalisation, and a head: running statistics get no gradient.
use candle_core::{Result, Tensor};
use candle_nn::{
    batch_norm, conv2d, linear, loss, BatchNorm, Conv2d, Linear, Module, ModuleT, VarBuilder,
};

pub struct Stripes {
    conv: Conv2d,
    norm: BatchNorm,
    head: Linear,
}

impl Stripes {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            conv: conv2d(1, 8, 3, Default::default(), vb.pp("conv"))?,
            norm: batch_norm(8, 1e-5, vb.pp("norm"))?,
            head: linear(8, 2, vb.pp("head"))?,
        })
    }

    pub fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let maps = self.norm.forward_t(&self.conv.forward(images)?, true)?;
        self.head.forward(&maps.relu()?.mean((2, 3))?)
    }

    pub fn loss(&self, images: &Tensor, labels: &Tensor) -> Result<Tensor> {
        loss::cross_entropy(&self.forward(images)?, labels)
    }
}
