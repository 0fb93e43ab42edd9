//! Texts and layouts by number, remembered by every thread.
//!
//! The recorder's own table has a lock; a program says the same few names over and over. What is
//! remembered is compared before it is believed, so a table that forgets costs time only.
use std::cell::RefCell;
use std::ffi::CString;

use candlegraph_sys as sys;

use crate::session::TraceSession;

const SLOTS: usize = 1024;

#[derive(Default)]
struct Slot {
    session: u64, // 0: free
    hash: u64,
    number: u32,
    key: Box<[u8]>,
}

/// The last number given out for a hash.
struct Table(Vec<Slot>);

impl Table {
    const fn new() -> Self {
        Self(Vec::new())
    }

    #[inline]
    fn find(&self, session: u64, hash: u64, is_same: impl FnOnce(&[u8]) -> bool) -> Option<u32> {
        let slot = self.0.get(hash as usize % SLOTS)?;
        (slot.hash == hash && slot.session == session && is_same(&slot.key)).then_some(slot.number)
    }

    #[cold]
    fn keep(&mut self, session: u64, hash: u64, number: u32, key: Box<[u8]>) {
        if self.0.is_empty() {
            self.0.resize_with(SLOTS, Slot::default);
        }
        self.0[hash as usize % SLOTS] = Slot { session, hash, number, key };
    }
}

thread_local! {
    static NAMES: RefCell<Table> = const { RefCell::new(Table::new()) };
    static LAYOUTS: RefCell<Table> = const { RefCell::new(Table::new()) };
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER)
}

#[inline]
fn mix_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        hash = mix(hash, u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
    let mut last = [0; 8];
    let rest = words.remainder();
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash, u64::from_le_bytes(last)), bytes.len() as u64)
}

/// The upper bits are the well-mixed ones.
#[inline]
fn fold(hash: u64) -> u64 {
    hash ^ (hash >> 32)
}

/// 0: too long for a name, or there is no room.
#[inline]
pub(crate) fn name(session: &TraceSession, text: &str) -> sys::cg_record_name {
    let hash = fold(mix_bytes(0, text.as_bytes()));
    NAMES.with_borrow_mut(|table| {
        if let Some(number) = table.find(session.serial(), hash, |key| key == text.as_bytes()) {
            return number;
        }
        // SAFETY: the session is open; the text is copied.
        let number = unsafe {
            sys::cg_record_intern_str(
                session.raw(),
                sys::cg_str { ptr: text.as_ptr().cast(), len: text.len() },
            )
        };
        if number != 0 {
            table.keep(session.serial(), hash, number, text.as_bytes().into());
        }
        number
    })
}

/// Element type, device and axes one after the other, as they are compared.
fn layout_key(dtype: &str, device: &str, shape: &[usize]) -> Box<[u8]> {
    let mut key = Vec::with_capacity(dtype.len() + device.len() + shape.len() * 8 + 2);
    key.extend_from_slice(dtype.as_bytes());
    key.push(0);
    key.extend_from_slice(device.as_bytes());
    key.push(0);
    for axis in shape {
        key.extend_from_slice(&(*axis as u64).to_le_bytes());
    }
    key.into()
}

#[inline]
fn is_layout(key: &[u8], dtype: &str, device: &str, shape: &[usize]) -> bool {
    let (dtype, device) = (dtype.as_bytes(), device.as_bytes());
    let axes = dtype.len() + device.len() + 2;
    key.len() == axes + shape.len() * 8
        && &key[..dtype.len()] == dtype
        && &key[dtype.len() + 1..axes - 1] == device
        && key[axes..]
            .chunks_exact(8)
            .zip(shape)
            .all(|(word, axis)| word == (*axis as u64).to_le_bytes())
}

/// 0: a blank element type or device, or there is no room.
#[inline]
pub(crate) fn layout(
    session: &TraceSession,
    dtype: &str,
    device: &str,
    shape: &[usize],
) -> sys::cg_record_layout {
    let mut hash = mix_bytes(mix_bytes(0, dtype.as_bytes()), device.as_bytes());
    for axis in shape {
        hash = mix(hash, *axis as u64);
    }
    let hash = fold(hash);
    LAYOUTS.with_borrow_mut(|table| {
        let found = table.find(session.serial(), hash, |key| is_layout(key, dtype, device, shape));
        if let Some(number) = found {
            return number;
        }
        let axes: Vec<u64> = shape.iter().map(|axis| *axis as u64).collect();
        let (Ok(dtype_text), Ok(device_text)) = (CString::new(dtype), CString::new(device)) else {
            return 0;
        };
        // SAFETY: the session is open; everything is copied.
        let number = unsafe {
            sys::cg_record_intern_layout(
                session.raw(),
                dtype_text.as_ptr(),
                device_text.as_ptr(),
                axes.as_ptr(),
                axes.len() as u32,
            )
        };
        if number != 0 {
            table.keep(session.serial(), hash, number, layout_key(dtype, device, shape));
        }
        number
    })
}
