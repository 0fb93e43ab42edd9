use candle_core::Result;
use candle_nn::{linear, Linear, VarBuilder};

pub struct Eye {
    nerve: Linear,
}

impl Eye {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            nerve: linear(8, 2, vb.pp("nerve"))?,
        })
    }
}
