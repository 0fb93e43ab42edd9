use candle_core::{DType, Device, Result};
use candle_nn::{linear, Linear, VarBuilder, VarMap};
use std::collections::{BTreeMap, HashMap, VecDeque, BTreeSet};


fn build_with<F>(vb: &VarBuilder, n: usize, f: F) -> Result<Vec<Linear>>
where F: Fn(VarBuilder, usize) -> Result<Linear> {
    (0..n).map(|i| f(vb.pp(i), i + 1)).collect()
}
fn apply(f: fn(usize, usize, VarBuilder) -> Result<Linear>, vb: VarBuilder) -> Result<Linear> { f(3, 5, vb) }
fn boxed(f: Box<dyn Fn(VarBuilder<'_>) -> Result<Linear>>, vb: VarBuilder<'_>) -> Result<Linear> { f(vb.pp("boxed")) }

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let _a = build_with(&vb.pp("a"), 2, |vb, n| linear(n, n, vb.pp("x")))?;
    let _b = apply(linear, vb.pp("b"))?;
    let _c = apply(candle_nn::linear_no_bias, vb.pp("c"))?;
    let _d = boxed(Box::new(|vb| linear(1, 2, vb)), vb.pp("d"))?;
    let make = |name: &str, n: usize| linear(n, n, vb.pp(name));
    let _e = make("e", 3)?;
    let _f = ["f", "g"].into_iter().map(|n| make(n, 2)).collect::<Result<Vec<_>>>()?;
    let mut sizes = BTreeMap::new();
    sizes.insert("zeta", 3usize);
    sizes.insert("alpha", 5);
    for (i, (name, n)) in sizes.iter().enumerate() { let _l = linear(*n, 1, vb.pp(format!("h{i}.{name}")))?; }
    let table: HashMap<&str, usize> = HashMap::from([("one", 1), ("two", 2)]);
    for (name, n) in &table { let _l = linear(*n, 1, vb.pp("i").pp(name))?; }
    let _j = linear(table["two"], sizes["zeta"], vb.pp("j"))?;
    let mut queue: VecDeque<usize> = VecDeque::new();
    queue.push_back(2);
    queue.push_front(7);
    while let Some(n) = queue.pop_front() { let _l = linear(n, 1, vb.pp(format!("k{n}")))?; }
    let set: BTreeSet<usize> = [9, 3, 6, 3].into_iter().collect();
    for (i, n) in set.into_iter().enumerate() { let _l = linear(n, 1, vb.pp("l").pp(i))?; }
    let mut v = vec![3usize, 1, 2];
    v.sort();
    v.reverse();
    v.retain(|n| *n != 1);
    v.insert(0, 8);
    v.extend([4, 4]);
    v.dedup();
    for (i, n) in v.iter().enumerate() { let _l = linear(*n, 1, vb.pp("m").pp(i))?; }
    let t = (3usize, "tup");
    let (n, name) = t;
    let _n = linear(n, t.0, vb.pp(name))?;
    Ok(())
}

//! key main vb a.0.x.bias 1
//! key main vb a.0.x.weight 1,1
//! key main vb a.1.x.bias 2
//! key main vb a.1.x.weight 2,2
//! key main vb b.bias 5
//! key main vb b.weight 5,3
//! key main vb c.weight 5,3
//! key main vb d.boxed.bias 2
//! key main vb d.boxed.weight 2,1
//! key main vb e.bias 3
//! key main vb e.weight 3,3
//! key main vb f.bias 2
//! key main vb f.weight 2,2
//! key main vb g.bias 2
//! key main vb g.weight 2,2
//! key main vb h0.alpha.bias 1
//! key main vb h0.alpha.weight 1,5
//! key main vb h1.zeta.bias 1
//! key main vb h1.zeta.weight 1,3
//! key main vb i.one.bias 1
//! key main vb i.one.weight 1,1
//! key main vb i.two.bias 1
//! key main vb i.two.weight 1,2
//! key main vb j.bias 3
//! key main vb j.weight 3,2
//! key main vb k2.bias 1
//! key main vb k2.weight 1,2
//! key main vb k7.bias 1
//! key main vb k7.weight 1,7
//! key main vb l.0.bias 1
//! key main vb l.0.weight 1,3
//! key main vb l.1.bias 1
//! key main vb l.1.weight 1,6
//! key main vb l.2.bias 1
//! key main vb l.2.weight 1,9
//! key main vb m.0.bias 1
//! key main vb m.0.weight 1,8
//! key main vb m.1.bias 1
//! key main vb m.1.weight 1,3
//! key main vb m.2.bias 1
//! key main vb m.2.weight 1,2
//! key main vb m.3.bias 1
//! key main vb m.3.weight 1,4
//! key main vb tup.bias 3
//! key main vb tup.weight 3,3
