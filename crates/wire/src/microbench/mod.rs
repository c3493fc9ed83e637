//! Tools that measurements need and collectives do not: single lines in a chosen state, the counter between fences, and
//! the system's calls one by one.
//!
//! | file | what |
//! | --- | --- |
//! | `cpu/` | counter, flush, stores past the caches: x86-64, AArch64, anything else |
//! | `line_buffer.rs` | memory whose lines are read, written and flushed one by one, in huge pages where they are granted |
//! | `bare_futex.rs` | a futex without the protocol of a parker |
//!
//! **Architecture invariant:** no collective uses this module. A function orders memory only where its documentation
//! says so.

mod bare_futex;
mod cpu;
mod line_buffer;

pub use bare_futex::BareFutex;
pub use cpu::{FLUSHES, counter_is_steady, finish_flushes, stamp};
pub use line_buffer::{HugePages, LineBuffer};

/// Fills `into` with zeros by stores that go past the caches, where the processor has such stores.
///
/// # Examples
///
/// ```
/// let mut into = vec![7_u8; 200];
/// corecast_wire::microbench::clear_past_caches(&mut into);
/// assert!(into.iter().all(|&byte| byte == 0));
/// ```
pub fn clear_past_caches(into: &mut [u8]) {
    let head = into
        .as_ptr()
        .align_offset(crate::LINE_BYTES)
        .min(into.len());
    let (first, rest) = into.split_at_mut(head);
    let (lines, last) = rest.as_chunks_mut::<{ crate::LINE_BYTES }>();
    first.fill(0);
    cpu::clear_lines(lines);
    last.fill(0);
}

/// The fence that a [`crate::Parker`] pays before it sleeps: `membarrier`, or a full fence where the kernel refuses
/// that.
///
/// # Examples
///
/// ```
/// corecast_wire::microbench::heavy_fence();
/// ```
pub fn heavy_fence() {
    let _ = crate::fence::heavy(crate::fence_kind());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleared_bytes_and_no_others() {
        for start in 0..70 {
            for len in (0..200).chain([500, 800]) {
                let mut into = vec![0xEE_u8; 1000];
                clear_past_caches(&mut into[start..start + len]);
                let outside = |at: &usize| *at < start || *at >= start + len;
                for (at, &byte) in into.iter().enumerate() {
                    assert_eq!(byte != 0, outside(&at), "{start} {len} {at}");
                }
            }
        }
    }

    #[test]
    fn stamps_run_forward() {
        let stamps: Vec<u64> = (0..100).map(|_| stamp()).collect();
        if counter_is_steady() {
            assert!(stamps.is_sorted(), "{stamps:?}");
        }
    }

    /// The kernel reports the same bits of the processor.
    #[test]
    #[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
    fn the_processor_has_what_the_kernel_says() {
        assert_eq!(
            counter_is_steady(),
            crate::arch::tests::kernel_reports("nonstop_tsc")
        );
    }
}
