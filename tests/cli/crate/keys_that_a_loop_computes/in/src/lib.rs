use candle_core::Result;
use candle_nn::{linear_no_bias, Linear, VarBuilder};

pub struct Cfg {
    pub n: usize,
    pub per: usize,
    pub stride: usize,
    pub at: Vec<usize>,
}

fn one(vb: VarBuilder) -> Result<Linear> {
    linear_no_bias(8, 8, vb)
}

pub struct Twice(Vec<Linear>);

impl Twice {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", i * 2)))?);
        }
        Ok(Self(l))
    }
}

pub struct Stride(Vec<Linear>);

impl Stride {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", i * cfg.stride)))?);
        }
        Ok(Self(l))
    }
}

pub struct Square(Vec<Linear>);

impl Square {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", i * i)))?);
        }
        Ok(Self(l))
    }
}

pub struct Power(Vec<Linear>);

impl Power {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", 2usize.pow(i as u32))))?);
        }
        Ok(Self(l))
    }
}

pub struct Listed(Vec<Linear>);

impl Listed {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in cfg.at.iter() {
            l.push(one(vb.pp(format!("l{}", i)))?);
        }
        Ok(Self(l))
    }
}

pub struct Looked(Vec<Linear>);

impl Looked {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", cfg.at[i])))?);
        }
        Ok(Self(l))
    }
}

pub struct Halved(Vec<Linear>);

impl Halved {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", i / 2)))?);
        }
        Ok(Self(l))
    }
}

pub struct Even(Vec<Linear>);

impl Even {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", i / 2 * 2)))?);
        }
        Ok(Self(l))
    }
}

pub struct Least(Vec<Linear>);

impl Least {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in 0..cfg.n {
            l.push(one(vb.pp(format!("l{}", i.max(2) * 2)))?);
        }
        Ok(Self(l))
    }
}

pub struct Tens(Vec<Linear>);

impl Tens {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for j in 0..cfg.n {
            for i in 0..cfg.per {
                l.push(one(vb.pp(format!("l{}", j * 10 + i)))?);
            }
        }
        Ok(Self(l))
    }
}

pub struct Nested(Vec<Linear>);

impl Nested {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for j in 0..cfg.n {
            for i in 0..cfg.per {
                l.push(one(vb.pp(format!("l{}", j * cfg.per + i)))?);
            }
        }
        Ok(Self(l))
    }
}

pub struct Kept(Vec<Linear>);

impl Kept {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        for i in (0..cfg.n).filter(|i| i % 2 == 0) {
            l.push(one(vb.pp(format!("l{}", i)))?);
        }
        Ok(Self(l))
    }
}

pub struct Doubled(Vec<Linear>);

impl Doubled {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        let mut k = 1;
        while k < cfg.n {
            l.push(one(vb.pp(format!("l{k}")))?);
            k *= 2;
        }
        Ok(Self(l))
    }
}

pub struct Single(Vec<Linear>);

impl Single {
    pub fn new(cfg: &Cfg, vb: VarBuilder) -> Result<Self> {
        let mut l = Vec::new();
        l.push(one(vb.pp(format!("l{}", cfg.n)))?);
        Ok(Self(l))
    }
}
