//! Two models whose keys are the same; a run has to say which is which.
use candle_core::{Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder};

pub struct Maker {
    fc1: Linear,
    fc2: Linear,
}

impl Maker {
    pub fn new(dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            fc1: linear(dim, dim, vb.pp("fc1"))?,
            fc2: linear(dim, dim, vb.pp("fc2"))?,
        })
    }

    pub fn make(&self, noise: &Tensor) -> Result<Tensor> {
        self.fc2.forward(&self.fc1.forward(noise)?.relu()?)
    }
}

pub struct Judge {
    fc1: Linear,
    fc2: Linear,
}

impl Judge {
    pub fn new(dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            fc1: linear(dim, dim, vb.pp("fc1"))?,
            fc2: linear(dim, 1, vb.pp("fc2"))?,
        })
    }

    pub fn forward(&self, image: &Tensor) -> Result<Tensor> {
        self.fc2.forward(&self.fc1.forward(image)?.relu()?)
    }
}

impl Maker {
    pub fn forward(&self, noise: &Tensor) -> Result<Tensor> {
        self.make(noise)?.tanh()
    }
}
