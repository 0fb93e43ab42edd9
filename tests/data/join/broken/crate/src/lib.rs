//! Is a letter spam? A table of words, a mixing layer, a norm that keeps the gradient back, and a
//! loss that becomes infinite when the answer is sure.
use candle_core::{Result, Tensor};
use candle_nn::{embedding, linear, loss, rms_norm, Embedding, Linear, Module, RmsNorm, VarBuilder};

pub struct Reader {
    words: Embedding,
    mix: Linear,
    norm: RmsNorm,
}

impl Reader {
    pub fn new(vocab: usize, dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            words: embedding(vocab, dim, vb.pp("words"))?,
            mix: linear(dim, dim, vb.pp("mix"))?,
            norm: rms_norm(dim, 1e-6, vb.pp("norm"))?,
        })
    }

    pub fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let read = self.words.forward(ids)?;
        let mixed = self.mix.forward(&read)?.gelu()?;
        self.norm.forward(&mixed)
    }
}

pub struct Judge {
    reader: Reader,
    score: Linear,
}

impl Judge {
    pub fn new(vocab: usize, dim: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            reader: Reader::new(vocab, dim, vb.pp("reader"))?,
            score: linear(dim, 1, vb.pp("score"))?,
        })
    }

    pub fn logits(&self, ids: &Tensor) -> Result<Tensor> {
        let read = self.reader.forward(ids)?.mean(1)?;
        self.score.forward(&read)
    }

    pub fn loss(&self, ids: &Tensor, spam: &Tensor) -> Result<Tensor> {
        let logits = self.logits(ids)?;
        loss::binary_cross_entropy_with_logit(&logits, spam)
    }

    pub fn verdict(&self, ids: &Tensor) -> Result<Tensor> {
        let logits = self.logits(ids)?;
        candle_nn::ops::sigmoid(&logits)
    }
}
