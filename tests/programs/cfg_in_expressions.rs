use candle_core::{DType, Device, Result};
use candle_nn::{linear_no_bias, Linear, VarBuilder, VarMap};

struct Model {
    a: Linear,
    #[cfg(feature = "extra")]
    b: Linear,
    #[cfg(not(feature = "extra"))]
    c: Linear,
    list: Vec<Linear>,
    array: [Linear; 1],
    pair: (Linear, usize),
}

fn either(#[cfg(not(feature = "extra"))] one: Linear, #[cfg(feature = "extra")] one: Linear) -> Linear {
    one
}

impl Model {
    fn new(vb: VarBuilder) -> Result<Self> {
        let list = vec![
            linear_no_bias(2, 2, vb.pp("v0"))?,
            #[cfg(feature = "extra")]
            linear_no_bias(2, 2, vb.pp("v1"))?,
        ];
        let array = [
            #[cfg(feature = "extra")]
            linear_no_bias(2, 2, vb.pp("r0"))?,
            #[cfg(not(feature = "extra"))]
            linear_no_bias(2, 2, vb.pp("r1"))?,
        ];
        let a = match 3 {
            #[cfg(feature = "extra")]
            3 => linear_no_bias(2, 2, vb.pp("k3"))?,
            #[cfg(not(feature = "extra"))]
            3 => linear_no_bias(2, 2, vb.pp("k"))?,
            _ => unreachable!(),
        };
        let first = either(
            #[cfg(feature = "extra")]
            linear_no_bias(2, 2, vb.pp("p0"))?,
            #[cfg(not(feature = "extra"))]
            linear_no_bias(2, 2, vb.pp("p1"))?,
        );
        Ok(Self {
            a,
            #[cfg(feature = "extra")]
            b: linear_no_bias(2, 2, vb.pp("b"))?,
            #[cfg(not(feature = "extra"))]
            c: linear_no_bias(2, 2, vb.pp("c"))?,
            list,
            array,
            pair: (first, 0),
        })
    }
}

fn main() -> anyhow::Result<()> {
    let map = VarMap::new();
    let _ = Model::new(VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu))?;
    Ok(())
}
//! key Model vb c.weight 2,2
//! key Model vb k.weight 2,2
//! key Model vb p1.weight 2,2
//! key Model vb r1.weight 2,2
//! key Model vb v0.weight 2,2
