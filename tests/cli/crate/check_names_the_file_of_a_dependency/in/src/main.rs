use candle_core::{Module, Result, Tensor};
use candle_nn::{linear, Linear, VarBuilder};
use layers::block::Block;
pub struct Net { b: Block, h: Linear }
impl Net {
    pub fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { b: Block::new(vb.pp("b"))?, h: linear(8, 8, vb.pp("h"))? }) }
    pub fn loss(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.b.forward(x)?;
        self.h.forward(&y)?.sqr()?.mean_all()
    }
}
fn main() {}
