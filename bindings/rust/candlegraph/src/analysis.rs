//! What follows from a trace, by libcandlegraph: bundles, evidence, comparisons, campaigns.
//!
//! Documents are JSON as `candle-graph --format json` prints it (`docs/schemas/`).
use std::ffi::{c_char, c_void, CString};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use candlegraph_sys as sys;
use candlegraph_sys::analysis as raw;
use serde_json::Value;

use crate::describe::ProfileRun;
use crate::error::{tell, Result, Texts};
use crate::session::TraceSession;
use crate::words::ExecutionPhase;

pub const BUNDLE_SCHEMA: &str = "candle-graph/bundle/1";
pub const PUBLICATION_SCHEMA: &str = "candle-graph/publication/1";
pub const EVIDENCE_SCHEMA: &str = "candle-graph/evidence/4";
pub const GRAPH_SCHEMA: &str = "candle-graph/graph/5";
pub const COMPARISON_SCHEMA: &str = "candle-graph/comparison/6";
pub const CAMPAIGN_SCHEMA: &str = "candle-graph/campaign/1";
pub const CAMPAIGN_STATUS_SCHEMA: &str = "candle-graph/campaign-status/1";
pub const SERIES_SCHEMA: &str = "candle-graph/series/1";

fn environment() -> raw::cg_env {
    raw::cg_env {
        size: size_of::<raw::cg_env>() as u32,
        allocator: null(),
        os: null(),
        limits: null(),
        progress: None,
        progress_context: null_mut(),
    }
}

const JSON: raw::cg_format = raw::cg_format {
    size: size_of::<raw::cg_format>() as u32,
    kind: 0,
    has_color: false,
    width: 0,
    rows: 0,
};

unsafe extern "C" fn append(
    context: *mut c_void,
    bytes: *const c_char,
    count: usize,
) -> sys::cg_code {
    // SAFETY: the vector of `collect`, so many bytes.
    unsafe {
        let all = &mut *context.cast::<Vec<u8>>();
        all.extend_from_slice(std::slice::from_raw_parts(bytes.cast(), count));
    }
    sys::CG_OK
}

/// What `write` writes.
fn collect(write: impl FnOnce(sys::cg_sink, *mut sys::cg_err) -> sys::cg_code) -> Result<String> {
    let mut bytes = Vec::new();
    let sink = sys::cg_sink { context: (&raw mut bytes).cast(), write: Some(append) };
    tell(|err| write(sink, err))?;
    Ok(String::from_utf8(bytes)?)
}

fn collect_json(
    write: impl FnOnce(sys::cg_sink, *mut sys::cg_err) -> sys::cg_code,
) -> Result<Value> {
    Ok(serde_json::from_str(&collect(write)?)?)
}

