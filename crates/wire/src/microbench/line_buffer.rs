//! Memory whose lines are read, written and flushed one by one.
//!
//! A measurement of one transfer must include nothing else, and a first touch of a page or a walk through the
//! page tables takes longer than the transfer. So a buffer is touched when it is made, and lies in huge pages
//! where the kernel grants them.

use super::cpu;
use crate::hardware_wait::Monitored;
use crate::segment::SegmentError;
use crate::sync::{AtomicU64, Ordering};
use std::ptr::NonNull;

/// Bytes of a huge page on x86-64, and with pages of 4 KiB on AArch64.
const HUGE_BYTES: usize = 2 << 20;

/// `MADV_COLLAPSE` asks for huge pages now, not when the kernel finds the time. It needs Linux 6.1.
const COLLAPSE: libc::c_int = 25;

/// Whether a buffer lies in huge pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HugePages {
    /// All pages are huge.
    Granted,
    /// At most a part of the pages is huge; the text says how large a part, and why.
    Refused(String),
}

/// A buffer of lines, which are addressed by their offsets in bytes; see the module.
///
/// Every access is atomic and `Relaxed`; the caller orders them.
#[derive(Debug)]
pub struct LineBuffer {
    base: NonNull<u8>,
    bytes: usize,
    mapping: NonNull<u8>,
    mapped: usize,
    huge: HugePages,
}

// SAFETY: the mapping is plain memory that lives as long as the buffer; every access is atomic.
unsafe impl Send for LineBuffer {}
// SAFETY: as above.
unsafe impl Sync for LineBuffer {}

impl LineBuffer {
    /// Maps `bytes`, rounded up to huge pages, and touches them: they come to lie on the NUMA node of the
    /// calling thread.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Map`]. Huge pages that are refused are no error: see [`LineBuffer::huge_pages`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{LINE_BYTES, microbench::LineBuffer};
    ///
    /// let buffer = LineBuffer::new(1 << 20)?;
    /// buffer.store(3 * LINE_BYTES, 5);
    /// buffer.flush(3 * LINE_BYTES);
    /// assert_eq!(buffer.load(3 * LINE_BYTES), 5);
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn new(bytes: usize) -> Result<Self, SegmentError> {
        let refused = |source| SegmentError::Map { bytes, source };
        let rounded = bytes.max(1).checked_next_multiple_of(HUGE_BYTES);
        // One huge page more, so that the lines can begin where a huge page does.
        let sizes = rounded.and_then(|len| Some((len, len.checked_add(HUGE_BYTES)?)));
        let (len, mapped) = sizes.ok_or_else(|| refused(std::io::ErrorKind::OutOfMemory.into()))?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let mapping = unsafe { libc::mmap(std::ptr::null_mut(), mapped, access, flags, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return Err(refused(std::io::Error::last_os_error()));
        }
        let mapping = NonNull::new(mapping.cast::<u8>()).expect("mmap returned null");
        let skip = mapping.align_offset(HUGE_BYTES);
        // SAFETY: the skip is less than the huge page that was mapped in addition.
        let base = unsafe { mapping.add(skip) };
        let mut buffer = Self {
            base,
            bytes: len,
            mapping,
            mapped,
            huge: HugePages::Granted,
        };
        let advice = buffer.advise(libc::MADV_HUGEPAGE);
        for page in (0..len).step_by(rustix::param::page_size()) {
            buffer.store(page, 0);
        }
        buffer.huge = buffer.outcome(advice);
        Ok(buffer)
    }

    /// Whether the buffer lies in huge pages.
    pub fn huge_pages(&self) -> &HugePages {
        &self.huge
    }

    /// The buffer's length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// It and its callers are always inlined, because a call would push an address, which is one more store.
    #[inline(always)]
    fn word(&self, offset: usize) -> &AtomicU64 {
        if offset >= self.bytes || !offset.is_multiple_of(size_of::<u64>()) {
            self.outside(offset);
        }
        // SAFETY: within the mapping and aligned, as was just checked; any bits are a valid integer, and
        // every access to this memory is atomic.
        unsafe { self.base.add(offset).cast::<AtomicU64>().as_ref() }
    }

    #[cold]
    #[inline(never)]
    fn outside(&self, offset: usize) -> ! {
        panic!("no word at {offset} of {} bytes", self.bytes);
    }

    /// The word at `offset`, in bytes.
    ///
    /// # Panics
    ///
    /// If there is no word at `offset`. The other methods panic in that case too.
    #[inline(always)]
    pub fn load(&self, offset: usize) -> u64 {
        // Relaxed: see the type.
        self.word(offset).load(Ordering::Relaxed)
    }

    /// Writes the word at `offset`.
    #[inline(always)]
    pub fn store(&self, offset: usize, word: u64) {
        // Relaxed: see the type.
        self.word(offset).store(word, Ordering::Relaxed);
    }

    /// Copies words from `offset` on to `into`.
    #[inline(always)]
    pub fn copy_out(&self, offset: usize, into: &mut [u64]) {
        for (at, word) in into.iter_mut().enumerate() {
            *word = self.load(offset + at * size_of::<u64>());
        }
    }

    /// Drives the line at `offset` out of all caches, where the processor lets a program do so
    /// ([`FLUSHES`](super::FLUSHES)). The line is out when [`finish_flushes`](super::finish_flushes) returns.
    #[inline(always)]
    pub fn flush(&self, offset: usize) {
        let word = std::ptr::from_ref(self.word(offset));
        // SAFETY: a word of the buffer.
        unsafe { cpu::flush(word.cast()) };
    }

    /// The word at `offset`, for a wait in the processor.
    #[inline(always)]
    pub fn monitored(&self, offset: usize) -> Monitored<'_> {
        Monitored::new(self.word(offset))
    }

