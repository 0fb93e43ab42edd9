mod head;
use candle_core::{DType, Device};
use candle_nn::{VarBuilder, VarMap};

fn main() -> candle_core::Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let _head = head::Head::new(vb)?;
    Ok(())
}
