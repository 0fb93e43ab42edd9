//! A small classifier: an input layer, blocks of one width, a head.

mod block;

pub use block::Block;

use candle_core::{Result, Tensor};
use candle_nn::{linear, linear_b, Linear, Module, VarBuilder};

pub struct Config {
    pub inputs: usize,
    pub width: usize,
    pub classes: usize,
    pub layers: usize,
    pub has_scale: bool,
}

pub struct Mlp {
    input: Linear,
    blocks: Vec<Block>,
    scale: Option<Tensor>,
    head: Linear,
}

impl Mlp {
    pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {
        let input = linear(cfg.inputs, cfg.width, vb.pp("input"))?;
        let mut blocks = Vec::with_capacity(cfg.layers);
        let vb_blocks = vb.pp("blocks");

        for i in 0..cfg.layers {
            blocks.push(Block::new(cfg.width, vb_blocks.pp(i))?);
        }
        let scale = if cfg.has_scale {
            Some(vb.get(cfg.width, "scale")?)
        } else {
            None
        };
        let head = linear_b(cfg.width, cfg.classes, cfg!(feature = "bias"), vb.pp("head"))?;

        Ok(Self { input, blocks, scale, head })
    }

    pub fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let mut xs = self.input.forward(xs)?;

        for block in &self.blocks {
            xs = block.forward(&xs)?;
        }
        if let Some(scale) = &self.scale {
            xs = xs.broadcast_mul(scale)?;
        }
        self.head.forward(&xs)
    }
}
