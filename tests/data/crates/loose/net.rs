use candle_core::Result;
use candle_nn::{embedding, Embedding, VarBuilder};

pub struct Words {
    table: Embedding,
}

impl Words {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            table: embedding(100, 16, vb.pp("table"))?,
        })
    }
}
