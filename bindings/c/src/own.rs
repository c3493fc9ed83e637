//! A function of C as an operator.

use corecast::Combine as Combining;
use std::ffi::c_void;

/// Combines arrays element by element: `into[i] = into[i] ∘ with[i]` for `count` elements, of which
/// those of `with` come from higher ranks. It must be associative. It may be called with any pieces of
/// the data, on the threads of any members, by several of them at once. It must not unwind: no
/// exception, no `longjmp`.
///
/// In an operation in flight it runs on that operation's stack, of 128 KiB unless `corecast_builder_stack`
/// asks for more, not on the thread's. A function that uses more ends the program with a memory fault, as
/// the 1 MiB below the stack cannot be touched. If it has a frame that is longer than that, compile it with
/// `-fstack-clash-protection`, or it may reach beyond.
///
/// # Safety
///
/// both arrays have `count` elements and do not overlap.
pub type Combine = Option<
    unsafe extern "C" fn(
        into: *mut c_void,
        with: *const c_void,
        count: usize,
        context: *mut c_void,
    ),
>;

/// A function of C, its context, and the elements that it combines.
#[derive(Debug)]
pub(crate) struct Own {
    /// Its contract: [`Combine`]'s `# Safety`.
    combine: unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void),
    context: *mut c_void,
    element_bytes: usize,
    ordered: bool,
}

// SAFETY: the promise of `Own::new`: the function may be called on any thread with this context.
unsafe impl Send for Own {}
// SAFETY: the promise of `Own::new`: several threads may call the function at once.
unsafe impl Sync for Own {}

impl Own {
    /// An operator of a function on elements of `element_bytes` bytes, at least 1.
    ///
    /// # Safety
    ///
    /// The function does what [`Combine`] says, on any thread and on several at once, for as long as
    /// this is used.
    pub(crate) unsafe fn new(
        combine: unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void),
        context: *mut c_void,
        element_bytes: usize,
        ordered: bool,
    ) -> Self {
        debug_assert!(element_bytes > 0);
        Self {
            combine,
            context,
            element_bytes,
            ordered,
        }
    }

    fn call(&self, into: &mut [u8], with: &[u8]) {
        debug_assert_eq!(into.len(), with.len());
        let count = into.len() / self.element_bytes;
        // SAFETY: as many whole elements on both sides, which do not overlap; the rest is the
        // promise of `new`.
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

/// Bytes that are copied at a time where the function writes to its left operand but the result belongs into
/// its right one.
const PIECE_BYTES: usize = 1024;

/// Aligned for any element.
#[repr(align(16))]
struct Piece([u8; PIECE_BYTES]);

impl Combining for Own {
    fn element_size(&self) -> usize {
        self.element_bytes
    }

    fn ordered(&self) -> bool {
        self.ordered
    }

    fn combine(&self, into: &mut [u8], with: &[u8]) {
        self.call(into, with);
    }

    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        if self.element_bytes > PIECE_BYTES {
            let mut left = vec![0u128; self.element_bytes.div_ceil(16)];
            let pieces = into
                .chunks_mut(self.element_bytes)
                .zip(with.chunks(self.element_bytes));
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
        let piece = PIECE_BYTES / self.element_bytes * self.element_bytes;
        let mut left = Piece([0; PIECE_BYTES]);
        for (into, with) in into.chunks_mut(piece).zip(with.chunks(piece)) {
            let left = &mut left.0[..with.len()];
            left.copy_from_slice(with);
            self.call(left, into);
            into.copy_from_slice(left);
        }
    }

    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        // In pieces, so that what was copied is still in the first cache when it is combined.
        let piece = (4 * PIECE_BYTES / self.element_bytes).max(1) * self.element_bytes;
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
        // SAFETY: the function keeps to its contract, on this one thread.
        let own = unsafe { Own::new(then, (&raw mut calls).cast(), 16, true) };
        assert_eq!((own.element_size(), own.ordered()), (16, true));
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
    }
}
