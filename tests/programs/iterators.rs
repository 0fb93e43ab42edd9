use candle_core::{DType, Device, Result};
use candle_nn::{linear, Linear, VarBuilder, VarMap};

fn make(vb: VarBuilder<'_>) -> Result<Linear> { linear(3, 3, vb) }
fn named(i: usize, vb: &VarBuilder) -> Result<Linear> { linear(i, i + 1, vb.pp(format!("n{i}"))) }

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let vb = &vb;
    let _a: Vec<Linear> = (0..2).map(|i| make(vb.pp(format!("a.{i}")))).collect::<Result<_>>()?;
    let _b: Result<Vec<_>> = ["x", "y"].iter().map(|n| vb.pp("b").pp(n)).map(make).collect();
    let _d: Vec<_> = (0..6).skip(4).map(|i| linear(1, 1, vb.pp(format!("d{i}")))).collect::<Result<Vec<_>>>()?;
    let _e: Vec<_> = (0..6).step_by(3).rev().map(|i| linear(1, 1, vb.pp(format!("e{i}")))).collect::<Result<Vec<_>>>()?;
    let dims = [4usize, 8, 16, 2];
    let _g = dims.windows(2).enumerate().map(|(i, w)| linear(w[0], w[1], vb.pp("g").pp(i))).collect::<Result<Vec<_>>>()?;
    let _h = dims.iter().zip(dims.iter().skip(1)).map(|(a, b)| linear(*a, *b, vb.pp(format!("h{a}_{b}")))).collect::<Result<Vec<_>>>()?;
    let _i = dims.chunks(2).enumerate().map(|(i, c)| linear(c[0], c[1], vb.pp("i").pp(i))).collect::<Result<Vec<_>>>()?;
    let _j = (0..2).chain(5..6).map(|i| named(i + 1, vb)).collect::<Result<Vec<_>>>()?;
    let _k = (0..6usize).filter(|i| i % 3 == 1).map(|i| linear(i, i, vb.pp("k").pp(i))).collect::<Result<Vec<_>>>()?;
    let _l = (0..2).flat_map(|i| (0..2).map(move |j| (i, j))).map(|(i, j)| linear(1, 2, vb.pp(format!("l{i}{j}")))).collect::<Result<Vec<_>>>()?;
    let _m = (0..3).map(|i| Ok((i, linear(1, 3, vb.pp("m").pp(i))?))).collect::<Result<Vec<_>>>()?;
    let mut n = Vec::with_capacity(2);
    for (i, (&a, name)) in dims.iter().zip(["p", "q", "r"]).enumerate() { n.push(linear(a, i + 1, vb.pp("n").pp(name))?); }
    let _o = std::iter::once(3).chain([5, 7]).map(|d| linear(d, 1, vb.pp(format!("o{d}")))).collect::<Result<Vec<_>>>()?;
    let _p = (1..=3).fold(Ok(Vec::new()), |acc: Result<Vec<Linear>>, i| { let mut acc = acc?; acc.push(linear(i, i, vb.pp("p").pp(i))?); Ok(acc) })?;
    let _q = dims.iter().take_while(|d| **d < 10).map(|&d| linear(d, 1, vb.pp(format!("q{d}")))).collect::<Result<Vec<_>>>()?;
    let _r = dims.iter().position(|&d| d == 16).map(|i| linear(i, 1, vb.pp("r"))).transpose()?;
    let _s = (0..4).last().map(|i| linear(i, 1, vb.pp("s"))).unwrap()?;
    let _t = dims.first().zip(dims.last()).map(|(a, b)| linear(*a, *b, vb.pp("t"))).unwrap()?;
    let total: usize = dims.iter().sum();
    let big = dims.iter().copied().max().unwrap();
    let _u = linear(total, big, vb.pp("u"))?;
    let prod = dims.iter().product::<usize>();
    let small = *dims.iter().min().unwrap();
    let _v = linear(prod, small, vb.pp("v"))?;
    let mut w = Vec::new();
    while w.len() < 3 { w.push(linear(2, 2, vb.pp("w").pp(w.len()))?); }
    Ok(())
}

