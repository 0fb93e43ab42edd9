use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Module, VarBuilder, VarMap};

struct Args { weights: Option<String> }

fn main() -> Result<()> {
    let args = Args { weights: std::env::args().nth(1) };
    let dev = Device::Cpu;
    let varmap = VarMap::new();
    let vb = match &args.weights {
        Some(p) => unsafe { VarBuilder::from_mmaped_safetensors(&[p], DType::F32, &dev)? },
        None => VarBuilder::from_varmap(&varmap, DType::F32, &dev),
    };
    let fc1 = linear(4, 8, vb.pp("fc1"))?;
    let fc2 = linear(8, 2, vb.pp("fc2"))?;
    let xs = Tensor::zeros((1, 4), DType::F32, &dev)?;
    println!("{}", fc2.forward(&fc1.forward(&xs)?)?);
    Ok(())
}

//! key main vb fc1.bias 8
//! key main vb fc1.weight 8,4
//! key main vb fc2.bias 2
//! key main vb fc2.weight 2,8
