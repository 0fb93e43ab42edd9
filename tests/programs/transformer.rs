use candle_core::{DType, Device, Result, Tensor, D};
use candle_nn::{embedding, layer_norm, linear, ops, Dropout, Embedding, LayerNorm, Linear, Module, VarBuilder, VarMap};

#[derive(Debug, Clone)]
pub struct GptConfig { pub vocab_size: usize, pub block_size: usize, pub n_layer: usize, pub n_head: usize, pub n_embd: usize, pub dropout: f32, pub tie: bool }
impl GptConfig {
    pub fn tiny() -> Self { Self { vocab_size: 32, block_size: 16, n_layer: 2, n_head: 2, n_embd: 8, dropout: 0.1, tie: false } }
    fn head_dim(&self) -> usize { self.n_embd / self.n_head }
}
struct Attention { qkv: Linear, proj: Linear, n_head: usize, head_dim: usize, drop: Dropout, bias: Tensor }
impl Attention {
    fn new(cfg: &GptConfig, vb: VarBuilder) -> Result<Self> {
        let bias = Tensor::tril2(cfg.block_size, DType::U8, vb.device())?;
        Ok(Self { qkv: linear(cfg.n_embd, 3 * cfg.n_embd, vb.pp("c_attn"))?, proj: linear(cfg.n_head * cfg.head_dim(), cfg.n_embd, vb.pp("c_proj"))?,
            n_head: cfg.n_head, head_dim: cfg.head_dim(), drop: Dropout::new(cfg.dropout), bias })
    }
    fn forward(&self, x: &Tensor, train: bool) -> Result<Tensor> {
        let (b, t, c) = x.dims3()?;
        let qkv = self.qkv.forward(x)?.reshape((b, t, 3, self.n_head, self.head_dim))?.permute((2, 0, 3, 1, 4))?.contiguous()?;
        let (q, k, v) = (qkv.get(0)?, qkv.get(1)?, qkv.get(2)?);
        let att = (q.matmul(&k.transpose(2, 3)?.contiguous()?)? / (self.head_dim as f64).sqrt())?;
        let att = self.drop.forward(&ops::softmax(&att, D::Minus1)?, train)?;
        let _ = &self.bias;
        self.proj.forward(&att.matmul(&v)?.transpose(1, 2)?.contiguous()?.reshape((b, t, c))?)
    }
}
struct Mlp(Linear, Linear);
impl Mlp {
    fn new(n: usize, vb: &VarBuilder) -> Result<Mlp> { Ok(Mlp(linear(n, n << 2, vb.pp("c_fc"))?, linear(4 * n, n, vb.pp("c_proj"))?)) }
}
impl Module for Mlp { fn forward(&self, x: &Tensor) -> Result<Tensor> { self.1.forward(&self.0.forward(x)?.gelu_erf()?) } }
struct Block { ln_1: LayerNorm, attn: Attention, ln_2: LayerNorm, mlp: Mlp }
struct Gpt { wte: Embedding, wpe: Embedding, h: Vec<Block>, ln_f: LayerNorm, lm_head: Linear }
impl Gpt {
    fn from_config(vb: VarBuilder<'_>, cfg: GptConfig) -> Result<Gpt> {
        let t = vb.pp("transformer");
        let wte = embedding(cfg.vocab_size, cfg.n_embd, t.pp("wte"))?;
        let wpe = embedding(cfg.block_size, cfg.n_embd, t.pp("wpe"))?;
        let mut h = Vec::with_capacity(cfg.n_layer);
        let vb_h = t.pp("h");
        for layer in 0..cfg.n_layer {
            let vb = vb_h.pp(layer);
            h.push(Block { ln_1: layer_norm(cfg.n_embd, 1e-5, vb.pp("ln_1"))?, attn: Attention::new(&cfg, vb.pp("attn"))?, ln_2: layer_norm(cfg.n_embd, 1e-5, vb.pp("ln_2"))?, mlp: Mlp::new(cfg.n_embd, &vb.pp("mlp"))? });
        }
        let ln_f = layer_norm(cfg.n_embd, 1e-5, t.pp("ln_f"))?;
        let lm_head = if cfg.tie { Linear::new(wte.embeddings().clone(), None) } else { candle_nn::linear_no_bias(cfg.n_embd, cfg.vocab_size, vb.pp("lm_head"))? };
        Ok(Gpt { wte, wpe, h, ln_f, lm_head })
    }
    fn forward(&self, ids: &Tensor, train: bool) -> Result<Tensor> {
        let (_, t) = ids.dims2()?;
        let pos = Tensor::arange(0, t as u32, ids.device())?;
        let mut x = self.wte.forward(ids)?.broadcast_add(&self.wpe.forward(&pos)?)?;
        for b in self.h.iter() {
            x = (&x + b.attn.forward(&b.ln_1.forward(&x)?, train)?)?;
            x = (&x + b.mlp.forward(&b.ln_2.forward(&x)?)?)?;
        }
        self.lm_head.forward(&self.ln_f.forward(&x)?)
    }
}
fn build(device: &Device) -> Result<(VarMap, Gpt)> {
    let vm = VarMap::new();
    let gpt = Gpt::from_config(VarBuilder::from_varmap(&vm, DType::F32, device).pp("gpt"), GptConfig { n_layer: 3, ..GptConfig::tiny() })?;
    Ok((vm, gpt))
}
fn main() -> Result<()> {
    let (vm, gpt) = build(&Device::Cpu)?;
    println!("{:?} {}", gpt.forward(&Tensor::zeros((1, 4), DType::U32, &Device::Cpu)?, false)?.dims(), vm.all_vars().len());
    Ok(())
}