    fn advise(&self, advice: libc::c_int) -> std::io::Result<()> {
        // SAFETY: our own mapping; the advice changes no contents.
        match unsafe { libc::madvise(self.base.as_ptr().cast(), self.bytes, advice) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// Whether the request for huge pages was granted, once all pages are touched. `advice` is the kernel's
    /// answer to it.
    fn outcome(&self, advice: std::io::Result<()>) -> HugePages {
        if let Err(why) = advice {
            return HugePages::Refused(format!("the kernel refuses them ({why})"));
        }
        if self.huge_bytes().is_some_and(|huge| huge < self.bytes) {
            // An older kernel does not know this advice, and others may have no huge page left. The check
            // below finds that out.
            let _ = self.advise(COLLAPSE);
        }
        match self.huge_bytes() {
            Some(huge) if huge >= self.bytes => HugePages::Granted,
            Some(huge) => HugePages::Refused(format!(
                "{} of {} KiB lie in huge pages",
                huge >> 10,
                self.bytes >> 10
            )),
            None => HugePages::Refused("the kernel does not tell".to_owned()),
        }
    }

    /// Bytes in huge pages, as `/proc/self/smaps` says of the mapping that the buffer begins in.
    fn huge_bytes(&self) -> Option<usize> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        huge_bytes_at(&maps, self.base.as_ptr() as usize)
    }
}

impl Drop for LineBuffer {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody borrows any more.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapped) };
    }
}

/// Bytes in huge pages of the mapping that `address` lies in.
fn huge_bytes_at(maps: &str, address: usize) -> Option<usize> {
    let mut inside = false;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let first = words.next()?;
        if let Some((low, high)) = first.split_once('-') {
            let number = |text| usize::from_str_radix(text, 16).ok();
            if let (Some(low), Some(high)) = (number(low), number(high)) {
                inside = (low..high).contains(&address);
                continue;
            }
        }
        if inside && first == "AnonHugePages:" {
            let kibibytes: usize = words.next()?.parse().ok()?;
            return Some(kibibytes << 10);
        }
    }
    None
}

#[cfg(test)]
mod tests;
