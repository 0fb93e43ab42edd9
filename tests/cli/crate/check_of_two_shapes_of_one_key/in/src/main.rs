use candle_core::{DType, Device, Result, Tensor, Var};
use candle_nn::{linear, loss, Module, Optimizer, VarBuilder, VarMap, SGD};

fn main() -> Result<()> {
    let dev = Device::Cpu;
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &dev);
    let l1 = linear(4, 16, vb.pp("l"))?;
    let l2 = linear(16, 3, vb.pp("l"))?;
    let scale = Var::from_tensor(&Tensor::ones(1, DType::F32, &dev)?)?;
    let x = Tensor::randn(0f32, 1., (8, 4), &dev)?;
    let y = Tensor::zeros((8, 3), DType::F32, &dev)?;
    let mut opt = SGD::new(varmap.all_vars(), 0.1)?;
    for _ in 0..10 {
        let h = l1.forward(&x)?.relu()?.broadcast_mul(&scale)?;
        let l = loss::mse(&l2.forward(&h)?, &y)?;
        opt.backward_step(&l)?;
    }
    Ok(())
}
