//! A stack of blocks whose fields are called otherwise than their keys.
use candle_core::{Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder};

pub struct Mixer {
    a: Linear,
}

impl Mixer {
    pub fn new(dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self { a: linear(dim, dim, vb.pp("in_proj"))? })
    }

    pub fn mix(&self, x: &Tensor) -> Result<Tensor> {
        self.a.forward(x)?.gelu()
    }
}

pub struct Block {
    mixing: Mixer,
    closing: Mixer,
}

impl Block {
    pub fn new(dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            mixing: Mixer::new(dim, vb.pp("self_attn"))?,
            closing: Mixer::new(dim, vb.pp("mlp"))?,
        })
    }

    pub fn step(&self, x: &Tensor) -> Result<Tensor> {
        let mixed = (x + self.mixing.mix(x)?)?;
        self.closing.mix(&mixed)
    }
}

pub struct Stack {
    blocks: Vec<Block>,
    last: Mixer,
}

impl Stack {
    pub fn new(count: usize, dim: usize, vb: VarBuilder) -> Result<Self> {
        let blocks = (0..count)
            .map(|i| Block::new(dim, vb.pp(format!("model.h.{i}"))))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { blocks, last: Mixer::new(dim, vb.pp("model.ln_f"))? })
    }

    pub fn predict(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = x.clone();
        for block in &self.blocks {
            x = block.step(&x)?;
        }
        self.last.mix(&x)
    }
}
