use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder, VarMap};

struct Pair { l: Linear, r: Linear }

fn net(n: usize, vb: VarBuilder) -> Result<Linear> {
    linear(n, 2, vb.pp("l"))
}

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let m = net(8, vb.pp("model"))?;
    let x = Tensor::zeros((1, 8), DType::F32, &Device::Cpu)?;
    println!("{}", m.forward(&x)?);
    Ok(())
}

//! held model.l.bias 2
//! held model.l.weight 2,8
//! key main vb model.l.bias 2
//! key main vb model.l.weight 2,8
