//! Which tensor, which storage.
use std::fmt;

use candlegraph_sys as sys;

use crate::session::TraceSession;

/// Identity of a tensor in this process, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorKey(pub u64);

/// Identity of a storage in this process: its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StorageKey(pub u64);

const TENSOR: (&str, &str) = ("TensorId(", ")");
const STORAGE: &str = "storage:0x";

impl fmt::Display for TensorKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}{}", TENSOR.0, self.0, TENSOR.1)
    }
}

impl fmt::Display for StorageKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{STORAGE}{:x}", self.0)
    }
}

impl From<TensorKey> for String {
    fn from(key: TensorKey) -> Self {
        key.to_string()
    }
}

impl From<StorageKey> for String {
    fn from(key: StorageKey) -> Self {
        key.to_string()
    }
}

/// What can name a tensor or a storage: a key, or any text. A text that a key prints is that key.
pub trait Identity {
    /// The recorder's number for it; 0 is none.
    fn number(&self, session: &TraceSession) -> u64;
    fn is_blank(&self) -> bool;
}

/// Numbers above are the recorder's own, for texts.
const LARGEST: u64 = i64::MAX as u64;

impl Identity for TensorKey {
    #[inline]
    fn number(&self, _session: &TraceSession) -> u64 {
        self.0 & LARGEST
    }

    fn is_blank(&self) -> bool {
        false
    }
}

impl Identity for StorageKey {
    #[inline]
    fn number(&self, _session: &TraceSession) -> u64 {
        self.0 & LARGEST
    }

    fn is_blank(&self) -> bool {
        false
    }
}

fn number_in(text: &str) -> Option<u64> {
    let number = match text.strip_prefix(TENSOR.0).and_then(|rest| rest.strip_suffix(TENSOR.1)) {
        Some(digits) if !digits.starts_with(['0', '+']) => digits.parse().ok()?,
        Some(_) => return None,
        None => {
            let digits = text.strip_prefix(STORAGE)?;
            let is_plain = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if !is_plain || digits.starts_with('0') {
                return None;
            }
            u64::from_str_radix(digits, 16).ok()?
        }
    };
    (number <= LARGEST).then_some(number)
}

impl Identity for str {
    fn number(&self, session: &TraceSession) -> u64 {
        if let Some(number) = number_in(self) {
            return number;
        }
        let Ok(text) = std::ffi::CString::new(self) else {
            return 0;
        };
        // SAFETY: the session is open; the text is copied.
        unsafe { sys::cg_record_text_id(session.raw(), text.as_ptr()) }
    }

    fn is_blank(&self) -> bool {
        self.trim().is_empty()
    }
}

impl Identity for String {
    fn number(&self, session: &TraceSession) -> u64 {
        self.as_str().number(session)
    }

    fn is_blank(&self) -> bool {
        self.as_str().is_blank()
    }
}

impl<T: Identity + ?Sized> Identity for &T {
    #[inline]
    fn number(&self, session: &TraceSession) -> u64 {
        (**self).number(session)
    }

    fn is_blank(&self) -> bool {
        (**self).is_blank()
    }
}
