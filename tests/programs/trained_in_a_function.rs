use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{lstm, layer_norm, linear, LSTMConfig, Module, Optimizer, VarBuilder, VarMap, RNN};

fn train(varmap: &VarMap, dev: &Device, steps: usize) -> Result<f32> {
    let vb = VarBuilder::from_varmap(varmap, DType::F32, dev);
    let rnn = lstm(6, 12, LSTMConfig::default(), vb.pp("rnn"))?;
    let norm = layer_norm(12, candle_nn::LayerNormConfig::default(), vb.pp("norm"))?;
    let out = linear(12, 3, vb.pp("out"))?;
    let mut opt = candle_nn::SGD::new(varmap.all_vars(), 0.01)?;
    let xs = Tensor::randn(0f32, 1., (2, 5, 6), dev)?;
    let ys = Tensor::zeros(2, DType::U32, dev)?;
    let mut last = 0f32;
    for _ in 0..steps {
        let states = rnn.seq(&xs)?;
        let h = states.last().unwrap().h().clone();
        let logits = out.forward(&norm.forward(&h)?)?;
        let loss = candle_nn::loss::nll(&candle_nn::ops::log_softmax(&logits, 1)?, &ys)?;
        opt.backward_step(&loss)?;
        last = loss.to_scalar()?;
    }
    Ok(last)
}

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let dev = Device::Cpu;
    println!("{}", train(&varmap, &dev, 2)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn learns() {
        let vm = VarMap::new();
        let vb = VarBuilder::from_varmap(&vm, DType::F32, &Device::Cpu);
        let l = linear(2, 2, vb.pp("test_only")).unwrap();
        let _ = l;
    }
}

//! key train vb norm.bias 12
//! key train vb norm.weight 12
//! key train vb out.bias 3
//! key train vb out.weight 3,12
//! key train vb rnn.bias_hh_l0 48
//! key train vb rnn.bias_ih_l0 48
//! key train vb rnn.weight_hh_l0 48,12
//! key train vb rnn.weight_ih_l0 48,6
//! finding gradient-cut train:16 vb norm.bias norm.weight rnn.bias_hh_l0 rnn.bias_ih_l0 rnn.weight_hh_l0 rnn.weight_ih_l0