//! key main vb a.0.bias 3
//! key main vb a.0.weight 3,3
//! key main vb a.1.bias 3
//! key main vb a.1.weight 3,3
//! key main vb b.x.bias 3
//! key main vb b.x.weight 3,3
//! key main vb b.y.bias 3
//! key main vb b.y.weight 3,3
//! key main vb d4.bias 1
//! key main vb d4.weight 1,1
//! key main vb d5.bias 1
//! key main vb d5.weight 1,1
//! key main vb e0.bias 1
//! key main vb e0.weight 1,1
//! key main vb e3.bias 1
//! key main vb e3.weight 1,1
//! key main vb g.0.bias 8
//! key main vb g.0.weight 8,4
//! key main vb g.1.bias 16
//! key main vb g.1.weight 16,8
//! key main vb g.2.bias 2
//! key main vb g.2.weight 2,16
//! key main vb h16_2.bias 2
//! key main vb h16_2.weight 2,16
//! key main vb h4_8.bias 8
//! key main vb h4_8.weight 8,4
//! key main vb h8_16.bias 16
//! key main vb h8_16.weight 16,8
//! key main vb i.0.bias 8
//! key main vb i.0.weight 8,4
//! key main vb i.1.bias 2
//! key main vb i.1.weight 2,16
//! key main vb k.1.bias 1
//! key main vb k.1.weight 1,1
//! key main vb k.4.bias 4
//! key main vb k.4.weight 4,4
//! key main vb l00.bias 2
//! key main vb l00.weight 2,1
//! key main vb l01.bias 2
//! key main vb l01.weight 2,1
//! key main vb l10.bias 2
//! key main vb l10.weight 2,1
//! key main vb l11.bias 2
//! key main vb l11.weight 2,1
//! key main vb m.0.bias 3
//! key main vb m.0.weight 3,1
//! key main vb m.1.bias 3
//! key main vb m.1.weight 3,1
//! key main vb m.2.bias 3
//! key main vb m.2.weight 3,1
//! key main vb n.p.bias 1
//! key main vb n.p.weight 1,4
//! key main vb n.q.bias 2
//! key main vb n.q.weight 2,8
//! key main vb n.r.bias 3
//! key main vb n.r.weight 3,16
//! key main vb n1.bias 2
//! key main vb n1.weight 2,1
//! key main vb n2.bias 3
//! key main vb n2.weight 3,2
//! key main vb n6.bias 7
//! key main vb n6.weight 7,6
//! key main vb o3.bias 1
//! key main vb o3.weight 1,3
//! key main vb o5.bias 1
//! key main vb o5.weight 1,5
//! key main vb o7.bias 1
//! key main vb o7.weight 1,7
//! key main vb p.1.bias 1
//! key main vb p.1.weight 1,1
//! key main vb p.2.bias 2
//! key main vb p.2.weight 2,2
//! key main vb p.3.bias 3
//! key main vb p.3.weight 3,3
//! key main vb q4.bias 1
//! key main vb q4.weight 1,4
//! key main vb q8.bias 1
//! key main vb q8.weight 1,8
//! key main vb r.bias 1
//! key main vb r.weight 1,2
//! key main vb s.bias 1
//! key main vb s.weight 1,3
//! key main vb t.bias 2
//! key main vb t.weight 2,4
//! key main vb u.bias 16
//! key main vb u.weight 16,30
//! key main vb v.bias 2
//! key main vb v.weight 2,1024
//! key main vb w.0.bias 2
//! key main vb w.0.weight 2,2
//! key main vb w.1.bias 2
//! key main vb w.1.weight 2,2
//! key main vb w.2.bias 2
//! key main vb w.2.weight 2,2
