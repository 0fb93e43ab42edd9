//! The recorder of candle-graph (`record.h`, `runtime.h`), declared by hand.
//!
//! Sizes and offsets are compared with what the C compiler says: at build time for the sizes
//! (`layout.c` and the assertions below), in `cargo test` for every field. The manual of every
//! function is its header. With feature `analysis`, [`analysis`] has the functions of
//! libcandlegraph that the safe crate uses.
#![allow(non_camel_case_types)]
#![no_std]

use core::ffi::{c_char, c_void};

#[cfg(feature = "analysis")]
pub mod analysis;

pub type cg_code = u32;
pub const CG_OK: cg_code = 0;
pub const CG_USAGE: cg_code = 1;

/// Interned text of a session, 0 is none.
pub type cg_record_name = u32;
/// Interned shape, element type and device of a session, 0 is none.
pub type cg_record_layout = u32;
/// A reading of the recorder's counter, 0 is none.
pub type cg_record_time = u64;
/// Identity of a tensor or a storage, 0 is none.
pub type cg_record_id = u64;

/// A session.
#[repr(C)]
pub struct cg_record {
    _opaque: [u8; 0],
}

/// A writer of runtime traces.
#[repr(C)]
pub struct cg_runtime {
    _opaque: [u8; 0],
}

/// A structure, and what `cargo test` compares with the C side: its size, then its offsets.
macro_rules! structures {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $(pub $field: $type,)* }

            impl $name {
                /// All bytes zero, which every structure of these headers can be.
                pub fn zeroed() -> Self {
                    // SAFETY: numbers, booleans, null pointers and absent functions.
                    unsafe { core::mem::MaybeUninit::zeroed().assume_init() }
                }
            }
        )*

        /// Name, size and offsets of every structure, as this side has them.
        pub const LAYOUTS: &[(&str, usize, &[usize])] = &[
            $((
                stringify!($name),
                core::mem::size_of::<$name>(),
                &[$(core::mem::offset_of!($name, $field),)*],
            ),)*
        ];
    };
}

