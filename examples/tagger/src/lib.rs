//! A small tagger: words in, one tag for every word out.

mod block;

use block::Block;
use candle_core::{DType, Result, Tensor};
use candle_nn::{embedding, layer_norm, linear, Embedding, LayerNorm, Linear, Module, VarBuilder};

pub struct Config {
    pub words: usize,
    pub width: usize,
    pub inner: usize,
    pub blocks: usize,
    pub tags: usize,
    pub has_characters: bool,
}

pub struct Tagger {
    words: Embedding,
    characters: Option<Linear>,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Linear,
}

impl Tagger {
    pub fn new(config: &Config, vb: VarBuilder) -> Result<Self> {
        let vb = vb.pp("tagger");
        let words = embedding(config.words, config.width, vb.pp("words"))?;
        let characters = if config.has_characters {
            Some(linear(64, config.width, vb.pp("characters"))?)
        } else {
            None
        };
        let blocks = (0..config.blocks)
            .map(|i| Block::new(config, vb.pp(format!("blocks.{i}"))))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            words,
            characters,
            blocks,
            norm: layer_norm(config.width, 1e-5, vb.pp("norm"))?,
            head: linear(config.width, config.tags, vb.pp("head"))?,
        })
    }

    /// `ids`: (sentence, word). `characters`: (sentence, word, 64). Scores: (sentence, word, tag).
    pub fn forward(&self, ids: &Tensor, characters: Option<&Tensor>) -> Result<Tensor> {
        let mut hidden = self.words.forward(ids)?;
        if let (Some(layer), Some(characters)) = (&self.characters, characters) {
            hidden = (hidden + layer.forward(characters)?)?;
        }
        for block in &self.blocks {
            hidden = block.forward(&hidden)?;
        }
        self.head.forward(&self.norm.forward(&hidden)?)
    }

    pub fn loss(&self, ids: &Tensor, tags: &Tensor) -> Result<Tensor> {
        let scores = self.forward(ids, None)?.flatten_to(1)?.to_dtype(DType::F32)?;
        candle_nn::loss::cross_entropy(&scores, &tags.flatten_all()?)
    }
}
