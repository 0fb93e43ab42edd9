//! A folder of its own for every test, and traces as JSON.
#![allow(dead_code)]
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("candlegraph-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn lines(path: impl AsRef<Path>) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

/// Names of spans as paths from the root, in the order in which they began.
pub fn paths(lines: &[Value]) -> Vec<String> {
    let mut paths = std::collections::HashMap::new();
    let mut all = Vec::new();
    for line in of_kind(lines, "span_start") {
        let name = line["name"].as_str().unwrap();
        let path = match line["parent_id"].as_str() {
            Some(parent) => format!("{}>{name}", paths[parent]),
            None => name.to_owned(),
        };
        paths.insert(line["id"].as_str().unwrap(), path.clone());
        all.push(path);
    }
    all
}
