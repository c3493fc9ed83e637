//! Buffers, elements, operators, and what reductions give.

use arbitrary::{Result, Unstructured};
use corecast_c::elements::{Element, corecast_element_bytes};
use corecast_c::operators::{
    Operator, corecast_operator_and, corecast_operator_free, corecast_operator_max,
    corecast_operator_min, corecast_operator_new, corecast_operator_or, corecast_operator_product,
    corecast_operator_sum, corecast_operator_xor,
};
use corecast_c::own::Combine;
use corecast_c::status::Status;
use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use super::statuses::told;

/// Bytes before a buffer, and behind it.
const GUARD: usize = 64;
/// What they hold, and what a buffer holds before it is written.
const SENTINEL: u8 = 0xA5;
/// Under the fuzzer the checker of addresses watches what lies behind.
const BACK: usize = if cfg!(fuzzing) { 0 } else { GUARD };

/// Bytes as C sees them, aligned to 16, between bytes that nobody may write.
pub(super) struct Buffer {
    start: NonNull<u8>,
    len: usize,
}

impl Buffer {
    fn layout(len: usize) -> Layout {
        Layout::from_size_align(GUARD + len + BACK, 16).expect("a short buffer")
    }

    pub(super) fn new(bytes: &[u8]) -> Self {
        let len = bytes.len();
        // SAFETY: the layout is not empty; all of its bytes are written below.
        let start = unsafe {
            let start = std::alloc::alloc(Self::layout(len));
            start.write_bytes(SENTINEL, GUARD + len + BACK);
            start
                .add(GUARD)
                .copy_from_nonoverlapping(bytes.as_ptr(), len);
            start
        };
        let start = NonNull::new(start).expect("there is memory");
        Self { start, len }
    }

    /// A buffer for results.
    pub(super) fn unwritten(len: usize) -> Self {
        Self::new(&vec![SENTINEL; len])
    }

    pub(super) fn place(&self) -> *mut c_void {
        // SAFETY: within the bytes.
        unsafe { self.start.add(GUARD).as_ptr().cast() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: within the bytes, which no call writes while this is used.
        unsafe { std::slice::from_raw_parts(self.place().cast(), self.len) }
    }

    /// Checks the bytes around.
    pub(super) fn check(&self) {
        // SAFETY: as in `bytes`.
        let all =
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), GUARD + self.len + BACK) };
        let around = all[..GUARD].iter().chain(&all[GUARD + self.len..]);
        let kept = around.clone().all(|&byte| byte == SENTINEL);
        assert!(kept, "bytes around a buffer of {} were written", self.len);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: `new` made it with this layout.
        unsafe { std::alloc::dealloc(self.start.as_ptr(), Self::layout(self.len)) };
    }
}

/// A type of elements: its number, and the bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) code: i32,
    pub(super) bytes: usize,
}

/// Elements of operators of the caller's own.
pub(super) const OWN: i32 = Element::Own as i32;

impl Kind {
    pub(super) fn of(u: &mut Unstructured) -> Result<Self> {
        let code = u.int_in_range(0..=OWN)?;
        let bytes = match code {
            OWN => *u.choose(&[1, 3, 5, 24, 1500])?,
            _ => corecast_element_bytes(code),
        };
        Ok(Self { code, bytes })
    }

    pub(super) fn is_float(self) -> bool {
        (Element::F16 as i32..OWN).contains(&self.code)
    }

    /// A small whole number as an element.
    pub(super) fn encode(self, value: u64, into: &mut Vec<u8>) {
        let single = (value as f32).to_bits();
        let half = match value.checked_ilog2() {
            None => 0,
            Some(log) => u64::from(log + 15) << 10 | (value << (10 - log) & 0x3FF),
        };
        let bits = match self.code {
            code if code == Element::F16 as i32 => half,
            code if code == Element::Bf16 as i32 => u64::from(single >> 16),
            code if code == Element::F32 as i32 => u64::from(single),
            code if code == Element::F64 as i32 => (value as f64).to_bits(),
            _ => value,
        };
        let end = into.len() + self.bytes;
        into.extend(bits.to_le_bytes().into_iter().take(self.bytes));
        into.resize(end, 0);
    }

    pub(super) fn all(self, values: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        values
            .into_iter()
            .for_each(|value| self.encode(value, &mut bytes));
        bytes
    }
}

