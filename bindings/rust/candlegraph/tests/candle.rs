//! Tensors of Candle: what a capture says, statistics in place, gradients of a manifest.
mod support;

use candle_core::{DType, Device, Tensor, Var};
use candle_graph::candle::{self as cg, CandleCapture, CandleOpCapture, GradientCapturePlan};
use candle_graph::*;
use serde_json::Value;
use support::{lines, of_kind, Folder};

fn traced(record: impl FnOnce(&TraceSession, SpanId)) -> Vec<Value> {
    let folder = Folder::new();
    let run = ProfileRun::training("app", 1, "cpu");
    let session = TraceSession::open(folder.at("run.jsonl"), run).unwrap();
    {
        let measured = session.begin_measurement("update");
        record(&session, measured.id());
    }
    lines(session.finish().unwrap())
}

#[test]
fn captures_say_what_candle_says() {
    let x = Tensor::zeros((2, 3), DType::BF16, &Device::Cpu).unwrap();
    let capture = CandleCapture::from_tensor(&x, Some(ExecutionStep::Backward)).with_label("dx");
    assert_eq!(capture.tensor_id().to_string(), format!("{:?}", x.id()));
    assert_eq!((capture.dtype, capture.device), ("bf16", "cpu"));
    assert_eq!((&*capture.shape, capture.tensor_bytes), (&[2, 3][..], 12));
    assert_eq!(capture.category, MemoryCategory::Gradient);
    assert!(!capture.requires_grad);
    let view = x.t().unwrap();
    assert_eq!(cg::storage_id(&view), cg::storage_id(&x));
    assert_ne!(cg::tensor_id(&view), cg::tensor_id(&x));
    assert_ne!(cg::storage_id(&x.copy().unwrap()), cg::storage_id(&x));
    let var = Var::zeros(3, DType::F32, &Device::Cpu).unwrap();
    let capture = CandleCapture::from_tensor(&var, None);
    assert_eq!((capture.category, capture.requires_grad), (MemoryCategory::Parameter, true));
    let wide = Tensor::zeros(&[1, 1, 1, 1, 1, 1, 2, 2], DType::U8, &Device::Cpu).unwrap();
    let capture = CandleCapture::from_tensor(&wide, None);
    assert_eq!(&*capture.shape, [1, 1, 1, 1, 1, 1, 2, 2]);
}

#[test]
fn operations_tensors_and_memory_are_recorded() {
    let x = Tensor::ones((2, 3), DType::F32, &Device::Cpu).unwrap();
    let w = Tensor::ones((3, 4), DType::F32, &Device::Cpu).unwrap();
    let trace = traced(|session, span| {
        let y = cg::observe_op(session, span, "matmul", &[&x, &w], || x.matmul(&w)).unwrap();
        let texts = vec![cg::tensor_id(&y).to_string()];
        let op = CandleOpCapture::new("relu", texts, &y, 32, 0, 0, None);
        cg::record_op(session, span, &op).unwrap();
        cg::record_tensor_with_label(session, span, "y", &y, None).unwrap();
        let capture = CandleCapture::from_tensor(&y, None);
        session.record_memory_alloc(span, capture.memory(Some("matmul"))).unwrap();
        session.record_data_edge(cg::tensor_id(&x), &cg::tensor_id(&y)).unwrap();
        assert!(cg::observe_op(session, span, "bad", &[&x, &x], || x.matmul(&x)).is_err());
    });
    let ops = of_kind(&trace, "op");
    assert_eq!(ops.len(), 2);
    assert_eq!(ops[0]["shape"], serde_json::json!([2, 4]));
    // A text that a key prints is that key.
    assert_eq!(ops[1]["inputs"][0], of_kind(&trace, "tensor")[0]["tensor_id"]);
    assert_eq!(of_kind(&trace, "memory")[0]["bytes"], 32);
    assert!(of_kind(&trace, "memory")[0]["storage_id"].as_str().unwrap().starts_with("storage:0x"));
}

