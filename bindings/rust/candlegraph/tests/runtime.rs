//! The two programs of the manual, and what the writers refuse.
mod support;

use candle_graph::profile::{ProfileConfig, ProfileSession, TimedOperation};
use candle_graph::runtime::{
    GradientFact, GradientState, RunMetadata, RuntimeTraceWriter, TensorObservation,
    ValueObservation, RUNTIME_SCHEMA_V2,
};
use support::{lines, of_kind, Folder};

fn metadata() -> RunMetadata {
    RunMetadata {
        entrypoint: "net::train_step".into(),
        profile: "release".into(),
        cargo_features: vec![],
        cfg: vec![],
        analysis_id: None,
        build_id: None,
        phase: None,
    }
}

#[test]
fn a_tensor_and_a_gradient_fact() {
    let mut writer =
        RuntimeTraceWriter::new_with_schema(Vec::new(), RUNTIME_SCHEMA_V2, metadata()).unwrap();
    writer
        .tensor(TensorObservation {
            event_id: "t-0".into(),
            static_id: Some("tensor:x".into()),
            source: None,
            step: Some(0),
            shape: vec![2, 3],
            dtype: "F32".into(),
            device: "cpu".into(),
            contiguous: true,
            requires_grad: false,
            storage_id: None,
        })
        .unwrap();
    let mut fact = GradientFact {
        event_id: "g-0".into(),
        root: "vb".into(),
        key: "fc.weight".into(),
        state: GradientState::Present,
        step: Some(0),
        norm: Some(0.5),
    };
    writer.gradient(&fact).unwrap();
    assert!(writer.gradient(&fact).is_err(), "an id is used once");
    fact.event_id = "g-1".into();
    fact.state = GradientState::Missing;
    assert!(writer.gradient(&fact).is_err(), "a missing gradient has no norm");
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let all: Vec<&str> = text.lines().collect();
    assert_eq!(all.len(), 3);
    assert!(all[0].starts_with("{\"kind\":\"meta\",\"schema\":\"candle-graph/runtime/2\""));
    assert!(all[1].contains("\"step\":0,\"shape\":[2,3],\"dtype\":\"F32\""));
    assert!(all[2].ends_with("\"state\":\"present\",\"step\":0,\"norm\":0.5}"));
}

#[test]
fn a_document_is_one_object() {
    let mut writer =
        RuntimeTraceWriter::new_document(Vec::new(), RUNTIME_SCHEMA_V2, metadata()).unwrap();
    let mut value = ValueObservation { event_id: "v".into(), max: f64::NAN, ..Default::default() };
    let error = writer.value(&value).unwrap_err().to_string();
    assert!(error.contains("must be finite"), "{error}");
    value.max = 1.0;
    writer.value(value).unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["run"]["entrypoint"], "net::train_step");
    assert_eq!(document["values"].as_array().unwrap().len(), 1);
}

#[test]
fn an_entrypoint_is_profiled() {
    let folder = Folder::new();
    let path = folder.at("deep/profile.jsonl");
    let mut config = ProfileConfig::infer("Net::forward");
    config.analysis_id = Some("analysis:1".into());
    let mut session = ProfileSession::open(&path, config).unwrap();
    session.set_step(0);
    {
        let _outer = TimedOperation::begin(
            &session,
            "operation:infer:0",
            "forward",
            &["tensor:x".to_string()],
        )
        .unwrap();
        let _op = TimedOperation::begin(&session, "operation:infer:3", "matmul", &[]).unwrap();
        session.record_edge_timing("operation:infer:2", "operation:infer:3", 17).unwrap();
    }
    // As the reference has it: one at a time, by exclusive reference.
    drop(TimedOperation::begin(&mut session, "operation:infer:4", "relu", &[]).unwrap());
    assert_eq!(session.finish().unwrap(), path);
    let trace = lines(&path);
    assert_eq!(trace[0]["phase"], "infer");
    assert_eq!(trace[0]["analysis_id"], "analysis:1");
    let ops = of_kind(&trace, "operation");
    assert_eq!(ops[0]["op"], "matmul");
    assert_eq!(ops[1]["inputs"][0], "tensor:x");
    assert!(ops[1]["duration_ns"].as_u64() >= ops[0]["duration_ns"].as_u64());
    assert_eq!(of_kind(&trace, "edge_timing")[0]["duration_ns"], 17);
}

#[test]
fn operations_left_open_are_named() {
    let folder = Folder::new();
    let session = ProfileSession::open(folder.at("p.jsonl"), ProfileConfig::train("f")).unwrap();
    let open = session.begin_operation("operation:a", "matmul", &["x".to_string()]).unwrap();
    assert_eq!(open, "train-op-0-1");
    assert!(session.end_operation("train-op-0-7", None).is_err());
    let error = session.finish().unwrap_err().to_string();
    assert!(error.contains("train-op-0-1 (matmul)"), "{error}");
}

struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("no room for the trace"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_cause_of_a_broken_sink_is_told() {
    let error = RuntimeTraceWriter::new(Full, metadata()).err().unwrap();
    assert!(format!("{error:#}").contains("no room for the trace"), "{error:#}");
}
