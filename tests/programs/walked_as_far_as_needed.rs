use candle_core::{DType, Device, Result};
use candle_nn::{linear, Linear, VarBuilder, VarMap};

fn chain<'a>(vb: VarBuilder<'a>, n: usize) -> impl Iterator<Item = Result<Linear>> + 'a {
    (0..n).map(move |i| linear(2, 2, vb.pp(i)))
}

fn add(layers: &mut Vec<Result<Linear>>, some: impl Iterator<Item = Result<Linear>>) {
    layers.extend(some.skip(1));
}

fn main() -> Result<()> {
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    let _nobody = (0..3).map(|i| linear(2, 2, vb.pp("a").pp(i)));
    let _nobody = chain(vb.pp("b"), 4);
    let mut some = (0..6).map(|i| linear(2, 2, vb.pp("c").pp(i)));
    some.next().unwrap()?;
    some.nth(1).unwrap()?;
    let two = (0..9).map(|i| linear(2, 2, vb.pp("d").pp(i))).take(2);
    two.collect::<Result<Vec<_>>>()?;
    let mut counted = (0..9).map(|i| linear(2, 2, vb.pp("e").pp(i))).enumerate();
    counted.next();
    let (number, layer) = counted.next().unwrap();
    layer?;
    linear(number + 1, 2, vb.pp("f"))?;
    let [_a, _b] = [1, 2].map(|i| linear(2, 2, vb.pp("g").pp(i)));
    let pairs = (0..2).map(|i| (0..2).map(move |j| (i, j))).flatten();
    for (i, j) in pairs {
        linear(2, 2, vb.pp("h").pp(i).pp(j))?;
    }
    let names = ["p", "q"].iter().zip((0..5).map(|i| linear(2, 2, vb.pp("i").pp(i))));
    let _ = names.count();
    let _ = (0..5).map(|i| linear(2, 2, vb.pp("j").pp(i))).zip(["p", "q"]).last();
    (0..2).for_each(|i| drop(linear(2, 2, vb.pp("k").pp(i)).unwrap()));
    for layer in (0..2).map(|i| linear(2, 2, vb.pp("l").pp(i))) {
        layer?;
    }
    let mut seen = (0..4).map(|i| linear(2, 2, vb.pp("m").pp(i))).peekable();
    seen.peek();
    seen.next();
    seen.next();
    let mut words = ["x", "y"].into_iter().map(|n| linear(2, 2, vb.pp("n").pp(n)));
    while let Some(layer) = words.next() {
        layer?;
    }
    let mut layers = vec![];
    add(&mut layers, chain(vb.pp("o"), 3));
    let behind = std::iter::once(linear(2, 2, vb.pp("p"))).chain(chain(vb.pp("q"), 3)).take(2);
    layers.extend(behind);
    let _ = (0..3).map(|i| linear(2, 2, vb.pp("r").pp(i))).len();
    let _ = (0..3).map(|i| linear(2, 2, vb.pp("s").pp(i))).find(|layer| layer.is_ok());
    let _ = (0..3).map(|i| linear(2, 2, vb.pp("t").pp(i))).filter(|layer| layer.is_err()).next();
    let maybe = (layers.len() > 3).then(|| chain(vb.pp("u"), 1));
    for layer in maybe.into_iter().flatten() {
        layer?;
    }
    Ok(())
}
//! key main vb c.0.bias 2
//! key main vb c.0.weight 2,2
//! key main vb c.1.bias 2
//! key main vb c.1.weight 2,2
//! key main vb c.2.bias 2
//! key main vb c.2.weight 2,2
//! key main vb d.0.bias 2
//! key main vb d.0.weight 2,2
//! key main vb d.1.bias 2
//! key main vb d.1.weight 2,2
//! key main vb e.0.bias 2
//! key main vb e.0.weight 2,2
//! key main vb e.1.bias 2
//! key main vb e.1.weight 2,2
//! key main vb f.bias 2
//! key main vb f.weight 2,2
//! key main vb g.1.bias 2
//! key main vb g.1.weight 2,2
//! key main vb g.2.bias 2
//! key main vb g.2.weight 2,2
//! key main vb h.0.0.bias 2
//! key main vb h.0.0.weight 2,2
//! key main vb h.0.1.bias 2
//! key main vb h.0.1.weight 2,2
//! key main vb h.1.0.bias 2
//! key main vb h.1.0.weight 2,2
//! key main vb h.1.1.bias 2
//! key main vb h.1.1.weight 2,2
//! key main vb i.0.bias 2
//! key main vb i.0.weight 2,2
//! key main vb i.1.bias 2
//! key main vb i.1.weight 2,2
//! key main vb j.0.bias 2
//! key main vb j.0.weight 2,2
//! key main vb j.1.bias 2
//! key main vb j.1.weight 2,2
//! key main vb k.0.bias 2
//! key main vb k.0.weight 2,2
//! key main vb k.1.bias 2
//! key main vb k.1.weight 2,2
//! key main vb l.0.bias 2
//! key main vb l.0.weight 2,2
//! key main vb l.1.bias 2
//! key main vb l.1.weight 2,2
//! key main vb m.0.bias 2
//! key main vb m.0.weight 2,2
//! key main vb m.1.bias 2
//! key main vb m.1.weight 2,2
//! key main vb n.x.bias 2
//! key main vb n.x.weight 2,2
//! key main vb n.y.bias 2
//! key main vb n.y.weight 2,2
//! key main vb o.0.bias 2
//! key main vb o.0.weight 2,2
//! key main vb o.1.bias 2
//! key main vb o.1.weight 2,2
//! key main vb o.2.bias 2
//! key main vb o.2.weight 2,2
//! key main vb p.bias 2
//! key main vb p.weight 2,2
//! key main vb q.0.bias 2
//! key main vb q.0.weight 2,2
//! key main vb s.0.bias 2
//! key main vb s.0.weight 2,2
//! key main vb t.0.bias 2
//! key main vb t.0.weight 2,2
//! key main vb u.0.bias 2
//! key main vb u.0.weight 2,2
//! key main vb s.1.bias 2 conditional
//! key main vb s.1.weight 2,2 conditional
//! key main vb s.2.bias 2 conditional
//! key main vb s.2.weight 2,2 conditional
//! key main vb t.1.bias 2 conditional
//! key main vb t.1.weight 2,2 conditional
//! key main vb t.2.bias 2 conditional
//! key main vb t.2.weight 2,2 conditional
