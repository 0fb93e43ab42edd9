use candle_core::{DType, Device, Result};
use candle_nn::{linear, Init, Linear, VarBuilder, VarMap};

struct Encoder(Linear);
struct Head {
    fc: Linear,
}

impl Encoder {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self(linear(4, 8, vb.pp("fc"))?))
    }
}

impl Head {
    fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { fc: linear(8, 2, vb.pp("fc"))? })
    }
}

fn main() -> anyhow::Result<()> {
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    let _scale = map.get((2, 2), "own.scale", Init::Const(1.), DType::F32, &Device::Cpu)?;
    let encoder = Encoder::new(vb.pp("enc"))?;
    let head = Head::new(vb.pp("head"))?;
    let _ = (encoder.0, head.fc);
    map.save("m.safetensors")?;
    Ok(())
}
//! key Encoder vb fc.bias 8
//! key Encoder vb fc.weight 8,4
//! key Head vb fc.bias 2
//! key Head vb fc.weight 2,8
//! key main vb own.scale 2,2
//! held enc.fc.bias 8
//! held enc.fc.weight 8,4
//! held head.fc.bias 2
//! held head.fc.weight 2,8
//! held own.scale 2,2
