use candle_core::{DType, Device, Result, Tensor};
use candle_nn::var_builder::{Shard, ShardedSafeTensors, ShardedVarBuilder};

struct Column {
    w: Tensor,
    n: Tensor,
}

fn shard(dim: usize, rank: usize, world_size: usize) -> Shard {
    Shard { dim, rank, world_size }
}

impl Column {
    fn new(vb: ShardedVarBuilder, rank: usize) -> Result<Self> {
        Ok(Self {
            w: vb.get_with_hints((), "q.weight", shard(0, rank, 2))?,
            n: vb.get(7, "n.weight")?,
        })
    }
}

fn main() -> anyhow::Result<()> {
    let dev = Device::Cpu;
    let vb = unsafe { ShardedSafeTensors::var_builder(&["m.safetensors"], DType::F32, &dev)? };
    let c = Column::new(vb.pp("column"), 0)?;
    println!("{} {}", c.w, c.n);
    Ok(())
}
//! key Column vb n.weight 7
//! key Column vb q.weight ?
