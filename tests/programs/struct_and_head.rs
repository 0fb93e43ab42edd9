use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, Optimizer, VarBuilder, VarMap};

struct Encoder { a: Linear, b: Linear }
impl Encoder {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { a: linear(4, 8, vb.pp("a"))?, b: linear(8, 8, vb.pp("b"))? })
    }
    fn forward(&self, xs: &Tensor) -> Result<Tensor> { self.b.forward(&self.a.forward(xs)?.relu()?) }
}

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let enc = Encoder::new(vb.pp("enc"))?;
    let head = linear(8, 2, vb.pp("head"))?;
    let mut opt = candle_nn::AdamW::new_lr(varmap.all_vars(), 1e-3)?;
    let xs = Tensor::randn(0f32, 1., (4, 4), &Device::Cpu)?;
    let ys = Tensor::zeros(4, DType::U32, &Device::Cpu)?;
    let loss = candle_nn::loss::cross_entropy(&head.forward(&enc.forward(&xs)?)?, &ys)?;
    opt.backward_step(&loss)?;
    Ok(())
}

//! key Encoder vb a.bias 8
//! key Encoder vb a.weight 8,4
//! key Encoder vb b.bias 8
//! key Encoder vb b.weight 8,8
//! key main vb head.bias 2
//! key main vb head.weight 2,8
