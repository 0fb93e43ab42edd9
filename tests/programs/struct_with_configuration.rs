use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{embedding, linear, layer_norm, Embedding, LayerNorm, Linear, Module, VarBuilder, VarMap};

#[derive(Clone)]
struct Config { vocab: usize, hidden: usize, layers: usize }

struct Block { ln: LayerNorm, up: Linear, down: Linear }
impl Block {
    fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {
        Ok(Self { ln: layer_norm(cfg.hidden, 1e-5, vb.pp("ln"))?,
            up: linear(cfg.hidden, 4 * cfg.hidden, vb.pp("up"))?,
            down: linear(4 * cfg.hidden, cfg.hidden, vb.pp("down"))? })
    }
    fn forward(&self, x: &Tensor) -> Result<Tensor> { x + self.down.forward(&self.up.forward(&self.ln.forward(x)?)?.gelu()?)? }
}
struct Model { emb: Embedding, blocks: Vec<Block>, head: Linear }
impl Model {
    fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {
        let blocks = (0..cfg.layers).map(|i| Block::new(cfg, vb.pp("blocks").pp(i))).collect::<Result<Vec<_>>>()?;
        Ok(Self { emb: embedding(cfg.vocab, cfg.hidden, vb.pp("emb"))?, blocks, head: linear(cfg.hidden, cfg.vocab, vb.pp("head"))? })
    }
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = self.emb.forward(x)?;
        for b in &self.blocks { x = b.forward(&x)?; }
        self.head.forward(&x)
    }
}

fn main() -> Result<()> {
    let cfg = Config { vocab: 20, hidden: 8, layers: 3 };
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let m = Model::new(&cfg, vb)?;
    let x = Tensor::zeros((1, 8), DType::U32, &Device::Cpu)?;
    println!("{}", m.forward(&x)?);
    Ok(())
}

//! finding gradient-cut Block::forward:14 vb blocks.{i}.ln.bias blocks.{i}.ln.weight
//! held blocks.0.down.bias 8
//! held blocks.0.down.weight 8,32
//! held blocks.0.ln.bias 8
//! held blocks.0.ln.weight 8
//! held blocks.0.up.bias 32
//! held blocks.0.up.weight 32,8
//! held blocks.1.down.bias 8
//! held blocks.1.down.weight 8,32
//! held blocks.1.ln.bias 8
//! held blocks.1.ln.weight 8
//! held blocks.1.up.bias 32
//! held blocks.1.up.weight 32,8
//! held blocks.2.down.bias 8
//! held blocks.2.down.weight 8,32
//! held blocks.2.ln.bias 8
//! held blocks.2.ln.weight 8
//! held blocks.2.up.bias 32
//! held blocks.2.up.weight 32,8
//! held emb.weight 20,8
//! held head.bias 20
//! held head.weight 20,8
//! key Block vb down.bias cfg.hidden
//! key Block vb down.weight cfg.hidden,4*cfg.hidden
//! key Block vb ln.bias cfg.hidden
//! key Block vb ln.weight cfg.hidden
//! key Block vb up.bias 4*cfg.hidden
//! key Block vb up.weight 4*cfg.hidden,cfg.hidden
//! key Model vb blocks.{i}.down.bias cfg.hidden
//! key Model vb blocks.{i}.down.weight cfg.hidden,4*cfg.hidden
//! key Model vb blocks.{i}.ln.bias cfg.hidden
//! key Model vb blocks.{i}.ln.weight cfg.hidden
//! key Model vb blocks.{i}.up.bias 4*cfg.hidden
//! key Model vb blocks.{i}.up.weight 4*cfg.hidden,cfg.hidden
//! key Model vb emb.weight cfg.vocab,cfg.hidden
//! key Model vb head.bias cfg.vocab
//! key Model vb head.weight cfg.vocab,cfg.hidden
