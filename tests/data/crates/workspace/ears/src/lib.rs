use candle_core::Result;
use candle_nn::{linear, Linear, VarBuilder};

pub struct Ear {
    nerve: Linear,
}

impl Ear {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            nerve: linear(8, 2, vb.pp("nerve"))?,
        })
    }
}
