use candle_core::{Result, Tensor};
use candle_nn::{linear_no_bias, Linear, VarBuilder};

pub struct Tried {
    w: Tensor,
}

impl Tried {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let w = vb.get((8, 8), "weight").or_else(|_| vb.get((8, 8), "w"))?;
        Ok(Self { w })
    }
}

pub struct Looked {
    w: Tensor,
}

impl Looked {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let w = if vb.contains_tensor("weight") {
            vb.get((8, 8), "weight")?
        } else {
            vb.get((8, 8), "w")?
        };
        Ok(Self { w })
    }
}

pub struct Called {
    l: Linear,
}

impl Called {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let l = linear_no_bias(8, 8, vb.pp("a")).or_else(|_| linear_no_bias(8, 8, vb.pp("b")))?;
        Ok(Self { l })
    }
}