//! finding gradient-cut Gpt::forward:54 vb transformer.h.{layer}.attn.c_attn.bias transformer.h.{layer}.attn.c_attn.weight transformer.h.{layer}.attn.c_proj.bias transformer.h.{layer}.attn.c_proj.weight transformer.h.{layer}.ln_1.bias transformer.h.{layer}.ln_1.weight transformer.h.{layer}.mlp.c_fc.bias transformer.h.{layer}.mlp.c_fc.weight transformer.h.{layer}.mlp.c_proj.bias transformer.h.{layer}.mlp.c_proj.weight transformer.wpe.weight
//! finding gradient-cut Gpt::forward:55 vb transformer.h.{layer}.attn.c_attn.bias transformer.h.{layer}.attn.c_attn.weight transformer.h.{layer}.attn.c_proj.bias transformer.h.{layer}.attn.c_proj.weight transformer.h.{layer}.ln_2.bias transformer.h.{layer}.ln_2.weight transformer.h.{layer}.mlp.c_fc.bias transformer.h.{layer}.mlp.c_fc.weight transformer.h.{layer}.mlp.c_proj.bias transformer.h.{layer}.mlp.c_proj.weight transformer.wpe.weight
//! finding gradient-cut Gpt::forward:57 vb transformer.h.{layer}.attn.c_attn.bias transformer.h.{layer}.attn.c_attn.weight transformer.h.{layer}.attn.c_proj.bias transformer.h.{layer}.attn.c_proj.weight transformer.h.{layer}.mlp.c_fc.bias transformer.h.{layer}.mlp.c_fc.weight transformer.h.{layer}.mlp.c_proj.bias transformer.h.{layer}.mlp.c_proj.weight transformer.ln_f.bias transformer.ln_f.weight transformer.wpe.weight
//! held gpt.lm_head.weight 32,8
//! held gpt.transformer.h.0.attn.c_attn.bias 24
//! held gpt.transformer.h.0.attn.c_attn.weight 24,8
//! held gpt.transformer.h.0.attn.c_proj.bias 8
//! held gpt.transformer.h.0.attn.c_proj.weight 8,8
//! held gpt.transformer.h.0.ln_1.bias 8
//! held gpt.transformer.h.0.ln_1.weight 8
//! held gpt.transformer.h.0.ln_2.bias 8
//! held gpt.transformer.h.0.ln_2.weight 8
//! held gpt.transformer.h.0.mlp.c_fc.bias 32
//! held gpt.transformer.h.0.mlp.c_fc.weight 32,8
//! held gpt.transformer.h.0.mlp.c_proj.bias 8
//! held gpt.transformer.h.0.mlp.c_proj.weight 8,32
//! held gpt.transformer.h.1.attn.c_attn.bias 24
//! held gpt.transformer.h.1.attn.c_attn.weight 24,8
//! held gpt.transformer.h.1.attn.c_proj.bias 8
//! held gpt.transformer.h.1.attn.c_proj.weight 8,8
//! held gpt.transformer.h.1.ln_1.bias 8
//! held gpt.transformer.h.1.ln_1.weight 8
//! held gpt.transformer.h.1.ln_2.bias 8
//! held gpt.transformer.h.1.ln_2.weight 8
//! held gpt.transformer.h.1.mlp.c_fc.bias 32
//! held gpt.transformer.h.1.mlp.c_fc.weight 32,8
//! held gpt.transformer.h.1.mlp.c_proj.bias 8
//! held gpt.transformer.h.1.mlp.c_proj.weight 8,32
//! held gpt.transformer.h.2.attn.c_attn.bias 24
//! held gpt.transformer.h.2.attn.c_attn.weight 24,8
//! held gpt.transformer.h.2.attn.c_proj.bias 8
//! held gpt.transformer.h.2.attn.c_proj.weight 8,8
//! held gpt.transformer.h.2.ln_1.bias 8
//! held gpt.transformer.h.2.ln_1.weight 8
//! held gpt.transformer.h.2.ln_2.bias 8
//! held gpt.transformer.h.2.ln_2.weight 8
//! held gpt.transformer.h.2.mlp.c_fc.bias 32
//! held gpt.transformer.h.2.mlp.c_fc.weight 32,8
//! held gpt.transformer.h.2.mlp.c_proj.bias 8
//! held gpt.transformer.h.2.mlp.c_proj.weight 8,32
//! held gpt.transformer.ln_f.bias 8
//! held gpt.transformer.ln_f.weight 8
//! held gpt.transformer.wpe.weight 16,8
//! held gpt.transformer.wte.weight 32,8
//! key Attention vb c_attn.bias 3*cfg.n_embd
//! key Attention vb c_attn.weight 3*cfg.n_embd,cfg.n_embd
//! key Attention vb c_proj.bias cfg.n_embd
//! key Attention vb c_proj.weight cfg.n_embd,cfg.n_head*cfg.n_embd/cfg.n_head
//! key Gpt vb lm_head.weight cfg.vocab_size,cfg.n_embd conditional
//! key Gpt vb transformer.h.{layer}.attn.c_attn.bias 3*cfg.n_embd
//! key Gpt vb transformer.h.{layer}.attn.c_attn.weight 3*cfg.n_embd,cfg.n_embd
//! key Gpt vb transformer.h.{layer}.attn.c_proj.bias cfg.n_embd
//! key Gpt vb transformer.h.{layer}.attn.c_proj.weight cfg.n_embd,cfg.n_head*cfg.n_embd/cfg.n_head
//! key Gpt vb transformer.h.{layer}.ln_1.bias cfg.n_embd
//! key Gpt vb transformer.h.{layer}.ln_1.weight cfg.n_embd
//! key Gpt vb transformer.h.{layer}.ln_2.bias cfg.n_embd
//! key Gpt vb transformer.h.{layer}.ln_2.weight cfg.n_embd
//! key Gpt vb transformer.h.{layer}.mlp.c_fc.bias 4*cfg.n_embd
//! key Gpt vb transformer.h.{layer}.mlp.c_fc.weight 4*cfg.n_embd,cfg.n_embd
//! key Gpt vb transformer.h.{layer}.mlp.c_proj.bias cfg.n_embd
//! key Gpt vb transformer.h.{layer}.mlp.c_proj.weight cfg.n_embd,4*cfg.n_embd
//! key Gpt vb transformer.ln_f.bias cfg.n_embd
//! key Gpt vb transformer.ln_f.weight cfg.n_embd
//! key Gpt vb transformer.wpe.weight cfg.block_size,cfg.n_embd
//! key Gpt vb transformer.wte.weight cfg.vocab_size,cfg.n_embd
//! key Mlp vb c_fc.bias 4*n
//! key Mlp vb c_fc.weight 4*n,n
//! key Mlp vb c_proj.bias n
//! key Mlp vb c_proj.weight n,4*n
