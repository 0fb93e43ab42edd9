/*
 * The interpreter: what functions of small crates ask their builders for, through every form of
 * Rust.
 */
#include "asked.h"

static void a_call_of_the_library_is_a_parameter(void **state)
{
    (void)state;
    asks("pub fn make(vb: VarBuilder) -> Result<Linear> { linear(2, 3, vb.pp(\"a\")) }\n",
         "a.weight [3, 2]\na.bias [3]\n");
}

static void texts_become_prefixes(void **state)
{
    (void)state;
    asks("const NAME: &str = \"named\";\n"
         "fn sub(name: &str, vb: &VarBuilder) -> VarBuilder { vb.pp(name) }\n"
         "pub fn make(n: usize, vb: VarBuilder) -> Result<()> {\n"
         "  let t = format!(\"x{}\", 4);\n  let k = 7;\n"
         "  linear_no_bias(1, 1, vb.pp(&t))?;\n"
         "  linear_no_bias(1, 1, vb.pp(format!(\"y.{k}\")))?;\n"
         "  linear_no_bias(1, 1, vb.pp(NAME))?;\n"
         "  linear_no_bias(1, 1, vb.pp(\"a\".to_string() + \".b\"))?;\n"
         "  linear_no_bias(1, 1, sub(\"fn\", &vb).pp(1))?;\n"
         "  let vb = vb.pp(\"shadow\");\n  linear_no_bias(n, n + 1, vb.pp(n))?;\n  Ok(())\n}\n",
         "x4.weight [1, 1]\ny.7.weight [1, 1]\nnamed.weight [1, 1]\na.b.weight [1, 1]\n"
         "fn.1.weight [1, 1]\nshadow.{n}.weight [n + 1, n]\n");
}

static void what_both_ways_ask_for_is_certain(void **state)
{
    (void)state;
    asks("pub struct Cfg { pub deep: bool, pub dim: usize }\n"
         "pub fn make(cfg: &Cfg, vb: VarBuilder) -> Result<()> {\n"
         "  if cfg.deep {\n    linear_no_bias(cfg.dim, 1, vb.pp(\"a\"))?;\n"
         "    linear_no_bias(1, 1, vb.pp(\"b\"))?;\n  } else {\n"
         "    linear_no_bias(cfg.dim, 1, vb.pp(\"a\"))?;\n  }\n"
         "  linear_no_bias(1, 1, vb.pp(\"c\"))?;\n  Ok(())\n}\n",
         "a.weight [1, cfg.dim]\nb.weight [1, 1] ?\nc.weight [1, 1]\n");
}

static void a_known_condition_takes_one_way(void **state)
{
    (void)state;
    asks("#[derive(PartialEq)] enum Kind { A, B(usize) }\n"
         "fn part(kind: Kind, deep: Option<usize>, vb: VarBuilder) -> Result<()> {\n"
         "  match kind { Kind::A => { linear_no_bias(1, 1, vb.pp(\"a\"))?; }\n"
         "    Kind::B(n) if n > 5 => { linear_no_bias(n, 1, vb.pp(\"big\"))?; }\n"
         "    Kind::B(n) => { linear_no_bias(n, 1, vb.pp(\"b\"))?; } }\n"
         "  if let Some(d) = deep { linear_no_bias(d, 1, vb.pp(\"deep\"))?; }\n"
         "  if 3 < 2 || kind == Kind::A { linear_no_bias(1, 1, vb.pp(\"never\"))?; }\n"
         "  Ok(())\n}\n"
         "pub fn make(vb: VarBuilder) -> Result<()> { part(Kind::B(4), Some(2), vb) }\n",
         "b.weight [1, 4]\ndeep.weight [1, 2]\n");
}

static void ways_that_fail_are_no_alternatives(void **state)
{
    (void)state;
    asks("pub fn make(kind: &str, n: usize, vb: VarBuilder) -> Result<Linear> {\n"
         "  if n == 0 { candle::bail!(\"no {n}\") }\n"
         "  let Some(x) = n.checked_sub(1) else { return Err(candle::Error::Msg(\"\".into())) };\n"
         "  match kind { \"a\" => linear_no_bias(1, 1, vb.pp(\"a\")),\n"
         "    _ => Err(candle::Error::Msg(format!(\"{x}\"))) }\n}\n",
         "a.weight [1, 1]\n");
}

static void an_early_return_makes_the_rest_conditional(void **state)
{
    (void)state;
    asks("pub fn make(tie: bool, vb: VarBuilder) -> Result<usize> {\n"
         "  linear_no_bias(1, 1, vb.pp(\"first\"))?;\n"
         "  if tie { linear_no_bias(1, 1, vb.pp(\"both\"))?; return Ok(1) }\n"
         "  linear_no_bias(1, 1, vb.pp(\"rest\"))?;\n"
         "  linear_no_bias(1, 1, vb.pp(\"both\"))?;\n  Ok(2)\n}\n",
         "first.weight [1, 1]\nboth.weight [1, 1]\nrest.weight [1, 1] ?\n");
}

