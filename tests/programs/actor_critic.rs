use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, seq, Activation, Module, Optimizer, Sequential, VarBuilder, VarMap, AdamW, ParamsAdamW};

fn make_vb(map: &VarMap) -> VarBuilder<'static> { VarBuilder::from_varmap(map, DType::F32, &Device::Cpu) }

fn mlp(vs: &VarBuilder, i: usize, h: usize, o: usize) -> Result<Sequential> {
    Ok(seq().add(linear(i, h, vs.pp("0"))?).add(Activation::Silu).add(linear(h, o, vs.pp("2"))?))
}

fn main() -> Result<()> {
    let map = VarMap::new();
    let vs = make_vb(&map);
    let actor = mlp(&vs.pp("actor"), 3, 16, 1)?;
    let critic = mlp(&vs.pp("critic"), 4, 32, 1)?;
    let log_std = map.get((1,), "log_std", candle_nn::Init::Const(0.), DType::F32, &Device::Cpu)?;
    let mut opt = AdamW::new(map.all_vars(), ParamsAdamW::default())?;
    let s = Tensor::zeros((5, 3), DType::F32, &Device::Cpu)?;
    let a = actor.forward(&s)?.broadcast_add(&log_std)?;
    let q = critic.forward(&Tensor::cat(&[&s, &a], 1)?)?;
    opt.backward_step(&q.neg()?.mean_all()?)?;
    Ok(())
}

//! key main vs actor.0.bias 16
//! key main vs actor.0.weight 16,3
//! key main vs actor.2.bias 1
//! key main vs actor.2.weight 1,16
//! key main vs critic.0.bias 32
//! key main vs critic.0.weight 32,4
//! key main vs critic.2.bias 1
//! key main vs critic.2.weight 1,32
//! key main vs log_std 1
