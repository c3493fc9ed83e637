//! Regions: memory that processes share by means of somebody else's, such as a window of an MPI library. What a rank lends of
//! one is read where it lies.
//!
//! Each process has a region at an address of its own, so a loan names it by its number. Whoever makes regions sees to it that
//! all processes of a team have each region of the team's, by the same number and with the same bytes.
//!
//! | state of a region | lent | read | memory |
//! | --- | --- | --- | --- |
//! | made | no: others may not have it yet | yes | mapped here once more, by this process alone |
//! | [opened](SharedRegion::open) | yes | yes | as above |
//! | [closed](SharedRegion::close) | no: its addresses may soon be those of other memory | yes: others may still lend of it | as above |
//! | dropped | no | no | goes when the last copy out of it has ended |
//!
//! **Invariant:** what is read lies in the mapping of the region itself, which whoever reads keeps. So the library may take its own
//! one away at any time.

use corecast_wire::sync::{AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};
use std::io;
use std::ops::Range;
use std::sync::{Arc, PoisonError, Weak};

/// Bits of a loan's start that are an offset in its region; the others are the region's number.
const OFFSET_BITS: u32 = 48;

/// Addresses of this process that lie in one mapping which other processes can have.
///
/// # Examples
///
/// ```
/// use corecast_transfer::{SharedMapping, SymmetricHeap};
///
/// let heap = SymmetricHeap::new(1 << 20)?;
/// let data = heap.alloc(10_000, 1)?.as_ptr().addr();
/// let [whole, part] = [0, 100].map(|from| SharedMapping::find(data + from..data + 10_000));
/// assert_eq!(whole?.place()[2] + 100, part?.place()[2]);
/// assert!(SharedMapping::find(0..1).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SharedMapping {
    addresses: Range<usize>,
    place: [u64; 3],
}

impl SharedMapping {
    /// Finds the mapping that has all of these addresses.
    ///
    /// # Errors
    ///
    /// They lie in none, in several ones, or in one that is private; the kernel does not say it.
    ///
    /// # Cost
    ///
    /// The kernel writes a line for each mapping of the process.
    pub fn find(addresses: Range<usize>) -> io::Result<Self> {
        let maps = std::fs::read_to_string("/proc/self/maps")?;
        let place = maps.lines().find_map(|line| place(line, &addresses));
        let place = place.ok_or_else(|| {
            let Range { start, end } = addresses;
            io::Error::other(format!("{start:x}-{end:x} is in no shared mapping"))
        })?;
        Ok(Self { addresses, place })
    }

    /// Device, inode and offset of the first byte: equal in all processes that have mapped the same bytes.
    pub fn place(&self) -> [u64; 3] {
        self.place
    }

    /// Makes these addresses the region `id`, which is not lent before it is [opened](SharedRegion::open).
    ///
    /// # Errors
    ///
    /// The kernel maps them not once more, for example by a limit of addresses.
    ///
    /// # Safety
    ///
    /// The mapping that was found still stands, and its file is not made shorter while there is the region.
    pub unsafe fn region(self, id: u16) -> io::Result<SharedRegion> {
        let Range { start, end } = self.addresses;
        let skip = start % rustix::param::page_size();
        let bytes = end - start + skip;
        if bytes as u64 >= 1 << OFFSET_BITS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: a length of 0 leaves the old mapping, which is shared, as it is, and maps its pages once more, at addresses that
        // nobody has. They lie in the mapping, by the caller's promise.
        let mapped =
            unsafe { libc::mremap((start - skip) as *mut _, 0, bytes, libc::MREMAP_MAYMOVE) };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(SharedRegion {
            id,
            addresses: self.addresses,
            is_open: AtomicU32::new(0),
            mapped: mapped.cast(),
            skip,
        })
    }
}

/// Where the first of these addresses lies, if a line of `/proc/self/maps` is that of a shared mapping which has all of them.
fn place(line: &str, addresses: &Range<usize>) -> Option<[u64; 3]> {
    let mut words = line.split_ascii_whitespace();
    let (low, high) = words.next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (low, high) = (hex(low)?, hex(high)?);
    let inside = low <= addresses.start as u64 && addresses.end as u64 <= high;
    let is_shared = words.next()?.ends_with('s');
    let offset = hex(words.next()?)?;
    let (major, minor) = words.next()?.split_once(':')?;
    let device = hex(major)? << 32 | hex(minor)?;
    let inode = words.next()?.parse().ok()?;
    (inside && is_shared && !addresses.is_empty())
        .then(|| [device, inode, offset + (addresses.start as u64 - low)])
}

