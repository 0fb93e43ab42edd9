use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{conv2d, linear, seq, Conv2dConfig, Module, Sequential, VarBuilder, VarMap};

fn conv_block(vs: VarBuilder, c_in: usize, c_out: usize) -> Result<Sequential> {
    let cfg = Conv2dConfig { padding: 1, ..Default::default() };
    let c = conv2d(c_in, c_out, 3, cfg, vs.pp("conv"))?;
    Ok(seq().add(c).add_fn(|x| x.relu()).add_fn(|x| x.max_pool2d(2)))
}

fn main() -> Result<()> {
    let device = Device::Cpu;
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &device);
    let b1 = conv_block(vb.pp("b1"), 1, 8)?;
    let b2 = conv_block(vb.pp("b2"), 8, 16)?;
    let head = linear(16 * 7 * 7, 10, vb.pp("head"))?;
    let xs = Tensor::zeros((2, 1, 28, 28), DType::F32, &device)?;
    let out = head.forward(&b2.forward(&b1.forward(&xs)?)?.flatten_from(1)?)?;
    println!("{:?}", out.shape());
    Ok(())
}

//! key main vb b1.conv.bias 8
//! key main vb b1.conv.weight 8,1,3,3
//! key main vb b2.conv.bias 16
//! key main vb b2.conv.weight 16,8,3,3
//! key main vb head.bias 10
//! key main vb head.weight 10,784