/// How values are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Functions of the caller's: bytes are added, and the operand of the lower or the higher ranks stays.
    Add,
    Left,
    Right,
}

const ALL: [By; 10] = [
    By::Sum,
    By::Product,
    By::Min,
    By::Max,
    By::And,
    By::Or,
    By::Xor,
    By::Add,
    By::Left,
    By::Right,
];

impl By {
    /// One that knows these elements.
    pub(super) fn of(u: &mut Unstructured, kind: Kind) -> Result<Self> {
        let by = *u.choose(&ALL)?;
        let bits = matches!(by, Self::And | Self::Or | Self::Xor | Self::Add);
        let is_known = match kind.code {
            OWN => by.is_own(),
            _ => !(kind.is_float() && bits),
        };
        Ok(if is_known { by } else { Self::Right })
    }

    pub(super) fn is_own(self) -> bool {
        matches!(self, Self::Add | Self::Left | Self::Right)
    }

    /// The result for two values, of which the second one comes from higher ranks.
    pub(super) fn combine(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Sum | Self::Add => a + b,
            Self::Product => a * b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Left => a,
            Self::Right => b,
        }
    }

    /// The handle, of whoever frees it where it is an own one; `bytes` must live as long as it is used.
    pub(super) fn handle(self, bytes: &usize) -> *const Operator {
        let combine: Combine = match self {
            Self::Sum => return &raw const corecast_operator_sum,
            Self::Product => return &raw const corecast_operator_product,
            Self::Min => return &raw const corecast_operator_min,
            Self::Max => return &raw const corecast_operator_max,
            Self::And => return &raw const corecast_operator_and,
            Self::Or => return &raw const corecast_operator_or,
            Self::Xor => return &raw const corecast_operator_xor,
            Self::Add => Some(add),
            Self::Left => Some(left),
            Self::Right => Some(right),
        };
        let context = (&raw const *bytes).cast_mut().cast();
        let (ordered, mut operator) = (self != Self::Add, null_mut());
        // SAFETY: the functions below do what they should with that context.
        let made =
            unsafe { corecast_operator_new(combine, context, *bytes, ordered, &raw mut operator) };
        assert_eq!(told(made), Status::Ok);
        operator
    }

    /// Frees the handle, unless it is built in.
    pub(super) fn free(self, operator: *const Operator) {
        if self.is_own() {
            // SAFETY: `handle` made it.
            let freed = unsafe { corecast_operator_free(operator.cast_mut()) };
            assert_eq!(told(freed), Status::Ok);
        }
    }
}

/// The arrays that an operator combines.
///
/// # Safety
///
/// What `corecast_combine_t` says, with a context that [`By::handle`] gave.
unsafe fn arrays<'a>(
    into: *mut c_void,
    with: *const c_void,
    count: usize,
    context: *mut c_void,
) -> (&'a mut [u8], &'a [u8]) {
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = count * *context.cast::<usize>();
        let into = std::slice::from_raw_parts_mut(into.cast(), bytes);
        (into, std::slice::from_raw_parts(with.cast(), bytes))
    }
}

/// Adds bytes.
///
/// # Safety
///
/// That of [`arrays`], here and below.
unsafe extern "C" fn add(
    into: *mut c_void,
    with: *const c_void,
    count: usize,
    context: *mut c_void,
) {
    // SAFETY: the caller's promise.
    let (into, with) = unsafe { arrays(into, with, count, context) };
    for (into, with) in into.iter_mut().zip(with) {
        *into = into.wrapping_add(*with);
    }
}

/// Keeps what lower ranks give.
///
/// # Safety
///
/// As `add`.
unsafe extern "C" fn left(
    into: *mut c_void,
    with: *const c_void,
    count: usize,
    context: *mut c_void,
) {
    // SAFETY: the caller's promise.
    let _ = unsafe { arrays(into, with, count, context) };
}

/// Takes what higher ranks give.
///
/// # Safety
///
/// As `add`.
unsafe extern "C" fn right(
    into: *mut c_void,
    with: *const c_void,
    count: usize,
    context: *mut c_void,
) {
    // SAFETY: the caller's promise.
    let (into, with) = unsafe { arrays(into, with, count, context) };
    into.copy_from_slice(with);
}
