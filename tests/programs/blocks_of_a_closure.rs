use candle_core::{DType, Device, Result, Tensor, D};
use candle_nn::{embedding, linear, Module, VarBuilder, VarMap, AdamW, Optimizer};

fn main() -> Result<()> {
    let dev = Device::Cpu;
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &dev);
    let block = |vb: VarBuilder, dim: usize| -> Result<_> {
        let up = linear(dim, dim * 4, vb.pp("up"))?;
        let down = linear(dim * 4, dim, vb.pp("down"))?;
        Ok((up, down))
    };
    let emb = embedding(100, 32, vb.pp("emb"))?;
    let mut layers = Vec::new();
    for i in 0..3 {
        layers.push(block(vb.pp(format!("layers.{i}")), 32)?);
    }
    let root = vb.root();
    let head = linear(32, 100, root.pp("head"))?;
    let mut opt = AdamW::new_lr(varmap.all_vars(), 1e-3)?;
    let ids = Tensor::zeros((2, 5), DType::U32, &dev)?;
    for _ in 0..2 {
        let mut h = emb.forward(&ids)?;
        for (up, down) in layers.iter() {
            h = (&h + down.forward(&up.forward(&h)?.gelu()?)?)?;
        }
        let logits = head.forward(&h)?;
        let probs = candle_nn::ops::softmax_last_dim(&logits)?;
        let loss = probs.get_on_dim(D::Minus1, 0)?.log()?.neg()?.mean_all()?;
        opt.backward_step(&loss).ok();
    }
    Ok(())
}

//! key main vb emb.weight 100,32
//! key main vb head.bias 100
//! key main vb head.weight 100,32
//! key main vb layers.0.down.bias 32
//! key main vb layers.0.down.weight 32,128
//! key main vb layers.0.up.bias 128
//! key main vb layers.0.up.weight 128,32
//! key main vb layers.1.down.bias 32
//! key main vb layers.1.down.weight 32,128
//! key main vb layers.1.up.bias 128
//! key main vb layers.1.up.weight 128,32
//! key main vb layers.2.down.bias 32
//! key main vb layers.2.down.weight 32,128
//! key main vb layers.2.up.bias 128
//! key main vb layers.2.up.weight 128,32
//! finding gradient-cut main:28 vb emb.weight head.bias head.weight layers.0.down.bias layers.0.down.weight layers.0.up.bias layers.0.up.weight layers.1.down.bias layers.1.down.weight layers.1.up.bias layers.1.up.weight layers.2.down.bias layers.2.down.weight layers.2.up.bias layers.2.up.weight
