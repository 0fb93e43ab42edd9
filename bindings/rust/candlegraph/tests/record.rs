//! Sessions: what is written, what is refused, threads, a program that stops halfway.
mod support;

use std::time::{Duration, Instant};

use candle_graph::trace::{GradientState, MemoryCategory};
use candle_graph::*;
use support::{lines, of_kind, paths, Folder};

fn run() -> ProfileRun {
    ProfileRun::training("app::train", 3, "cpu")
}

#[test]
fn selector_fires_once() {
    assert!(CaptureSelector::new(0).is_err());
    let selector = CaptureSelector::new(2).unwrap();
    let fired: Vec<u64> = (1..5).filter(|step| selector.is_selected(*step)).collect();
    assert_eq!(fired, [2]);
}

#[test]
fn every_kind_of_record_is_written() {
    let folder = Folder::new();
    let session = TraceSession::open(folder.at("deep/er/run.jsonl"), run().tag("a", "b")).unwrap();
    {
        let measured = session.begin_measurement("update");
        let forward =
            session.begin_step_span("forward", ExecutionStep::Forward, SpanKind::Function);
        let layer = session.begin_span(String::from("layer"), SpanKind::Module);
        let started = session.elapsed_ns();
        session
            .record_op(
                layer.id(),
                OpRecord {
                    op_name: "matmul",
                    inputs: &["TensorId(1)", "weight"],
                    output: Some("TensorId(2)"),
                    shape: &[2, 3],
                    dtype: "f32",
                    device: "cpu",
                    duration_ns: 0,
                    timestamp_ns: started,
                    output_dense_bytes: None,
                    input_dense_bytes: 48,
                },
            )
            .unwrap();
        session
            .record_tensor(
                layer.id(),
                TensorRecord {
                    tensor_id: TensorKey(2),
                    label: Some("out"),
                    shape: &[2, 3],
                    dtype: "f32",
                    device: "cpu",
                    requires_grad: false,
                    dense_bytes: None,
                    category: MemoryCategory::Activation,
                },
            )
            .unwrap();
        for free in [false, true] {
            let record = MemoryRecord {
                storage_id: StorageKey(0xabc),
                tensor_id: "TensorId(2)",
                device: "cpu",
                bytes: 24,
                dtype: "f32",
                category: MemoryCategory::Activation,
                timestamp_ns: None,
                op_name: Some("matmul"),
                shape: &[2, 3],
            };
            match free {
                false => session.record_memory_alloc(layer.id(), record).unwrap(),
                true => session.record_memory_free(layer.id(), record).unwrap(),
            }
        }
        session.record_data_edge("TensorId(1)", TensorKey(2)).unwrap();
        session.record_call_edge(forward.id(), layer.id(), 0).unwrap();
        session.record_scalar(measured.id(), "loss", f64::NAN).unwrap();
        session.record_gradient("vb", "w", GradientState::Present, Some(0.5)).unwrap();
        session
            .record_device_memory(DeviceMemoryRecord {
                device: "cpu",
                used_bytes: Some(7),
                ..Default::default()
            })
            .unwrap();
        session
            .record_device_interval(
                layer.id(),
                DeviceIntervalRecord {
                    device: "sim:0",
                    stream_id: "0",
                    clock_id: "sim",
                    backend: "simulated",
                    start_ns: 5,
                    duration_ns: 6,
                },
            )
            .unwrap();
    }
    let path = session.finish().unwrap();
    let trace = lines(&path);
    assert_eq!(trace[0]["schema"], TRACE_SCHEMA);
    assert_eq!(trace[0]["tags"]["a"], "b");
    assert_eq!(trace[0]["warmup_steps"], 2);
    assert_eq!(
        paths(&trace),
        [
            "app::train",
            "app::train>update",
            "app::train>update>forward",
            "app::train>update>forward>layer"
        ]
    );
    let op = of_kind(&trace, "op")[0];
    assert_eq!(op["inputs"], serde_json::json!(["t1", "weight"]));
    assert_eq!(op["output_tensor_id"].as_str().or(op["output"].as_str()), Some("t2"), "{op}");
    assert_eq!(of_kind(&trace, "tensor")[0]["label"], "out");
    assert_eq!(of_kind(&trace, "memory").len(), 2);
    assert_eq!(of_kind(&trace, "tensor_stats")[0]["non_finite"], 1);
    assert_eq!(of_kind(&trace, "gradient").len(), 1);
    assert_eq!(of_kind(&trace, "device_memory").len(), 1);
    assert_eq!(of_kind(&trace, "device_interval").len(), 1);
    assert_eq!(trace.last().unwrap()["outcome"], "complete");
}

