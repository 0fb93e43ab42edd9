//! The functions of libcandlegraph that the safe crate uses (`candlegraph.h`).
use core::ffi::{c_char, c_void};

use crate::{cg_code, cg_err, cg_sink, cg_str};

macro_rules! opaque {
    ($($name:ident)*) => {
        $(
            #[repr(C)]
            pub struct $name {
                _opaque: [u8; 0],
            }
        )*
    };
}

opaque! { cg_run cg_verification cg_publication cg_capture cg_comparison }

/// Zeroed with its size set it is complete.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_env {
    pub size: u32,
    pub allocator: *const c_void,
    pub os: *const c_void,
    pub limits: *const c_void,
    pub progress: Option<unsafe extern "C" fn(*mut c_void, *const c_char, u64, u64) -> bool>,
    pub progress_context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_format {
    pub size: u32,
    pub kind: u32,
    pub has_color: bool,
    pub width: u32,
    pub rows: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_query {
    pub size: u32,
    pub kind: u32,
    pub label: cg_str,
    pub label_prefix: cg_str,
    pub has_limit: bool,
    pub limit: u64,
    pub offset: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_publish_request {
    pub size: u32,
    pub trace_path: *const c_char,
    pub nsight_directory: *const c_char,
    pub bundle_path: *const c_char,
    pub receipt_path: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_publication_facts {
    pub size: u32,
    pub is_already_published: bool,
    pub bundle_path: cg_str,
    pub run_id: cg_str,
    pub manifest_sha256: cg_str,
    pub file_count: u64,
    pub byte_count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_capture_plan {
    pub size: u32,
    pub entrypoint: *const c_char,
    pub correlation_id: *const c_char,
    pub device: *const c_char,
    pub capture_step: u64,
    pub is_train: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_compare_request {
    pub size: u32,
    pub baseline: *const *const c_char,
    pub candidate: *const *const c_char,
    pub baseline_count: usize,
    pub candidate_count: usize,
    pub are_traces: bool,
    pub has_min_effect: bool,
    pub min_effect_percent: f64,
    pub is_calibrated: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cg_series_request {
    pub size: u32,
    pub manifest: *const c_char,
    pub bundles: *const *const c_char,
    pub bundle_count: usize,
    pub label_prefix: cg_str,
    pub has_growth: bool,
}

type Env = *const cg_env;
type Format = *const cg_format;
type Error = *mut cg_err;

extern "C" {
    pub fn cg_version() -> *const c_char;
    pub fn cg_run_open(env: Env, path: *const c_char, ret: *mut *mut cg_run, err: Error)
        -> cg_code;
    pub fn cg_run_open_with_nsight(
        env: Env,
        path: *const c_char,
        nsight: *const c_char,
        ret: *mut *mut cg_run,
        err: Error,
    ) -> cg_code;
    pub fn cg_run_free(run: *mut cg_run);
    pub fn cg_write_evidence(
        run: *const cg_run,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
    pub fn cg_write_summary(
        run: *const cg_run,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
    pub fn cg_write_overview(
        run: *const cg_run,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
    pub fn cg_write_report(run: *const cg_run, sink: cg_sink, err: Error) -> cg_code;
    pub fn cg_write_page(run: *const cg_run, sink: cg_sink, err: Error) -> cg_code;
    pub fn cg_query_find(word: *const c_char, ret: *mut u32) -> bool;
    pub fn cg_write_query(
        run: *const cg_run,
        query: *const cg_query,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
    pub fn cg_bundle_verify(
        env: Env,
        path: *const c_char,
        depth: u32,
        ret: *mut *mut cg_verification,
        err: Error,
    ) -> cg_code;
    pub fn cg_verification_free(verification: *mut cg_verification);
    pub fn cg_write_verification(
        verification: *const cg_verification,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
    pub fn cg_publish(
        env: Env,
        request: *const cg_publish_request,
        ret: *mut *mut cg_publication,
        err: Error,
    ) -> cg_code;
    pub fn cg_publication_free(publication: *mut cg_publication);
    pub fn cg_publication_facts_of(
        publication: *const cg_publication,
        ret: *mut cg_publication_facts,
    );
    pub fn cg_capture_begin(
        env: Env,
        bundle: *const c_char,
        plan: *const cg_capture_plan,
        ret: *mut *mut cg_capture,
        already: *mut *mut cg_publication,
        err: Error,
    ) -> cg_code;
    pub fn cg_capture_trace_path(capture: *const cg_capture) -> *const c_char;
    pub fn cg_capture_set_nsight(
        capture: *mut cg_capture,
        directory: *const c_char,
        err: Error,
    ) -> cg_code;
    pub fn cg_capture_publish(
        capture: *mut cg_capture,
        ret: *mut *mut cg_publication,
        err: Error,
    ) -> cg_code;
    pub fn cg_capture_publish_failed(
        capture: *mut cg_capture,
        ret: *mut *mut cg_publication,
        err: Error,
    ) -> cg_code;
    pub fn cg_capture_free(capture: *mut cg_capture);
    pub fn cg_compare(
        env: Env,
        request: *const cg_compare_request,
        ret: *mut *mut cg_comparison,
        err: Error,
    ) -> cg_code;
    pub fn cg_comparison_free(comparison: *mut cg_comparison);
    pub fn cg_write_comparison(
        comparison: *const cg_comparison,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
    pub fn cg_write_campaign_status(
        env: Env,
        manifest: *const c_char,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
    pub fn cg_write_series(
        env: Env,
        request: *const cg_series_request,
        format: Format,
        sink: cg_sink,
        err: Error,
    ) -> cg_code;
}

/// The sizes of `candlegraph.h` where pointers have eight bytes.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<cg_env>() == 48);
    assert!(size_of::<cg_format>() == 24);
    assert!(size_of::<cg_query>() == 64);
    assert!(size_of::<cg_publish_request>() == 40);
    assert!(size_of::<cg_publication_facts>() == 72);
    assert!(size_of::<cg_capture_plan>() == 48);
    assert!(size_of::<cg_compare_request>() == 64);
    assert!(size_of::<cg_series_request>() == 56);
};
