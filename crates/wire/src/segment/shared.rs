//! Segments that several processes map: files without a name, handed on as descriptors.
//!
//! Such a file has no path, so nothing of it stays behind: it goes with its last descriptor and its
//! last mapping. **Invariant 1:** before anybody maps it, it is sealed against shrinking, so no
//! process can take pages away under another one. **Invariant 2:** all of its pages are reserved, but those
//! of its spare part, which are touched once they are [committed](Segment::commit): so touching one never asks for
//! memory. If either did not hold, a load of a line could end in SIGBUS.

use super::mapped::pages;
use super::{Segment, SegmentError, room};
use rustix::fs::{FallocateFlags, FileType, MemfdFlags, Mode, SealFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

impl Segment {
    /// Memory that other processes may map as well, all zero: a sealed file in memory that belongs
    /// to this user alone. Pass the descriptor to the processes that shall
    /// [`attach`](Self::attach), and drop it then.
    ///
    /// `bytes` are rounded up to pages and reserved at once.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Room`] if a memory limit would be exceeded, [`SegmentError::Shared`] where
    /// the kernel refuses, [`SegmentError::Map`].
    ///
    /// # Cost
    ///
    /// Some ten file reads, and the clearing of all pages.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{Flag, Segment};
    /// use std::os::fd::AsFd;
    ///
    /// let (here, descriptor) = Segment::shared(4096)?;
    /// let there = Segment::attach(descriptor.as_fd())?;
    /// here.at::<Flag>(0, 1)?[0].raise(5);
    /// assert_eq!(there.at::<Flag>(0, 1)?[0].seq(), 5);
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn shared(bytes: usize) -> Result<(Arc<Self>, OwnedFd), SegmentError> {
        Self::shared_with_spare(bytes, 0)
    }

    /// [`shared`](Self::shared) memory, and behind it `spare` bytes of addresses, whose pages take memory when they are
    /// [committed](Self::commit). Both are rounded up to pages. There is no spare part if this process may not have so long
    /// files, or if it would take more than half of a limit of its addresses.
    ///
    /// # Errors
    ///
    /// Those of [`shared`](Self::shared).
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_wire::{Flag, Segment};
    /// use std::os::fd::AsFd;
    ///
    /// let (here, descriptor) = Segment::shared_with_spare(1 << 16, 1 << 30)?;
    /// let there = Segment::attach_with_spare(descriptor.as_fd())?;
    /// here.commit(1 << 20, 1 << 16)?;
    /// here.at::<Flag>(1 << 20, 1)?[0].raise(5);
    /// assert_eq!(there.at::<Flag>(1 << 20, 1)?[0].seq(), 5);
    /// here.release(1 << 20, 1 << 16)?;
    /// assert_eq!(there.at::<Flag>(1 << 20, 1)?[0].seq(), 0);
    /// # Ok::<(), corecast_wire::SegmentError>(())
    /// ```
    pub fn shared_with_spare(
        bytes: usize,
        spare: usize,
    ) -> Result<(Arc<Self>, OwnedFd), SegmentError> {
        let wanted = bytes;
        let failed = |step| {
            move |error: Errno| SegmentError::Shared {
                step,
                bytes: wanted,
                source: error.into(),
            }
        };
        let bytes = pages(bytes).ok_or(Errno::NOMEM).map_err(failed("map"))?;
        room::check(bytes, true)?;
        let all = bytes.checked_add(spare).and_then(pages);
        let all = all
            .filter(|&all| spare > 0 && may_map(all))
            .unwrap_or(bytes);
        let file = create().map_err(failed("create a file in memory of"))?;
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(failed("keep to this user"))?;
        rustix::fs::ftruncate(&file, all as u64).map_err(failed("set aside"))?;
        loop {
            match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes as u64) {
                Err(Errno::INTR) => {}
                done => break done.map_err(failed("reserve"))?,
            }
        }
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).map_err(failed("seal"))?;
        let mut segment = Self::map(all, libc::MAP_SHARED, file.as_raw_fd())?;
        segment.reserved = bytes;
        Ok((Arc::new(segment), file))
    }

    /// Maps the memory that another process made by [`Segment::shared`].
    ///
    /// # Errors
    ///
    /// [`SegmentError::Foreign`] when the descriptor is anything else, or could shrink while this
    /// process uses it, or belongs to another user; [`SegmentError::Map`].
    pub fn attach(descriptor: BorrowedFd<'_>) -> Result<Arc<Self>, SegmentError> {
        let segment = Self::attach_with_spare(descriptor)?;
        segment.require(segment.bytes)?;
        Ok(segment)
    }

    /// Maps the memory that another process made by [`Segment::shared_with_spare`]. Which part is spare the caller
    /// finds out from what lies at the beginning, and asks then whether the rest is [there](Self::require).
    ///
    /// # Errors
    ///
    /// As [`attach`](Self::attach).
    pub fn attach_with_spare(descriptor: BorrowedFd<'_>) -> Result<Arc<Self>, SegmentError> {
        let foreign = |why: String| SegmentError::Foreign { why };
        let stat = rustix::fs::fstat(descriptor)
            .map_err(|error| foreign(format!("it cannot be looked at ({error})")))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(foreign("it is no file in memory".into()));
        }
        let user = rustix::process::geteuid().as_raw();
        if stat.st_uid != user {
            return Err(foreign(format!(
                "it belongs to user {}, this process to user {user}; run both as one user",
                stat.st_uid
            )));
        }
        let seals = rustix::fs::fcntl_get_seals(descriptor)
            .map_err(|error| foreign(format!("it is no file in memory ({error})")))?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(foreign(
                "it is not sealed against shrinking, so its pages could vanish".into(),
            ));
        }
        let page = rustix::param::page_size();
        let bytes = usize::try_from(stat.st_size).unwrap_or(0);
        if bytes == 0 || !bytes.is_multiple_of(page) {
            return Err(foreign(format!(
                "its {} bytes are no multiple of the page size, {page}",
                stat.st_size
            )));
        }
        // The kernel counts blocks of 512 bytes whatever the file system's own are.
        let reserved = u64::try_from(stat.st_blocks)
            .unwrap_or(0)
            .saturating_mul(512);
        let reserved = usize::try_from(reserved).unwrap_or(usize::MAX);
        if reserved < page {
            return Err(unreserved(reserved, page));
        }
        let mut segment = Self::map(bytes, libc::MAP_SHARED, descriptor.as_raw_fd())?;
        segment.reserved = reserved;
        Ok(Arc::new(segment))
    }

    /// Checks that the segment has memory for its first `bytes`.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Foreign`].
    pub fn require(&self, bytes: usize) -> Result<(), SegmentError> {
        match self.reserved >= bytes.min(self.bytes) {
            true => Ok(()),
            false => Err(unreserved(self.reserved, bytes)),
        }
    }

    /// Gives pages of the spare part their memory, all zero, and maps them here.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Outside`], [`SegmentError::Misaligned`] unless both are multiples of the page size,
    /// [`SegmentError::Room`] if a memory limit would be exceeded, [`SegmentError::Shared`] where the kernel refuses.
    ///
    /// # Cost
    ///
    /// The clearing of the pages, and some ten file reads, but not for each of many small parts.
    pub fn commit(&self, offset: usize, bytes: usize) -> Result<(), SegmentError> {
        let first = self.spare_pages(offset, bytes)?;
        room::check(bytes, true)?;
        match advise(first, bytes, libc::MADV_POPULATE_WRITE) {
            Ok(()) => Ok(()),
            // Linux before 5.14.
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                for page in (0..bytes).step_by(rustix::param::page_size()) {
                    // SAFETY: within the mapping, in pages that nobody has been told of yet.
                    unsafe { first.add(page).write_volatile(0) };
                }
                Ok(())
            }
            Err(source) => {
                // Pages that have their memory already give it back.
                let _ = self.release(offset, bytes);
                let step = "commit";
                Err(SegmentError::Shared {
                    step,
                    bytes,
                    source,
                })
            }
        }
    }

    /// Takes the memory of pages of the spare part back. They are zero again, for all processes.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Outside`], [`SegmentError::Misaligned`].
    ///
    /// # Cost
    ///
    /// A system call, and some 100 ns for each page.
    pub fn release(&self, offset: usize, bytes: usize) -> Result<(), SegmentError> {
        let first = self.spare_pages(offset, bytes)?;
        if advise(first, bytes, libc::MADV_REMOVE).is_err() {
            // SAFETY: within the mapping, as was checked. Who reads there was told that the pages are taken back.
            unsafe { first.write_bytes(0, bytes) };
        }
        Ok(())
    }

    /// Claims a part for an owner of this process, who alone makes references to its bytes. Returns whether nothing of it has an
    /// owner yet. The claim is for ever.
    pub fn claim(&self, part: Range<usize>) -> bool {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let overlaps = |other: &Range<usize>| other.start < part.end && part.start < other.end;
        let is_free = !claims.iter().any(overlaps);
        if is_free {
            claims.push(part);
        }
        is_free
    }

    /// The address of a byte of the segment.
    ///
    /// # Panics
    ///
    /// If it lies outside.
    pub fn address(&self, offset: usize) -> NonNull<u8> {
        assert!(offset < self.bytes, "byte {offset} of {}", self.bytes);
        // SAFETY: within the mapping, as was just checked.
        unsafe { self.base.add(offset) }
    }

    /// The first of whole pages that lie in the segment.
    fn spare_pages(&self, offset: usize, bytes: usize) -> Result<*mut u8, SegmentError> {
        let first = self.pages_at(offset, bytes)?;
        let (offset, align) = (offset + bytes, rustix::param::page_size());
        match bytes.is_multiple_of(align) {
            true => Ok(first.as_ptr()),
            false => Err(SegmentError::Misaligned { offset, align }),
        }
    }
}

