//! Records: what one commit has written of the order.
//!
//! ```text
//!  0        4        8                16               24               32
//!  ┌────────┬────────┬────────────────┬────────────────┬────────────────┬───────────── ─ ─ ┐
//!  │ CRC-32 │ bytes  │ first          │ end            │ durable        │ entries          │  zeros up to a multiple of 8
//!  └────────┴────────┴────────────────┴────────────────┴────────────────┴───────────── ─ ─ ┘
//!           └───────────────────── what the checksum is of ────────────────────────────────┘
//! ```
//!
//! Numbers are little-endian. A record holds the entries of the order from `first` up to `end`, each as `{index - first,
//! bytes, …}`; entries that change nothing are left out. Each record begins where the one before it ended. `durable` is how
//! many entries were durable when the record was written: it tells a torn tail, which nobody was promised, from a record
//! that was durable and has been damaged since.

use super::fault::seeded;

/// Bytes of a record before its entries.
pub(crate) const HEADER_BYTES: usize = 32;
/// Records begin at multiples of this.
pub(crate) const ALIGNED_TO: usize = 8;
/// Bytes of an entry before what it is.
const ENTRY_BYTES: usize = 8;

/// A record, as it lies in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) durable: u64,
    payload: &'a [u8],
    /// Bytes in the segment.
    pub(crate) bytes: usize,
}

/// The entries of a record that is being made.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    first: u64,
    payload: Vec<u8>,
}

impl Entries {
    /// Begins a record whose first entry has this index.
    pub(crate) fn begin(&mut self, first: u64) {
        self.first = first;
        self.payload.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.payload.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.payload.len()
    }

    /// Adds an entry, which `write` appends. `false` if it does not fit any more; then it is not added.
    pub(crate) fn add(&mut self, index: u64, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let Ok(offset) = u32::try_from(index - self.first) else {
            return false;
        };
        let start = self.payload.len();
        self.payload.extend_from_slice(&offset.to_le_bytes());
        self.payload.extend_from_slice(&[0; 4]);
        write(&mut self.payload);
        let bytes = self.payload.len() - start - ENTRY_BYTES;
        if u32::try_from(self.payload.len()).is_err() {
            self.payload.truncate(start);
            return false;
        }
        // It is shorter than the payload, which fits.
        self.payload[start + 4..start + 8].copy_from_slice(&(bytes as u32).to_le_bytes());
        true
    }

    /// Bytes of the record in a segment.
    pub(crate) fn record_bytes(&self) -> usize {
        (HEADER_BYTES + self.payload.len()).next_multiple_of(ALIGNED_TO)
    }

    /// Appends the record.
    pub(crate) fn write(&self, end: u64, durable: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&(self.payload.len() as u32).to_le_bytes());
        for number in [self.first, end, durable] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.payload);
        let sum = crc32fast::hash(&out[start + 4..]);
        out[start..start + 4].copy_from_slice(&sum.to_le_bytes());
        out.resize(start + self.record_bytes(), 0);
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().expect("four bytes")))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(eight.try_into().expect("eight bytes")))
}

impl<'a> Record<'a> {
    /// The record at the beginning of `bytes`; `None` if none lies there, or a damaged one.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (sum, length) = (u32_at(bytes, 0)?, u32_at(bytes, 4)? as usize);
        let [first, end, durable] = [8, 16, 24].map(|at| u64_at(bytes, at));
        let (first, end, durable) = (first?, end?, durable?);
        let payload = bytes.get(HEADER_BYTES..HEADER_BYTES.checked_add(length)?)?;
        // Cheap looks first: a search for records reads many that are none.
        if first >= end || durable > first {
            return None;
        }
        let right = sum == crc32fast::hash(&bytes[4..HEADER_BYTES + length]);
        let record = Self {
            first,
            end,
            durable,
            payload,
            bytes: (HEADER_BYTES + length).next_multiple_of(ALIGNED_TO),
        };
        (right || seeded!(ChecksumIgnored)).then_some(record)
    }

    /// Its entries with their indices. `None` is one that is not as it is written, which a right checksum all but excludes.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Option<(u64, &'a [u8])>> + use<'a> {
        let Self {
            first,
            end,
            payload,
            ..
        } = *self;
        let (mut at, mut least) = (0, first);
        std::iter::from_fn(move || {
            if at == payload.len() {
                return None;
            }
            let entry = (|| {
                let index = first.checked_add(u32_at(payload, at)?.into())?;
                let start = at + ENTRY_BYTES;
                let stop = start.checked_add(u32_at(payload, at + 4)? as usize)?;
                let bytes = payload.get(start..stop)?;
                (least..end)
                    .contains(&index)
                    .then_some((index, bytes, stop))
            })();
            let Some((index, bytes, stop)) = entry else {
                at = payload.len();
                return Some(None);
            };
            (at, least) = (stop, index + 1);
            Some(Some((index, bytes)))
        })
    }
}