fn text(slice: sys::cg_str) -> String {
    if slice.ptr.is_null() {
        return String::new();
    }
    // SAFETY: lent by the object it was read from, which is still there.
    let bytes = unsafe { std::slice::from_raw_parts(slice.ptr.cast::<u8>(), slice.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// An answer as JSON, which it derefs to.
macro_rules! documents {
    ($($(#[$note:meta])* $name:ident)*) => {
        $(
            $(#[$note])*
            #[derive(Clone, Debug, PartialEq)]
            pub struct $name(Value);

            impl $name {
                pub fn into_json(self) -> Value {
                    self.0
                }
            }

            impl Deref for $name {
                type Target = Value;

                fn deref(&self) -> &Value {
                    &self.0
                }
            }
        )*
    };
}

documents! {
    /// `candle-graph/evidence/4`
    EvidencePacket
    /// `candle-graph/graph/5`: the spans of a healthy and complete capture.
    ExecutionGraph
    /// `candle-graph/comparison/6`
    ReplicatedComparison
    /// `candle-graph/campaign-status/1`
    CampaignStatus
    /// `candle-graph/series/1`
    SeriesReport
    /// `candle-graph/verify/1`
    BundleVerificationReceipt
    /// `bundle.json` of a published bundle.
    BundleManifest
    /// `gpu` of the evidence: what Nsight exports say.
    NsightEvidence
    /// `inputs` of a comparison.
    ComparisonInputs
    /// One run of a cohort, as it was verified.
    VerifiedBundleInput
    /// One reason of a verdict.
    ComparisonReason
    /// `tensor_stats` of a comparison.
    TensorStatsComparison
    /// Statistics of one label on both sides.
    TensorStatsComparisonRow
    /// One capture of a campaign, and what has become of it.
    CaptureStatus
}

/// A record of a trace.
pub type TraceEvent = Value;

/// A word of a closed list, as the documents have it.
macro_rules! wire_words {
    ($($(#[$note:meta])* $name:ident)*) => {
        $(
            $(#[$note])*
            #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(String);

            impl $name {
                fn of(value: &Value) -> Self {
                    Self(value.as_str().unwrap_or_default().to_owned())
                }

                pub fn as_str(&self) -> &str {
                    &self.0
                }
            }

            impl std::fmt::Display for $name {
                fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    out.write_str(&self.0)
                }
            }
        )*
    };
}

wire_words! {
    /// `ineligible`, `inconclusive`, `candidate_faster`, `candidate_slower`
    ComparisonVerdict
    ComparisonReasonCode
    /// `verified_bundles` or `unverified_traces`
    ComparisonInputVerification
    /// `published`, `missing`, `failed_run`, `verification_failed`, `identity_mismatch`
    CaptureState
    GpuEvidenceStatus
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

impl EvidencePacket {
    pub fn nsight(&self) -> NsightEvidence {
        NsightEvidence(self.0["gpu"].clone())
    }
}

impl NsightEvidence {
    pub fn status(&self) -> GpuEvidenceStatus {
        GpuEvidenceStatus::of(&self.0["status"])
    }
}

impl ReplicatedComparison {
    pub fn verdict(&self) -> ComparisonVerdict {
        ComparisonVerdict::of(&self.0["verdict"])
    }

    pub fn reasons(&self) -> Vec<ComparisonReason> {
        list(&self.0["reasons"]).cloned().map(ComparisonReason).collect()
    }

    pub fn inputs(&self) -> ComparisonInputs {
        ComparisonInputs(self.0["inputs"].clone())
    }

    pub fn tensor_stats(&self) -> TensorStatsComparison {
        TensorStatsComparison(self.0["tensor_stats"].clone())
    }
}

impl ComparisonReason {
    pub fn code(&self) -> ComparisonReasonCode {
        ComparisonReasonCode::of(&self.0["code"])
    }
}

impl ComparisonInputs {
    pub fn verification(&self) -> ComparisonInputVerification {
        ComparisonInputVerification::of(&self.0["verification"])
    }

    pub fn baseline(&self) -> Vec<VerifiedBundleInput> {
        list(&self.0["baseline"]).cloned().map(VerifiedBundleInput).collect()
    }

    pub fn candidate(&self) -> Vec<VerifiedBundleInput> {
        list(&self.0["candidate"]).cloned().map(VerifiedBundleInput).collect()
    }
}

impl TensorStatsComparison {
    pub fn matched(&self) -> Vec<TensorStatsComparisonRow> {
        list(&self.0["matched"]).cloned().map(TensorStatsComparisonRow).collect()
    }
}

impl CampaignStatus {
    pub fn captures(&self) -> Vec<CaptureStatus> {
        list(&self.0["captures"]).cloned().map(CaptureStatus).collect()
    }
}

impl CaptureStatus {
    pub fn state(&self) -> CaptureState {
        CaptureState::of(&self.0["state"]["state"])
    }
}

impl BundleManifest {
    pub fn read(bundle: impl AsRef<Path>) -> Result<Self> {
        Ok(Self(serde_json::from_slice(&std::fs::read(bundle.as_ref().join("bundle.json"))?)?))
    }
}

/// A capture that is planned: the step, and where its bundle will be, from the manifest's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCapture {
    pub capture_step: u64,
    pub bundle: PathBuf,
}

/// Which captures of an entrypoint are planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignManifest {
    pub campaign_id: String,
    pub entrypoint: String,
    pub planned: Vec<PlannedCapture>,
}

impl CampaignManifest {
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let planned: Vec<Value> = self
            .planned
            .iter()
            .map(|capture| {
                serde_json::json!({"capture_step": capture.capture_step, "bundle": capture.bundle})
            })
            .collect();
        let manifest = serde_json::json!({
            "schema": CAMPAIGN_SCHEMA,
            "campaign_id": self.campaign_id,
            "entrypoint": self.entrypoint,
            "planned": planned,
        });
        Ok(std::fs::write(path, format!("{manifest}\n"))?)
    }
}

/// Events as lines of a file, in directories that are made. Nothing is checked: reading does that.
pub fn write_jsonl(events: &[TraceEvent], path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    Ok(std::fs::write(path, text)?)
}

/// A trace that was read and analysed as a whole.
pub struct TraceDocument(*mut raw::cg_run);

// SAFETY: immutable once open.
unsafe impl Send for TraceDocument {}
// SAFETY: as above.
unsafe impl Sync for TraceDocument {}

impl Drop for TraceDocument {
    fn drop(&mut self) {
        // SAFETY: open until here.
        unsafe { raw::cg_run_free(self.0) };
    }
}

impl TraceDocument {
    /// A trace, or a published bundle.
    pub fn open(path: impl AsRef<Path>, nsight: Option<&Path>) -> Result<Self> {
        let mut texts = Texts::default();
        let path = texts.put_path(path.as_ref())?;
        let nsight = nsight.map_or(Ok(null()), |path| texts.put_path(path))?;
        let mut run = null_mut();
        // SAFETY: everything lives until the call returns; as for every call below.
        tell(|err| unsafe {
            match nsight.is_null() {
                true => raw::cg_run_open(&environment(), path, &mut run, err),
                false => raw::cg_run_open_with_nsight(&environment(), path, nsight, &mut run, err),
            }
        })?;
        Ok(Self(run))
    }

    pub fn evidence(&self) -> Result<EvidencePacket> {
        let write = |sink, err| unsafe { raw::cg_write_evidence(self.0, &JSON, sink, err) };
        collect_json(write).map(EvidencePacket)
    }

    pub fn summary(&self) -> Result<Value> {
        collect_json(|sink, err| unsafe { raw::cg_write_summary(self.0, &JSON, sink, err) })
    }

    pub fn overview(&self) -> Result<Value> {
        collect_json(|sink, err| unsafe { raw::cg_write_overview(self.0, &JSON, sink, err) })
    }

    /// The report as Markdown.
    pub fn report(&self) -> Result<String> {
        collect(|sink, err| unsafe { raw::cg_write_report(self.0, sink, err) })
    }

    /// One HTML file that needs no network.
    pub fn page(&self) -> Result<String> {
        collect(|sink, err| unsafe { raw::cg_write_page(self.0, sink, err) })
    }

    /// `candle-graph query --kind KIND`, with an exact or a prefix filter of labels.
    pub fn query(
        &self,
        kind: &str,
        label: Option<&str>,
        label_prefix: Option<&str>,
    ) -> Result<Value> {
        let word = CString::new(kind)?;
        let mut number = 0;
        // SAFETY: a terminated word.
        let is_known = unsafe { raw::cg_query_find(word.as_ptr(), &mut number) };
        anyhow::ensure!(is_known, "`{kind}` is no kind of question about a run");
        let slice = |text: Option<&str>| sys::cg_str {
            ptr: text.map_or(null(), |text| text.as_ptr().cast()),
            len: text.map_or(0, str::len),
        };
        let query = raw::cg_query {
            size: size_of::<raw::cg_query>() as u32,
            kind: number,
            label: slice(label),
            label_prefix: slice(label_prefix),
            has_limit: false,
            limit: 0,
            offset: 0,
        };
        collect_json(|sink, err| unsafe { raw::cg_write_query(self.0, &query, &JSON, sink, err) })
    }
}

impl ExecutionGraph {
    fn rows(&self, list: &str) -> impl Iterator<Item = &Value> {
        self.0[list].as_array().into_iter().flatten()
    }

    /// The node of a span.
    pub fn node(&self, id: &str) -> Option<&Value> {
        self.rows("spans").find(|node| node["id"] == id)
    }

    /// The nodes right below one.
    pub fn children<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Value> {
        self.rows("spans").filter(move |node| node["parent_id"] == id)
    }
}

pub fn parse_trace(path: impl AsRef<Path>) -> Result<TraceDocument> {
    TraceDocument::open(path, None)
}

pub fn build_evidence(path: impl AsRef<Path>, nsight: Option<&Path>) -> Result<EvidencePacket> {
    TraceDocument::open(path, nsight)?.evidence()
}

/// Refused where the trace is not fit for a graph.
pub fn build_from_trace(trace: &TraceDocument) -> Result<ExecutionGraph> {
    // The question that needs a graph says why there is none.
    trace.query("spans", None, None)?;
    let mut evidence = trace.evidence()?.into_json();
    Ok(ExecutionGraph(evidence["graph"].take()))
}

pub fn render_evidence_html(trace: &TraceDocument) -> Result<String> {
    trace.page()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicationStatus {
    Published,
    /// Nothing was written: the bundle holds the same already.
    AlreadyPublished,
}

/// What stands at the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicationReceipt {
    pub status: PublicationStatus,
    pub bundle_path: PathBuf,
    pub run_id: String,
    pub manifest_sha256: String,
    pub file_count: u64,
    pub byte_count: u64,
}

impl PublicationReceipt {
    /// Takes the publication.
    fn of(publication: *mut raw::cg_publication) -> Self {
        let empty = sys::cg_str { ptr: null(), len: 0 };
        let mut facts = raw::cg_publication_facts {
            size: size_of::<raw::cg_publication_facts>() as u32,
            is_already_published: false,
            bundle_path: empty,
            run_id: empty,
            manifest_sha256: empty,
            file_count: 0,
            byte_count: 0,
        };
        // SAFETY: a publication that was just made, freed after its texts were copied.
        unsafe { raw::cg_publication_facts_of(publication, &mut facts) };
        let receipt = Self {
            status: match facts.is_already_published {
                true => PublicationStatus::AlreadyPublished,
                false => PublicationStatus::Published,
            },
            bundle_path: text(facts.bundle_path).into(),
            run_id: text(facts.run_id),
            manifest_sha256: text(facts.manifest_sha256),
            file_count: facts.file_count,
            byte_count: facts.byte_count,
        };
        unsafe { raw::cg_publication_free(publication) };
        receipt
    }
}

/// Publish a trace as a bundle, whole or not at all. A repetition finds the work done.
pub fn publish_bundle(
    trace: impl AsRef<Path>,
    nsight: Option<&Path>,
    bundle: impl AsRef<Path>,
) -> Result<PublicationReceipt> {
    let mut texts = Texts::default();
    let request = raw::cg_publish_request {
        size: size_of::<raw::cg_publish_request>() as u32,
        trace_path: texts.put_path(trace.as_ref())?,
        nsight_directory: nsight.map_or(Ok(null()), |path| texts.put_path(path))?,
        bundle_path: texts.put_path(bundle.as_ref())?,
        receipt_path: null(),
    };
    let mut publication = null_mut();
    tell(|err| unsafe { raw::cg_publish(&environment(), &request, &mut publication, err) })?;
    Ok(PublicationReceipt::of(publication))
}

/// The receipt of a bundle that stands there already, when it holds this trace.
pub fn reconcile_published_bundle(
    trace: impl AsRef<Path>,
    nsight: Option<&Path>,
    bundle: impl AsRef<Path>,
) -> Result<PublicationReceipt> {
    anyhow::ensure!(bundle.as_ref().exists(), "there is no bundle at {:?}", bundle.as_ref());
    publish_bundle(trace, nsight, bundle)
}

/// Files, sizes and digests.
pub fn verify_bundle(path: impl AsRef<Path>) -> Result<BundleVerificationReceipt> {
    verify(path.as_ref(), 0)
}

/// Also: what is in the bundle follows from its trace.
pub fn verify_bundle_semantically(path: impl AsRef<Path>) -> Result<BundleVerificationReceipt> {
    verify(path.as_ref(), 1)
}

fn verify(path: &Path, depth: u32) -> Result<BundleVerificationReceipt> {
    let mut texts = Texts::default();
    let path = texts.put_path(path)?;
    let mut found = null_mut();
    tell(|err| unsafe { raw::cg_bundle_verify(&environment(), path, depth, &mut found, err) })?;
    let told =
        collect_json(|sink, err| unsafe { raw::cg_write_verification(found, &JSON, sink, err) });
    unsafe { raw::cg_verification_free(found) };
    told.map(BundleVerificationReceipt)
}

/// One planned capture: recorded into its session, then published at its destination. A program
/// that is killed in between leaves the destination absent or complete.
pub struct CaptureRun {
    capture: *mut raw::cg_capture,
    session: Option<TraceSession>,
    _environment: Box<raw::cg_env>,
}

// SAFETY: used by one thread at a time; the session by any.
unsafe impl Send for CaptureRun {}

impl std::fmt::Debug for CaptureRun {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CaptureRun").field("session", &self.session).finish_non_exhaustive()
    }
}

/// What [`CaptureRun::begin`] found.
#[derive(Debug)]
pub enum CaptureBegin {
    Active(CaptureRun),
    /// Done in an earlier run of the program.
    AlreadyPublished(PublicationReceipt),
}

impl CaptureRun {
    pub fn begin(bundle: impl AsRef<Path>, run: ProfileRun) -> Result<CaptureBegin> {
        let mut texts = Texts::default();
        let plan = raw::cg_capture_plan {
            size: size_of::<raw::cg_capture_plan>() as u32,
            entrypoint: texts.put(&run.entrypoint)?,
            correlation_id: texts.put(&run.correlation_id)?,
            device: texts.put(&run.device)?,
            capture_step: run.capture_step,
            is_train: run.phase == ExecutionPhase::Train,
        };
        let bundle = texts.put_path(bundle.as_ref())?;
        let environment = Box::new(environment());
        let (mut capture, mut already) = (null_mut(), null_mut());
        tell(|err| unsafe {
            raw::cg_capture_begin(&*environment, bundle, &plan, &mut capture, &mut already, err)
        })?;
        if !already.is_null() {
            return Ok(CaptureBegin::AlreadyPublished(PublicationReceipt::of(already)));
        }
        let mut active = Self { capture, session: None, _environment: environment };
        active.session = Some(TraceSession::open(active.trace_path(), run)?);
        Ok(CaptureBegin::Active(active))
    }

    fn trace_path(&self) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;

        // SAFETY: a terminated text of the capture.
        let path = unsafe { std::ffi::CStr::from_ptr(raw::cg_capture_trace_path(self.capture)) };
        std::ffi::OsStr::from_bytes(path.to_bytes()).into()
    }

    pub fn session(&self) -> &TraceSession {
        self.session.as_ref().expect("there until the capture is published")
    }

    /// Nsight exports to be published with it.
    pub fn nsight(&mut self, directory: impl AsRef<Path>) -> Result<()> {
        let mut texts = Texts::default();
        let directory = texts.put_path(directory.as_ref())?;
        tell(|err| unsafe { raw::cg_capture_set_nsight(self.capture, directory, err) })
    }

    /// Finish the session and publish it. An error leaves the trace where it was recorded.
    pub fn publish(mut self) -> Result<PublicationReceipt> {
        if let Some(session) = self.session.take() {
            session.finish()?;
        }
        let mut found = null_mut();
        tell(|err| unsafe { raw::cg_capture_publish(self.capture, &mut found, err) })?;
        Ok(PublicationReceipt::of(found))
    }

    /// Publish a run that failed. Spans may be open.
    pub fn publish_failed(mut self, reason: impl AsRef<str>) -> Result<PublicationReceipt> {
        if let Some(session) = self.session.take() {
            session.finish_failed(reason)?;
        }
        let mut found = null_mut();
        tell(|err| unsafe { raw::cg_capture_publish_failed(self.capture, &mut found, err) })?;
        Ok(PublicationReceipt::of(found))
    }
}

impl Drop for CaptureRun {
    fn drop(&mut self) {
        self.session = None;
        // SAFETY: begun, and freed once.
        unsafe { raw::cg_capture_free(self.capture) };
    }
}

fn compare<P: AsRef<Path>>(
    baseline: &[P],
    candidate: &[P],
    are_traces: bool,
) -> Result<ReplicatedComparison> {
    let mut texts = Texts::default();
    let mut put = |paths: &[P]| -> Result<Vec<*const c_char>> {
        paths.iter().map(|path| texts.put_path(path.as_ref())).collect()
    };
    let (baseline, candidate) = (put(baseline)?, put(candidate)?);
    let request = raw::cg_compare_request {
        size: size_of::<raw::cg_compare_request>() as u32,
        baseline: baseline.as_ptr(),
        candidate: candidate.as_ptr(),
        baseline_count: baseline.len(),
        candidate_count: candidate.len(),
        are_traces,
        has_min_effect: false,
        min_effect_percent: 0.0,
        is_calibrated: false,
    };
    let mut found = null_mut();
    tell(|err| unsafe { raw::cg_compare(&environment(), &request, &mut found, err) })?;
    let told =
        collect_json(|sink, err| unsafe { raw::cg_write_comparison(found, &JSON, sink, err) });
    unsafe { raw::cg_comparison_free(found) };
    told.map(ReplicatedComparison)
}

/// Published bundles: may they be compared, and did the candidate change the time?
pub fn compare_verified_bundles<P: AsRef<Path>>(
    baseline: &[P],
    candidate: &[P],
) -> Result<ReplicatedComparison> {
    compare(baseline, candidate, false)
}

/// Raw traces, which are never eligible for a verdict.
pub fn compare_unverified_traces<P: AsRef<Path>>(
    baseline: &[P],
    candidate: &[P],
) -> Result<ReplicatedComparison> {
    compare(baseline, candidate, true)
}

/// What has become of the captures that a manifest plans.
pub fn campaign_status(manifest: impl AsRef<Path>) -> Result<CampaignStatus> {
    let mut texts = Texts::default();
    let path = texts.put_path(manifest.as_ref())?;
    collect_json(|sink, err| unsafe {
        raw::cg_write_campaign_status(&environment(), path, &JSON, sink, err)
    })
    .map(CampaignStatus)
}

/// Times, statistics and gradients by captured step.
pub fn build_series<P: AsRef<Path>>(
    bundles: &[P],
    label_prefix: Option<&str>,
) -> Result<SeriesReport> {
    let mut texts = Texts::default();
    let bundles: Vec<_> =
        bundles.iter().map(|path| texts.put_path(path.as_ref())).collect::<Result<_>>()?;
    let request = raw::cg_series_request {
        size: size_of::<raw::cg_series_request>() as u32,
        manifest: null(),
        bundles: bundles.as_ptr(),
        bundle_count: bundles.len(),
        label_prefix: sys::cg_str {
            ptr: label_prefix.map_or(null(), |text| text.as_ptr().cast()),
            len: label_prefix.map_or(0, str::len),
        },
        has_growth: false,
    };
    collect_json(|sink, err| unsafe {
        raw::cg_write_series(&environment(), &request, &JSON, sink, err)
    })
    .map(SeriesReport)
}
