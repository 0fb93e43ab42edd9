use candle_core::{DType, Device};
use candle_nn::VarBuilder;

fn main() -> candle_core::Result<()> {
    let vb = unsafe {
        VarBuilder::from_mmaped_safetensors(&["net.safetensors"], DType::F32, &Device::Cpu)?
    };
    the_nets::Net::new(4, vb)?;
    Ok(())
}
