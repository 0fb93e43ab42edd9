//! Reads the lines of `check --message-format cargo-json` as tools around cargo read them, and
//! prints what it understood: levels with counts, whether the build succeeded.
use cargo_metadata::Message;
use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut levels: BTreeMap<String, usize> = BTreeMap::new();
    let mut finished = None;
    for message in Message::parse_stream(BufReader::new(io::stdin())) {
        match message {
            Ok(Message::CompilerMessage(told)) if finished.is_none() => {
                let spans = told.message.spans.iter().filter(|span| span.is_primary).count();
                if told.message.code.is_none() || spans > 1 {
                    eprintln!("no code, or more than one place: {}", told.message.message);
                    return ExitCode::FAILURE;
                }
                *levels.entry(format!("{:?}", told.message.level)).or_default() += 1;
            }
            Ok(Message::BuildFinished(end)) if finished.is_none() => finished = Some(end.success),
            Ok(other) => {
                eprintln!("not a message of findings: {other:?}");
                return ExitCode::FAILURE;
            }
            Err(trouble) => {
                eprintln!("not read: {trouble}");
                return ExitCode::FAILURE;
            }
        }
    }
    let Some(success) = finished else {
        eprintln!("no build-finished");
        return ExitCode::FAILURE;
    };
    println!("{} {success}", levels.values().sum::<usize>());
    ExitCode::SUCCESS
}
