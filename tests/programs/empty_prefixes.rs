use candle_core::{DType, Device, Result};
use candle_nn::{linear, VarBuilder, VarMap};

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let _a = linear(2, 3, vb.pp(""))?;
    let _b = linear(2, 3, vb.pp("a."))?;
    let _c = linear(2, 3, vb.pp("x..y").pp(""))?;
    let _d = linear(2, 3, vb.pp(".z"))?;
    let _e = linear(2, 3, vb.pp("q").set_prefix(""))?;
    let _f = linear(2, 3, vb.pp("q").set_prefix("s").pp("t"))?;
    let _g = linear(2, 3, vb.pp("q").root().pp("r"))?;
    let name = String::new();
    let _h = vb.pp("h").get((2, 2), &name)?;
    let _i = vb.get(5, "raw")?;
    println!("{:?}", vb.pp("").pp("k").prefix());
    Ok(())
}

//! held .bias 3
//! held .weight 3,2
//! held .z.bias 3
//! held .z.weight 3,2
//! held a..bias 3
//! held a..weight 3,2
//! held h. 2,2
//! held r.bias 3
//! held r.weight 3,2
//! held raw 5
//! held s.t.bias 3
//! held s.t.weight 3,2
//! held x..y..bias 3
//! held x..y..weight 3,2
//! key main vb .bias 3
//! key main vb .weight 3,2
//! key main vb .z.bias 3
//! key main vb .z.weight 3,2
//! key main vb a..bias 3
//! key main vb a..weight 3,2
//! key main vb h. 2,2
//! key main vb r.bias 3
//! key main vb r.weight 3,2
//! key main vb raw 5
//! key main vb s.t.bias 3
//! key main vb s.t.weight 3,2
//! key main vb x..y..bias 3
//! key main vb x..y..weight 3,2
