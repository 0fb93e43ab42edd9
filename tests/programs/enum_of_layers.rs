use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{self as nn, Conv2dConfig, Module, ModuleT, VarBuilder, VarMap};

#[derive(Clone, Debug)]
enum Spec { Conv { out: usize, k: usize }, Pool(usize), Norm, Flatten, Dense(usize), Act }
enum Layer { Conv(nn::Conv2d), Pool(usize), Norm(nn::BatchNorm), Flatten, Dense(nn::Linear), Act }
impl Layer {
    fn forward(&self, x: &Tensor, train: bool) -> Result<Tensor> {
        match self {
            Layer::Conv(c) => c.forward(x), Layer::Pool(k) => x.max_pool2d(*k), Layer::Norm(b) => b.forward_t(x, train),
            Layer::Flatten => x.flatten_from(1), Layer::Dense(l) => l.forward(x), Layer::Act => x.relu(),
        }
    }
}
struct Net { layers: Vec<Layer> }
impl Net {
    fn from_specs(specs: &[Spec], mut ch: usize, mut side: usize, vb: VarBuilder) -> Result<Self> {
        let mut layers = vec![];
        let mut flat = false;
        for (i, spec) in specs.iter().enumerate() {
            let vb = vb.pp(&format!("layers.{i}"));
            layers.push(match spec {
                Spec::Conv { out, k } => { let c = nn::conv2d(ch, *out, *k, Conv2dConfig { padding: k / 2, ..Default::default() }, vb)?; ch = *out; Layer::Conv(c) }
                Spec::Pool(k) => { side /= k; Layer::Pool(*k) }
                Spec::Norm => Layer::Norm(nn::batch_norm(ch, 1e-5, vb)?),
                Spec::Flatten => { flat = true; Layer::Flatten }
                Spec::Dense(n) => { let i = if flat { ch * side * side } else { ch }; flat = false; let l = nn::linear(i, *n, vb)?; ch = *n; Layer::Dense(l) }
                Spec::Act => Layer::Act,
            });
        }
        Ok(Self { layers })
    }
}
impl ModuleT for Net {
    fn forward_t(&self, xs: &Tensor, train: bool) -> Result<Tensor> {
        let mut xs = xs.clone();
        for l in self.layers.iter() { xs = l.forward(&xs, train)?; }
        Ok(xs)
    }
}
fn main() -> Result<()> {
    let vm = VarMap::new();
    let vb = VarBuilder::from_varmap(&vm, DType::F32, &Device::Cpu);
    let specs = vec![Spec::Conv { out: 4, k: 3 }, Spec::Norm, Spec::Act, Spec::Pool(2), Spec::Conv { out: 8, k: 5 }, Spec::Act, Spec::Pool(2), Spec::Flatten, Spec::Dense(16), Spec::Act, Spec::Dense(10)];
    let net = Net::from_specs(&specs, 1, 8, vb)?;
    println!("{}", net.forward_t(&Tensor::zeros((1, 1, 8, 8), DType::F32, &Device::Cpu)?, false)?);
    Ok(())
}

//! held layers.0.bias 4
//! held layers.0.weight 4,1,3,3
//! held layers.1.bias 4
//! held layers.1.running_mean 4
//! held layers.1.running_var 4
//! held layers.1.weight 4
//! held layers.10.bias 10
//! held layers.10.weight 10,16
//! held layers.4.bias 8
//! held layers.4.weight 8,4,5,5
//! held layers.8.bias 16
//! held layers.8.weight 16,32
//! key Net vb layers.{i}.bias _ conditional
//! key Net vb layers.{i}.running_mean _ conditional
//! key Net vb layers.{i}.running_var _ conditional
//! key Net vb layers.{i}.weight ? conditional
