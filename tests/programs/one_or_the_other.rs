use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear_no_bias, Linear, VarBuilder, VarMap};

struct Model {
    a: Linear,
    b: Linear,
    c: Tensor,
    d: Linear,
}

impl Model {
    fn new(vb: VarBuilder) -> Result<Self> {
        let first = linear_no_bias(2, 2, vb.pp("first"))?;
        let a = linear_no_bias(2, 2, vb.pp("classifier"))
            .or_else(|_| linear_no_bias(2, 2, vb.pp("score")))?;
        let b = linear_no_bias(2, 2, vb.pp("x")).or(linear_no_bias(2, 2, vb.pp("y")))?;
        let c = vb.get(3, "scale").unwrap_or(Tensor::ones(3, DType::F32, vb.device())?);
        let d = linear_no_bias(2, 2, vb.pp("same"))
            .or_else(|_| linear_no_bias(2, 2, vb.pp("same")))?;
        let _ = first;
        Ok(Self { a, b, c, d })
    }
}

fn main() -> anyhow::Result<()> {
    let map = VarMap::new();
    let _ = Model::new(VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu))?;
    Ok(())
}
//! key Model vb classifier.weight 2,2 conditional
//! key Model vb first.weight 2,2
//! key Model vb same.weight 2,2
//! key Model vb scale 3 conditional
//! key Model vb score.weight 2,2 conditional
//! key Model vb x.weight 2,2 conditional
//! key Model vb y.weight 2,2 conditional
