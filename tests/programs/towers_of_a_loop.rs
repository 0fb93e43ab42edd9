use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder, VarMap};
struct Tower { l: Linear }
impl Tower { fn new(i: usize, vb: VarBuilder) -> Result<Self> { Ok(Self { l: linear(i, 2, vb.pp("l"))? }) } }
fn main() -> Result<()> {
    let vm = VarMap::new();
    let vb = VarBuilder::from_varmap(&vm, DType::F32, &Device::Cpu);
    let towers = (0..3).map(|i| Tower::new(4 + i, vb.pp("towers").pp(i))).collect::<Result<Vec<_>>>()?;
    let x = Tensor::ones((1, 4), DType::F32, &Device::Cpu)?;
    println!("{}", towers[0].l.forward(&x)?);
    Ok(())
}

//! held towers.0.l.bias 2
//! held towers.0.l.weight 2,4
//! held towers.1.l.bias 2
//! held towers.1.l.weight 2,5
//! held towers.2.l.bias 2
//! held towers.2.l.weight 2,6
//! key Tower vb l.bias 2
//! key Tower vb l.weight 2,i
