use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder, VarMap};

struct Net { a: Linear }
impl Net {
    fn new(vb: VarBuilder) -> Result<Self> { Ok(Self { a: linear(4, 8, vb.pp("a"))? }) }
    fn load(path: &str) -> Result<Self> {
        let vb = unsafe { VarBuilder::from_mmaped_safetensors(&[path], DType::F32, &Device::Cpu)? };
        Self::new(vb)
    }
}
impl Module for Net { fn forward(&self, xs: &Tensor) -> Result<Tensor> { self.a.forward(xs) } }

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let net = Net::new(vb.clone())?;
    println!("{}", net.forward(&Tensor::zeros((1, 4), DType::F32, &Device::Cpu)?)?);
    if let Some(p) = std::env::args().nth(1) { let _ = Net::load(&p)?; }
    Ok(())
}

//! key Net vb a.bias 8
//! key Net vb a.weight 8,4
