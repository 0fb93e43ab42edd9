use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{layer_norm, linear, LayerNorm, Linear, Module, Optimizer, VarBuilder, VarMap, SGD};
use std::cell::{OnceCell, RefCell};
use std::sync::{Arc, Mutex, OnceLock};

struct Net { norm: LayerNorm, a: Linear, b: Arc<Mutex<Linear>>, c: RefCell<Linear>, d: OnceCell<Linear>, e: OnceLock<Linear> }

impl Net {
    fn new(vb: VarBuilder) -> Result<Self> {
        let c = RefCell::new(linear(4, 4, vb.pp("c0"))?);
        let _old = c.replace(linear(4, 4, vb.pp("c"))?);
        let d = OnceCell::new();
        let _ = d.set(linear(4, 2, vb.pp("d"))?);
        let e = OnceLock::new();
        let made = linear(4, 4, vb.pp("e"))?;
        e.get_or_init(|| made);
        Ok(Self {
            norm: layer_norm(4, 1e-5, vb.pp("norm"))?,
            a: linear(4, 4, vb.pp("a"))?,
            b: Arc::new(Mutex::new(linear(4, 4, vb.pp("b"))?)),
            c,
            d,
            e,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.norm.forward(&self.a.forward(x)?)?;
        let x = self.b.lock().unwrap().forward(&x)?;
        let x = self.c.borrow().forward(&x)?;
        let x = self.e.get().unwrap().forward(&x)?;
        self.d.get().unwrap().forward(&x)
    }
}

fn main() -> Result<()> {
    let vm = VarMap::new();
    let vb = VarBuilder::from_varmap(&vm, DType::F32, &Device::Cpu);
    let net = Net::new(vb)?;
    let mut opt = SGD::new(vm.all_vars(), 0.1)?;
    let x = Tensor::ones((2, 4), DType::F32, &Device::Cpu)?;
    let loss = net.forward(&x)?.sqr()?.mean_all()?;
    opt.backward_step(&loss)?;
    let g = loss.backward()?;
    for (n, v) in vm.data().lock().unwrap().iter() { println!("GRAD {n} {}", g.get(v).is_some()); }
    Ok(())
}

//! finding gradient-cut Net::forward:28 vb a.bias a.weight norm.bias norm.weight
//! key Net vb a.bias 4
//! key Net vb a.weight 4,4
//! key Net vb b.bias 4
//! key Net vb b.weight 4,4
//! key Net vb c.bias 4
//! key Net vb c.weight 4,4
//! key Net vb c0.bias 4
//! key Net vb c0.weight 4,4
//! key Net vb d.bias 2
//! key Net vb d.weight 2,4
//! key Net vb e.bias 4
//! key Net vb e.weight 4,4
//! key Net vb norm.bias 4
//! key Net vb norm.weight 4
