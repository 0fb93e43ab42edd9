use candle_core::{DType, Device, Result};
use candle_nn::{linear, LayerNorm, Linear, VarBuilder, VarMap};

fn other(name: &str) -> String {
    match name.strip_prefix("encoder.") {
        Some(rest) => format!("model.enc.{}", rest.replace("layers.", "fc")),
        None => name.replace("gamma", "weight"),
    }
}
struct Encoder {
    layers: Vec<Linear>,
    norm: LayerNorm,
}
impl Encoder {
    fn new(n: usize, vb: VarBuilder) -> Result<Self> {
        let mut layers = vec![];
        for i in 0..n {
            layers.push(linear(4, 4, vb.pp(format!("layers.{i}")))?);
        }
        let norm = LayerNorm::new(vb.get(4, "n.gamma")?, vb.get(4, "n.beta")?, 1e-5);
        Ok(Self { layers, norm })
    }
}
struct Model {
    encoder: Encoder,
    heads: Vec<Linear>,
}
impl Model {
    fn new(n: usize, vb: VarBuilder) -> Result<Self> {
        let encoder = Encoder::new(n, vb.pp("encoder"))?;
        let mut heads = vec![];
        for name in 'a'..='c' {
            heads.push(linear(4, 2, vb.pp("head").pp(name))?);
        }
        Ok(Self { encoder, heads })
    }
}

fn main() -> Result<()> {
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu).rename_f(other);
    Model::new(2, vb)?;
    Ok(())
}
//! held head.a.bias 2
//! held head.a.weight 2,4
//! held head.b.bias 2
//! held head.b.weight 2,4
//! held head.c.bias 2
//! held head.c.weight 2,4
//! held model.enc.fc0.bias 4
//! held model.enc.fc0.weight 4,4
//! held model.enc.fc1.bias 4
//! held model.enc.fc1.weight 4,4
//! held model.enc.n.beta 4
//! held model.enc.n.gamma 4
//! key Encoder vb layers.{i}.bias 4
//! key Encoder vb layers.{i}.weight 4,4
//! key Encoder vb n.beta 4
//! key Encoder vb n.gamma 4
//! key Model vb encoder.layers.{i}.bias 4
//! key Model vb encoder.layers.{i}.weight 4,4
//! key Model vb encoder.n.beta 4
//! key Model vb encoder.n.gamma 4
//! key Model vb head.a.bias 2
//! key Model vb head.a.weight 2,4
//! key Model vb head.b.bias 2
//! key Model vb head.b.weight 2,4
//! key Model vb head.c.bias 2
//! key Model vb head.c.weight 2,4