static void an_early_return_inside_of_a_way(void **state)
{
    (void)state;
    asks("pub fn make(a: bool, b: bool, vb: VarBuilder) -> Result<usize> {\n"
         "  if a {\n    linear_no_bias(1, 1, vb.pp(\"in\"))?;\n"
         "    if b { linear_no_bias(1, 1, vb.pp(\"out\"))?; return Ok(1) }\n"
         "    linear_no_bias(1, 1, vb.pp(\"more\"))?;\n  }\n"
         "  linear_no_bias(1, 1, vb.pp(\"rest\"))?;\n  Ok(2)\n}\n",
         "out.weight [1, 1] ?\nin.weight [1, 1] ?\nmore.weight [1, 1] ?\nrest.weight [1, 1] ?\n");
}

static void short_loops_are_unrolled_and_long_ones_are_families(void **state)
{
    (void)state;
    asks("pub fn make(n: usize, dims: &[usize], vb: VarBuilder) -> Result<()> {\n"
         "  for i in 0..2 { linear_no_bias(i, 1, vb.pp(i))?; }\n"
         "  for name in [\"q\", \"k\"] { linear_no_bias(1, 1, vb.pp(name))?; }\n"
         "  for layer in 0..n {\n    let vb = vb.pp(format!(\"layers.{layer}\"));\n"
         "    for _ in 0..n { linear_no_bias(1, n, vb.pp(\"x\"))?; }\n  }\n"
         "  for (i, d) in dims.iter().enumerate() { linear_no_bias(*d, 1, vb.pp(i + 1))?; }\n"
         "  Ok(())\n}\n",
         "0.weight [1, 0]\n1.weight [1, 1]\nq.weight [1, 1]\nk.weight [1, 1]\n"
         "layers.{layer}.x.weight [n, 1]\n{i + 1}.weight [1, dims[i]]\n");
}

static void loops_carry_variables(void **state)
{
    (void)state;
    asks("pub fn make(n: usize, vb: VarBuilder) -> Result<Vec<Linear>> {\n"
         "  let mut i = 0;\n  let mut dim = 8;\n  let mut all = vec![];\n"
         "  while i < n {\n    all.push(linear_no_bias(dim, 4, vb.pp(i))?);\n    dim = 4;\n"
         "    i += 1;\n  }\n"
         "  for _ in 0..3 { linear_no_bias(dim, 1, vb.pp(all.len()))?; dim *= 2; }\n"
         "  let mut k = 0;\n"
         "  loop { if k == 2 { break } linear_no_bias(1, 1, vb.pp(format!(\"l{k}\")))?; k += 1; }\n"
         "  Ok(all)\n}\n",
         "{i}.weight [4, if i == 0 { 8 } else { 4 }]\n"
         "{n}.weight [1, ?]\n{n}.weight [1, ?]\n{n}.weight [1, ?]\n"
         "l0.weight [1, 1]\nl1.weight [1, 1]\n");
}

static void closures_see_and_change_variables(void **state)
{
    (void)state;
    asks("fn twice<F: FnMut(usize, VarBuilder) -> Result<Linear>>(mut f: F, vb: &VarBuilder) "
         "-> Result<()> { f(1, vb.pp(\"a\"))?; f(2, vb.pp(\"b\"))?; Ok(()) }\n"
         "pub fn make(n: usize, vb: VarBuilder) -> Result<()> {\n"
         "  let mut count = 10;\n"
         "  twice(|k, vb| { count += k; linear_no_bias(count, k, vb) }, &vb)?;\n"
         "  let layers = (0..n).map(|i| linear_no_bias(1, 1, "
         "vb.pp(i))).collect::<Result<Vec<_>>>()?;\n"
         "  let f = |s: &str| vb.pp(s).pp(\"x\");\n  linear_no_bias(layers.len(), 1, f(\"q\"))?;\n"
         "  Ok(())\n}\n",
         "a.weight [1, 11]\nb.weight [2, 13]\n{i}.weight [1, 1]\nq.x.weight [1, n]\n");
}

