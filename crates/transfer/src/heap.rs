//! Heaps: symmetric memory of a process that belongs to no team, so that buffers can be made before there is one. The
//! processes of each of its teams map it.
//!
//! A process finds another one's heap in the table of that one's open files, `/proc/PID/fd`, which the kernel opens to those
//! that may look into the process. What it has opened is the right file if the random number of the heap lies at its beginning.

use crate::bounce_buffer::BounceLine;
use crate::symmetric::{AllocError, SymmetricBytes, SymmetricMemory};
use corecast_wire::sync::Mutex;
use corecast_wire::{LineSlice, Segment, SegmentError, Words};
use rustix::fs::{Mode, OFlags};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, PoisonError, Weak};

/// The heap of this process. Its pages have memory once they are touched, as those of any other memory that the kernel
/// promises.
///
/// # Examples
///
/// ```
/// use corecast_transfer::{MappedHeap, SymmetricHeap};
///
/// let heap = SymmetricHeap::new(1 << 30)?;
/// let mut buffer = heap.alloc(100_000, 1)?;
/// buffer[99_999] = 7;
/// assert!(heap.addresses().contains(&buffer.as_ptr().addr()));
/// // In another process it would have another address.
/// assert!(MappedHeap::open(std::process::id(), heap.name()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SymmetricHeap {
    memory: SymmetricMemory,
    segment: Arc<Segment>,
    name: HeapName,
    /// It stays open, so that others can find it.
    _file: OwnedFd,
}

/// By what other processes find the heap of a process. A process that wrote it may have written anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapName {
    /// The number of its file in the process.
    pub file: u32,
    /// A random number.
    pub id: u64,
}

/// Bytes before the first buffer: the heap's number.
fn head_bytes() -> usize {
    rustix::param::page_size()
}

impl SymmetricHeap {
    /// A heap with `bytes` of addresses, rounded up to pages, and one page of memory.
    ///
    /// # Errors
    ///
    /// [`SegmentError`]; there is none where limits of addresses or of file sizes (`ulimit -v`, `ulimit -f`) leave no room, and
    /// none where the kernel promises no more memory than it has (`vm.overcommit_memory` 2): there a page that is missing
    /// would end the process.
    pub fn new(bytes: usize) -> Result<Self, SegmentError> {
        if std::fs::read_to_string(OVERCOMMIT).is_ok_and(|text| text.trim() == "2") {
            let source = io::Error::other(format!("{OVERCOMMIT} is 2"));
            return Err(SegmentError::Map { bytes, source });
        }
        let head = head_bytes();
        let (segment, file) = Segment::shared_with_spare(head, bytes)?;
        let spare = segment.bytes() - head;
        if spare == 0 {
            let source = io::Error::other("limits of this process (ulimit -v, ulimit -f)");
            return Err(SegmentError::Map { bytes, source });
        }
        let id = RandomState::new().build_hasher().finish();
        segment.at::<Words>(0, 1)?[0].set(0, id);
        Ok(Self {
            memory: SymmetricMemory::new(&segment, head, spare),
            name: HeapName {
                file: file.as_raw_fd().unsigned_abs(),
                id,
            },
            segment,
            _file: file,
        })
    }

    /// A buffer of `bytes`, all zero, at a multiple of `align` and of the page size.
    ///
    /// # Errors
    ///
    /// [`AllocError::Full`], [`AllocError::Forked`].
    ///
    /// # Panics
    ///
    /// If `align` is no power of two.
    ///
    /// # Cost
    ///
    /// A lock. Each page is cleared when it is first touched; dropping the buffer gives them back by a system call.
    pub fn alloc(&self, bytes: usize, align: usize) -> Result<SymmetricBytes, AllocError> {
        self.memory.alloc_lazily(bytes, align)
    }

    /// Where its buffers lie.
    pub fn addresses(&self) -> Range<usize> {
        let first = self.segment.address(0).as_ptr().addr();
        first + head_bytes()..first + self.segment.bytes()
    }

    /// By what others find it.
    pub fn name(&self) -> HeapName {
        self.name
    }
}

const OVERCOMMIT: &str = "/proc/sys/vm/overcommit_memory";

/// Heaps that are mapped here, by process and name. All teams of this process share one mapping, which goes with the last.
static MAPPED: Mutex<Vec<(u32, HeapName, Weak<Segment>)>> = Mutex::new(Vec::new());

/// The heap of another process, as it is mapped here.
#[derive(Clone, Debug)]
pub struct MappedHeap(LineSlice<BounceLine>);

impl MappedHeap {
    /// Maps the heap of process `pid`, which shares its numbers of processes with this one.
    ///
    /// # Errors
    ///
    /// The kernel refuses to look into the process, or there is another file.
    pub fn open(pid: u32, name: HeapName) -> io::Result<Self> {
        let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
        mapped.retain(|(.., segment)| segment.strong_count() > 0);
        let known = mapped
            .iter()
            .find(|known| (known.0, known.1) == (pid, name));
        if let Some(segment) = known.and_then(|(.., segment)| segment.upgrade()) {
            return Self::of(&segment);
        }
        let segment = Self::map(pid, name)?;
        mapped.push((pid, name, Arc::downgrade(&segment)));
        Self::of(&segment)
    }

    fn map(pid: u32, name: HeapName) -> io::Result<Arc<Segment>> {
        let path = format!("/proc/{pid}/fd/{}", name.file);
        // Whatever else lies there is not waited for.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        let segment = Segment::attach_with_spare(file.as_fd()).map_err(io::Error::other)?;
        let found = segment.at::<Words>(0, 1).map_err(io::Error::other)?[0].get(0);
        match found == name.id {
            true => Ok(segment),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn of(segment: &Arc<Segment>) -> io::Result<Self> {
        let head = head_bytes();
        let bytes = segment.bytes().saturating_sub(head);
        let lines = segment.at(head, bytes / size_of::<BounceLine>());
        lines.map(Self).map_err(io::Error::other)
    }

    pub(crate) fn lines(&self) -> LineSlice<BounceLine> {
        self.0.clone()
    }
}
