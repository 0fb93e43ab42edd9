use candle_nn::{linear, Linear, VarBuilder};

pub struct Head {
    pub out: Linear,
}

impl Head {
    pub fn new(vb: VarBuilder) -> candle_core::Result<Self> {
        Ok(Self { out: linear(2, 3, vb.pp("out"))? })
    }
}
