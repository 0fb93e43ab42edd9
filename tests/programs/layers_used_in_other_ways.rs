use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, Optimizer, VarBuilder, VarMap};
use std::collections::HashMap;
fn use_it(m: &dyn Module, x: &Tensor) -> Result<Tensor> { m.forward(x) }
fn main() -> Result<()> {
    let device = Device::Cpu;
    let vm = VarMap::new();
    let vb = VarBuilder::from_varmap(&vm, DType::F32, &device);
    let boxed: Vec<Box<dyn Module>> = vec![Box::new(linear(4, 4, vb.pp("boxed"))?)];
    let shared = std::sync::Arc::new(linear(4, 4, vb.pp("shared"))?);
    let mut named: HashMap<String, Linear> = HashMap::new();
    named.insert("x".into(), linear(4, 4, vb.pp("named"))?);
    let threaded = linear(4, 4, vb.pp("threaded"))?;
    let dynd = linear(4, 4, vb.pp("dynd"))?;
    let opt_layer = if std::env::args().len() > 2 { Some(linear(4, 4, vb.pp("maybe"))?) } else { None };
    let tied = linear(4, 4, vb.pp("tied"))?;
    let raw = vb.get((4, 4), "raw")?;
    let spare = linear(4, 4, vb.pp("spare"))?;
    let h = std::thread::spawn(move || { let x = Tensor::zeros((1, 4), DType::F32, &Device::Cpu).unwrap(); threaded.forward(&x).unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap() });
    let mut opt = candle_nn::AdamW::new_lr(vm.all_vars(), 1e-3)?;
    let mut x = Tensor::zeros((1, 4), DType::F32, &device)?;
    for b in boxed.iter() { x = b.forward(&x)?; }
    x = shared.clone().forward(&x)?;
    if let Some(l) = named.get("x") { x = l.forward(&x)?; }
    x = use_it(&dynd, &x)?;
    if let Some(l) = &opt_layer { x = l.forward(&x)?; }
    x = x.matmul(&tied.weight().t()?)?;
    x = x.matmul(&raw)?;
    let loss = x.sqr()?.sum_all()?;
    opt.backward_step(&loss)?;
    println!("{}", h.join().unwrap());
    Ok(())
}

//! finding unused-parameter main:18 vb spare.bias spare.weight
//! key main vb boxed.bias 4
//! key main vb boxed.weight 4,4
//! key main vb dynd.bias 4
//! key main vb dynd.weight 4,4
//! key main vb maybe.bias 4 conditional
//! key main vb maybe.weight 4,4 conditional
//! key main vb named.bias 4
//! key main vb named.weight 4,4
//! key main vb raw 4,4
//! key main vb shared.bias 4
//! key main vb shared.weight 4,4
//! key main vb spare.bias 4
//! key main vb spare.weight 4,4
//! key main vb threaded.bias 4
//! key main vb threaded.weight 4,4
//! key main vb tied.bias 4
//! key main vb tied.weight 4,4
