use candle_core::{DType, Device, Result};
use candle_nn::{VarBuilder, VarMap};
use std::fmt::Write;

enum Kind { Query, Key }
impl Kind { fn name(&self) -> &'static str { match self { Self::Query => "q_proj", Self::Key => "k_proj" } } }
struct Path(Vec<String>);
impl Path { fn join(&self, s: &str) -> String { let mut v = self.0.clone(); v.push(s.to_string()); v.join(".") } }

fn key(parts: &[&str]) -> String { parts.concat() }

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let mut s = String::from("a");
    s.push('b');
    s.push_str("cd");
    s += "e";
    let _ = vb.get(1, &s)?;
    let _ = vb.get(2, &(s.clone() + ".x" + &1.to_string()))?;
    let _ = vb.get(3, &["p", "q"].concat())?;
    let _ = vb.get(4, &["p", "q"].join("."))?;
    let _ = vb.get(5, &key(&["k", "1"]))?;
    let _ = vb.get(6, &"hello".chars().rev().collect::<String>())?;
    let _ = vb.get(7, "a.b.c".split('.').nth(1).unwrap())?;
    let _ = vb.get(8, &"a.b.c".split('.').skip(1).collect::<Vec<_>>().join("/"))?;
    let _ = vb.get(9, "a.b.c".rsplit_once('.').unwrap().0)?;
    let _ = vb.get(10, &"Ab".to_lowercase().repeat(2))?;
    let _ = vb.get(13, Kind::Query.name())?;
    let _ = vb.get(15, &Path(vec!["m".into(), "n".into()]).join("w"))?;
    let mut out = String::new();
    write!(out, "w{}", 3).unwrap();
    writeln!(&mut out, "!").unwrap();
    let _ = vb.get(16, out.trim())?;
    let _ = vb.get(18, concat!("lit", 1, ".", 'c', true))?;
    let _ = vb.get(19, stringify!(token))?;
    let _ = vb.get(23, "layer_7".trim_start_matches("layer_"))?;
    let _ = vb.get("layer_24".strip_prefix("layer_").and_then(|n| n.parse::<usize>().ok()).unwrap(), "s24")?;
    let _ = vb.get(27, if "abc".contains("bc") { "yes" } else { "no" })?;
    let _ = vb.get(28, &"one,two".split(',').map(str::to_owned).last().unwrap())?;
    let name: std::borrow::Cow<str> = "cow".into();
    let _ = vb.get(29, &name)?;
    Ok(())
}

//! key main vb 7 23
//! key main vb a.b 9
//! key main vb abab 10
//! key main vb abcde 1
//! key main vb abcde.x1 2
//! key main vb b 7
//! key main vb b/c 8
//! key main vb cow 29
//! key main vb k1 5
//! key main vb lit1.ctrue 18
//! key main vb m.n.w 15
//! key main vb olleh 6
//! key main vb p.q 4
//! key main vb pq 3
//! key main vb q_proj 13
//! key main vb s24 24
//! key main vb token 19
//! key main vb two 28
//! key main vb w3! 16
//! key main vb yes 27
