//! Copies of long data, as fast wherever the bytes lie.
//!
//! C libraries copy long data by `rep movsb` where the processor says that it is fast. AMD's from Zen 3 on say so, and take 8 to
//! 17 times as long where the target lies 1 to 31 bytes behind the source within their pages. That is no rare case: an array
//! that `malloc` maps begins 16 bytes behind a page's begin, and shared memory at one. glibc does without from 2.39 on. So
//! copies at such places go by a loop of vectors if the library is slow there, which the first team of a process races, or its
//! first such copy. All others go by the library: `rep movsb` does not read the lines that it writes, so that into lines that
//! another core has it is up to 1.4 times as fast as the loop.
//!
//! **Measured** on two cores of an AMD EPYC (Zen 5), glibc 2.36, November 2026, nanoseconds of a copy of 64 KiB in the
//! first-level cache, by where in their pages source and target begin:
//!
//! | source, target | library | loop | library in blocks of 2 KiB |
//! | --- | --- | --- | --- |
//! | 0, 0 | 1,286 | 1,301 | 1,311 |
//! | 0, 16 | 21,988 | 1,373 | 1,502 |
//! | 16, 0 | 1,427 | 1,291 | 1,326 |
//! | 16, 64 | 1,833 | 1,355 | 1,330 |

use std::hint::black_box;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Instant;

/// From this length on a copy is long: shorter ones C libraries copy by vectors.
const LONG_BYTES: usize = 2048;

const PAGE_BYTES: usize = 4096;

/// How many bytes the target lies behind the source within their pages where copies can be slow.
const BAD: Range<usize> = 1..32;

/// The [slowness](library_slowness) above which the library copies no long data to a bad place.
pub const SLOW: f64 = 2.0;

/// Bytes that the library copies at a time: less than what it copies in a way of its own, whose thresholds know nothing of the
/// whole. glibc's for long data, four pages at a time, takes 1.1 to 1.3 times as long for 16 MiB as blocks do on the machine above.
pub(crate) const BLOCK_BYTES: usize = 128 << 10;

/// Copies `from` to `to`.
///
/// # Panics
///
/// If they have different lengths.
///
/// # Examples
///
/// ```
/// let mut to = vec![0; 5000];
/// corecast_wire::copy::slice(&mut to, &[7; 5000]);
/// assert_eq!(to, [7; 5000]);
/// ```
#[inline(always)]
pub fn slice(to: &mut [u8], from: &[u8]) {
    let (room, len) = (to.len(), from.len());
    assert!(room == len, "{len} bytes are copied to {room}");
    // SAFETY: the slices have as many bytes, and nobody has another reference to those of `to`.
    unsafe { bytes(from.as_ptr(), to.as_mut_ptr(), len) };
}

