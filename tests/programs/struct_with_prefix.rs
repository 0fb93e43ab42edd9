use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder, VarMap};

struct Model { a: Linear, b: Linear }
impl Model {
    fn new(vb: VarBuilder, n_in: usize, n_out: usize) -> Result<Self> {
        Ok(Self { a: linear(n_in, 16, vb.pp("a"))?, b: linear(16, n_out, vb.pp("b"))? })
    }
    fn forward(&self, x: &Tensor) -> Result<Tensor> { self.b.forward(&self.a.forward(x)?.relu()?) }
}

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let m = Model::new(vb.pp("model"), 8, 2)?;
    let x = Tensor::zeros((1, 8), DType::F32, &Device::Cpu)?;
    println!("{}", m.forward(&x)?);
    Ok(())
}

//! held model.a.bias 16
//! held model.a.weight 16,8
//! held model.b.bias 2
//! held model.b.weight 2,16
//! key Model vb a.bias 16
//! key Model vb a.weight 16,n_in
//! key Model vb b.bias n_out
//! key Model vb b.weight n_out,16
