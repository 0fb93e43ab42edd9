use candle_core::Result;
use candle_nn::{linear, Linear, VarBuilder};

pub struct Stage {
    pub fc: Linear,
}

impl Stage {
    fn new(wide: usize, vb: VarBuilder) -> Result<Self> {
        Ok(Self { fc: linear(8, wide, vb.pp("fc"))? })
    }
}

pub struct Stack {
    pub stages: Vec<Stage>,
}

impl Stack {
    pub fn new(widths: &[usize], vb: VarBuilder) -> Result<Self> {
        let mut stages = Vec::new();
        for (i, &wide) in widths.iter().enumerate() {
            stages.push(Stage::new(wide, vb.pp(format!("stages.{i}")))?);
        }
        Ok(Self { stages })
    }
}
