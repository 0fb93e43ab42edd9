use candle_core::{DType, Device, Result, Tensor};
use candle_nn::*;

fn main() -> Result<()> {
    let device = Device::cuda_if_available(0)?;
    let varmap = VarMap::new();
    let vs = VarBuilder::from_varmap(&varmap, DType::F32, &device);
    let model = seq()
        .add(linear(2, 8, vs.pp("l1"))?)
        .add_fn(|xs| xs.tanh())
        .add(linear_no_bias(8, 1, vs.pp("l2"))?);
    let xs = Tensor::new(&[[0f32, 0.], [0., 1.], [1., 0.], [1., 1.]], &device)?;
    let ys = Tensor::new(&[[0f32], [1.], [1.], [0.]], &device)?;
    let mut sgd = SGD::new(varmap.all_vars(), 0.1)?;
    for _ in 0..3 {
        let out = model.forward(&xs)?;
        let loss = out.sub(&ys)?.sqr()?.mean_all()?;
        sgd.backward_step(&loss)?;
    }
    Ok(())
}

//! key main vs l1.bias 8
//! key main vs l1.weight 8,2
//! key main vs l2.weight 1,8