#[test]
fn wrong_arguments_are_told_at_once_and_spoil_nothing() {
    let folder = Folder::new();
    let session = TraceSession::open(folder.at("run.jsonl"), run()).unwrap();
    {
        let measured = session.begin_measurement("update");
        assert!(session.record_scalar(measured.id(), "  ", 1.0).is_err());
        assert!(session.record_gradient("vb", "w", GradientState::Missing, Some(1.0)).is_err());
        assert!(session.record_gradient("vb", "", GradientState::Missing, None).is_err());
        assert!(session.record_gradient("vb", "w", GradientState::Present, None).is_err());
        assert!(session.record_data_edge("", "a").is_err());
        assert!(session
            .record_device_memory(DeviceMemoryRecord { device: "cpu", ..Default::default() })
            .is_err());
        let now = session.elapsed_ns();
        assert!(session.record_completed_host_span("a", SpanKind::Op, now, 0).is_err());
        assert!(session
            .record_completed_host_span("a", SpanKind::Op, now, 3_600_000_000_000)
            .is_err());
        assert!(session.record_completed_host_span("a", SpanKind::Op, u64::MAX, 2).is_err());
    }
    session.finish().unwrap();
}

#[test]
fn descriptions_are_checked_before_anything_is_made() {
    let folder = Folder::new();
    let path = folder.at("run.jsonl");
    let error = TraceSession::open(&path, ProfileRun::training("", 3, "cpu")).unwrap_err();
    let cause = error.downcast_ref::<Error>().unwrap();
    assert_eq!((cause.code, cause.problem.as_str()), (1, "record-description"));
    assert!(TraceSession::open(&path, ProfileRun::training("a\0b", 3, "cpu")).is_err());
    assert!(!path.exists());
    assert_eq!(std::fs::read_dir(folder.at("")).unwrap().count(), 0);
}

#[test]
fn contracts_and_identities_are_written() {
    let folder = Folder::new();
    let contract = CaptureContract {
        measurement_scope: MeasurementScope::ProductionEquivalent,
        gradients: CoverageLevel::Complete,
        gradient_contract: Some(
            GradientContract::new(
                vec![
                    ExpectedGradient { root: "vb".into(), key: "b".into(), family: "f".into() },
                    ExpectedGradient { root: "vb".into(), key: "a".into(), family: "f".into() },
                ],
                vec![GradientFamilyContract::active("f", 2)],
            )
            .unwrap(),
        ),
        required_semantic_labels: vec!["update".into()],
        ..Default::default()
    };
    let identity = ComparisonIdentity {
        workload_id: "w".into(),
        model_id: "m".into(),
        config_id: "c".into(),
        data_id: "d".into(),
        seed_policy: "fixed".into(),
        physical_batch: 4,
        accumulation_steps: 1,
        precision: "f32".into(),
        device_state: "alone".into(),
        ..Default::default()
    };
    let run = run().capture_contract(contract).comparison_identity(identity).device_synchronized();
    let session = TraceSession::open(folder.at("run.jsonl"), run).unwrap();
    drop(session.begin_measurement("update"));
    for key in ["a", "b"] {
        session.record_gradient("vb", key, GradientState::Zero, Some(0.0)).unwrap();
    }
    let meta = lines(session.finish().unwrap()).remove(0);
    let text = meta.to_string();
    assert!(text.contains("\"manifest_sha256\":\"sha256:"), "{text}");
    assert!(text.contains("\"timing_mode\":\"device_synchronized\""), "{text}");
    assert!(text.contains("\"physical_batch\":4"), "{text}");
    assert!(text.find("\"key\":\"a\"") < text.find("\"key\":\"b\""), "{text}");
}

