//! Operators of the caller's own.

use crate::memory;
use crate::status::Refusal;
use corecast::Combine as Combining;
use std::ffi::c_void;

/// Combines arrays element by element: `into[i] = into[i] ∘ with[i]` for `count` elements, of which
/// those of `with` come from higher ranks. It may be called with any pieces of the data, on the
/// threads of any members, several at once. It must not unwind: no exception, no `longjmp`.
///
/// # Safety
///
/// Both arrays have `count` elements, and do not overlap.
pub type Combine = Option<
    unsafe extern "C" fn(
        into: *mut c_void,
        with: *const c_void,
        count: usize,
        context: *mut c_void,
    ),
>;

/// An operator of one's own: an associative function. All members give the same one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OwnOperator {
    /// What combines.
    pub combine: Combine,
    /// Handed to `combine` as it is.
    pub context: *mut c_void,
    /// Bytes of an element, at least 1. Elements are aligned to at most 16 bytes.
    pub element_bytes: usize,
    /// Whether the order of ranks must be kept: the operator is not commutative.
    pub ordered: bool,
}

/// One that was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// Its contract: [`Combine`]'s `# Safety`.
    combine: unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void),
    context: *mut c_void,
    grain: usize,
    ordered: bool,
}

impl Own {
    /// # Safety
    ///
    /// `operator` is NULL or an operator whose `combine` does what [`Combine`] says for as long as
    /// this is used.
    pub(crate) unsafe fn of(operator: *const OwnOperator) -> Result<Self, Refusal> {
        memory::aligned("operator", operator.cast(), align_of::<OwnOperator>())?;
        // SAFETY: NULL, or the caller's promise.
        let Some(operator) = (unsafe { operator.as_ref() }) else {
            return Err(Refusal::null("operator"));
        };
        let Some(combine) = operator.combine else {
            return Err(Refusal::null("operator->combine"));
        };
        if operator.element_bytes == 0 {
            return Err(Refusal::invalid(
                "`operator->element_bytes` is 0: give the length of an element",
            ));
        }
        Ok(Self {
            combine,
            context: operator.context,
            grain: operator.element_bytes,
            ordered: operator.ordered,
        })
    }

    fn call(&self, into: &mut [u8], with: &[u8]) {
        debug_assert_eq!(into.len(), with.len());
        let count = into.len() / self.grain;
        // SAFETY: as many whole elements on both sides, which do not overlap; the rest is the
        // promise of `of`.
        unsafe {
            (self.combine)(
                into.as_mut_ptr().cast(),
                with.as_ptr().cast(),
                count,
                self.context,
            );
        }
    }
}

/// Bytes of a piece that is copied so that the function may write to its left operand.
const PIECE_BYTES: usize = 1024;

/// Aligned for any element.
#[repr(align(16))]
struct Piece([u8; PIECE_BYTES]);

impl Combining for Own {
    fn grain(&self) -> usize {
        self.grain
    }

    fn ordered(&self) -> bool {
        self.ordered
    }

    fn combine(&self, into: &mut [u8], with: &[u8]) {
        self.call(into, with);
    }

    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        if self.grain > PIECE_BYTES {
            let mut left = vec![0u128; self.grain.div_ceil(16)];
            let pieces = into.chunks_mut(self.grain).zip(with.chunks(self.grain));
            for (into, with) in pieces {
                // SAFETY: 16-byte integers as bytes: no alignment is missing, all are initialised.
                let left = unsafe {
                    std::slice::from_raw_parts_mut(left.as_mut_ptr().cast::<u8>(), into.len())
                };
                left.copy_from_slice(with);
                self.call(left, into);
                into.copy_from_slice(left);
            }
            return;
        }
        let piece = PIECE_BYTES / self.grain * self.grain;
        let mut left = Piece([0; PIECE_BYTES]);
        for (into, with) in into.chunks_mut(piece).zip(with.chunks(piece)) {
            let left = &mut left.0[..with.len()];
            left.copy_from_slice(with);
            self.call(left, into);
            into.copy_from_slice(left);
        }
    }

    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        // What was copied is still in the first cache when it is combined.
        let piece = (4 * PIECE_BYTES / self.grain).max(1) * self.grain;
        let pieces = out.chunks_mut(piece).zip(a.chunks(piece));
        for ((out, a), b) in pieces.zip(b.chunks(piece)) {
            out.copy_from_slice(a);
            self.call(out, b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "a then b" of x ↦ a₀·x + a₁ over two u64: associative, not commutative.
    ///
    /// # Safety
    ///
    /// That of [`Combine`]; `calls` is a counter.
    unsafe extern "C" fn then(
        into: *mut c_void,
        with: *const c_void,
        count: usize,
        calls: *mut c_void,
    ) {
        let (into, with) = (into.cast::<[u64; 2]>(), with.cast::<[u64; 2]>());
        for at in 0..count {
            // SAFETY: the caller gives `count` elements on both sides, and a counter.
            unsafe {
                let ([a, b], [c, d]) = (into.add(at).read(), with.add(at).read());
                let map = [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)];
                into.add(at).write(map);
                *calls.cast::<usize>() += 1;
            }
        }
    }

    fn bytes(maps: &mut [[u64; 2]]) -> &mut [u8] {
        let length = size_of_val(maps);
        // SAFETY: plain integers as bytes.
        unsafe { std::slice::from_raw_parts_mut(maps.as_mut_ptr().cast(), length) }
    }

    #[test]
    fn both_sides_and_three_operands() {
        let mut calls = 0usize;
        let operator = OwnOperator {
            combine: Some(then),
            context: (&raw mut calls).cast(),
            element_bytes: 16,
            ordered: true,
        };
        // SAFETY: the function keeps to its contract.
        let own = unsafe { Own::of(&raw const operator) }.unwrap();
        for count in [1, 63, 64, 65, 700] {
            let maps = |k: u64| -> Vec<[u64; 2]> {
                (0..count as u64).map(|i| [k * i + 1, i ^ k]).collect()
            };
            let expected: Vec<[u64; 2]> = maps(3)
                .into_iter()
                .zip(maps(5))
                .map(|([a, b], [c, d])| [a * c, b * c + d])
                .collect();
            let (mut a, mut b, mut out) = (maps(3), maps(5), maps(0));
            own.combine_into(bytes(&mut out), bytes(&mut a), bytes(&mut b));
            assert_eq!(out, expected);
            own.combine(bytes(&mut a), bytes(&mut b));
            assert_eq!(a, expected);
            let (mut a, mut b) = (maps(3), maps(5));
            own.combine_left(bytes(&mut b), bytes(&mut a));
            assert_eq!(b, expected);
        }
        assert_eq!(calls, 3 * (1 + 63 + 64 + 65 + 700));
        // SAFETY: what cannot be is refused.
        unsafe {
            let none = OwnOperator {
                element_bytes: 0,
                ..operator
            };
            assert!(Own::of(&raw const none).is_err());
            let none = OwnOperator {
                combine: None,
                ..operator
            };
            assert!(Own::of(&raw const none).is_err());
            assert!(Own::of(std::ptr::null()).is_err());
        }
    }
}
