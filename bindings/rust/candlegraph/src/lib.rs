//! Record one selected update or call of a program, and read what follows from it.
//!
//! ```no_run
//! use candle_graph::{CaptureSelector, ProfileRun, SpanKind, TraceSession};
//!
//! # fn main() -> candle_graph::Result<()> {
//! let selector = CaptureSelector::new(100)?;
//! for step in 1..=1000 {
//!     if selector.is_selected(step) {
//!         let session = TraceSession::open("run.jsonl", ProfileRun::training("app::train", step, "cpu"))?;
//!         {
//!             let measured = session.begin_measurement("update");
//!             let _layer = session.begin_span("layer-0", SpanKind::Module);
//!             session.record_scalar(measured.id(), "loss", 0.5)?;
//!         }
//!         session.finish()?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Features: `candle` (tensors, operations, statistics and gradients of Candle), `tracing` (spans
//! that are there already), `runtime` (short probe runs for the analysis of the source), `analysis`
//! (bundles, evidence, comparisons; links libcandlegraph).
#![warn(unsafe_op_in_unsafe_fn)]

mod describe;
mod error;
mod identity;
mod names;
mod session;
mod words;

#[cfg(feature = "analysis")]
mod analysis;
#[cfg(feature = "candle")]
pub mod candle;
#[cfg(feature = "runtime")]
pub mod profile;
#[cfg(feature = "runtime")]
pub mod runtime;
#[cfg(feature = "tracing")]
pub mod tracing;

#[cfg(feature = "analysis")]
pub use analysis::*;
pub use describe::{
    CaptureContract, CaptureSelector, ComparisonIdentity, ExpectedGradient, GradientContract,
    GradientFamilyContract, ProfileRun, GRADIENT_MANIFEST_SCHEMA, TRACE_SCHEMA,
};
pub use error::{Error, Result};
pub use identity::{Identity, StorageKey, TensorKey};
pub use session::{
    recover, DeviceIntervalRecord, DeviceMemoryRecord, MemoryRecord, OpRecord, SessionOptions,
    SpanGuard, SpanId, TensorRecord, TraceSession,
};
pub use words::{
    CoverageLevel, ExecutionPhase, ExecutionStep, GradientFamilyExpectation, GradientState,
    MeasurementScope, MemoryCategory, SpanKind, TimingMode,
};

/// Where the reference has the live session.
pub mod instrument {
    pub use crate::{
        CaptureSelector, DeviceIntervalRecord, DeviceMemoryRecord, MemoryRecord, OpRecord,
        SpanGuard, SpanId, TensorRecord, TraceSession,
    };
}

/// Where the reference has phases and parts of a step.
pub mod phase {
    pub use crate::{ExecutionPhase, ExecutionStep};
}

/// Where the reference has the words of a trace.
pub mod trace {
    #[cfg(feature = "analysis")]
    pub use crate::{parse_trace, write_jsonl, TraceDocument, TraceEvent};
    pub use crate::{
        CaptureContract, ComparisonIdentity, CoverageLevel, ExecutionPhase, ExecutionStep,
        ExpectedGradient, GradientContract, GradientFamilyContract, GradientFamilyExpectation,
        GradientState, MeasurementScope, MemoryCategory, SpanKind, TimingMode,
        GRADIENT_MANIFEST_SCHEMA, TRACE_SCHEMA,
    };
}

/// Where the reference has the parts of the analysis.
#[cfg(feature = "analysis")]
mod places {
    macro_rules! places {
        ($($name:ident: $($item:ident)*;)*) => {
            $(
                pub mod $name {
                    pub use crate::{$($item),*};
                }
            )*
        };
    }

    places! {
        campaign: build_series campaign_status CampaignManifest CampaignStatus CaptureState
            CaptureStatus PlannedCapture SeriesReport CAMPAIGN_SCHEMA CAMPAIGN_STATUS_SCHEMA
            SERIES_SCHEMA;
        comparison: compare_unverified_traces compare_verified_bundles ComparisonInputVerification
            ComparisonInputs ComparisonReason ComparisonReasonCode ComparisonVerdict
            ReplicatedComparison TensorStatsComparison TensorStatsComparisonRow VerifiedBundleInput
            COMPARISON_SCHEMA;
        evidence: build_evidence EvidencePacket EVIDENCE_SCHEMA;
        graph: build_from_trace ExecutionGraph GRAPH_SCHEMA;
        nsight: GpuEvidenceStatus NsightEvidence;
        publication: publish_bundle reconcile_published_bundle verify_bundle BundleManifest
            BundleVerificationReceipt CaptureBegin CaptureRun PublicationReceipt PublicationStatus
            BUNDLE_SCHEMA PUBLICATION_SCHEMA;
        viewer: render_evidence_html;
    }
}

#[cfg(feature = "analysis")]
pub use places::*;
