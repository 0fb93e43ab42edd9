//! What the C side says, as errors.
use std::ffi::{CStr, CString};

use candlegraph_sys as sys;

/// Results are those of `anyhow`; causes that come from the recorder or from libcandlegraph are
/// [`Error`], found with `downcast_ref`.
pub use anyhow::Result;

/// A refusal with its stable id and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// `CG_USAGE`, `CG_INPUT` and so on, the numbers of `candlegraph/base.h`.
    pub code: u32,
    /// Stable id, such as `record-description`; empty when there is none.
    pub problem: String,
    /// What was found and what was expected, with the file when there is one.
    pub text: String,
    /// What to do; empty when nothing is known.
    pub help: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)?;
        if !self.help.is_empty() {
            write!(out, "; {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

fn text_of(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: texts of cg_err are terminated; static or inside the structure.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Run `call` with room for an error.
pub(crate) fn tell(call: impl FnOnce(*mut sys::cg_err) -> sys::cg_code) -> Result<()> {
    let mut err = sys::cg_err::zeroed();
    let code = call(&mut err);
    if code == sys::CG_OK {
        return Ok(());
    }
    let mut text = text_of(err.text.as_ptr());
    let file = text_of(err.file.as_ptr());
    if text.is_empty() {
        text = format!("failed with code {code}");
    }
    if !file.is_empty() {
        text = format!("{file}: {text}");
    }
    Err(Error { code, problem: text_of(err.problem), text, help: text_of(err.help) }.into())
}

/// Terminated texts that live until the call they are for is over.
#[derive(Default)]
pub(crate) struct Texts(Vec<CString>);

impl Texts {
    pub fn put(&mut self, text: &str) -> Result<*const std::ffi::c_char> {
        let text = CString::new(text)
            .map_err(|_| anyhow::anyhow!("{text:?} holds a NUL character, which no name may"))?;
        // The allocation of a CString does not move with it.
        let at = text.as_ptr();
        self.0.push(text);
        Ok(at)
    }

    pub fn put_option(&mut self, text: Option<&str>) -> Result<*const std::ffi::c_char> {
        text.map_or(Ok(std::ptr::null()), |text| self.put(text))
    }

    pub fn put_all<T: AsRef<str>>(&mut self, texts: &[T]) -> Result<Vec<*const std::ffi::c_char>> {
        texts.iter().map(|text| self.put(text.as_ref())).collect()
    }

    pub fn put_path(&mut self, path: &std::path::Path) -> Result<*const std::ffi::c_char> {
        use std::os::unix::ffi::OsStrExt;

        let text = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| anyhow::anyhow!("the path {path:?} holds a NUL character"))?;
        let at = text.as_ptr();
        self.0.push(text);
        Ok(at)
    }
}