static void places_are_written_through_references(void **state)
{
    (void)state;
    asks("fn add(all: &mut Vec<usize>, n: usize) { all.push(n); }\n"
         "fn outer(all: &mut Vec<usize>) { add(all, 5); all.push(6) }\n"
         "struct Maker { at: usize, sub: Sub }\nstruct Sub { names: Vec<String> }\n"
         "impl Maker {\n  fn next(&mut self, vb: &VarBuilder) -> Result<()> {\n"
         "    self.at += 1; self.sub.names.push(format!(\"n{}\", self.at));\n"
         "    linear_no_bias(self.sub.names.len(), self.at, vb.pp(self.at))?; Ok(()) }\n}\n"
         "pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let mut all = vec![4];\n  outer(&mut all);\n"
         "  for n in &all { linear_no_bias(*n, 1, vb.pp(\"v\").pp(n))?; }\n"
         "  let mut m = Maker { at: 0, sub: Sub { names: Vec::new() } };\n"
         "  m.next(&vb)?;\n  m.next(&vb)?;\n  m.sub.names[0] = \"z\".to_string();\n"
         "  linear_no_bias(1, 1, vb.pp(&m.sub.names[0]))?;\n"
         "  linear_no_bias(1, 1, vb.pp(&m.sub.names[1]))?;\n  Ok(())\n}\n",
         "v.4.weight [1, 4]\nv.5.weight [1, 5]\nv.6.weight [1, 6]\n"
         "1.weight [1, 1]\n2.weight [2, 2]\nz.weight [1, 1]\nn2.weight [1, 1]\n");
}

static void structs_traits_and_generics_are_followed(void **state)
{
    (void)state;
    asks("trait Load: Sized { const N: usize; fn load(vb: VarBuilder) -> Result<Self>; }\n"
         "struct A(Linear);\nstruct B { w: Linear }\n"
         "impl Load for A { const N: usize = 3; fn load(vb: VarBuilder) -> Result<Self> "
         "{ Ok(Self(linear_no_bias(Self::N, 1, vb.pp(\"a\"))?)) } }\n"
         "impl Load for B { const N: usize = 4; fn load(vb: VarBuilder) -> Result<Self> "
         "{ let w = linear_no_bias(Self::N, 1, vb.pp(\"b\"))?; Ok(Self { w }) } }\n"
         "struct Pair<M> { one: M, n: usize }\n"
         "impl<M: Load> Pair<M> { fn new(vb: VarBuilder) -> Result<Self> "
         "{ Ok(Pair { one: M::load(vb.pp(\"one\"))?, n: M::N }) } }\n"
         "fn any<T: Load>(vb: VarBuilder) -> Result<T> { T::load(vb) }\n"
         "pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let p = Pair::<A>::new(vb.pp(\"p\"))?;\n"
         "  let q: Pair<B> = Pair::new(vb.pp(\"q\"))?;\n"
         "  any::<B>(vb.pp(\"r\"))?;\n  let s: A = any(vb.pp(\"s\"))?;\n"
         "  <B as Load>::load(vb.pp(\"t\"))?;\n"
         "  linear_no_bias(p.n, q.n, vb.pp(\"u\"))?;\n  Ok(())\n}\n",
         "p.one.a.weight [1, 3]\nq.one.b.weight [1, 4]\nr.b.weight [1, 4]\n"
         "s.a.weight [1, 3]\nt.b.weight [1, 4]\nu.weight [4, 3]\n");
}

static void trait_objects_are_any_of_their_impls(void **state)
{
    (void)state;
    asks("trait Make { fn build(&self, vb: VarBuilder) -> Result<Linear>; }\n"
         "struct A;\nstruct B;\n"
         "impl Make for A { fn build(&self, vb: VarBuilder) -> Result<Linear> "
         "{ linear_no_bias(1, 1, vb.pp(\"a\")) } }\n"
         "impl Make for B { fn build(&self, vb: VarBuilder) -> Result<Linear> "
         "{ linear_no_bias(1, 1, vb.pp(\"b\")) } }\n"
         "pub fn make(m: &dyn Make, vb: VarBuilder) -> Result<()> {\n  m.build(vb.pp(\"x\"))?;\n"
         "  let own: Box<dyn Make> = Box::new(A);\n  own.build(vb.pp(\"y\"))?;\n  Ok(())\n}\n",
         "x.a.weight [1, 1] ?\nx.b.weight [1, 1] ?\ny.a.weight [1, 1]\n");
}

static void defaults_fill_what_is_not_written(void **state)
{
    (void)state;
    asks("#[derive(Default)] struct Inner { n: usize, on: bool, name: Option<String> }\n"
         "struct Cfg { dim: usize, kind: Kind, inner: Inner }\n"
         "#[derive(Default, PartialEq)] enum Kind { A, #[default] B }\n"
         "impl Default for Cfg { fn default() -> Self "
         "{ Self { dim: 9, kind: Kind::default(), inner: Default::default() } } }\n"
         "pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let cfg = Cfg { inner: Inner { n: 2, ..Default::default() }, ..Default::default() };\n"
         "  linear_b(cfg.dim, cfg.inner.n, cfg.inner.on, vb.pp(\"a\"))?;\n"
         "  if cfg.kind == Kind::B { linear_no_bias(1, 1, vb.pp(\"b\"))?; }\n"
         "  if cfg.inner.name.is_some() { linear_no_bias(1, 1, vb.pp(\"c\"))?; }\n"
         "  let conv = Conv2dConfig { padding: 1, groups: 2, ..Default::default() };\n"
         "  conv2d(4, 6, 3, conv, vb.pp(\"d\"))?;\n  Ok(())\n}\n",
         "a.weight [2, 9]\nb.weight [1, 1]\nd.weight [6, 2, 3, 3]\nd.bias [6]\n");
}

