use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{linear, Linear, Module, Optimizer, VarBuilder, VarMap, AdamW};

struct Agent { varmap: VarMap, l1: Linear, norm: candle_nn::LayerNorm, l2: Linear, opt: AdamW }

impl Agent {
    pub fn new(device: &Device, hidden: usize) -> Result<Self> {
        let varmap = VarMap::new();
        let vb = VarBuilder::from_varmap(&varmap, DType::F32, device);
        let l1 = linear(4, hidden, vb.pp("l1"))?;
        let norm = candle_nn::layer_norm(hidden, 1e-5, vb.pp("norm"))?;
        let l2 = linear(hidden, 2, vb.pp("l2"))?;
        let opt = AdamW::new_lr(varmap.all_vars(), 1e-3)?;
        Ok(Self { varmap, l1, norm, l2, opt })
    }
    fn q(&self, state: &Tensor) -> Result<Tensor> {
        self.l2.forward(&self.norm.forward(&self.l1.forward(state)?)?.relu()?)
    }
    fn learn(&mut self, state: &Tensor, target: &Tensor) -> Result<()> {
        let loss = candle_nn::loss::mse(&self.q(state)?, target)?;
        self.opt.backward_step(&loss)
    }
}

fn main() -> Result<()> {
    let mut agent = Agent::new(&Device::Cpu, 16)?;
    let s = Tensor::zeros((3, 4), DType::F32, &Device::Cpu)?;
    let t = Tensor::zeros((3, 2), DType::F32, &Device::Cpu)?;
    agent.learn(&s, &t)?;
    Ok(())
}

//! key Agent vb l1.bias hidden
//! key Agent vb l1.weight hidden,4
//! key Agent vb l2.bias 2
//! key Agent vb l2.weight 2,hidden
//! key Agent vb norm.bias hidden
//! key Agent vb norm.weight hidden
//! finding gradient-cut Agent::q:17 vb l1.bias l1.weight norm.bias norm.weight
