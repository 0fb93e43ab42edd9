use candle_core::{DType, Device, Result};
use candle_nn::{linear, Module, VarBuilder, VarMap};
use candle_nn::var_builder::Renamer;
use std::borrow::Cow;
use std::collections::HashMap;

struct Names(HashMap<String, String>);
impl Renamer for Names {
    fn rename(&self, v: &str) -> Cow<'_, str> {
        match self.0.get(v) {
            Some(other) => Cow::Borrowed(other.as_str()),
            None => Cow::Owned(v.to_string()),
        }
    }
}

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let r1 = vb.clone().rename_f(|name: &str| name.replace("fc", "dense"));
    let _a = linear(2, 3, r1.pp("fc1"))?;
    let r2 = vb.clone().rename_f(|name: &str| format!("model.{name}"));
    let _b = linear(2, 3, r2.pp("b"))?;
    let r3 = vb.clone().rename_f(|name: &str| name.strip_prefix("model.").unwrap_or(name).to_string());
    let _c = linear(2, 3, r3.pp("model").pp("c"))?;
    let r5 = vb.pp("in").rename_f(|name: &str| name.replace("x", "y"));
    let _e = linear(2, 3, r5.pp("x"))?;
    let r6 = vb.clone().rename_f(|n| if n == "w.bias" { "w.b".to_string() } else { n.to_string() });
    let _f = linear(2, 3, r6.pp("w"))?;
    let r7 = r6.rename_f(|n| match n { "v.bias" => "w.bias".into(), other => other.replace('v', "vv") });
    let _g = linear(2, 3, r7.pp("v"))?;
    let mut names = HashMap::new();
    names.insert("d.weight".to_string(), "dee.kernel".to_string());
    let r4 = vb.clone().rename(Names(names));
    let _h = linear(2, 3, r4.pp("d"))?;
    let r8 = vb.clone().rename_f(|s: &str| s.split('.').map(|p| if p == "q" { "query" } else { p }).collect::<Vec<_>>().join("."));
    let _h = linear(2, 3, r8.pp("q"))?;
    for i in 0..2 {
        let _l = linear(2, 2, r1.pp(format!("fc_{i}")))?;
    }
    Ok(())
}

//! key main vb c.bias 3
//! key main vb c.weight 3,2
//! key main vb d.bias 3
//! key main vb dee.kernel 3,2
//! key main vb dense1.bias 3
//! key main vb dense1.weight 3,2
//! key main vb dense_0.bias 2
//! key main vb dense_0.weight 2,2
//! key main vb dense_1.bias 2
//! key main vb dense_1.weight 2,2
//! key main vb in.in.y.bias 3
//! key main vb in.in.y.weight 3,2
//! key main vb model.b.bias 3
//! key main vb model.b.weight 3,2
//! key main vb query.bias 3
//! key main vb query.weight 3,2
//! key main vb vv.weight 3,2
//! key main vb w.b 3
//! key main vb w.weight 3,2