static void options_are_choices(void **state)
{
    (void)state;
    asks("pub struct Cfg { pub extra: Option<usize>, pub n: usize }\n"
         "pub fn make(cfg: &Cfg, also: Option<VarBuilder>, vb: VarBuilder) -> Result<()> {\n"
         "  let x = cfg.extra.map(|d| linear_no_bias(d, 1, vb.pp(\"a\"))).transpose()?;\n"
         "  if let Some(d) = cfg.extra { linear_no_bias(d, 2, vb.pp(\"b\"))?; }\n"
         "  let n = cfg.extra.unwrap_or(cfg.n);\n  linear_no_bias(1, 1, vb.pp(\"c\"))?;\n"
         "  if let Some(vb) = also { linear_no_bias(1, 1, vb.pp(\"d\"))?; }\n  Ok(())\n}\n",
         "a.weight [1, cfg.extra] ?\nb.weight [2, cfg.extra] ?\nc.weight [1, 1]\nd.weight "
         "[1, 1] ?\n");
}

static void choices_of_texts_are_all_asked_for(void **state)
{
    (void)state;
    asks("pub fn make(old: bool, vb: VarBuilder) -> Result<()> {\n"
         "  let (a, b) = if old { (\"gamma\", \"beta\") } else { (\"weight\", \"bias\") };\n"
         "  vb.get(3, a)?;\n  vb.pp(b).get((3, 4), \"x\")?;\n  Ok(())\n}\n",
         "gamma [3] ?\nweight [3] ?\nbeta.x [3, 4] ?\nbias.x [3, 4] ?\n");
}

static void a_result_may_be_tried(void **state)
{
    (void)state;
    asks("pub fn make(vb: VarBuilder) -> Result<Linear> {\n"
         "  match linear_no_bias(1, 1, vb.pp(\"a\")) {\n    Ok(x) => Ok(x),\n"
         "    Err(_) => linear_no_bias(1, 1, vb.pp(\"b\")),\n  }\n}\n",
         "a.weight [1, 1] ?\nb.weight [1, 1] ?\n");
    asks("pub fn make(vb: VarBuilder) -> Result<Linear> {\n"
         "  match linear_no_bias(1, 1, vb.pp(\"a\")) {\n    Ok(x) => Ok(x),\n"
         "    Err(e) => return Err(e),\n  }\n}\n",
         "a.weight [1, 1]\n");
}

static void macros_are_looked_into(void **state)
{
    (void)state;
    asks("macro_rules! lin { ($vb:expr, $name:expr) => { linear_no_bias(1, 1, $vb.pp($name))? } }\n"
         "pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let a = lin!(vb, \"a\");\n  let v = vec![linear_no_bias(1, 1, vb.pp(\"b\"))?, "
         "lin!(vb, \"c\")];\n"
         "  println!(\"{:?}\", linear_no_bias(1, 1, vb.pp(\"d\"))?);\n"
         "  strange!(x => linear(vb));\n"
         "  if cfg!(feature = \"none\") { lin!(vb, \"e\"); }\n"
         "  if matches!(Some(3), Some(4)) { lin!(vb, \"f\"); }\n  Ok(())\n}\n",
         "a.weight [1, 1]\nb.weight [1, 1]\nc.weight [1, 1]\nd.weight [1, 1]\n"
         "! structure-unresolved\n");
}

static void what_cannot_be_followed_is_said(void **state)
{
    (void)state;
    asks("pub fn make(vb: VarBuilder) -> Result<()> {\n  absent::build(3, vb.pp(\"a\"))?;\n"
         "  absent::plain(3);\n  Ok(())\n}\n",
         "! structure-unresolved\n");
}