structures! {
    cg_str {
        ptr: *const c_char,
        len: usize,
    }
    cg_err {
        code: cg_code,
        problem: *const c_char,
        help: *const c_char,
        line: u64,
        offset: u64,
        has_offset: bool,
        file: [c_char; 256],
        text: [c_char; 480],
    }
    cg_sink {
        context: *mut c_void,
        write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> cg_code>,
    }
    cg_record_span {
        reference: u64,
        session: u32,
        reserved: u32,
    }
    cg_record_gradient_entry {
        root: *const c_char,
        key: *const c_char,
        family: *const c_char,
    }
    cg_record_family {
        family: *const c_char,
        expectation: u32,
        min_present: u64,
    }
    cg_record_gradients {
        expected: *const cg_record_gradient_entry,
        expected_count: usize,
        families: *const cg_record_family,
        family_count: usize,
    }
    cg_record_contract {
        size: u32,
        measurement_scope: u32,
        operations: u32,
        tensors: u32,
        gradients: u32,
        logical_memory: u32,
        physical_memory: u32,
        device_timing: u32,
        gradient_manifest: *const cg_record_gradients,
        required_labels: *const *const c_char,
        required_label_count: usize,
        gpu_labels: *const *const c_char,
        gpu_label_count: usize,
        cpu_labels: *const *const c_char,
        cpu_label_count: usize,
    }
    cg_record_identity {
        size: u32,
        implementation_id: *const c_char,
        workload_id: *const c_char,
        model_id: *const c_char,
        config_id: *const c_char,
        data_id: *const c_char,
        seed_policy: *const c_char,
        physical_batch: u64,
        accumulation_steps: u64,
        precision: *const c_char,
        device_state: *const c_char,
        pair_id: *const c_char,
    }
    cg_record_tag {
        key: *const c_char,
        value: *const c_char,
    }
    cg_record_run {
        size: u32,
        phase: u32,
        entrypoint: *const c_char,
        run_id: *const c_char,
        correlation_id: *const c_char,
        device: *const c_char,
        capture_step: u64,
        warmup_steps: u64,
        timing_mode: u32,
        is_device_synchronized: bool,
        contract: *const cg_record_contract,
        identity: *const cg_record_identity,
        tags: *const cg_record_tag,
        tag_count: usize,
    }
    cg_record_options {
        size: u32,
        full_ring: u32,
        ring_bytes: u32,
    }
    cg_record_result {
        size: u32,
        is_complete: bool,
        records: u64,
        spans: u64,
        dropped: u64,
        refused: u64,
        out_of_order: u64,
    }
    cg_record_op_args {
        size: u32,
        name: cg_record_name,
        layout: cg_record_layout,
        input_count: u32,
        inputs: *const cg_record_id,
        output: cg_record_id,
        duration_ns: u64,
        start: cg_record_time,
        input_dense_bytes: u64,
    }
    cg_record_tensor_args {
        size: u32,
        label: cg_record_name,
        id: cg_record_id,
        layout: cg_record_layout,
        category: u32,
        is_grad_required: bool,
    }
    cg_record_view {
        size: u32,
        type_: u32,
        data: *const c_void,
        rank: u32,
        shape: *const u64,
        strides: *const i64,
    }
    cg_record_stats {
        elements: u64,
        non_finite: u64,
        rms: f64,
        abs_max: f64,
        mean: f64,
    }
    cg_record_memory_args {
        size: u32,
        category: u32,
        storage: cg_record_id,
        tensor: cg_record_id,
        bytes: u64,
        layout: cg_record_layout,
        op_name: cg_record_name,
        time: cg_record_time,
    }
    cg_record_device_memory_args {
        size: u32,
        device: cg_record_name,
        has_used: bool,
        has_free: bool,
        has_reserved: bool,
        has_capacity: bool,
        used_bytes: u64,
        free_bytes: u64,
        reserved_bytes: u64,
        capacity_bytes: u64,
        time: cg_record_time,
    }
    cg_record_device_interval_args {
        size: u32,
        device: cg_record_name,
        stream: cg_record_name,
        clock: cg_record_name,
        backend: cg_record_name,
        start_ns: u64,
        duration_ns: u64,
    }
    cg_record_open_span {
        number: u64,
        start_ns: u64,
        name: cg_str,
    }
    cg_record_recovery {
        size: u32,
        records_recovered: u64,
        records_dropped: u64,
        records_refused: u64,
        is_cut: bool,
        cut_line: u64,
        cut_offset: u64,
        cut_bytes: u64,
        open_spans: *mut cg_record_open_span,
        open_span_count: usize,
        reason: *mut c_char,
        memory: *mut c_void,
    }
    cg_runtime_run {
        size: u32,
        schema: *const c_char,
        entrypoint: *const c_char,
        profile: *const c_char,
        cargo_features: *const *const c_char,
        cargo_feature_count: usize,
        cfg: *const *const c_char,
        cfg_count: usize,
        analysis_id: *const c_char,
        build_id: *const c_char,
        phase: *const c_char,
    }
    cg_runtime_tensor {
        size: u32,
        rank: u32,
        shape: *const u64,
        event_id: *const c_char,
        static_id: *const c_char,
        source: *const c_char,
        dtype: *const c_char,
        device: *const c_char,
        storage_id: *const c_char,
        is_contiguous: bool,
        is_grad_required: bool,
        has_step: bool,
        step: u64,
    }
    cg_runtime_operation {
        size: u32,
        event_id: *const c_char,
        op: *const c_char,
        static_id: *const c_char,
        source: *const c_char,
        inputs: *const *const c_char,
        input_count: usize,
        output: *const c_char,
        has_step: bool,
        has_duration: bool,
        step: u64,
        duration_ns: u64,
    }
    cg_runtime_gradient {
        size: u32,
        state: u32,
        event_id: *const c_char,
        root: *const c_char,
        key: *const c_char,
        has_step: bool,
        has_norm: bool,
        step: u64,
        norm: f64,
    }
    cg_runtime_value {
        size: u32,
        event_id: *const c_char,
        static_id: *const c_char,
        source: *const c_char,
        has_step: bool,
        step: u64,
        min: f64,
        max: f64,
        abs_max: f64,
        nonfinite_count: u64,
        saturated_count: u64,
    }
    cg_runtime_edge {
        size: u32,
        event_id: *const c_char,
        from_static_id: *const c_char,
        to_static_id: *const c_char,
        duration_ns: u64,
        has_step: bool,
        step: u64,
    }
    cg_runtime_timed {
        number: u64,
        event_id: [c_char; 64],
    }
    cg_runtime_result {
        size: u32,
        records: u64,
        open_operations: u64,
    }
}