#[test]
fn threads_record_into_one_session() {
    let folder = Folder::new();
    let session = TraceSession::open(folder.at("run.jsonl"), run()).unwrap();
    {
        let measured = session.begin_measurement("update");
        let parent = measured.id();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let session = &session;
                scope.spawn(move || {
                    let _work =
                        session.begin_span_under(parent, format!("worker-{thread}"), SpanKind::Op);
                    for i in 0..500 {
                        let inner = session.begin_span("inner", SpanKind::Op);
                        session.record_scalar(inner.id(), "i", f64::from(i)).unwrap();
                    }
                });
            }
        });
    }
    let trace = lines(session.finish().unwrap());
    let inner = paths(&trace).iter().filter(|path| path.ends_with(">inner")).count();
    assert_eq!(inner, 2000);
    assert!(paths(&trace).contains(&"app::train>update>worker-3>inner".to_owned()));
    assert_eq!(of_kind(&trace, "tensor_stats").len(), 2000);
}

#[test]
fn work_that_is_over_is_placed_by_its_instant() {
    let folder = Folder::new();
    let before = Instant::now() - Duration::from_secs(5);
    let session = TraceSession::open(folder.at("run.jsonl"), run()).unwrap();
    drop(session.begin_measurement("update"));
    assert!(session.host_timestamp_ns(before).is_err());
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(2));
    let duration = start.elapsed().as_nanos() as u64;
    let at = session.host_timestamp_ns(start).unwrap();
    session.record_completed_host_span("loader", SpanKind::Function, at, duration).unwrap();
    let trace = lines(session.finish().unwrap());
    let began = of_kind(&trace, "span_start")
        .into_iter()
        .find(|span| span["name"] == "loader")
        .and_then(|span| span["start_ns"].as_u64())
        .unwrap();
    assert!(began.abs_diff(at) < 20_000, "{began} for {at}");
}

#[test]
fn a_session_that_is_dropped_is_a_failed_capture() {
    let folder = Folder::new();
    let path = folder.at("run.jsonl");
    let session = TraceSession::open(&path, run()).unwrap();
    drop(session.begin_measurement("update"));
    drop(session);
    let last = lines(&path).pop().unwrap();
    assert_eq!(last["outcome"], "failed");
    assert_eq!(last["reason"], "the session was dropped without finish");
}

#[test]
fn open_spans_and_reasons() {
    let folder = Folder::new();
    let path = folder.at("run.jsonl");
    let session = TraceSession::open(&path, run()).unwrap();
    std::mem::forget(session.begin_measurement("update"));
    assert!(session.finish().is_err());
    assert_eq!(lines(&path).pop().unwrap()["outcome"], "failed");

    let session = TraceSession::open(&path, run()).unwrap();
    std::mem::forget(session.begin_measurement("update"));
    session.finish_failed("loss became NaN").unwrap();
    assert_eq!(lines(&path).pop().unwrap()["reason"], "loss became NaN");
    let session = TraceSession::open(&path, run()).unwrap();
    assert!(session.finish_failed(" ").is_err());
}

#[test]
fn names_of_different_sessions_do_not_mix() {
    let folder = Folder::new();
    let first = TraceSession::open(folder.at("1.jsonl"), run()).unwrap();
    drop(first.begin_span("only-first", SpanKind::Op));
    drop(first.begin_span("both", SpanKind::Op));
    let second = TraceSession::open(folder.at("2.jsonl"), run()).unwrap();
    drop(second.begin_span("both", SpanKind::Op));
    for i in 0..5000 {
        drop(second.begin_span(format!("span-{i}"), SpanKind::Op));
    }
    drop(first.begin_span("both", SpanKind::Op));
    assert_eq!(
        paths(&lines(first.finish().unwrap()))[1..],
        ["app::train>only-first", "app::train>both", "app::train>both"]
    );
    let names = paths(&lines(second.finish().unwrap()));
    assert_eq!(names.len(), 5002);
    assert_eq!(names[5001], "app::train>span-4999");
}

#[test]
fn words_as_people_write_them() {
    assert_eq!("Training".parse::<ExecutionPhase>().unwrap(), ExecutionPhase::Train);
    assert_eq!("eval".parse::<ExecutionPhase>().unwrap(), ExecutionPhase::Infer);
    assert_eq!("backprop".parse::<ExecutionStep>().unwrap(), ExecutionStep::Backward);
    assert!("sideways".parse::<ExecutionStep>().is_err());
    assert!("fwd".parse::<ExecutionPhase>().is_err());
}
