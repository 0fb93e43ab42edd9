//! Record the same updates of the same models through both crates: FOLDER/NAME.{ours,theirs}.jsonl.
use anyhow::Result;
use std::path::PathBuf;
use twins::{data, ours, theirs, Model};

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).expect("usage: twins FOLDER"));
    let at = |name: &str, whose: &str| folder.join(format!("{name}.{whose}.jsonl"));
    for (name, widths) in
        [("small", &[6, 12, 3][..]), ("deep", &[5, 7, 9, 11, 4]), ("flat", &[3, 2])]
    {
        let model = Model::new(widths)?;
        let (xs, ys) = data(24, widths[0], widths[widths.len() - 1])?;
        let plan = ours::plan(&model)?;
        let recorder = ours::Recorder::open(&at(name, "ours"), &plan, true)?;
        recorder.update(&model, &xs, &ys, &plan)?;
        recorder.finish()?;
        let failing = format!("{name}-failed");
        ours::Recorder::open(&at(&failing, "ours"), &plan, true)?.fail(&model, &xs)?;

        let plan = theirs::plan(&model)?;
        let recorder = theirs::Recorder::open(&at(name, "theirs"), &plan, true)?;
        recorder.update(&model, &xs, &ys, &plan)?;
        recorder.finish()?;
        theirs::Recorder::open(&at(&failing, "theirs"), &plan, true)?.fail(&model, &xs)?;
    }
    Ok(())
}
