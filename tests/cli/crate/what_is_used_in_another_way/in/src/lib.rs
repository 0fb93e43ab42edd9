use candle_core::{Module, Result, Tensor};
use candle_nn::{linear_no_bias, rms_norm, Linear, RmsNorm, VarBuilder};
use std::collections::HashMap;
use std::sync::Arc;

/// One of a map, by a name nobody knows.
pub struct Named {
    norms: HashMap<String, RmsNorm>,
}

impl Named {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let mut norms = HashMap::new();
        norms.insert("a".to_string(), rms_norm(8, 1e-5, vb.pp("a"))?);
        norms.insert("b".to_string(), rms_norm(8, 1e-5, vb.pp("b"))?);
        Ok(Self { norms })
    }
    pub fn forward(&self, x: &Tensor, name: &str) -> Result<Tensor> {
        self.norms[name].forward_diff(x)
    }
}

/// Given to a function nobody has the source of.
pub struct Given {
    norm: RmsNorm,
    last: RmsNorm,
}

impl Given {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { norm: rms_norm(8, 1e-5, vb.pp("norm"))?, last: rms_norm(8, 1e-5, vb.pp("last"))? })
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = elsewhere::normed(&self.norm, x)?;
        elsewhere::run!(self.last, y)
    }
}

/// Computed with, and kept for later.
pub struct Kept {
    place: Tensor,
    mask: Option<Tensor>,
}

impl Kept {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { place: vb.get((16, 8), "place")?, mask: None })
    }
    pub fn prepare(&mut self, x: &Tensor) -> Result<()> {
        self.mask = Some(self.place.narrow(0, 0, x.dim(0)?)?);
        Ok(())
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match &self.mask {
            Some(mask) => x.broadcast_add(mask),
            None => Ok(x.clone()),
        }
    }
}

pub struct Inner {
    norm: RmsNorm,
}

impl Inner {
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.norm.forward_diff(x)
    }
}

/// By `Deref`.
pub struct Outer {
    inner: Inner,
    head: Linear,
}

impl std::ops::Deref for Outer {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl Outer {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let inner = Inner { norm: rms_norm(8, 1e-5, vb.pp("norm"))? };
        Ok(Self { inner, head: linear_no_bias(8, 8, vb.pp("head"))? })
    }
    pub fn logits(&self, x: &Tensor) -> Result<Tensor> {
        self.head.forward(x)
    }
}

/// By another type that borrows it.
pub struct Lent {
    norm: RmsNorm,
    first: Linear,
}

pub struct Runner<'a> {
    of: &'a Lent,
}

impl Runner<'_> {
    pub fn run(&self, x: &Tensor) -> Result<Tensor> {
        self.of.norm.forward_diff(&self.of.first.forward(x)?)
    }
}

impl Lent {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let first = linear_no_bias(8, 8, vb.pp("first"))?;
        Ok(Self { norm: rms_norm(8, 1e-5, vb.pp("norm"))?, first })
    }
    pub fn runner(&self) -> Runner<'_> {
        Runner { of: self }
    }
    pub fn embed(&self, x: &Tensor) -> Result<Tensor> {
        self.first.forward(x)
    }
}

/// In threads.
pub struct Threads {
    norm: Arc<RmsNorm>,
    last: RmsNorm,
}

impl Threads {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let norm = Arc::new(rms_norm(8, 1e-5, vb.pp("norm"))?);
        Ok(Self { norm, last: rms_norm(8, 1e-5, vb.pp("last"))? })
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (norm, x) = (self.norm.clone(), x.clone());
        let y = std::thread::spawn(move || norm.forward_diff(&x)).join().unwrap()?;
        std::thread::scope(|s| s.spawn(|| self.last.forward_diff(&y)).join().unwrap())
    }
}

/// In an operation of one's own.
pub struct Scale {
    by: Tensor,
}

pub struct Scaled {
    by: Tensor,
}

impl Scaled {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        Ok(Self { by: vb.get(8, "by")? })
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.apply_op1_no_bwd(&Scale { by: self.by.clone() })
    }
}

/// This one is not.
pub struct Idle {
    norm: RmsNorm,
    first: Linear,
}

impl Idle {
    pub fn new(vb: VarBuilder) -> Result<Self> {
        let first = linear_no_bias(8, 8, vb.pp("first"))?;
        Ok(Self { norm: rms_norm(8, 1e-5, vb.pp("norm"))?, first })
    }
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.first.forward(x)
    }
}
