use candle_core::{Device, DType, Result, Tensor, Var};
use candle_nn::{Optimizer, SGD};

fn main() -> Result<()> {
    let dev = Device::Cpu;
    let w = Var::from_tensor(&Tensor::randn(0f32, 1., (1, 2), &dev)?)?;
    let b = Var::zeros(1, DType::F32, &dev)?;
    let mut opt = SGD::new(vec![w.clone(), b.clone()], 0.05)?;
    let xs = Tensor::randn(0f32, 1., (16, 2), &dev)?;
    let ys = xs.sum_keepdim(1)?;
    for _ in 0..10 {
        let pred = xs.matmul(&w.as_tensor().t()?)?.broadcast_add(b.as_tensor())?;
        let loss = candle_nn::loss::mse(&pred, &ys)?;
        opt.backward_step(&loss)?;
    }
    println!("{}", w.as_tensor());
    Ok(())
}
