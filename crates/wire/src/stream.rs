//! Copies that leave the caches alone: non-temporal stores, for results that are longer than what a
//! core's share of the last cache holds.
//!
//! A plain store reads the line that it overwrites, and pushes another one out of the cache. Where all of
//! the result is pushed out again before anybody reads it, both are wasted. The C library's copy knows
//! this, but sees pieces of 16 to 32 KiB here, never the whole.
//!
//! **Measured** on two cores of an AMD EPYC (Zen 5, 32 MiB of last cache that the two share), 2026-11,
//! pieces of 32 KiB, medians of interleaved runs, time of streaming in times of plain copies:
//!
//! | bytes in all | copied | and read afterwards |
//! | --- | --- | --- |
//! | 1 MiB | 1.9 | 2.5 |
//! | 8 MiB | 1.4 | 1.8 |
//! | 16 MiB | 0.98 | 1.2 |
//! | 32 MiB | 1.0 | 1.0 |
//! | 64 MiB | 0.97 | 1.0 |
//!
//! Here streaming breaks even from twice a core's share on, 32 MiB, and gains next to nothing beyond; so
//! that is the threshold. Vectors of 16, 32 and 64 bytes do not differ. Results of reductions are read
//! before they are written, so there is nothing to save.

use std::fs;
use std::sync::OnceLock;

/// A result is streamed from this many times a core's share of the last cache on, see the module.
const SHARES: usize = 2;

/// The threshold in bytes where the system does not tell how large the cache is.
const UNKNOWN_ABOVE: usize = 32 << 20;

/// The length in bytes from which on a result is streamed: twice a core's share of the last cache, or the
/// value of the environment variable `CORECAST_STREAM` (0: always; other words are ignored). It is decided
/// at the first call.
///
/// # Examples
///
/// ```
/// assert!(corecast_wire::stream::above() > 0);
/// ```
#[inline]
pub fn above() -> usize {
    static ABOVE: OnceLock<usize> = OnceLock::new();
    *ABOVE.get_or_init(|| {
        let requested = std::env::var("CORECAST_STREAM").ok();
        requested
            .and_then(|bytes| bytes.parse().ok())
            .unwrap_or_else(|| share("").map_or(UNKNOWN_ABOVE, |share| SHARES * share))
    })
}

/// A core's share of the last cache that this thread's processor has. `root` is a prefix of all paths, for
/// tests.
fn share(root: &str) -> Option<usize> {
    // Miri does not say which processor runs a thread.
    if cfg!(miri) {
        return None;
    }
    let cpu = rustix::thread::sched_getcpu();
    let caches = format!("{root}/sys/devices/system/cpu/cpu{cpu}/cache");
    let entries = fs::read_dir(&caches).ok()?.filter_map(Result::ok);
    let index = |entry: fs::DirEntry| {
        entry
            .file_name()
            .to_str()?
            .strip_prefix("index")?
            .parse()
            .ok()
    };
    let mut indices: Vec<u32> = entries.filter_map(index).collect();
    // The kernel numbers caches by level, so the files that say the level need not be read.
    indices.sort_unstable_by_key(|&index| std::cmp::Reverse(index));
    let share = |index: &u32| {
        let read = |name: &str| fs::read_to_string(format!("{caches}/index{index}/{name}")).ok();
        let size = read("size")?;
        let kibibytes: usize = size.trim().strip_suffix('K')?.parse().ok()?;
        // The mask is hexadecimal, with a comma after each 32 bits.
        let mask = read("shared_cpu_map")?;
        let sharers = mask.trim().chars().filter_map(|digit| digit.to_digit(16));
        let sharers: u32 = sharers.map(u32::count_ones).sum();
        Some((kibibytes << 10) / sharers.max(1) as usize)
    };
    let last = indices.iter().find_map(share)?;
    Some(last).filter(|&share| share > 0)
}

