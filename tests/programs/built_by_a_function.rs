use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{batch_norm, linear, ModuleT, Optimizer, VarBuilder, VarMap, SGD};

fn build(vs: VarBuilder) -> Result<impl ModuleT> {
    let fc = linear(4, 8, vs.pp("fc"))?;
    let bn = batch_norm(8, 1e-5, vs.pp("bn"))?;
    let out = linear(8, 2, vs.pp("out"))?;
    Ok(candle_nn::func_t(move |xs, train| xs.apply(&fc)?.apply_t(&bn, train)?.relu()?.apply(&out)))
}

fn main() -> Result<()> {
    let device = Device::Cpu;
    let varmap = VarMap::new();
    let vs = VarBuilder::from_varmap(&varmap, DType::F32, &device);
    let model = build(vs)?;
    let mut opt = SGD::new(varmap.all_vars(), 0.1)?;
    let xs = Tensor::randn(0f32, 1., (8, 4), &device)?;
    let ys = Tensor::zeros(8, DType::U32, &device)?;
    for _ in 0..2 {
        let loss = candle_nn::loss::cross_entropy(&model.forward_t(&xs, true)?, &ys)?;
        opt.backward_step(&loss)?;
    }
    Ok(())
}

//! key build vs bn.bias 8
//! key build vs bn.running_mean 8
//! key build vs bn.running_var 8
//! key build vs bn.weight 8
//! key build vs fc.bias 8
//! key build vs fc.weight 8,4
//! key build vs out.bias 2
//! key build vs out.weight 2,8