static void recursion_ends(void **state)
{
    asked a;

    (void)state;
    asked_begin(&a, "pub fn deep(n: usize, vb: VarBuilder) -> Result<()> {\n"
                    "  vb.get(1, \"w\")?;\n  deep(n, vb.pp(\"x\"))\n}\n"
                    "pub fn known(n: usize, vb: VarBuilder) -> Result<()> {\n"
                    "  if n == 0 { return Ok(()) }\n  vb.get(n, \"w\")?;\n"
                    "  known(n - 1, vb.pp(\"x\"))\n}\n"
                    "pub fn make(vb: VarBuilder) -> Result<()> { known(2, vb) }\n"
                    "pub fn same(vb: VarBuilder) -> Result<()> { same(vb) }\n");
    asked_is(&a, "make", "w [2]\nx.w [1]\n");
    asked_run(&a, "deep");
    assert_int_equal(a.eval->trail->parameters.count, 1 + 8);
    assert_int_equal(a.eval->trail->faults.count, 1 + 1);
    asked_is(&a, "same", "! analysis-budget\n");
    asked_end(&a);
}

/* A change that is not followed leaves nothing certain; what is followed stays exact. */
static void changed_lists_and_texts_are_not_what_they_were(void **state)
{
    (void)state;
    asks("pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let mut d = vec![2, 3];\n  d.swap(0, 1);\n  vb.get((d[0], d[1]), \"a\")?;\n"
         "  let mut e = vec![5, 4];\n  e.sort_by(order);\n  vb.get(e[0], \"b\")?;\n"
         "  let mut f = vec![6, 7, 8];\n  f.drain(..1);\n  vb.get((f.len(), f[0]), \"c\")?;\n"
         "  let mut g = vec![1, 2];\n  for x in g.iter_mut() { *x += 1; }\n"
         "  vb.get(g[0], \"d\")?;\n"
         "  let mut h = vec![1, 2];\n  h.retain(|x| keep(x));\n  vb.get(h.len(), \"e\")?;\n"
         "  let (mut i, mut j) = (1, 2);\n  std::mem::swap(&mut i, &mut j);\n"
         "  vb.get((i, j), \"f\")?;\n"
         "  let mut k = vec![9, 9];\n  k.fill(3);\n  vb.get((k[0], k[1]), \"g\")?;\n"
         "  let mut l = vec![1, 2, 3];\n  l[1..].reverse();\n  vb.get(l[2], \"h\")?;\n"
         "  vb.get(300i32 as u8 as usize, \"i\")?;\n  Ok(())\n}\n",
         "a [3, 2]\nb [?]\nc [2, 7]\nd [?]\ne [?]\nf [2, 1]\ng [3, 3]\nh [?]\ni [44]\n");
    asks("pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let mut p = String::from(\"model\");\n  p.insert_str(0, \"base.\");\n"
         "  vb.pp(&p).get(1, \"w\")?;\n"
         "  let mut d = vec![2, 3];\n  d.rotate_left(1);\n"
         "  if d[0] != 3 { bail!(\"bad\") }\n  vb.get(1, \"after\")?;\n  Ok(())\n}\n",
         "{?}.w [1]\nafter [1]\n");
}

static void what_is_put_in_order_is_in_order(void **state)
{
    (void)state;
    asks("use std::collections::{BTreeMap, BTreeSet};\n"
         "pub fn make(vb: VarBuilder, n: usize) -> Result<()> {\n"
         "  let mut a = vec![5, 4, 5];\n  a.sort();\n  vb.get((a[0], a[2]), \"a\")?;\n"
         "  a.dedup();\n  vb.get(a.len(), \"b\")?;\n"
         "  a.retain(|x| *x > 4);\n  vb.get((a.len(), a[0]), \"c\")?;\n"
         "  let mut d = vec![n, 2];\n  d.sort();\n  vb.get(d[0], \"d\")?;\n"
         "  let mut e = BTreeMap::new();\n  e.insert(\"z\", 1);\n  e.insert(\"y\", 2);\n"
         "  e.insert(\"z\", 3);\n"
         "  for (i, (name, n)) in e.iter().enumerate() { vb.get(*n, &format!(\"e{i}{name}\"))?; }\n"
         "  let f: BTreeSet<usize> = [3, 1, 3].into_iter().collect();\n"
         "  for (i, n) in f.iter().enumerate() { vb.get(*n, &format!(\"f{i}\"))?; }\n"
         "  let g: Vec<usize> = [1, 2, 9, 3].into_iter().take_while(|x| *x < 5).collect();\n"
         "  vb.get(g.len(), \"g\")?;\n  Ok(())\n}\n",
         "a [4, 5]\nb [2]\nc [1, 5]\nd [?]\ne0y [2]\ne1z [3]\nf0 [1]\nf1 [3]\ng [2]\n");
}

