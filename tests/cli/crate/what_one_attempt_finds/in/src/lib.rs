use candle_core::{Result, Tensor};
use candle_nn::{embedding, linear, Embedding, Linear, VarBuilder};

pub struct Words {
    word: Embedding,
    place: Embedding,
}

impl Words {
    fn load(vb: VarBuilder) -> Result<Self> {
        Ok(Self {
            word: embedding(100, 8, vb.pp("word"))?,
            place: embedding(64, 8, vb.pp("place"))?,
        })
    }
}

pub struct Layer {
    w: Tensor,
}

impl Layer {
    fn load(vb: VarBuilder) -> Result<Self> {
        Ok(Self { w: vb.get((8, 8), "w")? })
    }
}

/// Tries one prefix, then another.
pub struct Tried {
    words: Words,
    layers: Vec<Layer>,
    head: Linear,
}

impl Tried {
    pub fn load(vb: VarBuilder, n: usize) -> Result<Self> {
        let (words, layers) = match (
            Words::load(vb.pp("words")),
            (0..n).map(|i| Layer::load(vb.pp("layers").pp(i))).collect::<Result<Vec<_>>>(),
        ) {
            (Ok(words), Ok(layers)) => (words, layers),
            _ => (
                Words::load(vb.pp("base.words"))?,
                (0..n)
                    .map(|i| Layer::load(vb.pp("base.layers").pp(i)))
                    .collect::<Result<Vec<_>>>()?,
            ),
        };
        Ok(Self { words, layers, head: linear(8, 2, vb.pp("head"))? })
    }
}

/// Looks what the file has.
pub struct Looked {
    words: Words,
}

impl Looked {
    pub fn load(vb: VarBuilder) -> Result<Self> {
        let vb = if vb.contains_tensor("net.words.word.weight") { vb.pp("net") } else { vb };
        Ok(Self { words: Words::load(vb.pp("words"))? })
    }
}

fn square(vb: VarBuilder) -> Result<Layer> {
    Layer::load(vb)
}

/// Two by one helper in each attempt: the second of a pair is missing.
pub struct Pairs {
    q: Layer,
    k: Layer,
}

impl Pairs {
    pub fn load(vb: VarBuilder) -> Result<Self> {
        let (q, k) = match (square(vb.pp("q")), square(vb.pp("k"))) {
            (Ok(q), Ok(k)) => (q, k),
            _ => (square(vb.pp("old.q"))?, square(vb.pp("old.k"))?),
        };
        Ok(Self { q, k })
    }
}

/// Two of one kind, both or none: no attempts.
pub struct Both {
    a: Option<Words>,
    b: Option<Words>,
}

impl Both {
    pub fn load(vb: VarBuilder, has: bool) -> Result<Self> {
        let (a, b) = if has {
            (Some(Words::load(vb.pp("a"))?), Some(Words::load(vb.pp("b"))?))
        } else {
            (None, None)
        };
        Ok(Self { a, b })
    }
}
