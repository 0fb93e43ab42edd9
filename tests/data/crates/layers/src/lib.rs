use candle_core::{Result, Tensor};
use candle_nn::{embedding, layer_norm, linear, linear_no_bias};
use candle_nn::{Embedding, LayerNorm, Linear, Module, VarBuilder};

pub struct Config {
    pub words: usize,
    pub width: usize,
    pub layers: usize,
    pub adapters: bool,
}

pub struct Layer {
    up: Linear,
    adapter: Option<Linear>,
}

impl Layer {
    pub fn new(c: &Config, vb: VarBuilder) -> Result<Self> {
        let adapter = if c.adapters {
            Some(linear(c.width, c.width, vb.pp("adapter"))?)
        } else {
            None
        };
        Ok(Self { up: linear(c.width, c.width, vb.pp("mlp.up"))?, adapter })
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.up.forward(x)?.relu()?;
        match &self.adapter {
            Some(adapter) => adapter.forward(&y),
            None => Ok(y),
        }
    }
}

pub struct Net {
    words: Embedding,
    layers: Vec<Layer>,
    norm: LayerNorm,
    head: Linear,
}

impl Net {
    pub fn new(c: &Config, vb: VarBuilder) -> Result<Self> {
        let vb = vb.pp("model");
        let words = embedding(c.words, c.width, vb.pp("embed_tokens"))?;
        let layers = (0..c.layers)
            .map(|i| Layer::new(c, vb.pp(format!("layers.{i}"))))
            .collect::<Result<Vec<_>>>()?;
        let norm = layer_norm(c.width, 1e-5, vb.pp("norm"))?;
        let head = linear_no_bias(c.width, c.words, vb.pp("lm_head"))?;
        Ok(Self { words, layers, norm, head })
    }
    pub fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let mut x = self.words.forward(ids)?;
        for layer in &self.layers {
            x = layer.forward(&x)?;
        }
        self.head.forward(&self.norm.forward(&x)?)
    }
}
