use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use candle_nn::{ops, AdamW, Linear, Module, Optimizer, ParamsAdamW, VarBuilder, VarMap};

const LATENT: usize = 16;

fn bce(logits: &Tensor, target: f64) -> Result<Tensor> {
    let t = (logits.ones_like()? * target)?;
    Ok(candle_nn::loss::binary_cross_entropy_with_logit(logits, &t)?)
}

fn main() -> Result<()> {
    let device = Device::Cpu;
    let g_map = VarMap::new();
    let d_map = VarMap::new();
    let vb_g = VarBuilder::from_varmap(&g_map, DType::F32, &device);
    let vb_d = VarBuilder::from_varmap(&d_map, DType::F32, &device);
    let g1: Linear = candle_nn::linear(LATENT, 64, vb_g.pp("gen.0"))?;
    let g2 = candle_nn::linear(64, 784, vb_g.pp("gen.1"))?;
    let d1 = candle_nn::linear(784, 64, vb_d.pp("disc").pp(0))?;
    let d2 = candle_nn::linear(64, 1, vb_d.pp("disc").pp(1))?;
    let generate = |z: &Tensor| -> Result<Tensor> { Ok(g2.forward(&g1.forward(z)?.relu()?)?.tanh()?) };
    let judge = |x: &Tensor| -> Result<Tensor> { Ok(d2.forward(&ops::leaky_relu(&d1.forward(x)?, 0.2)?)?) };
    let mut opt_g = AdamW::new(g_map.all_vars(), ParamsAdamW { lr: 2e-4, ..Default::default() })?;
    let mut opt_d = AdamW::new(d_map.all_vars(), ParamsAdamW { lr: 2e-4, ..Default::default() })?;
    for _step in 0..2 {
        let real = Tensor::randn(0f32, 1., (4, 784), &device)?;
        let z = Tensor::randn(0f32, 1., (4, LATENT), &device)?;
        let fake = generate(&z)?;
        let d_loss = (bce(&judge(&real)?, 1.0)? + bce(&judge(&fake.detach())?, 0.0)?)?;
        opt_d.backward_step(&d_loss)?;
        let g_loss = bce(&judge(&fake)?, 1.0)?;
        opt_g.backward_step(&g_loss)?;
    }
    Ok(())
}

//! key main vb_d disc.0.bias 64
//! key main vb_d disc.0.weight 64,784
//! key main vb_d disc.1.bias 1
//! key main vb_d disc.1.weight 1,64
//! key main vb_g gen.0.bias 64
//! key main vb_g gen.0.weight 64,16
//! key main vb_g gen.1.bias 784
//! key main vb_g gen.1.weight 784,64
