use candle_core::Result;
use candle_nn::{linear, Linear, VarBuilder};

pub struct Net {
    pub first: Linear,
    pub last: Linear,
}

impl Net {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { first: linear(4, 4, vb.pp("first"))?, last: linear(4, 2, vb.pp("last"))? })
    }
}

pub struct Model {
    pub net: Net,
}

impl Model {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { net: Net::new(vb)? })
    }

    pub fn load(vb: VarBuilder) -> Result<Self> {
        Ok(Self { net: Net::new(vb.pp("model"))? })
    }
}
