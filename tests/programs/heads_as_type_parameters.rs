use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{embedding, linear, Embedding, Linear, Module, Optimizer, ParamsAdamW, AdamW, SGD, VarBuilder, VarMap};
use std::marker::PhantomData;

trait Head { fn make(dim: usize, vb: VarBuilder) -> Result<Self> where Self: Sized; fn run(&self, x: &Tensor) -> Result<Tensor>; }
struct Classify { l: Linear }
struct Regress { l: Linear, b: Tensor }
impl Head for Classify {
    fn make(dim: usize, vb: VarBuilder) -> Result<Self> { Ok(Self { l: linear(dim, 5, vb.pp("classes"))? }) }
    fn run(&self, x: &Tensor) -> Result<Tensor> { self.l.forward(x) }
}
impl Head for Regress {
    fn make(dim: usize, vb: VarBuilder) -> Result<Self> { Ok(Self { l: linear(dim, 1, vb.pp("value"))?, b: vb.get(1, "offset")? }) }
    fn run(&self, x: &Tensor) -> Result<Tensor> { self.l.forward(x)?.broadcast_add(&self.b) }
}
struct Model<H: Head> { emb: Embedding, body: Vec<Linear>, head: H, _p: PhantomData<H> }
impl<H: Head> Model<H> {
    fn new(vocab: usize, dim: usize, n: usize, vb: VarBuilder) -> Result<Self> {
        let body: Vec<Linear> = (0..n).map(|i| linear(dim, dim, vb.pp(format!("body.{i}")))).collect::<Result<_>>()?;
        Ok(Self { emb: embedding(vocab, dim, vb.pp("emb"))?, body, head: H::make(dim, vb.pp("head"))?, _p: PhantomData })
    }
    fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let mut x = self.emb.forward(ids)?.mean(1)?;
        for l in &self.body { x = l.forward(&x)?.relu()?; }
        self.head.run(&x)
    }
}
fn main() -> Result<()> {
    let (a, b) = (VarMap::new(), VarMap::new());
    let va = VarBuilder::from_varmap(&a, DType::F32, &Device::Cpu);
    let vb = VarBuilder::from_varmap(&b, DType::F32, &Device::Cpu);
    let c = Model::<Classify>::new(10, 4, 2, va.pp("c"))?;
    let r: Model<Regress> = Model::new(12, 3, 1, vb.pp("r"))?;
    let mut oa = AdamW::new(a.all_vars(), ParamsAdamW::default())?;
    let mut ob = SGD::new(b.all_vars(), 0.1)?;
    let ids = Tensor::zeros((2, 3), DType::U32, &Device::Cpu)?;
    oa.backward_step(&c.forward(&ids)?.sqr()?.mean_all()?)?;
    ob.backward_step(&r.forward(&ids)?.sqr()?.mean_all()?)?;
    Ok(())
}

//! held c.body.0.bias 4
//! held c.body.0.weight 4,4
//! held c.body.1.bias 4
//! held c.body.1.weight 4,4
//! held c.emb.weight 10,4
//! held c.head.classes.bias 5
//! held c.head.classes.weight 5,4
//! held r.body.0.bias 3
//! held r.body.0.weight 3,3
//! held r.emb.weight 12,3
//! held r.head.offset 1
//! held r.head.value.bias 1
//! held r.head.value.weight 1,3
//! key Classify vb classes.bias 5
//! key Classify vb classes.weight 5,dim
//! key Model vb body.{i}.bias dim
//! key Model vb body.{i}.weight dim,dim
//! key Model vb emb.weight vocab,dim
//! key Regress vb offset 1
//! key Regress vb value.bias 1
//! key Regress vb value.weight 1,dim
//! key Model vb head.classes.bias 5 conditional
//! key Model vb head.classes.weight 5,dim conditional
//! key Model vb head.offset 1 conditional
//! key Model vb head.value.bias 1 conditional
//! key Model vb head.value.weight 1,dim conditional