/// Whether this process may have a file of so many bytes, and has addresses for it.
fn may_map(bytes: usize) -> bool {
    let limit = |of| getrlimit(of).current.unwrap_or(u64::MAX);
    let bytes = bytes as u64;
    bytes <= limit(Resource::Fsize) && bytes <= limit(Resource::As) / 2
}

/// Gives the kernel advice about whole pages of a mapping.
fn advise(first: *mut u8, bytes: usize, advice: libc::c_int) -> std::io::Result<()> {
    loop {
        // SAFETY: pages of a mapping, says the caller, that may lose their contents if the advice takes them.
        if unsafe { libc::madvise(first.cast(), bytes, advice) } == 0 {
            return Ok(());
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn unreserved(reserved: usize, bytes: usize) -> SegmentError {
    SegmentError::Foreign {
        why: format!(
            "only {reserved} of its {bytes} bytes are reserved, the others may be missing later"
        ),
    }
}

/// Makes a file in memory. It is marked as not executable, which some systems require and Linux
/// before 6.3 does not know.
fn create() -> rustix::io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match rustix::fs::memfd_create("corecast", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => rustix::fs::memfd_create("corecast", flags),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flag;
    use rustix::fs::fcntl_get_seals;
    use std::os::fd::AsFd;

    fn plain(bytes: u64, seals: SealFlags) -> OwnedFd {
        let file = create().unwrap();
        rustix::fs::ftruncate(&file, bytes).unwrap();
        rustix::fs::fcntl_add_seals(&file, seals).unwrap();
        file
    }

    #[track_caller]
    fn refused(descriptor: impl AsFd, why: &str) {
        let error = Segment::attach(descriptor.as_fd()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn both_sides_see_one_memory_that_nobody_can_resize() {
        let (here, file) = Segment::shared(5000).unwrap();
        let there = Segment::attach(file.as_fd()).unwrap();
        assert_eq!(here.bytes(), there.bytes());
        assert!(here.is_shared() && here.bytes() >= 5000);
        let mode = rustix::fs::fstat(&file).unwrap().st_mode & 0o777;
        assert_eq!(mode, 0o600);
        assert!(fcntl_get_seals(&file).unwrap().contains(SealFlags::SEAL));
        assert!(rustix::fs::ftruncate(&file, 0).is_err());
        assert!(rustix::fs::ftruncate(&file, 1 << 20).is_err());
        let flags = rustix::io::fcntl_getfd(&file).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        drop(file);
        here.at::<Flag>(256, 1).unwrap()[0].raise(9);
        drop(here);
        assert_eq!(there.at::<Flag>(0, 3).unwrap()[2].seq(), 9);
    }

    #[test]
    fn what_could_vanish_or_is_something_else_is_refused() {
        let page = rustix::param::page_size() as u64;
        refused(plain(page, SealFlags::GROW), "not sealed against shrinking");
        refused(plain(0, SealFlags::SHRINK), "its 0 bytes");
        refused(plain(page + 1, SealFlags::SHRINK), "no multiple");
        refused(plain(page * 4, SealFlags::SHRINK), "only 0 of its");
        refused(std::io::stdin(), "");
        let (read, _write) = std::io::pipe().unwrap();
        refused(read, "no file in memory");
        let path = std::env::temp_dir().join(format!("corecast-attach-{}", std::process::id()));
        std::fs::write(&path, vec![0; page as usize]).unwrap();
        refused(std::fs::File::open(&path).unwrap(), "no file in memory");
        std::fs::remove_file(&path).unwrap();
    }

    /// Blocks of the file behind a segment, which are its memory.
    fn kept(file: &OwnedFd) -> usize {
        rustix::fs::fstat(file).unwrap().st_blocks as usize * 512
    }

    #[test]
    fn a_spare_part_takes_memory_while_it_is_committed() {
        let page = rustix::param::page_size();
        let (here, file) = Segment::shared_with_spare(page, 100 * page).unwrap();
        assert_eq!((here.bytes(), kept(&file)), (101 * page, page));
        refused(&file, "bytes are reserved");
        let there = Segment::attach_with_spare(file.as_fd()).unwrap();
        there.require(page).unwrap();
        let error = there.require(page + 1).unwrap_err().to_string();
        assert!(error.contains("reserved"), "{error}");
        for _ in 0..3 {
            here.commit(10 * page, 5 * page).unwrap();
            assert_eq!(kept(&file), 6 * page);
            let (ours, theirs) = (
                here.at::<Flag>(14 * page, 1),
                there.at::<Flag>(14 * page, 1),
            );
            let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
            assert_eq!(ours[0].seq(), 0, "it is zero again");
            ours[0].raise(7);
            assert_eq!(theirs[0].seq(), 7);
            let address = here.address(14 * page).as_ptr().addr();
            assert_eq!(address, (&raw const ours[0]).addr());
            here.release(10 * page, 5 * page).unwrap();
            assert_eq!(kept(&file), page);
            assert_eq!(theirs[0].seq(), 0);
            here.release(14 * page, page).unwrap();
        }
        for (offset, bytes) in [
            (1, page),
            (page, 1),
            (0, 102 * page),
            (usize::MAX - 1, page),
        ] {
            assert!(here.commit(offset, bytes).is_err(), "{offset}, {bytes}");
            assert!(here.release(offset, bytes).is_err(), "{offset}, {bytes}");
        }
    }

    #[test]
    fn a_part_has_one_owner() {
        let (segment, _file) = Segment::shared_with_spare(4096, 1 << 20).unwrap();
        assert!(segment.claim(4096..8192) && segment.claim(16384..20480));
        for taken in [4096..8192, 0..4097, 8191..16384, 0..1 << 20, 17000..18000] {
            assert!(!segment.claim(taken.clone()), "{taken:?}");
        }
        assert!(segment.claim(8192..16384) && segment.claim(0..4096));
    }

    #[test]
    fn more_than_the_machine_has_is_not_committed() {
        let (here, file) = Segment::shared_with_spare(4096, 1 << 45).unwrap();
        assert!(here.bytes() > 1 << 45, "it takes nothing");
        let before = kept(&file);
        let error = here.commit(1 << 20, 1 << 44).unwrap_err().to_string();
        assert!(
            error.contains("17592186044416 bytes of memory are wanted")
                && error.contains("shorter buffers"),
            "{error}"
        );
        assert_eq!(kept(&file), before);
    }

    #[test]
    fn a_wish_beyond_all_limits_is_an_error_with_both_numbers() {
        for bytes in [1 << 46, usize::MAX >> 1, usize::MAX] {
            let error = Segment::shared(bytes).unwrap_err();
            let said = error.to_string();
            assert!(
                matches!(
                    error,
                    SegmentError::Room { .. } | SegmentError::Shared { .. }
                ),
                "{said}"
            );
            assert!(said.contains(&format!("{bytes} bytes of")), "{said}");
        }
    }

    #[test]
    fn shared_pages_are_bound_or_it_is_explained() {
        use crate::Placement;
        let page = rustix::param::page_size();
        let (segment, _file) = Segment::shared(8 * page).unwrap();
        segment.at::<Flag>(page, 1).unwrap()[0].raise(3);
        match segment.bind(page, 2 * page, 0) {
            Placement::On(node) => assert_eq!(node, 0),
            Placement::Elsewhere(why) => assert!(!why.is_empty()),
            Placement::Anywhere => panic!("a node was asked for"),
        }
        assert_eq!(segment.at::<Flag>(page, 1).unwrap()[0].seq(), 3);
        for (offset, len) in [(1, page), (0, 9 * page), (usize::MAX, 2), (0, 0)] {
            let said = segment.bind(offset, len, 0).to_string();
            assert!(said.starts_with("where it was:"), "{said}");
        }
    }
}
