use candle_core::Result;
use candle_nn::{linear, Linear, VarBuilder};

pub struct Net {
    pub first: Linear,
    pub last: Linear,
}

impl Net {
    pub fn new(wide: usize, vb: VarBuilder) -> Result<Self> {
        let first = linear(wide, wide, vb.pp("first"))?;
        Ok(Self { first, last: linear(wide, 2, vb.pp("last"))? })
    }
}
