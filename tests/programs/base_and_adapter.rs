use candle_core::{DType, Device, Result};
use candle_nn::{linear_no_bias, Linear, VarBuilder, VarMap};

struct Lora {
    base: Linear,
    down: Linear,
    up: Linear,
}

impl Lora {
    fn new(base: VarBuilder, adapter: VarBuilder) -> Result<Self> {
        Ok(Self {
            base: linear_no_bias(4, 4, base)?,
            down: linear_no_bias(4, 2, adapter.pp("down"))?,
            up: linear_no_bias(2, 4, adapter.pp("up"))?,
        })
    }
}

struct Model {
    q: Lora,
    v: Linear,
}

impl Model {
    fn new(base: VarBuilder, adapter: VarBuilder) -> Result<Self> {
        Ok(Self {
            q: Lora::new(base.pp("q"), adapter.pp("q"))?,
            v: linear_no_bias(4, 4, base.pp("v"))?,
        })
    }
}

fn main() -> anyhow::Result<()> {
    let dev = Device::Cpu;
    let vb = unsafe { VarBuilder::from_mmaped_safetensors(&["m.safetensors"], DType::F32, &dev)? };
    let map = VarMap::new();
    let own = VarBuilder::from_varmap(&map, DType::F32, &dev);
    let model = Model::new(vb.pp("model"), own.pp("base_model"))?;
    let _ = (model.q.base, model.q.down, model.q.up, model.v);
    map.save("adapter.safetensors")?;
    Ok(())
}
//! key Lora base weight 4,4
//! key Lora adapter down.weight 2,4
//! key Lora adapter up.weight 4,2
//! key Model base q.weight 4,4
//! key Model base v.weight 4,4
//! key Model adapter q.down.weight 2,4
//! key Model adapter q.up.weight 4,2
//! held base_model.q.down.weight 2,4
//! held base_model.q.up.weight 4,2
//! again adapter tuned
//! then held model.q.weight 4,4
//! then held model.v.weight 4,4
