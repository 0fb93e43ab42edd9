use candle_core::{DType, Device};
use candle_nn::{VarBuilder, VarMap};

fn main() -> candle_core::Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    two::net::Net::new(4, vb.pp("net"))?;
    varmap.save("net.safetensors")
}
