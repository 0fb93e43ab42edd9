use candle_core::{DType, Device};
use candle_nn::*;
type Result<T> = candle_core::Result<T>;

trait Norm: Sized {
    fn make(d: usize, vb: VarBuilder) -> Result<Self>;
    fn name() -> &'static str {
        "norm"
    }
}
impl Norm for LayerNorm {
    fn make(d: usize, vb: VarBuilder) -> Result<Self> {
        layer_norm(d, 1e-5, vb)
    }
}
impl Norm for RmsNorm {
    fn make(d: usize, vb: VarBuilder) -> Result<Self> {
        rms_norm(d, 1e-6, vb)
    }
    fn name() -> &'static str {
        "rms"
    }
}
trait Layer: Sized {
    type Cfg;
    type Norm: Norm;
    const N: usize;
    fn new(c: &Self::Cfg, vb: VarBuilder) -> Result<Self>;
}
struct Cfg {
    d: usize,
    m: usize,
}
struct Ffn {
    up: Linear,
    n: RmsNorm,
}
impl Layer for Ffn {
    type Cfg = Cfg;
    type Norm = RmsNorm;
    const N: usize = 2;
    fn new(c: &Cfg, vb: VarBuilder) -> Result<Self> {
        let name = <<Self as Layer>::Norm as Norm>::name();
        let n = <Self as Layer>::Norm::make(c.d, vb.pp(name))?;
        Ok(Ffn { up: linear(c.d, c.m, vb.pp("up"))?, n })
    }
}
fn make<N: Norm>(d: usize, vb: VarBuilder) -> Result<N> {
    N::make(d, vb)
}
fn stack<L: Layer>(c: &L::Cfg, vb: VarBuilder) -> Result<Vec<L>> {
    (0..L::N).map(|i| L::new(c, vb.pp(i))).collect()
}
struct Residual<N, F> {
    norm: N,
    f: F,
}
impl<N: Norm, F: Layer<Cfg = Cfg>> Residual<N, F> {
    fn new(c: &Cfg, vb: VarBuilder) -> Result<Self> {
        Ok(Self { norm: N::make(c.d, vb.pp("norm"))?, f: F::new(c, vb.pp("f"))? })
    }
}
struct Stack<L: Layer> {
    layers: Vec<L>,
    last: L::Norm,
}
impl<L: Layer> Stack<L> {
    fn load(c: &L::Cfg, d: usize, vb: VarBuilder) -> Result<Self> {
        let last = L::Norm::make(d, vb.pp("last"))?;
        Ok(Stack { layers: stack(c, vb.pp("layers"))?, last })
    }
}
fn take(_: Residual<RmsNorm, Ffn>) {}
fn both(d: usize, vb: VarBuilder) -> Result<(LayerNorm, RmsNorm)> {
    let a = make(d, vb.pp("a"))?;
    let b = make(d, vb.pp("b"))?;
    Ok((a, b))
}

struct Model<const L: usize> {
    n: LayerNorm,
    layers: Vec<Ffn>,
    pushed: Vec<Residual<LayerNorm, Ffn>>,
    one: Residual<RmsNorm, Ffn>,
    blocks: [Residual<LayerNorm, Ffn>; L],
    stack: Stack<Ffn>,
    perhaps: Option<RmsNorm>,
    end: RmsNorm,
}
impl<const L: usize> Model<L> {
    fn new(c: &Cfg, vb: VarBuilder) -> Result<Self> {
        let n = make(c.d, vb.pp("n"))?;
        let layers = stack(c, vb.pp("layers"))?;
        let mut pushed = Vec::new();
        for i in 0..2 {
            pushed.push(Residual::new(c, vb.pp("pushed").pp(i))?);
        }
        let one = Residual::new(c, vb.pp("one"))?;
        let v: Vec<_> =
            (0..L).map(|i| Residual::new(c, vb.pp("blocks").pp(i))).collect::<Result<_>>()?;
        let blocks = v.try_into().map_err(|_| candle_core::Error::Msg("length".into()))?;
        take(Residual::new(c, vb.pp("taken"))?);
        let perhaps = if c.m > 1 { Some(make(c.d, vb.pp("perhaps"))?) } else { None };
        both(c.d, vb.pp("both"))?;
        let stack = Stack::load(c, c.d, vb.pp("stack"))?;
        let end = RmsNorm::make(c.d, vb.pp("end"))?;
        Ok(Model { n, layers, pushed, one, blocks, stack, perhaps, end })
    }
}

