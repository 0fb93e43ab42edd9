use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{embedding, Embedding, Linear, Module, VarBuilder, VarMap};
struct Lm { emb: Embedding, head: Linear }
impl Lm {
    fn new(vocab: usize, dim: usize, vb: VarBuilder) -> Result<Self> {
        let emb = embedding(vocab, dim, vb.pp("emb"))?;
        let head = Linear::new(vb.pp("emb").get((vocab, dim), "weight")?, Some(vb.get(vocab, "bias")?));
        Ok(Self { emb, head })
    }
}
fn main() -> Result<()> {
    let vm = VarMap::new();
    let vb = VarBuilder::from_varmap(&vm, DType::F32, &Device::Cpu);
    let lm = Lm::new(11, 4, vb.pp("lm"))?;
    println!("{}", lm.head.forward(&lm.emb.forward(&Tensor::zeros((1, 2), DType::U32, &Device::Cpu)?)?)?);
    Ok(())
}

//! held lm.bias 11
//! held lm.emb.weight 11,4
//! key Lm vb bias vocab
//! key Lm vb emb.weight vocab,dim