/// Copies `len` bytes.
///
/// # Safety
///
/// That of [`core::ptr::copy_nonoverlapping`]; another process may write what is read meanwhile, and what arrives are then
/// bytes of before and after.
#[inline(always)]
pub unsafe fn bytes(from: *const u8, to: *mut u8, len: usize) {
    if len < LONG_BYTES {
        // SAFETY: as the caller promises.
        unsafe { core::ptr::copy_nonoverlapping(from, to, len) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { long(from, to, len) };
    }
}

/// Finds out whether the library is slow, so that no later copy has to.
pub fn choose() {
    is_library_slow();
}

/// Does what [`bytes`] does, for [`LONG_BYTES`] or more.
///
/// # Safety
///
/// That of [`bytes`].
#[inline(never)]
unsafe fn long(from: *const u8, to: *mut u8, len: usize) {
    let behind = to.addr().wrapping_sub(from.addr()) % PAGE_BYTES;
    if BAD.contains(&behind) && is_library_slow() {
        // SAFETY: as the caller promises, and a long copy has a line.
        return unsafe { by_vectors(from, to, len) };
    }
    for start in (0..len).step_by(BLOCK_BYTES) {
        // SAFETY: within the bytes that the caller promises.
        unsafe {
            let block = BLOCK_BYTES.min(len - start);
            core::ptr::copy_nonoverlapping(from.add(start), to.add(start), block);
        }
    }
}

/// Whether long data go by [`by_vectors`] to a bad place. The first call races it.
#[inline]
fn is_library_slow() -> bool {
    static CHOSEN: OnceLock<bool> = OnceLock::new();
    // No clock tells what a copy takes where a program does not run by itself.
    *CHOSEN.get_or_init(|| !cfg!(any(miri, loom, corecast_simulated)) && library_slowness() > SLOW)
}

/// How long the C library's copy of 8 KiB takes, in times of a loop of vectors, where the target lies 16 bytes behind the
/// source within their pages. Some 1 where there is no such loop.
///
/// # Cost
///
/// 10 to 30 µs, and six pages for that time.
///
/// # Examples
///
/// ```
/// assert!(corecast_wire::copy::library_slowness() > 0.0);
/// ```
pub fn library_slowness() -> f64 {
    const LEN: usize = 2 * PAGE_BYTES;
    const ROUNDS: usize = 4;
    let mut memory = vec![0_u8; 2 * LEN + 2 * PAGE_BYTES];
    let start = memory.as_ptr().align_offset(PAGE_BYTES);
    let (from, rest) = memory[start..].split_at_mut(LEN);
    let to = &mut rest[16..][..LEN];
    let time = |copy: &mut dyn FnMut()| {
        let start = Instant::now();
        copy();
        start.elapsed()
    };
    let mut rounds = [(); ROUNDS].map(|()| {
        let by_library = time(&mut || black_box(&mut *to).copy_from_slice(black_box(&*from)));
        let by_vectors = time(&mut || {
            let (to, from) = (black_box(&mut *to), black_box(&*from));
            // SAFETY: both slices have as many bytes.
            unsafe { by_vectors(from.as_ptr(), to.as_mut_ptr(), LEN) };
        });
        [by_library, by_vectors]
    });
    // The least time of each: another program may have run amid all others, and pages were touched first in one.
    let mut least = |way: usize| {
        rounds.sort_unstable_by_key(|times| times[way]);
        rounds[0][way]
    };
    let [by_library, by_vectors] = [0, 1].map(|way| least(way).as_nanos().max(1) as f64);
    by_library / by_vectors
}

/// Copies `len` bytes as the library does.
///
/// # Safety
///
/// That of [`bytes`].
#[cfg(not(all(target_arch = "x86_64", not(corecast_generic_arch))))]
unsafe fn by_vectors(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: as the caller promises.
    unsafe { core::ptr::copy_nonoverlapping(from, to, len) };
}

/// Copies `len` bytes, a line or more, by vectors of 16 bytes, which each x86-64 processor has.
///
/// # Safety
///
/// That of [`bytes`].
#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
#[inline]
unsafe fn by_vectors(from: *const u8, to: *mut u8, len: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};
    const LINE: usize = crate::LINE_BYTES;
    // Spelled out, since `array::map` would be called for each line by a program that is not optimised as a whole.
    let line = |at: usize| {
        // SAFETY: callers below keep `at + LINE` within `len`, whose bytes the caller promises; SSE2 is in every x86-64
        // processor.
        unsafe {
            let (from, to) = (from.add(at).cast::<__m128i>(), to.add(at).cast::<__m128i>());
            let first = _mm_loadu_si128(from);
            let second = _mm_loadu_si128(from.add(1));
            let third = _mm_loadu_si128(from.add(2));
            let fourth = _mm_loadu_si128(from.add(3));
            _mm_storeu_si128(to, first);
            _mm_storeu_si128(to.add(1), second);
            _mm_storeu_si128(to.add(2), third);
            _mm_storeu_si128(to.add(3), fourth);
        }
    };
    debug_assert!(len >= LINE, "{len} bytes are no line");
    line(0);
    // Whole lines of the target from here on. The first and the last ones overlap others.
    let mut at = LINE - to.addr() % LINE;
    while at + LINE <= len {
        line(at);
        at += LINE;
    }
    line(len - LINE);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    #[test]
    fn copies_of_all_lengths_are_whole() {
        for len in [
            0,
            1,
            LONG_BYTES - 1,
            LONG_BYTES,
            LONG_BYTES + 1,
            BLOCK_BYTES - 1,
            BLOCK_BYTES,
            BLOCK_BYTES + 1,
            3 * BLOCK_BYTES + 7,
        ] {
            let (source, mut room) = (pattern(len + PAGE_BYTES), vec![0; len + 2 * PAGE_BYTES]);
            let [first, start] =
                [source.as_ptr(), room.as_ptr()].map(|it| it.align_offset(PAGE_BYTES));
            let from = &source[first..][..len];
            for behind in [0, 1, 16, BAD.end - 1, BAD.end, 100] {
                room.fill(0xEE);
                let to = &mut room[start + behind..][..len + 9];
                slice(&mut to[..len], from);
                assert!(
                    to[..len] == *from && to[len..] == [0xEE; 9],
                    "{len} bytes, {behind} behind"
                );
            }
        }
    }

    #[test]
    #[should_panic(expected = "7 bytes are copied to 8")]
    fn other_lengths_are_refused() {
        slice(&mut [0; 8], &[0; 7]);
    }

    #[test]
    fn vectors_copy_at_any_ends() {
        let from = pattern(600);
        for start in 0..70 {
            for len in (64..260).chain([400, 500]) {
                for gap in [0, 1, 15, 63] {
                    let mut to = vec![0xEE; 600];
                    let source = &from[gap..gap + len];
                    // SAFETY: of a slice of this length, to one that is not the same.
                    unsafe {
                        by_vectors(source.as_ptr(), to[start..start + len].as_mut_ptr(), len)
                    };
                    assert_eq!(&to[start..start + len], source);
                    let around = to[..start].iter().chain(&to[start + len..]);
                    assert!(around.into_iter().all(|&byte| byte == 0xEE));
                }
            }
        }
    }

    #[test]
    fn what_was_chosen_stays() {
        choose();
        let chosen = is_library_slow();
        assert!((0..100).all(|_| is_library_slow() == chosen));
    }
}
