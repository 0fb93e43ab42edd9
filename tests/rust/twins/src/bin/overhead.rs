//! What recording adds to an update of a real training loop, by both crates in one run: spans,
//! operations and memory records on, statistics off.
//!
//! usage: overhead FOLDER [ROUNDS]
//!
//! A round makes one update without a recorder, one with ours, one with theirs, in an order that
//! changes from round to round; what is added is the median over all rounds of the difference to
//! the bare update of the same round, in CPU time of the thread that trains (Candle computes on it
//! alone). The sessions stay open over all rounds.
use anyhow::Result;
use candle_core::Tensor;
use candle_nn::Optimizer;
use std::path::PathBuf;
use twins::{data, ours, theirs, Model};

/// CPU time of this thread, which other programs of the machine do not lengthen.
fn cpu_ns() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a structure to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<()> {
    std::env::set_var("RAYON_NUM_THREADS", "1");
    let folder = PathBuf::from(std::env::args().nth(1).expect("usage: overhead FOLDER [ROUNDS]"));
    let rounds: usize = std::env::args().nth(2).map_or(Ok(2000), |text| text.parse())?;
    let model = Model::new(&[32, 64, 64, 64, 64, 10])?;
    let (xs, ys) = data(16, 32, 10)?;
    let vars = model.vars().into_iter().map(|(_, var)| var).collect();
    let mut optimizer = candle_nn::SGD::new(vars, 1e-3)?;
    let own = ours::Recorder::open(&folder.join("ours.jsonl"), &ours::plan(&model)?, false)?;
    let other =
        theirs::Recorder::open(&folder.join("theirs.jsonl"), &theirs::plan(&model)?, false)?;
    let mut update = |which: usize| -> Result<f64> {
        let begun = cpu_ns();
        let loss: Tensor = match which {
            0 => model.forward(&xs, &ys)?,
            1 => own.forward(&model, &xs, &ys)?,
            _ => other.forward(&model, &xs, &ys)?,
        };
        optimizer.backward_step(&loss)?;
        Ok(cpu_ns() - begun)
    };
    let mut bare = Vec::new();
    let mut added = [Vec::new(), Vec::new()];
    for round in 0..rounds + rounds / 10 {
        let mut took = [0.0; 3];
        for turn in 0..3 {
            let which = (round + turn) % 3;
            took[which] = update(which)?;
        }
        if round >= rounds / 10 {
            bare.push(took[0]);
            added[0].push(took[1] - took[0]);
            added[1].push(took[2] - took[0]);
        }
    }
    own.finish()?;
    other.finish()?;
    let [ours, theirs] = added.map(median);
    let records = 6 + 4 * 5 * 2 + 2 * 2 + 14; // spans, operations with memory, ends of storages
    let bare = median(bare);
    // As every bench prints: `name value unit budget verdict`.
    println!("# {records} records an update");
    println!("twins.update_bare {:.2} us - stated", bare / 1e3);
    println!("twins.added_ours {:.3} us - stated", ours / 1e3);
    println!("twins.added_theirs {:.3} us - stated", theirs / 1e3);
    let is_kept = ours * 10.0 <= theirs;
    let verdict = if is_kept { "ok" } else { "BROKEN" };
    println!("twins.added_ratio {:.3} x <=0.1 {verdict}", ours / theirs);
    std::process::exit(i32::from(!is_kept));
}