#[test]
fn statistics_are_of_the_elements_in_view() {
    let all = Tensor::arange(0f32, 24f32, &Device::Cpu).unwrap().reshape((4, 6)).unwrap();
    let view = all.narrow(1, 2, 3).unwrap().t().unwrap().narrow(0, 1, 2).unwrap();
    let expected: Vec<f32> = view.contiguous().unwrap().flatten_all().unwrap().to_vec1().unwrap();
    let trace = traced(|session, span| {
        session.record_tensor_stats(span, "view", &view).unwrap();
        for (name, dtype) in [
            ("f64", DType::F64),
            ("f16", DType::F16),
            ("bf16", DType::BF16),
            ("u8", DType::U8),
            ("u32", DType::U32),
            ("i64", DType::I64),
        ] {
            session.record_tensor_stats(span, name, &view.to_dtype(dtype).unwrap()).unwrap();
        }
        let row = view.narrow(0, 0, 1).unwrap().broadcast_as((5, 4)).unwrap();
        session.record_tensor_stats(span, "broadcast", &row).unwrap();
        let bad = Tensor::new(&[1f32, f32::NAN, f32::INFINITY], &Device::Cpu).unwrap();
        session.record_tensor_stats(span, "bad", &bad).unwrap();
        let empty = Tensor::zeros((0, 3), DType::F32, &Device::Cpu).unwrap();
        session.record_tensor_stats(span, "empty", &empty).unwrap();
        assert!(session.record_tensor_stats(span, " ", &bad).is_err());
    });
    let stats = of_kind(&trace, "tensor_stats");
    let mean = expected.iter().map(|x| f64::from(*x)).sum::<f64>() / expected.len() as f64;
    for row in &stats[..7] {
        assert_eq!(row["elements"], 8, "{row}");
        assert_eq!(row["mean"].as_f64().unwrap(), mean, "{row}");
        assert_eq!(row["abs_max"].as_f64().unwrap(), 22.0, "{row}");
    }
    assert_eq!(stats[1]["dtype"], "f64");
    assert_eq!(stats[7]["elements"], 20);
    assert_eq!(stats[8]["non_finite"], 2);
    assert_eq!(stats[9]["elements"], 0);
}

#[test]
fn gradients_of_a_manifest() {
    let var = |value: f32| Var::from_tensor(&Tensor::new(&[value, 0.0], &Device::Cpu).unwrap());
    let vars: Vec<(String, Var)> = [("b.weight", 3.0), ("a.zero", 1.0), ("c.unused", 1.0)]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), var(value).unwrap()))
        .collect();
    let plan = GradientCapturePlan::from_named_vars(
        "vb",
        vars.clone(),
        |key| key.split('.').next().unwrap_or("other").to_owned(),
        vec![
            GradientFamilyContract::active("a", 1),
            GradientFamilyContract::active("b", 1),
            GradientFamilyContract::inactive("c"),
        ],
    )
    .unwrap();
    let keys: Vec<&str> = plan.contract().expected.iter().map(|entry| &*entry.key).collect();
    assert_eq!(keys, ["a.zero", "b.weight", "c.unused"]);
    let loss = (vars[0].1.sqr().unwrap()
        + (vars[1].1.as_tensor() * vars[1].1.zeros_like().unwrap()).unwrap())
    .unwrap();
    let grads = loss.sum_all().unwrap().backward().unwrap();
    let trace = traced(|session, _| plan.record(session, &grads).unwrap());
    let states: Vec<_> = of_kind(&trace, "gradient")
        .into_iter()
        .map(|row| {
            (row["key"].as_str().unwrap(), row["state"].as_str().unwrap(), row["norm"].as_f64())
        })
        .collect();
    assert_eq!(
        states,
        [
            ("a.zero", "zero", Some(0.0)),
            ("b.weight", "present", Some(6.0)),
            ("c.unused", "missing", None)
        ]
    );
    let unknown = GradientCapturePlan::from_named_vars("vb", vars, |_| "x", vec![]);
    assert!(unknown.is_err());
}

#[test]
fn a_plan_of_all_promises_every_gradient_but_those_of_running_statistics() {
    let keys = ["conv.bias", "conv.weight", "norm.running_mean", "norm.running_var", "head.weight"];
    let vars = keys.map(|key| (key.to_owned(), Var::ones(2, DType::F32, &Device::Cpu).unwrap()));
    let loss = (vars[0].1.as_tensor() + vars[1].1.as_tensor()).unwrap();
    let loss = (loss + vars[4].1.as_tensor()).unwrap().sum_all().unwrap();
    let plan = GradientCapturePlan::of_all("vb", vars).unwrap();
    assert_eq!(
        plan.contract().families,
        [
            GradientFamilyContract::active("conv", 2),
            GradientFamilyContract::active("head", 1),
            GradientFamilyContract::inactive("running statistics"),
        ]
    );
    let grads = loss.backward().unwrap();
    let trace = traced(|session, _| plan.record(session, &grads).unwrap());
    let missing: Vec<_> = of_kind(&trace, "gradient")
        .into_iter()
        .filter(|row| row["state"] == "missing")
        .map(|row| row["key"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(missing, ["norm.running_mean", "norm.running_var"]);
}