static void formats_and_small_numbers_are_those_of_rust(void **state)
{
    (void)state;
    asks("use std::fmt::Write;\n"
         "pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let mut s = String::new();\n"
         "  write!(s, \"{} {:?} {:.2} {}\", 2.0, 2.0, 0.5, 1e21).unwrap();\n  vb.get(1, &s)?;\n"
         "  let w = 4;\n"
         "  let t = format!(\"{:>3}|{:<3}|{:^3}|{:-^5}|{:03}|{:w$}|{:+}|{:#x}|{:08.3}\", 7, 7, 7,\n"
         "    \"a\", 7, 7, 7, 255, -1.5);\n  vb.get(2, &t)?;\n"
         "  vb.get((200u8.wrapping_add(100) as usize, 200u8.saturating_add(100) as usize,\n"
         "    (-7i32).rem_euclid(5) as usize), \"n\")?;\n  Ok(())\n}\n",
         "2 2.0 0.50 1000000000000000000000 [1]\n"
         "  7|7  | 7 |--a--|007|   7|+7|0xff|-001.500 [2]\nn [44, 255, 3]\n");
}

/* Data that a program makes of loops in loops, and closures in closures, costs little. */
static void loops_in_loops_are_walked_once(void **state)
{
    (void)state;
    asks("pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let mut data = Vec::new();\n"
         "  for n in 0..60 { for y in 0..60 { for x in 0..60 {\n"
         "    let on = if n % 2 == 0 { x / 4 % 2 == 0 } else { y / 4 % 2 == 0 };\n"
         "    data.push(if on { 1.0 } else { 0.0 } + 0.1 * (x as f32));\n  } } }\n"
         "  let rows: Vec<Vec<Vec<f32>>> = (0..50).map(|a| (0..50).map(|b| (0..50).map(|c|\n"
         "    (a * b * c) as f32 / 2.0 + 1.0 - 3.0 * 4.0).collect()).collect()).collect();\n"
         "  let mut k = 0;\n"
         "  while k < 50 { let mut j = 0; while j < 50 { let mut i = 0;\n"
         "    while i < 50 { i += 1; } j += 1; } k += 1; }\n"
         "  for a in 0..4 { for b in 0..3 { vb.pp(a).pp(b).get(1, \"w\")?; } }\n"
         "  Ok(())\n}\n",
         "0.0.w [1]\n0.1.w [1]\n0.2.w [1]\n1.0.w [1]\n1.1.w [1]\n1.2.w [1]\n"
         "2.0.w [1]\n2.1.w [1]\n2.2.w [1]\n3.0.w [1]\n3.1.w [1]\n3.2.w [1]\n");
}

static void deep_nesting_is_cut_and_said(void **state)
{
    static char source[1 << 16];
    size_t at = 0;
    asked a;

    (void)state;
    at += (size_t)snprintf(source, sizeof source, "pub fn make(vb: VarBuilder) -> usize { 1");
    for (int i = 0; i < 4000; i++)
        at += (size_t)snprintf(source + at, sizeof source - at, " + 1");
    at += (size_t)snprintf(source + at, sizeof source - at, " }\npub fn nested() -> usize { ");
    for (int i = 0; i < 4000; i++)
        source[at++] = '!';
    snprintf(source + at, sizeof source - at, "1 }\n");
    asked_begin(&a, source);
    asked_is(&a, "make", "");
    assert_int_equal(value_number(a.eval->values, a.result), expr_const(&a.exprs, 4001));
    asked_is(&a, "nested", "! analysis-budget\n");
    asked_end(&a);
}

static void broken_code_is_survived(void **state)
{
    (void)state;
    asks("pub fn make(vb: VarBuilder) -> Result<()> {\n  let a = linear_no_bias(1, 1, "
         "vb.pp(\"a\"))?;\n"
         "  let = = match if { } ;\n  linear_no_bias(1, 1, vb.pp(\"b\"))?;\n  Ok(())\n}\n",
         "a.weight [1, 1]\nb.weight [1, 1]\n");
}

static void modules_are_instances_with_fields(void **state)
{
    asked a;
    trail *track;

    (void)state;
    asked_begin(&a, "pub struct Block { l: Linear }\n"
                    "impl Block { fn new(vb: VarBuilder) -> Result<Self> "
                    "{ Ok(Self { l: linear_no_bias(1, 1, vb.pp(\"l\"))? }) } }\n"
                    "pub struct Net { blocks: Vec<Block>, head: Option<Block> }\n"
                    "fn helper(vb: &VarBuilder) -> VarBuilder { vb.pp(\"h\") }\n"
                    "pub fn make(n: usize, vb: VarBuilder) -> Result<Net> {\n"
                    "  let mut blocks = Vec::new();\n"
                    "  for i in 0..n { blocks.push(Block::new(vb.pp(i))?) }\n"
                    "  let last = Block::new(helper(&vb))?;\n"
                    "  Ok(Net { blocks, head: Some(last) })\n}\n");
    asked_is(&a, "make", "{i}.l.weight [1, 1]\nh.l.weight [1, 1]\n");
    track = a.eval->trail;
    assert_int_equal(track->instances.count, 4);
    assert_true(
        str_equal(program_text(&a.crate.program, track->instances.at[2].field), CG_LIT("blocks")));
    assert_true(
        str_equal(program_text(&a.crate.program, track->instances.at[3].field), CG_LIT("head")));
    assert_int_equal(track->instances.at[2].parent, 1);
    assert_int_not_equal(track->instances.at[2].repeat, 0);
    assert_int_equal(track->parameters.at[1].instance, 2);
    assert_int_equal(track->unused_steps.count, 0);
    asked_end(&a);
}

