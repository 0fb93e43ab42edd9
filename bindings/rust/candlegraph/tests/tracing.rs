//! Spans of the crate `tracing` as spans of a session.
mod support;

use std::sync::Arc;

use candle_graph::tracing::CaptureLayer;
use candle_graph::{ProfileRun, SpanKind, TraceSession};
use support::{lines, paths, Folder};
use tracing::{span, Level};

fn session(folder: &Folder) -> Arc<TraceSession> {
    let run = ProfileRun::inference("app", 1, "cpu");
    Arc::new(TraceSession::open(folder.at("run.jsonl"), run).unwrap())
}

#[test]
fn spans_are_entered_where_they_stand() {
    let folder = Folder::new();
    let session = session(&folder);
    {
        let capture = CaptureLayer::new(&session).install_here();
        let measured = session.begin_measurement("call");
        let layer = span!(Level::TRACE, "layer");
        for _ in 0..2 {
            let _layer = layer.enter();
            let _own = session.begin_span("own", SpanKind::Op);
            span!(Level::TRACE, "attention").in_scope(|| ());
        }
        drop((capture, measured));
        // Nobody listens any more.
        span!(Level::TRACE, "late").in_scope(|| ());
    }
    let trace = lines(TraceSession::finish_shared(session).unwrap());
    let layer = ["app>call>layer", "app>call>layer>own", "app>call>layer>own>attention"];
    assert_eq!(paths(&trace)[2..], [layer, layer].concat());
}

#[test]
fn a_layer_outlives_its_session_in_silence() {
    let folder = Folder::new();
    let session = session(&folder);
    let _capture = CaptureLayer::new(&session).prefix("model/").kind(SpanKind::Op).install_here();
    let kept = span!(Level::TRACE, "kept");
    kept.in_scope(|| ());
    let trace = lines(TraceSession::finish_shared(session).unwrap());
    kept.in_scope(|| ());
    assert_eq!(paths(&trace), ["app", "app>model/kept"]);
}

#[test]
fn threads_have_their_own_stack() {
    let folder = Folder::new();
    let session = session(&folder);
    {
        let _measured = session.begin_measurement("call");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let _capture = CaptureLayer::new(&session).install_here();
                    for _ in 0..100 {
                        span!(Level::TRACE, "a").in_scope(|| {
                            span!(Level::TRACE, "b").in_scope(|| ());
                        });
                    }
                });
            }
        });
    }
    let found = paths(&lines(TraceSession::finish_shared(session).unwrap()));
    assert_eq!(found.iter().filter(|path| *path == "app>a>b").count(), 300);
}

#[test]
fn spans_made_before_the_session_are_recorded_into_it() {
    let folder = Folder::new();
    let capture = CaptureLayer::idle().install_here();
    let layer = span!(Level::TRACE, "layer");
    layer.in_scope(|| ());
    for _ in 0..2 {
        let session = session(&folder);
        capture.record_into(&session);
        layer.in_scope(|| ());
        capture.stop();
        layer.in_scope(|| ());
        let trace = lines(TraceSession::finish_shared(session).unwrap());
        assert_eq!(paths(&trace), ["app", "app>layer"]);
    }
}
