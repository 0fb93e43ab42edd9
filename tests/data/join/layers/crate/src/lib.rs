//! A tower of equal blocks; an old path through it is not called by anyone.
use candle_core::{Result, Tensor};
use candle_nn::{embedding, layer_norm, linear, Embedding, LayerNorm, Linear, Module, VarBuilder};

pub struct Attention {
    query: Linear,
    gate: Linear,
}

impl Attention {
    fn new(dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            query: linear(dim, dim, vb.pp("query"))?,
            gate: linear(dim, dim, vb.pp("gate"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.query.forward(x)
    }
}

pub struct Feed {
    up: Linear,
}

impl Feed {
    fn new(dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            up: linear(dim, dim, vb.pp("up"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.up.forward(x)?.relu()
    }
}

pub struct Block {
    attn: Attention,
    mlp: Feed,
}

impl Block {
    fn new(dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            attn: Attention::new(dim, vb.pp("attn"))?,
            mlp: Feed::new(dim, vb.pp("mlp"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = (x + self.attn.forward(x)?)?;
        &x + self.mlp.forward(&x)?
    }
}

pub struct Tower {
    embed: Embedding,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Linear,
}

impl Tower {
    pub fn new(depth: usize, dim: usize, vb: VarBuilder) -> Result<Self> {
        let mut blocks = Vec::with_capacity(depth);
        for i in 0..depth {
            blocks.push(Block::new(dim, vb.pp(format!("blocks.{i}")))?);
        }
        Ok(Self {
            embed: embedding(100, dim, vb.pp("embed"))?,
            blocks,
            norm: layer_norm(dim, 1e-5, vb.pp("norm"))?,
            head: linear(dim, 5, vb.pp("head"))?,
        })
    }

    pub fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let mut x = self.embed.forward(ids)?;
        for block in &self.blocks {
            x = block.forward(&x)?;
        }
        self.head.forward(&self.norm.forward(&x)?)
    }

    pub fn old_forward(&self, ids: &Tensor) -> Result<Tensor> {
        self.head.forward(&self.embed.forward(ids)?)
    }
}