static void a_prefix_nobody_uses_is_kept(void **state)
{
    asked a;

    (void)state;
    asked_begin(&a, "pub fn make(vb: VarBuilder) -> Result<()> {\n"
                    "  let unused = vb.pp(\"a\").pp(\"b\");\n  vb.pp(\"c\").get(1, \"w\")?;\n"
                    "  Ok(())\n}\n");
    asked_is(&a, "make", "c.w [1]\n");
    assert_int_equal(a.eval->trail->unused_steps.count, 1);
    asked_end(&a);
}

static void a_configuration_knows_its_strings(void **state)
{
    (void)state;
    asks("pub struct Cfg { pub name: String, pub other: Option<String> }\n"
         "impl Cfg { pub fn base() -> Self { Self { name: \"bert\".to_string(), other: None } } }\n"
         "pub fn make(cfg: &Cfg, vb: VarBuilder) -> Result<()> {\n"
         "  linear_no_bias(1, 1, vb.pp(&cfg.name))?;\n  Ok(())\n}\n",
         "{cfg.name}.weight [1, 1] ?\nbert.weight [1, 1] ?\n");
}

static void indices_of_lists_are_not_mixed_up(void **state)
{
    (void)state;
    asks("pub struct Cfg { pub dims: Vec<usize> }\n"
         "pub fn make(cfg: &Cfg, vb: VarBuilder) -> Result<()> {\n"
         "  for i in 0..cfg.dims.len() {\n"
         "    if cfg.dims[i] != cfg.dims[i - 1] { linear_no_bias(cfg.dims[i], 1, vb.pp(i))?; }\n"
         "    if cfg.dims[i] == cfg.dims[i] { linear_no_bias(2, 1, vb.pp(\"x\").pp(i))?; }\n"
         "  }\n  Ok(())\n}\n",
         "{i}.weight [1, cfg.dims[i]] ?\nx.{i}.weight [1, 2]\n");
}

static void a_call_that_may_fail_unseen_makes_all_below_it_conditional(void **state)
{
    (void)state;
    asks("pub struct Part { x: Linear }\n"
         "impl Part { fn new(vb: VarBuilder) -> Result<Self> {\n"
         "  Ok(Self { x: linear_no_bias(1, 1, vb.pp(\"x\"))? }) } }\n"
         "pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  linear_no_bias(1, 1, vb.pp(\"before\"))?;\n"
         "  let part = Part::new(vb.pp(\"part\")).ok();\n"
         "  linear_no_bias(1, 1, vb.pp(\"after\"))?;\n  Ok(())\n}\n",
         "before.weight [1, 1]\npart.x.weight [1, 1] ?\nafter.weight [1, 1]\n");
}

static void a_list_is_taken_apart_by_while_let(void **state)
{
    (void)state;
    asks("pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let mut names = vec![\"a\", \"b\"];\n"
         "  while let Some(name) = names.pop() { linear_no_bias(1, 1, vb.pp(name))?; }\n"
         "  let mut rest = [\"c\", \"d\"].iter();\n"
         "  while let Some(name) = rest.next() { linear_no_bias(1, 1, vb.pp(name))?; }\n"
         "  Ok(())\n}\n",
         "b.weight [1, 1]\na.weight [1, 1]\nc.weight [1, 1]\nd.weight [1, 1]\n");
}

static void keys_come_from_maps_macros_and_traits(void **state)
{
    (void)state;
    asks("use std::collections::HashMap;\n"
         "#[derive(Default)] struct Options { bias: bool }\n"
         "fn part(vb: VarBuilder, options: Options) -> Result<Linear> {\n"
         "  if options.bias { linear(1, 1, vb) } else { linear_no_bias(1, 1, vb) } }\n"
         "trait Load: Sized { const KEY: &'static str;\n"
         "  fn at(vb: VarBuilder) -> Result<Self>;\n"
         "  fn load(vb: VarBuilder) -> Result<Self> { Self::at(vb.pp(Self::KEY)) } }\n"
         "impl Load for Linear { const KEY: &'static str = \"c\";\n"
         "  fn at(vb: VarBuilder) -> Result<Self> { linear_no_bias(1, 1, vb) } }\n"
         "macro_rules! named { ($v:expr, $n:ident) => {\n"
         "  linear_no_bias(1, 1, $v.pp(stringify!($n)))? } }\n"
         "pub fn make(vb: VarBuilder) -> Result<()> {\n"
         "  let mut table = HashMap::new();\n  table.insert(\"key\", \"a\");\n"
         "  part(vb.pp(table[\"key\"]), Default::default())?;\n"
         "  named!(vb, b);\n  let c = <Linear as Load>::load(vb)?;\n  Ok(())\n}\n",
         "a.weight [1, 1]\nb.weight [1, 1]\nc.weight [1, 1]\n");
}

