use candle_core::{Module, Result, Tensor};
use candle_nn::{linear, rms_norm, Linear, RmsNorm, VarBuilder};
pub struct Block { l: Linear, n: RmsNorm }
impl Block {
    pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { l: linear(8, 8, vb.pp("l"))?, n: rms_norm(8, 1e-5, vb.pp("n"))? }) }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.l.forward(x)?;
        self.n.forward(&x)
    }
}
