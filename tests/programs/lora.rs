use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear_no_bias, AdamW, Module, Optimizer, VarBuilder, VarMap};

fn main() -> anyhow::Result<()> {
    let dev = Device::Cpu;
    let weights = std::env::args().nth(1).unwrap_or("/tmp/mm/base.safetensors".to_string());
    let base_vb = unsafe { VarBuilder::from_mmaped_safetensors(&[weights], DType::F32, &dev)? };
    let q = linear_no_bias(16, 16, base_vb.pp("attn.q"))?;
    let v = linear_no_bias(16, 16, base_vb.pp("attn.v"))?;
    let lora_map = VarMap::new();
    let lora_vb = VarBuilder::from_varmap(&lora_map, DType::F32, &dev);
    let rank = 4;
    let q_a = linear_no_bias(16, rank, lora_vb.pp("attn.q.lora_a"))?;
    let q_b = linear_no_bias(rank, 16, lora_vb.pp("attn.q.lora_b"))?;
    let mut opt = AdamW::new_lr(lora_map.all_vars(), 1e-4)?;
    let xs = Tensor::randn(0f32, 1., (3, 16), &dev)?;
    for _ in 0..2 {
        let qs = (q.forward(&xs)? + (q_b.forward(&q_a.forward(&xs)?)? * 2.0)?)?;
        let att = candle_nn::ops::softmax(&qs.matmul(&v.forward(&xs)?.t()?)?, 1)?;
        let loss = att.sqr()?.mean_all()?;
        opt.backward_step(&loss)?;
    }
    Ok(())
}

//! key main base_vb attn.q.weight 16,16
//! key main base_vb attn.v.weight 16,16
//! key main lora_vb attn.q.lora_a.weight 4,16
//! key main lora_vb attn.q.lora_b.weight 16,4