static void memory_may_run_out_anywhere(void **state)
{
    unsigned failures = 0;
    asked a;

    (void)state;
    asked_begin(&a, "pub struct Cfg { n: usize, on: bool }\n"
                    "pub fn make(cfg: &Cfg, vb: VarBuilder) -> Result<Vec<Linear>> {\n"
                    "  let mut all = vec![];\n"
                    "  for i in 0..cfg.n { all.push(linear(1, 2, vb.pp(format!(\"l.{i}\")))?) }\n"
                    "  if cfg.on { return Ok(all) }\n"
                    "  all.push(linear(3, 4, vb.pp(\"z\"))?);\n  Ok(all)\n}\n");
    asked_run(&a, "make");
    item_ref item = little_item(&a.crate, "make");
    uint64_t ceiling = a.crate.heap.ceiling_bytes;

    for (uint64_t room = 0; room < 40000; room += 97) {
        val result = 0;
        cg_code code;

        eval_begin(a.eval, 0);
        trail_reset(a.eval->trail);
        builder_value builder = {
            .root = trail_add_root(a.eval->trail, &(trail_root){.name = CG_LIT("vb")})};
        value made = {.kind = VALUE_BUILDER, .as.builder = &builder};
        val args[2] = {0, value_make(a.eval->values, &made)};

        a.crate.heap.ceiling_bytes = a.crate.heap.used_bytes + room;
        code = eval_call(a.eval, item, NULL, args, 2, (model_place){0}, &result);
        a.crate.heap.ceiling_bytes = ceiling;
        assert_true(code == CG_OK || code == CG_NOMEM);
        failures += code == CG_NOMEM;
    }
    assert_true(failures > 0);
    asked_is(&a, "make", "l.{i}.weight [2, 1]\nl.{i}.bias [2]\nz.weight [4, 3] ?\nz.bias [4] ?\n");
    asked_end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_of_the_library_is_a_parameter),
        cmocka_unit_test(texts_become_prefixes),
        cmocka_unit_test(what_both_ways_ask_for_is_certain),
        cmocka_unit_test(a_known_condition_takes_one_way),
        cmocka_unit_test(ways_that_fail_are_no_alternatives),
        cmocka_unit_test(an_early_return_makes_the_rest_conditional),
        cmocka_unit_test(an_early_return_inside_of_a_way),
        cmocka_unit_test(short_loops_are_unrolled_and_long_ones_are_families),
        cmocka_unit_test(loops_carry_variables),
        cmocka_unit_test(closures_see_and_change_variables),
        cmocka_unit_test(places_are_written_through_references),
        cmocka_unit_test(structs_traits_and_generics_are_followed),
        cmocka_unit_test(trait_objects_are_any_of_their_impls),
        cmocka_unit_test(defaults_fill_what_is_not_written),
        cmocka_unit_test(options_are_choices),
        cmocka_unit_test(choices_of_texts_are_all_asked_for),
        cmocka_unit_test(a_result_may_be_tried),
        cmocka_unit_test(macros_are_looked_into),
        cmocka_unit_test(what_cannot_be_followed_is_said),
        cmocka_unit_test(recursion_ends),
        cmocka_unit_test(changed_lists_and_texts_are_not_what_they_were),
        cmocka_unit_test(what_is_put_in_order_is_in_order),
        cmocka_unit_test(formats_and_small_numbers_are_those_of_rust),
        cmocka_unit_test(loops_in_loops_are_walked_once),
        cmocka_unit_test(deep_nesting_is_cut_and_said),
        cmocka_unit_test(broken_code_is_survived),
        cmocka_unit_test(modules_are_instances_with_fields),
        cmocka_unit_test(a_prefix_nobody_uses_is_kept),
        cmocka_unit_test(a_configuration_knows_its_strings),
        cmocka_unit_test(indices_of_lists_are_not_mixed_up),
        cmocka_unit_test(a_call_that_may_fail_unseen_makes_all_below_it_conditional),
        cmocka_unit_test(a_list_is_taken_apart_by_while_let),
        cmocka_unit_test(keys_come_from_maps_macros_and_traits),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
