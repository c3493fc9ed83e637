//! Segments that several processes map: files without a name, handed on as descriptors.
//!
//! Such a file has no path, so nothing of it stays behind: it goes with its last descriptor and its
//! last mapping. **Invariant 1:** before anybody maps it, it is sealed against shrinking, so no
//! process can take pages away under another one. **Invariant 2:** all of its pages are reserved,
//! so touching one never asks for memory. If either did not hold, a load of a line could end in
//! SIGBUS.

use super::mapped::pages;
use super::{Segment, SegmentError, room};
use rustix::fs::{FallocateFlags, FileType, MemfdFlags, Mode, SealFlags};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

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
        let file = create().map_err(failed("create a file in memory of"))?;
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(failed("keep to this user"))?;
        rustix::fs::ftruncate(&file, bytes as u64).map_err(failed("set aside"))?;
        loop {
            match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes as u64) {
                Err(Errno::INTR) => {}
                done => break done.map_err(failed("reserve"))?,
            }
        }
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).map_err(failed("seal"))?;
        let segment = Self::map(bytes, libc::MAP_SHARED, file.as_raw_fd())?;
        Ok((Arc::new(segment), file))
    }

    /// Maps the memory that another process made by [`Segment::shared`].
    ///
    /// # Errors
    ///
    /// [`SegmentError::Foreign`] when the descriptor is anything else, or could shrink while this
    /// process uses it, or belongs to another user; [`SegmentError::Map`].
    pub fn attach(descriptor: BorrowedFd<'_>) -> Result<Arc<Self>, SegmentError> {
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
        if reserved < bytes as u64 {
            return Err(foreign(format!(
                "only {reserved} of its {bytes} bytes are reserved, the others may be missing later"
            )));
        }
        let segment = Self::map(bytes, libc::MAP_SHARED, descriptor.as_raw_fd())?;
        Ok(Arc::new(segment))
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
