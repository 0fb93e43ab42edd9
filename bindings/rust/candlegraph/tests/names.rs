//! Every name of the reference's that docs/api-map.md lists and that the crate has.
#![allow(unused_imports)]
use candle_graph::candle::{
    device_label, dtype_label, inputs_dense_bytes, record_op, record_tensor,
    record_tensor_with_label, storage_id, tensor_dense_bytes, tensor_id, CandleCapture,
    CandleOpCapture, GradientCapturePlan,
};
use candle_graph::profile::{ProfileConfig, ProfileSession, TimedOperation};
use candle_graph::runtime::{
    EdgeTimingObservation, GradientFact, OperationObservation, RunMetadata, RuntimeTraceWriter,
    TensorObservation, ValueObservation, RUNTIME_SCHEMA_V1, RUNTIME_SCHEMA_V2, RUNTIME_SCHEMA_V3,
};
use candle_graph::{
    build_evidence, build_from_trace, build_series, campaign_status, compare_unverified_traces,
    compare_verified_bundles, parse_trace, publish_bundle, reconcile_published_bundle,
    render_evidence_html, verify_bundle, write_jsonl, BundleManifest, BundleVerificationReceipt,
    CampaignManifest, CampaignStatus, CaptureBegin, CaptureContract, CaptureRun, CaptureSelector,
    CaptureState, CaptureStatus, ComparisonIdentity, ComparisonInputVerification, ComparisonInputs,
    ComparisonReason, ComparisonReasonCode, ComparisonVerdict, CoverageLevel, DeviceIntervalRecord,
    DeviceMemoryRecord, EvidencePacket, ExecutionGraph, ExecutionPhase, ExecutionStep,
    ExpectedGradient, GpuEvidenceStatus, GradientContract, GradientFamilyContract,
    GradientFamilyExpectation, GradientState, MeasurementScope, MemoryRecord, NsightEvidence,
    OpRecord, PlannedCapture, ProfileRun, PublicationReceipt, PublicationStatus,
    ReplicatedComparison, SeriesReport, SpanGuard, SpanId, SpanKind, TensorRecord,
    TensorStatsComparison, TensorStatsComparisonRow, TimingMode, TraceDocument, TraceEvent,
    TraceSession, VerifiedBundleInput, BUNDLE_SCHEMA, CAMPAIGN_SCHEMA, CAMPAIGN_STATUS_SCHEMA,
    COMPARISON_SCHEMA, EVIDENCE_SCHEMA, GRADIENT_MANIFEST_SCHEMA, GRAPH_SCHEMA, PUBLICATION_SCHEMA,
    SERIES_SCHEMA, TRACE_SCHEMA,
};
use candle_graph::{
    campaign, comparison, evidence, graph, instrument, nsight, phase, publication, trace, viewer,
};

#[test]
fn schemas_are_those_of_the_wire() {
    let schemas = [
        BUNDLE_SCHEMA,
        CAMPAIGN_SCHEMA,
        CAMPAIGN_STATUS_SCHEMA,
        COMPARISON_SCHEMA,
        EVIDENCE_SCHEMA,
        GRADIENT_MANIFEST_SCHEMA,
        GRAPH_SCHEMA,
        PUBLICATION_SCHEMA,
        SERIES_SCHEMA,
        TRACE_SCHEMA,
    ];
    assert!(schemas.iter().all(|schema| schema.starts_with("candle-graph/")));
}
