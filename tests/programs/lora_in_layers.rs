use candle_core::{DType, Device, Module, Result, Tensor};
use candle_nn::{init, linear_no_bias, Init, Linear, VarBuilder, VarMap};

#[derive(Clone, Debug)]
struct LoraConfig { rank: usize, alpha: f64, targets: Vec<&'static str> }
impl Default for LoraConfig { fn default() -> Self { Self { rank: 4, alpha: 8., targets: vec!["q_proj", "v_proj"] } } }

enum Proj { Plain(Linear), Lora { base: Linear, a: Tensor, b: Tensor, scale: f64 } }
impl Proj {
    fn load(name: &str, dim: usize, cfg: &LoraConfig, vb: &VarBuilder) -> Result<Self> {
        let base = linear_no_bias(dim, dim, vb.pp(name))?;
        if cfg.targets.contains(&name) {
            let lvb = vb.pp(name).pp("lora");
            let a = lvb.get_with_hints((cfg.rank, dim), "A", Init::Randn { mean: 0., stdev: 0.02 })?;
            let b = lvb.get_with_hints((dim, cfg.rank), "B", init::ZERO)?;
            Ok(Self::Lora { base, a, b, scale: cfg.alpha / cfg.rank as f64 })
        } else { Ok(Self::Plain(base)) }
    }
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Plain(l) => l.forward(x),
            Self::Lora { base, a, b, scale } => { let d = (x.broadcast_matmul(&a.t()?)?.broadcast_matmul(&b.t()?)? * *scale)?; base.forward(x)? + d }
        }
    }
}
struct Attn { projs: Vec<Proj> }
impl Attn {
    const NAMES: [&'static str; 4] = ["q_proj", "k_proj", "v_proj", "o_proj"];
    fn new(dim: usize, cfg: &LoraConfig, vb: VarBuilder) -> Result<Self> {
        let projs = Self::NAMES.iter().map(|n| Proj::load(n, dim, cfg, &vb)).collect::<Result<_>>()?;
        Ok(Self { projs })
    }
}
fn main() -> Result<()> {
    let vm = VarMap::new();
    let vb = VarBuilder::from_varmap(&vm, DType::F32, &Device::Cpu);
    let cfg = LoraConfig { rank: 2, ..Default::default() };
    let layers = (0..2).map(|i| Attn::new(8, &cfg, vb.pp("model.layers").pp(i))).collect::<Result<Vec<_>>>()?;
    let mut x = Tensor::ones((1, 8), DType::F32, &Device::Cpu)?;
    for l in &layers { for p in &l.projs { x = p.forward(&x)?; } }
    println!("{x}");
    Ok(())
}

//! held model.layers.0.k_proj.weight 8,8
//! held model.layers.0.o_proj.weight 8,8
//! held model.layers.0.q_proj.lora.A 2,8
//! held model.layers.0.q_proj.lora.B 8,2
//! held model.layers.0.q_proj.weight 8,8
//! held model.layers.0.v_proj.lora.A 2,8
//! held model.layers.0.v_proj.lora.B 8,2
//! held model.layers.0.v_proj.weight 8,8
//! held model.layers.1.k_proj.weight 8,8
//! held model.layers.1.o_proj.weight 8,8
//! held model.layers.1.q_proj.lora.A 2,8
//! held model.layers.1.q_proj.lora.B 8,2
//! held model.layers.1.q_proj.weight 8,8
//! held model.layers.1.v_proj.lora.A 2,8
//! held model.layers.1.v_proj.lora.B 8,2
//! held model.layers.1.v_proj.weight 8,8
//! key Attn vb k_proj.lora.A cfg.rank,dim conditional
//! key Attn vb k_proj.lora.B dim,cfg.rank conditional
//! key Attn vb k_proj.weight dim,dim
//! key Attn vb o_proj.lora.A cfg.rank,dim conditional
//! key Attn vb o_proj.lora.B dim,cfg.rank conditional
//! key Attn vb o_proj.weight dim,dim
//! key Attn vb q_proj.lora.A cfg.rank,dim conditional
//! key Attn vb q_proj.lora.B dim,cfg.rank conditional
//! key Attn vb q_proj.weight dim,dim
//! key Attn vb v_proj.lora.A cfg.rank,dim conditional
//! key Attn vb v_proj.lora.B dim,cfg.rank conditional
//! key Attn vb v_proj.weight dim,dim
//! key Proj vb {name}.lora.A cfg.rank,dim conditional
//! key Proj vb {name}.lora.B dim,cfg.rank conditional
//! key Proj vb {name}.weight dim,dim