extern "C" {
    pub fn cg_record_run_training(
        run: *mut cg_record_run,
        entrypoint: *const c_char,
        step: u64,
        device: *const c_char,
    );
    pub fn cg_record_run_inference(
        run: *mut cg_record_run,
        entrypoint: *const c_char,
        step: u64,
        device: *const c_char,
    );
    pub fn cg_record_run_synchronized(run: *mut cg_record_run);
    pub fn cg_record_parse_phase(word: *const c_char, phase: *mut u32, step: *mut u32) -> bool;
    pub fn cg_record_dense_bytes(
        dtype: *const c_char,
        shape: *const u64,
        rank: u32,
        ret: *mut u64,
    ) -> bool;
    pub fn cg_record_category_of(step: u32, is_parameter: bool) -> u32;
    pub fn cg_record_open(
        path: *const c_char,
        run: *const cg_record_run,
        options: *const cg_record_options,
        ret: *mut *mut cg_record,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_record_finish(
        session: *mut cg_record,
        ret: *mut cg_record_result,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_record_finish_failed(
        session: *mut cg_record,
        reason: *const c_char,
        ret: *mut cg_record_result,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_record_flush(session: *mut cg_record, reterr: *mut cg_err) -> cg_code;
    pub fn cg_record_now(session: *const cg_record) -> cg_record_time;
    pub fn cg_record_elapsed_ns(session: *const cg_record) -> u64;
    pub fn cg_record_time_of(session: *const cg_record, monotonic_ns: u64) -> cg_record_time;
    pub fn cg_record_time_at(session: *const cg_record, elapsed_ns: u64) -> cg_record_time;
    pub fn cg_record_intern_str(session: *mut cg_record, text: cg_str) -> cg_record_name;
    pub fn cg_record_intern_layout(
        session: *mut cg_record,
        dtype: *const c_char,
        device: *const c_char,
        shape: *const u64,
        rank: u32,
    ) -> cg_record_layout;
    pub fn cg_record_text_id(session: *mut cg_record, text: *const c_char) -> cg_record_id;
    pub fn cg_record_root(session: *const cg_record) -> cg_record_span;
    pub fn cg_record_current(session: *mut cg_record) -> cg_record_span;
    pub fn cg_record_span_begin_under(
        session: *mut cg_record,
        parent: cg_record_span,
        name: cg_record_name,
        kind: u32,
        step: u32,
    ) -> cg_record_span;
    pub fn cg_record_span_completed(
        session: *mut cg_record,
        parent: cg_record_span,
        name: cg_record_name,
        kind: u32,
        start: cg_record_time,
        end: cg_record_time,
    );
    pub fn cg_record_reduce(view: *const cg_record_view, ret: *mut cg_record_stats) -> bool;
    pub fn cg_record_tensor_stats(
        session: *mut cg_record,
        span: cg_record_span,
        label: cg_record_name,
        view: *const cg_record_view,
    );
    pub fn cg_record_tensor_stats_of(
        session: *mut cg_record,
        span: cg_record_span,
        label: cg_record_name,
        layout: cg_record_layout,
        stats: *const cg_record_stats,
    );
    pub fn cg_record_memory_alloc(
        session: *mut cg_record,
        span: cg_record_span,
        args: *const cg_record_memory_args,
    );
    pub fn cg_record_memory_free(
        session: *mut cg_record,
        span: cg_record_span,
        args: *const cg_record_memory_args,
    );
    pub fn cg_record_device_memory(
        session: *mut cg_record,
        args: *const cg_record_device_memory_args,
    );
    pub fn cg_record_device_interval(
        session: *mut cg_record,
        span: cg_record_span,
        args: *const cg_record_device_interval_args,
    );
    pub fn cg_record_gradient(
        session: *mut cg_record,
        root: cg_record_name,
        key: cg_record_name,
        state: u32,
        norm: f64,
    );
    pub fn cg_record_gradient_view(
        session: *mut cg_record,
        root: cg_record_name,
        key: cg_record_name,
        view: *const cg_record_view,
    );
    pub fn cg_record_call_edge(session: *mut cg_record, from: cg_record_span, to: cg_record_span);
    pub fn cg_record_data_edge(session: *mut cg_record, from: cg_record_id, to: cg_record_id);
    pub fn cg_record_begin_on(
        session: *mut cg_record,
        name: cg_record_name,
        what: u32,
    ) -> cg_record_span;
    pub fn cg_record_span_end_on(session: *mut cg_record, span: cg_record_span);
    pub fn cg_record_op_on(
        session: *mut cg_record,
        span: cg_record_span,
        args: *const cg_record_op_args,
    );
    pub fn cg_record_tensor_on(
        session: *mut cg_record,
        span: cg_record_span,
        args: *const cg_record_tensor_args,
    );
    pub fn cg_record_scalar_on(
        session: *mut cg_record,
        span: cg_record_span,
        label: cg_record_name,
        value: f64,
    );
    pub fn cg_record_recover(
        spool: *const c_char,
        output: *const c_char,
        ret: *mut cg_record_recovery,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_record_recovery_free(recovery: *mut cg_record_recovery);
    pub fn cg_runtime_run_profile(run: *mut cg_runtime_run, phase: u32, entrypoint: *const c_char);
    pub fn cg_runtime_open(
        path: *const c_char,
        form: u32,
        run: *const cg_runtime_run,
        ret: *mut *mut cg_runtime,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_open_sink(
        sink: cg_sink,
        form: u32,
        run: *const cg_runtime_run,
        ret: *mut *mut cg_runtime,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_write_tensor(
        out: *mut cg_runtime,
        record: *const cg_runtime_tensor,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_write_operation(
        out: *mut cg_runtime,
        record: *const cg_runtime_operation,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_write_gradient(
        out: *mut cg_runtime,
        record: *const cg_runtime_gradient,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_write_value(
        out: *mut cg_runtime,
        record: *const cg_runtime_value,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_write_edge(
        out: *mut cg_runtime,
        record: *const cg_runtime_edge,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_set_step(out: *mut cg_runtime, step: u64);
    pub fn cg_runtime_begin(
        out: *mut cg_runtime,
        static_id: *const c_char,
        op: *const c_char,
        inputs: *const *const c_char,
        input_count: usize,
        ret: *mut cg_runtime_timed,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_end(
        out: *mut cg_runtime,
        timed: *const cg_runtime_timed,
        output: *const c_char,
        ret_ns: *mut u64,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_time_edge(
        out: *mut cg_runtime,
        from_static_id: *const c_char,
        to_static_id: *const c_char,
        duration_ns: u64,
        reterr: *mut cg_err,
    ) -> cg_code;
    pub fn cg_runtime_flush(out: *mut cg_runtime, reterr: *mut cg_err) -> cg_code;
    pub fn cg_runtime_finish(
        out: *mut cg_runtime,
        ret: *mut cg_runtime_result,
        reterr: *mut cg_err,
    ) -> cg_code;
    /// Sizes and offsets as the C compiler has them: each structure's size, then its fields.
    pub static candlegraph_sys_layout: [usize; LAYOUT_NUMBERS];
}

pub const LAYOUT_NUMBERS: usize = 243;

/// The same sizes are asserted in `layout.c`.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(core::mem::size_of::<cg_str>() == 16);
    assert!(core::mem::size_of::<cg_err>() == 784);
    assert!(core::mem::size_of::<cg_sink>() == 16);
    assert!(core::mem::size_of::<cg_record_span>() == 16);
    assert!(core::mem::size_of::<cg_record_gradient_entry>() == 24);
    assert!(core::mem::size_of::<cg_record_family>() == 24);
    assert!(core::mem::size_of::<cg_record_gradients>() == 32);
    assert!(core::mem::size_of::<cg_record_contract>() == 88);
    assert!(core::mem::size_of::<cg_record_identity>() == 96);
    assert!(core::mem::size_of::<cg_record_tag>() == 16);
    assert!(core::mem::size_of::<cg_record_run>() == 96);
    assert!(core::mem::size_of::<cg_record_options>() == 12);
    assert!(core::mem::size_of::<cg_record_result>() == 48);
    assert!(core::mem::size_of::<cg_record_op_args>() == 56);
    assert!(core::mem::size_of::<cg_record_tensor_args>() == 32);
    assert!(core::mem::size_of::<cg_record_view>() == 40);
    assert!(core::mem::size_of::<cg_record_stats>() == 40);
    assert!(core::mem::size_of::<cg_record_memory_args>() == 48);
    assert!(core::mem::size_of::<cg_record_device_memory_args>() == 56);
    assert!(core::mem::size_of::<cg_record_device_interval_args>() == 40);
    assert!(core::mem::size_of::<cg_record_open_span>() == 32);
    assert!(core::mem::size_of::<cg_record_recovery>() == 96);
    assert!(core::mem::size_of::<cg_runtime_run>() == 88);
    assert!(core::mem::size_of::<cg_runtime_tensor>() == 80);
    assert!(core::mem::size_of::<cg_runtime_operation>() == 88);
    assert!(core::mem::size_of::<cg_runtime_gradient>() == 56);
    assert!(core::mem::size_of::<cg_runtime_value>() == 88);
    assert!(core::mem::size_of::<cg_runtime_edge>() == 56);
    assert!(core::mem::size_of::<cg_runtime_timed>() == 72);
    assert!(core::mem::size_of::<cg_runtime_result>() == 24);
};

#[cfg(test)]
mod tests {
    #[test]
    fn both_sides_agree_on_every_field() {
        // SAFETY: a constant array of exactly this length.
        let theirs = unsafe { &super::candlegraph_sys_layout };
        let mut at = theirs.iter();
        for (name, size, offsets) in super::LAYOUTS {
            assert_eq!(at.next(), Some(size), "size of {name}");
            for (number, offset) in offsets.iter().enumerate() {
                assert_eq!(at.next(), Some(offset), "field {number} of {name}");
            }
        }
        assert_eq!(at.next(), None);
    }
}
