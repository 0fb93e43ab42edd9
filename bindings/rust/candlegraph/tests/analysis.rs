//! From a capture to what follows from it.
mod support;

use candle_graph::*;
use support::Folder;

fn contract() -> CaptureContract {
    CaptureContract {
        measurement_scope: MeasurementScope::ProductionEquivalent,
        operations: CoverageLevel::Partial,
        required_semantic_labels: vec!["work".into()],
        ..Default::default()
    }
}

fn capture(folder: &Folder, name: &str, milliseconds: u64, implementation: &str) {
    let identity = ComparisonIdentity {
        implementation_id: Some(implementation.into()),
        workload_id: "sleep".into(),
        model_id: "none".into(),
        config_id: "default".into(),
        data_id: "none".into(),
        seed_policy: "fixed".into(),
        physical_batch: 1,
        accumulation_steps: 1,
        precision: "f32".into(),
        device_state: "shared".into(),
        pair_id: None,
    };
    let run = ProfileRun::inference("app::work", 2, "cpu")
        .capture_contract(contract())
        .comparison_identity(identity);
    let CaptureBegin::Active(active) = CaptureRun::begin(folder.at(name), run).unwrap() else {
        panic!("published already");
    };
    {
        let measured = active.session().begin_measurement("work");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        active.session().record_scalar(measured.id(), "score", 0.5).unwrap();
    }
    let receipt = active.publish().unwrap();
    assert_eq!(receipt.status, PublicationStatus::Published);
    assert_eq!(receipt.bundle_path, folder.at(name));
}

#[test]
fn a_capture_is_published_once() {
    let folder = Folder::new();
    capture(&folder, "bundle", 1, "a");
    let run = ProfileRun::inference("app::work", 2, "cpu").capture_contract(contract());
    match CaptureRun::begin(folder.at("bundle"), run).unwrap() {
        CaptureBegin::AlreadyPublished(receipt) => assert!(receipt.file_count > 2),
        CaptureBegin::Active(_) => panic!("begun again"),
    }
    // Another capture at the same place is a conflict.
    let other = ProfileRun::inference("app::other", 2, "cpu").capture_contract(contract());
    let error = CaptureRun::begin(folder.at("bundle"), other).unwrap_err();
    assert!(error.downcast_ref::<Error>().is_some(), "{error}");
}

#[test]
fn failed_captures_are_published_with_their_reason() {
    let folder = Folder::new();
    let run = ProfileRun::training("app::train", 2, "cpu").capture_contract(contract());
    let CaptureBegin::Active(active) = CaptureRun::begin(folder.at("bundle"), run).unwrap() else {
        panic!("published already");
    };
    std::mem::forget(active.session().begin_measurement("work"));
    active.publish_failed("loss became NaN").unwrap();
    let trace = parse_trace(folder.at("bundle")).unwrap();
    assert!(build_from_trace(&trace).is_err());
    assert!(trace.summary().unwrap().to_string().contains("loss became NaN"));
}

#[test]
fn evidence_graph_and_documents() {
    let folder = Folder::new();
    capture(&folder, "bundle", 1, "a");
    let path = folder.at("bundle/trace.jsonl");
    let evidence = build_evidence(&path, None).unwrap();
    assert_eq!(evidence["schema"], EVIDENCE_SCHEMA);
    assert_eq!(evidence["health"]["structurally_valid"], true);
    let trace = parse_trace(&path).unwrap();
    let graph = build_from_trace(&trace).unwrap();
    assert_eq!(graph["schema"], GRAPH_SCHEMA);
    assert_eq!(graph.node("s2").unwrap()["name"], "work");
    assert_eq!(graph.children("s1").count(), 1);
    assert!(trace.report().unwrap().contains("app::work"));
    assert!(trace.query("sideways", None, None).is_err());
    let stats = trace.query("tensor-stats", Some("score"), None).unwrap();
    assert!(stats["result"].to_string().contains("score"));
    assert_eq!(evidence.nsight().status().as_str(), "unavailable");
    assert_eq!(BundleManifest::read(folder.at("bundle")).unwrap()["schema"], BUNDLE_SCHEMA);
    write_jsonl(&support::lines(&path), folder.at("copy/trace.jsonl")).unwrap();
    assert!(parse_trace(folder.at("copy/trace.jsonl")).is_ok());
    let again = publish_bundle(&path, None, folder.at("second")).unwrap();
    assert_eq!(again.status, PublicationStatus::Published);
    assert_eq!(
        reconcile_published_bundle(&path, None, folder.at("second")).unwrap().status,
        PublicationStatus::AlreadyPublished
    );
    assert!(verify_bundle(folder.at("second")).is_ok());
    assert!(verify_bundle_semantically(folder.at("second")).is_ok());
    std::fs::write(folder.at("second/report.md"), "no").unwrap();
    assert!(verify_bundle(folder.at("second")).is_err());
}

#[test]
fn cohorts_and_series() {
    let folder = Folder::new();
    let mut cohorts = [Vec::new(), Vec::new()];
    for run in 0..5 {
        for (side, name) in ["slow", "fast"].into_iter().enumerate() {
            let bundle = format!("{name}-{run}");
            capture(&folder, &bundle, if side == 0 { 12 } else { 3 }, name);
            cohorts[side].push(folder.at(&bundle));
        }
    }
    let compared = compare_verified_bundles(&cohorts[0], &cohorts[1]).unwrap();
    assert_eq!(compared["schema"], COMPARISON_SCHEMA);
    // Which is faster is for a machine without neighbours to say.
    assert!(!compared.to_string().contains("ineligible"), "{}", *compared);
    let traces: Vec<_> = cohorts[0].iter().map(|path| path.join("trace.jsonl")).collect();
    assert_eq!(compared.inputs().verification().as_str(), "verified_bundles");
    assert_eq!(compared.inputs().baseline().len(), 5);
    assert!(compared.reasons().is_empty());
    assert_eq!(compared.tensor_stats().matched().len(), 1);
    let raw = compare_unverified_traces(&traces, &traces).unwrap();
    assert_eq!(raw.verdict().as_str(), "ineligible");
    assert!(!raw.reasons()[0].code().as_str().is_empty());
    assert!(campaign_status(folder.at("none.json")).is_err());
    let manifest = CampaignManifest {
        campaign_id: "campaign".into(),
        entrypoint: "app::work".into(),
        planned: vec![
            PlannedCapture { capture_step: 2, bundle: "slow-0".into() },
            PlannedCapture { capture_step: 9, bundle: "never".into() },
        ],
    };
    manifest.write(folder.at("campaign.json")).unwrap();
    let captures = campaign_status(folder.at("campaign.json")).unwrap().captures();
    let states: Vec<_> = captures.iter().map(|capture| capture.state().to_string()).collect();
    assert_eq!(states, ["published", "missing"]);
    let series = build_series(&cohorts[0][..1], None).unwrap();
    assert_eq!(series["schema"], SERIES_SCHEMA);
}