fn main() -> Result<()> {
    let map = VarMap::new();
    let vb = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    Model::<2>::new(&Cfg { d: 4, m: 6 }, vb)?;
    Ok(())
}
//! held blocks.0.f.rms.weight 4
//! held blocks.0.f.up.bias 6
//! held blocks.0.f.up.weight 6,4
//! held blocks.0.norm.bias 4
//! held blocks.0.norm.weight 4
//! held blocks.1.f.rms.weight 4
//! held blocks.1.f.up.bias 6
//! held blocks.1.f.up.weight 6,4
//! held blocks.1.norm.bias 4
//! held blocks.1.norm.weight 4
//! held both.a.bias 4
//! held both.a.weight 4
//! held both.b.weight 4
//! held end.weight 4
//! held layers.0.rms.weight 4
//! held layers.0.up.bias 6
//! held layers.0.up.weight 6,4
//! held layers.1.rms.weight 4
//! held layers.1.up.bias 6
//! held layers.1.up.weight 6,4
//! held n.bias 4
//! held n.weight 4
//! held one.f.rms.weight 4
//! held one.f.up.bias 6
//! held one.f.up.weight 6,4
//! held one.norm.weight 4
//! held perhaps.weight 4
//! held pushed.0.f.rms.weight 4
//! held pushed.0.f.up.bias 6
//! held pushed.0.f.up.weight 6,4
//! held pushed.0.norm.bias 4
//! held pushed.0.norm.weight 4
//! held pushed.1.f.rms.weight 4
//! held pushed.1.f.up.bias 6
//! held pushed.1.f.up.weight 6,4
//! held pushed.1.norm.bias 4
//! held pushed.1.norm.weight 4
//! held stack.last.weight 4
//! held stack.layers.0.rms.weight 4
//! held stack.layers.0.up.bias 6
//! held stack.layers.0.up.weight 6,4
//! held stack.layers.1.rms.weight 4
//! held stack.layers.1.up.bias 6
//! held stack.layers.1.up.weight 6,4
//! held taken.f.rms.weight 4
//! held taken.f.up.bias 6
//! held taken.f.up.weight 6,4
//! held taken.norm.weight 4
//! key Ffn vb rms.weight c.d
//! key Ffn vb up.bias c.m
//! key Ffn vb up.weight c.m,c.d
//! key Model vb blocks.{i}.f.rms.weight c.d
//! key Model vb blocks.{i}.f.up.bias c.m
//! key Model vb blocks.{i}.f.up.weight c.m,c.d
//! key Model vb blocks.{i}.norm.bias c.d
//! key Model vb blocks.{i}.norm.weight c.d
//! key Model vb both.a.bias c.d
//! key Model vb both.a.weight c.d
//! key Model vb both.b.weight c.d
//! key Model vb end.weight c.d
//! key Model vb layers.0.rms.weight c.d
//! key Model vb layers.0.up.bias c.m
//! key Model vb layers.0.up.weight c.m,c.d
//! key Model vb layers.1.rms.weight c.d
//! key Model vb layers.1.up.bias c.m
//! key Model vb layers.1.up.weight c.m,c.d
//! key Model vb n.bias c.d
//! key Model vb n.weight c.d
//! key Model vb one.f.rms.weight c.d
//! key Model vb one.f.up.bias c.m
//! key Model vb one.f.up.weight c.m,c.d
//! key Model vb one.norm.weight c.d
//! key Model vb perhaps.weight c.d conditional
//! key Model vb pushed.0.f.rms.weight c.d
//! key Model vb pushed.0.f.up.bias c.m
//! key Model vb pushed.0.f.up.weight c.m,c.d
//! key Model vb pushed.0.norm.bias c.d
//! key Model vb pushed.0.norm.weight c.d
//! key Model vb pushed.1.f.rms.weight c.d
//! key Model vb pushed.1.f.up.bias c.m
//! key Model vb pushed.1.f.up.weight c.m,c.d
//! key Model vb pushed.1.norm.bias c.d
//! key Model vb pushed.1.norm.weight c.d
//! key Model vb stack.last.weight c.d
//! key Model vb stack.layers.{i}.rms.weight c.d
//! key Model vb stack.layers.{i}.up.bias c.m
//! key Model vb stack.layers.{i}.up.weight c.m,c.d
//! key Model vb taken.f.rms.weight c.d
//! key Model vb taken.f.up.bias c.m
//! key Model vb taken.f.up.weight c.m,c.d
//! key Model vb taken.norm.weight c.d
//! key Residual vb f.rms.weight c.d
//! key Residual vb f.up.bias c.m
//! key Residual vb f.up.weight c.m,c.d
//! key Residual vb norm.bias c.d conditional
//! key Residual vb norm.weight c.d
//! key Stack vb last.bias d conditional
//! key Stack vb last.weight d
//! key Stack vb layers.{i}.rms.weight c.d
//! key Stack vb layers.{i}.up.bias c.m
//! key Stack vb layers.{i}.up.weight c.m,c.d
