use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder, VarMap, Init};

const DIMS: [usize; 4] = [10, 20, 30, 1];

fn mlp() -> Result<(VarMap, Vec<Linear>)> {
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    let layers = (0..3)
        .map(|i| linear(DIMS[i], DIMS[i + 1], vb.pp("mlp").pp(i)))
        .collect::<Result<Vec<_>>>()?;
    let _scale = vb.get_with_hints((1, 30), "scale", Init::Const(1.0))?;
    Ok((map, layers))
}

fn main() -> Result<()> {
    let (map, layers) = mlp()?;
    let mut xs = Tensor::zeros((2, 10), DType::F32, &Device::Cpu)?;
    for l in &layers {
        xs = l.forward(&xs)?.relu()?;
    }
    println!("{xs}");
    Ok(())
}

//! key mlp vb mlp.0.bias 20
//! key mlp vb mlp.0.weight 20,10
//! key mlp vb mlp.1.bias 30
//! key mlp vb mlp.1.weight 30,20
//! key mlp vb mlp.2.bias 1
//! key mlp vb mlp.2.weight 1,30
//! key mlp vb scale 1,30
//! finding unused-parameter mlp:12 vb scale
