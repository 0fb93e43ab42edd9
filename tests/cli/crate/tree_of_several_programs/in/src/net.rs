use candle_core::Result;
use candle_nn::{linear, Linear, VarBuilder};

pub struct Net {
    pub fc: Linear,
}

impl Net {
    pub fn new(wide: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self { fc: linear(wide, 2, vb.pp("fc"))? })
    }
}
