use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Module, Optimizer, VarBuilder, VarMap};
struct Config { hidden: usize, layers: usize }
fn run(cfg: &Config, frozen: bool) -> Result<f32> {
    let dev = Device::Cpu;
    let mut best = f32::MAX;
    for fold in 0..5 {
        let mut varmap = VarMap::new();
        let vb = VarBuilder::from_varmap(&varmap, DType::F32, &dev).pp("model");
        let inp = linear(4, cfg.hidden, vb.pp("in"))?;
        let mut hidden = vec![];
        for i in 0..cfg.layers { hidden.push(linear(cfg.hidden, cfg.hidden, vb.pp(&format!("h{i}")))?); }
        let out = linear(cfg.hidden, 1, vb.pp("out"))?;
        if frozen { varmap.load("pre.safetensors")?; }
        let vars = varmap.all_vars();
        let mut opt = candle_nn::AdamW::new_lr(vars, 1e-3)?;
        for _epoch in 0..3 {
            let x = Tensor::randn(0f32, 1., (8, 4), &dev)?;
            let mut h = inp.forward(&x)?;
            for l in &hidden { h = l.forward(&h)?.relu()?; }
            let loss = candle_nn::loss::mse(&out.forward(&h)?, &Tensor::zeros((8, 1), DType::F32, &dev)?)?;
            opt.backward_step(&loss)?;
            best = best.min(loss.to_scalar::<f32>()?);
        }
        println!("{fold} {best}");
    }
    Ok(best)
}
fn main() -> Result<()> { run(&Config { hidden: 8, layers: 2 }, false)?; Ok(()) }

//! key run vb model.h{i}.bias cfg.hidden
//! key run vb model.h{i}.weight cfg.hidden,cfg.hidden
//! key run vb model.in.bias cfg.hidden
//! key run vb model.in.weight cfg.hidden,4
//! key run vb model.out.bias 1
//! key run vb model.out.weight 1,cfg.hidden