/// A region of this process.
#[derive(Debug)]
pub struct SharedRegion {
    id: u16,
    /// Where the program has it.
    addresses: Range<usize>,
    /// 1 or 0.
    is_open: AtomicU32,
    /// The same pages, mapped for reading alone, and where the first byte is there.
    mapped: *mut u8,
    skip: usize,
}

// SAFETY: the memory is read as bytes by copies that suppose nothing of them, from whichever thread.
unsafe impl Send for SharedRegion {}
// SAFETY: as above.
unsafe impl Sync for SharedRegion {}

impl SharedRegion {
    /// From now on what lies in it is lent without a copy. All processes of its teams have made it.
    pub fn open(&self) {
        // Release: with the acquire in `KnownRegions::lend`. Whoever lends was told of the memory after this, by the program.
        self.is_open.store(1, Ordering::Release);
    }

    /// From now on nothing of it is lent any more: its addresses may become those of other memory.
    pub fn close(&self) {
        // Release: with the acquire in `KnownRegions::lend`: memory that comes there later is not taken for the region.
        self.is_open.store(0, Ordering::Release);
    }

    /// The number by which loans name it.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Where it begins in the mapping of its own, and how many bytes it has.
    pub(crate) fn bytes(&self) -> (*const u8, usize) {
        (self.mapped.wrapping_add(self.skip), self.addresses.len())
    }
}

impl Drop for SharedRegion {
    fn drop(&mut self) {
        // SAFETY: mapped in `SharedMapping::region` for this region alone, which nobody reads any more.
        unsafe { libc::munmap(self.mapped.cast(), self.skip + self.addresses.len()) };
    }
}

/// The regions that all processes of a team have. It does not keep them.
#[derive(Debug, Default)]
pub struct SharedRegions {
    regions: Mutex<Vec<Weak<SharedRegion>>>,
    /// Changes with them.
    version: AtomicU64,
}

impl SharedRegions {
    /// Adds a region, which ends when the last other reference goes.
    pub fn add(&self, region: &Arc<SharedRegion>) {
        let mut regions = self.lock();
        regions.retain(|region| region.strong_count() > 0);
        regions.push(Arc::downgrade(region));
        // Release: with the acquire in `KnownRegions::refresh`.
        self.version.fetch_add(1, Ordering::Release);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let regions = self.lock();
        regions
            .iter()
            .filter(|region| region.strong_count() > 0)
            .count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<SharedRegion>>> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an endpoint knows of its team's regions.
#[derive(Debug, Default)]
pub(crate) struct KnownRegions {
    team: Option<Arc<SharedRegions>>,
    version: u64,
    known: Vec<(u16, Range<usize>, Weak<SharedRegion>)>,
}

impl KnownRegions {
    pub(crate) fn new(team: Arc<SharedRegions>) -> Self {
        Self {
            team: Some(team),
            ..Self::default()
        }
    }

    /// How a loan names these addresses, if they lie in a region.
    #[inline]
    pub(crate) fn lend(&mut self, addresses: &Range<usize>) -> Option<u64> {
        self.refresh()?;
        self.known.iter().find_map(|(id, region, kept)| {
            let offset = offset(region, addresses)?;
            // Acquire: with the releases in `SharedRegion`.
            let is_open = kept.upgrade()?.is_open.load(Ordering::Acquire) == 1;
            is_open.then_some(u64::from(*id) << OFFSET_BITS | offset)
        })
    }

    /// The region that a loan names, and the offset in it. It stays while the reference does.
    pub(crate) fn read(&mut self, start: u64) -> Option<(Arc<SharedRegion>, u64)> {
        self.refresh()?;
        let (id, offset) = (start >> OFFSET_BITS, start & ((1 << OFFSET_BITS) - 1));
        let mut named = self.known.iter().filter(|known| u64::from(known.0) == id);
        let region = named.find_map(|(.., region)| region.upgrade())?;
        Some((region, offset))
    }

    /// Learns of regions that have come since. `None` if there are none.
    #[inline]
    fn refresh(&mut self) -> Option<()> {
        let team = self.team.as_ref()?;
        // Acquire: with the release in `SharedRegions::add`.
        let version = team.version.load(Ordering::Acquire);
        if version != self.version {
            self.version = version;
            self.known.clear();
            for region in &*team.lock() {
                let kept = region.upgrade();
                let known = kept.map(|kept| (kept.id, kept.addresses.clone(), region.clone()));
                self.known.extend(known);
            }
        }
        Some(())
    }
}

/// The offset of addresses in memory that others have mapped, if all of them lie there.
pub(crate) fn offset(memory: &Range<usize>, addresses: &Range<usize>) -> Option<u64> {
    let inside =
        !addresses.is_empty() && memory.start <= addresses.start && addresses.end <= memory.end;
    inside.then(|| (addresses.start - memory.start) as u64)
}
