use candle_core::{DType, Device, Result};
use candle_nn::{linear, VarBuilder, VarMap};

const HIDDEN: usize = 1 << 4;
const RATIO: f64 = 2.667;

fn round_up(n: usize, m: usize) -> usize { (n + m - 1) / m * m }

fn main() -> Result<()> {
    let varmap = VarMap::new();
    let vb = VarBuilder::from_varmap(&varmap, DType::F32, &Device::Cpu);
    let a = 250u8.wrapping_add(10) as usize;
    let b = (-7i32).rem_euclid(5) as usize;
    let c = 3usize.checked_sub(5).unwrap_or(11);
    let d = 3usize.saturating_sub(5) + 1;
    let e = 2usize.pow(5);
    let f = 100usize.ilog2() as usize;
    let g = 100usize.next_power_of_two();
    let h = 10usize.div_ceil(4);
    let i = (HIDDEN as f64 * RATIO) as usize;
    let j = round_up(i, 8);
    let k = (HIDDEN as f32).sqrt() as usize;
    let m: usize = "42".parse().unwrap();
    let n = 17usize.isqrt().max(2).min(9).clamp(1, 8);
    let o = 5usize.abs_diff(9);
    let p = (7.0f64 / 2.0).ceil() as usize;
    let q = 13 / 4 * 2 + 13 % 4;
    let r = 0x10usize ^ 0b11 | 1 << 3;
    let u = if HIDDEN > 10 { 6 } else { 7 };
    let v = match HIDDEN { 0..=9 => 1, 10..=20 => 2, _ => 3 };
    let w = [1usize, 2, 3].len() + "abc".len() + (1..=4).count();
    let x = i32::try_from(9usize).unwrap() as usize;
    let y = (2.5f32 * 3.).round() as usize;
    let z = 255u8 as i8 as i64 + 3;
    let all = [a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, u, v, w, x, y, z as usize];
    for (at, size) in all.iter().enumerate() {
        let _l = vb.get(*size, &format!("n{at:02}"))?;
    }
    let _ = vb.get(1, &format!("f{}", 2.0))?;
    let _ = vb.get(2, &format!("f{:?}", 2.0))?;
    let _ = vb.get(3, &format!("f{:.2}", 2.0))?;
    let _ = vb.get(4, &format!("f{:>3}", 7))?;
    let _ = vb.get(5, &format!("f{:03}", 7))?;
    let _ = vb.get(6, &format!("f{:x}", 255))?;
    let _ = vb.get(7, &format!("f{:#06b}", 5))?;
    let _ = vb.get(8, &format!("f{:<4}|", "ab"))?;
    let _ = vb.get(9, &format!("f{:*^5}", "ab"))?;
    let _ = vb.get(10, &format!("f{:?}", "ab"))?;
    let _ = vb.get(11, &format!("f{}", true))?;
    let _ = vb.get(12, &format!("f{0}-{1}-{0}", 1, 'c'))?;
    let width = 5;
    let _ = vb.get(13, &format!("f{:>width$}", 1))?;
    let _ = vb.get(14, &format!("f{:+}", 1))?;
    let _ = vb.get(19, &format!("f{{}}{}", 0.1 + 0.2))?;
    let _ = vb.get(20, &format!("f{:X}", 171))?;
    let _ = vb.get(21, &(1e10).to_string())?;
    let _ = vb.get(22, &format!("{}", 1e21))?;
    let _ = vb.get(23, &format!("{:5.1}|", 3.14159))?;
    let _ = linear(1, 1, vb.pp(2.5f32))?;
    let _ = linear(1, 1, vb.pp('c'))?;
    Ok(())
}

//! key main vb   3.1| 23
//! key main vb 10000000000 21
//! key main vb 1000000000000000000000 22
//! key main vb 2.5.bias 1
//! key main vb 2.5.weight 1,1
//! key main vb c.bias 1
//! key main vb c.weight 1,1
//! key main vb f    1 13
//! key main vb f  7 4
//! key main vb f"ab" 10
//! key main vb f*ab** 9
//! key main vb f+1 14
//! key main vb f007 5
//! key main vb f0b0101 7
//! key main vb f1-c-1 12
//! key main vb f2 1
//! key main vb f2.0 2
//! key main vb f2.00 3
//! key main vb fAB 20
//! key main vb fab  | 8
//! key main vb fff 6
//! key main vb ftrue 11
//! key main vb f{}0.30000000000000004 19
//! key main vb n00 4
//! key main vb n01 3
//! key main vb n02 11
//! key main vb n03 1
//! key main vb n04 32
//! key main vb n05 6
//! key main vb n06 128
//! key main vb n07 3
//! key main vb n08 42
//! key main vb n09 48
//! key main vb n10 4
//! key main vb n11 42
//! key main vb n12 4
//! key main vb n13 4
//! key main vb n14 4
//! key main vb n15 7
//! key main vb n16 27
//! key main vb n17 6
//! key main vb n18 2
//! key main vb n19 10
//! key main vb n20 9
//! key main vb n21 8
//! key main vb n22 2
