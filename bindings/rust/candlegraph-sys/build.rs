//! Compile the recorder: two C files, no third-party code.
//!
//! They are in `recorder/` of a packaged crate. In the repository they are made here, by
//! `tools/amalgamate`; `CANDLEGRAPH_DIST` names a folder that has them already.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn recorder(out: &Path) -> PathBuf {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("run by cargo"));
    println!("cargo:rerun-if-env-changed=CANDLEGRAPH_DIST");
    if let Some(folder) = env::var_os("CANDLEGRAPH_DIST").filter(|name| !name.is_empty()) {
        return PathBuf::from(folder);
    }
    let packaged = here.join("recorder");
    if packaged.join("candlegraph_record.c").exists() {
        return packaged;
    }
    let repository = here.join("../../..");
    let tool = repository.join("tools/amalgamate");
    for part in ["tools/amalgamate", "src/record", "src/base", "src/schema", "include/candlegraph"]
    {
        println!("cargo:rerun-if-changed={}", repository.join(part).display());
    }
    let made = Command::new("python3").arg(&tool).arg(out).status();
    assert!(
        made.as_ref().is_ok_and(|status| status.success()),
        "{} did not make the recorder ({made:?}); set CANDLEGRAPH_DIST to a folder that has \
         candlegraph_record.c and .h",
        tool.display()
    );
    out.to_path_buf()
}

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("run by cargo"));
    let folder = recorder(&out);
    println!("cargo:rerun-if-changed=layout.c");
    println!("cargo:rerun-if-changed={}", folder.join("candlegraph_record.c").display());
    println!("cargo:include={}", folder.display());
    cc::Build::new()
        .file(folder.join("candlegraph_record.c"))
        .file("layout.c")
        .include(&folder)
        .flag_if_supported("-std=gnu11")
        .flag_if_supported("-pthread")
        .flag_if_supported("-ffp-contract=off")
        // The recorder is hot code also where the program is built without optimisation.
        .opt_level(2)
        .warnings(false)
        .compile("candlegraph-record");
    println!("cargo:rustc-link-lib=m");
    println!("cargo:rustc-link-lib=pthread");
    #[cfg(feature = "analysis")]
    analysis();
}

#[cfg(feature = "analysis")]
fn analysis() {
    let found = pkg_config::Config::new()
        .atleast_version("0.1.0")
        .probe("candlegraph")
        .expect("libcandlegraph with its candlegraph.pc; set PKG_CONFIG_PATH to where it is");
    println!("cargo:rerun-if-changed=layout_analysis.c");
    cc::Build::new()
        .file("layout_analysis.c")
        .includes(&found.include_paths)
        .flag_if_supported("-std=gnu11")
        .compile("candlegraph-layout-analysis");
}