/// Copies `from` to the beginning of `into`, a part of a result of `all` bytes.
///
/// # Panics
///
/// If `into` is shorter.
///
/// # Cost
///
/// A plain copy where `all` is less than [`above`]. Otherwise no whole line of `into` is read, nor in a
/// cache afterwards.
///
/// # Examples
///
/// ```
/// let mut into = [0; 5];
/// corecast_wire::stream::copy(&mut into, &[1, 2, 3], usize::MAX);
/// assert_eq!(into, [1, 2, 3, 0, 0]);
/// ```
#[inline]
pub fn copy(into: &mut [u8], from: &[u8], all: usize) {
    let into = &mut into[..from.len()];
    // SAFETY: the slice has as many bytes, nobody writes them, and they do not overlap those of a mutable reference.
    unsafe { copy_raw(into, from.as_ptr(), all) };
}

/// Fills `into`, a part of a result of `all` bytes, with the bytes from `from` on, like [`copy`]. It is for memory of
/// which no slice may be made, because another process can write it at any time.
///
/// # Safety
///
/// - As many bytes as `into` has can be read from `from` on.
/// - They do not overlap `into`.
/// - No thread of this process writes them meanwhile. If another process does, `into` has bytes of before and after.
#[inline]
pub unsafe fn copy_raw(into: &mut [u8], from: *const u8, all: usize) {
    #[cfg(corecast_simulated)]
    let (into, from) = {
        let (first, second) = into.split_at_mut(into.len() / 2);
        // SAFETY: as the caller promises.
        unsafe { core::ptr::copy_nonoverlapping(from, first.as_mut_ptr(), first.len()) };
        // A simulation lets others run amid the copy.
        crate::simulated::point(crate::simulated::Point::Access);
        // SAFETY: within the bytes that can be read.
        (second, unsafe { from.add(first.len()) })
    };
    if all < above() {
        // SAFETY: as the caller promises.
        unsafe { crate::copy::bytes(from, into.as_mut_ptr(), into.len()) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { past_caches(into, from) };
    }
}

/// Does what [`copy_raw`] does.
///
/// # Safety
///
/// That of [`copy_raw`].
#[cfg(not(all(target_arch = "x86_64", not(corecast_generic_arch))))]
unsafe fn past_caches(into: &mut [u8], from: *const u8) {
    // SAFETY: as the caller promises.
    unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
}

/// Copies whole lines with non-temporal stores, and the bytes at both ends with plain ones.
///
/// # Safety
///
/// That of [`copy_raw`].
#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
unsafe fn past_caches(into: &mut [u8], from: *const u8) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const LINE: usize = crate::LINE_BYTES;
    let head = into.as_ptr().align_offset(LINE).min(into.len());
    let (first, into) = into.split_at_mut(head);
    // SAFETY: the first `head` bytes of those that the caller promises.
    unsafe { core::ptr::copy_nonoverlapping(from, first.as_mut_ptr(), head) };
    let (lines, last) = into.as_chunks_mut::<LINE>();
    let whole = lines.len() * LINE;
    for (number, line) in lines.iter_mut().enumerate() {
        let to = line.as_mut_ptr().cast::<__m128i>();
        // SAFETY: the caller promises as many bytes as `into` has, and this line is among them.
        let source = unsafe { from.add(head + number * LINE) }.cast::<__m128i>();
        for part in 0..LINE / size_of::<__m128i>() {
            // SAFETY: within the two lines of 64 bytes; the stores are aligned, as `head` has brought
            // `to` to a line's begin; SSE2 is in every x86-64 processor. The fence below comes before
            // anything else can see the stores.
            unsafe { _mm_stream_si128(to.add(part), _mm_loadu_si128(source.add(part))) };
        }
    }
    // SAFETY: the last bytes of those that the caller promises.
    unsafe {
        core::ptr::copy_nonoverlapping(from.add(head + whole), last.as_mut_ptr(), last.len())
    };
    // Streamed stores are ordered with no other ones, so also not with the Release by which this rank
    // hands the data on: its partner, the Acquire of a reader (`Borrower::look`, a flag or a slot), would
    // not see them. The fence comes before every later store.
    // SAFETY: SSE is in every x86-64 processor.
    unsafe { _mm_sfence() };
}

#[cfg(test)]
mod tests;
