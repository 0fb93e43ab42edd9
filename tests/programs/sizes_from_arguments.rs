use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, VarBuilder, VarMap};

struct AutoEncoder { enc: Vec<Linear>, dec: Vec<Linear> }
impl AutoEncoder {
    fn new(input: usize, hidden: usize, depth: usize, vb: VarBuilder) -> Result<Self> {
        let mut enc = vec![linear(input, hidden, vb.pp("enc.0"))?];
        for i in 1..depth { enc.push(linear(hidden, hidden, vb.pp(format!("enc.{i}")))?); }
        let dec = (0..depth).map(|i| linear(hidden, if i + 1 == depth { input } else { hidden }, vb.pp("dec").pp(i))).collect::<Result<Vec<_>>>()?;
        Ok(Self { enc, dec })
    }
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.enc.iter().try_fold(x.clone(), |x, l| l.forward(&x)?.relu())?;
        self.dec.iter().try_fold(x, |x, l| l.forward(&x))
    }
}
fn train(hidden: usize, depth: usize) -> Result<()> {
    let vm = VarMap::new();
    let vb = VarBuilder::from_varmap(&vm, DType::F32, &Device::Cpu);
    let ae = AutoEncoder::new(12, hidden, depth, vb.pp("ae"))?;
    println!("{}", ae.forward(&Tensor::ones((1, 12), DType::F32, &Device::Cpu)?)?);
    Ok(())
}
fn main() -> Result<()> {
    let hidden: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(6);
    let depth = std::env::var("DEPTH").map(|d| d.parse::<usize>().unwrap()).unwrap_or(3);
    train(hidden, depth)
}

//! held ae.dec.0.bias 6
//! held ae.dec.0.weight 6,6
//! held ae.dec.1.bias 6
//! held ae.dec.1.weight 6,6
//! held ae.dec.2.bias 12
//! held ae.dec.2.weight 12,6
//! held ae.enc.0.bias 6
//! held ae.enc.0.weight 6,12
//! held ae.enc.1.bias 6
//! held ae.enc.1.weight 6,6
//! held ae.enc.2.bias 6
//! held ae.enc.2.weight 6,6
//! key AutoEncoder vb dec.{i}.bias _
//! key AutoEncoder vb dec.{i}.weight _,hidden
//! key AutoEncoder vb enc.0.bias hidden
//! key AutoEncoder vb enc.0.weight hidden,input
//! key AutoEncoder vb enc.{i+1}.bias hidden
//! key AutoEncoder vb enc.{i+1}.weight hidden,hidden
