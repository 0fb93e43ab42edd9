use candle_core::{Result, Tensor, D};

pub fn entropy_loss(logits: &Tensor) -> Result<Tensor> {
    let p = candle_nn::ops::softmax(logits, D::Minus1)?;
    (&p * p.log()?)?.sum(D::Minus1)?.mean_all()?.neg()
}
