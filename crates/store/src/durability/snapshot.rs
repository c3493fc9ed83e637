//! Snapshots: all databases before one entry of the order, in a file of their own.
//!
//! ```text
//!  header │ chunk 0 │ chunk 1 │ … │ chunk n, which is empty
//!
//!  chunk:  0        4        8                16
//!          ┌────────┬────────┬────────────────┬───────── ─ ─ ┐
//!          │ CRC-32 │ bytes  │ number         │ what it holds │
//!          └────────┴────────┴────────────────┴───────── ─ ─ ┘
//! ```
//!
//! A snapshot is written once from its beginning to its end, and read once in the same order. So it is a file that gets its
//! name when it is durable, and no database of others.

use std::io;
use std::sync::Arc;

use super::disk::{Disk, DiskFile};
use super::fault::seeded;
use super::header::{self, Kind};

/// What a snapshot is called until it is durable.
pub(crate) const NEW_SNAPSHOT: &str = "snapshot.new";

const CHUNK_HEADER_BYTES: usize = 16;
/// After so many bytes what was written is synced, so that the last sync is short, and others of the disk wait for less.
const SYNCED_BYTES: u64 = 16 << 20;

/// A snapshot that is being written.
pub(crate) struct Writer {
    file: Box<dyn DiskFile>,
    offset: u64,
    synced: u64,
    chunks: u64,
    buffer: Vec<u8>,
}

impl Writer {
    /// Adds a chunk, which has to hold something.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        debug_assert!(!bytes.is_empty(), "an empty chunk is the end");
        self.put(bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len());
        let length = length.map_err(|_| io::Error::other("a chunk of 4 GiB or more"))?;
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0; 4]);
        self.buffer.extend_from_slice(&length.to_le_bytes());
        self.buffer.extend_from_slice(&self.chunks.to_le_bytes());
        self.buffer.extend_from_slice(bytes);
        let sum = crc32fast::hash(&self.buffer[4..]);
        self.buffer[..4].copy_from_slice(&sum.to_le_bytes());
        self.file.write_at(&self.buffer, self.offset)?;
        self.offset += self.buffer.len() as u64;
        self.chunks += 1;
        if self.offset - self.synced > SYNCED_BYTES {
            self.file.sync_data()?;
            self.synced = self.offset;
        }
        Ok(())
    }
}

/// Writes the snapshot of what comes before the entry `index`, whose chunks `fill` gives, and makes it durable. Returns how
/// long it is.
pub(crate) fn write(
    disk: &Arc<dyn Disk>,
    index: u64,
    fill: impl FnOnce(&mut Writer) -> io::Result<()>,
) -> io::Result<u64> {
    let written = (|| {
        let file = disk.create(NEW_SNAPSHOT)?;
        file.write_at(&header::write(Kind::Snapshot, index), 0)?;
        let mut writer = Writer {
            file,
            offset: header::BYTES as u64,
            synced: 0,
            chunks: 0,
            buffer: Vec::new(),
        };
        fill(&mut writer)?;
        writer.put(&[])?;
        if !seeded!(SnapshotUnsynced) {
            writer.file.sync_all()?;
        }
        disk.rename(NEW_SNAPSHOT, &Kind::Snapshot.name(index))?;
        if !seeded!(RemovedBeforeSnapshot) {
            disk.sync_names()?;
        }
        Ok(writer.offset)
    })();
    if written.is_err() {
        // It takes room, and is of no use.
        let _ = disk.remove(NEW_SNAPSHOT);
    }
    written
}

/// Removes what a snapshot that is durable stands for: older snapshots, and segments that end before it.
pub(crate) fn remove_older(disk: &Arc<dyn Disk>, index: u64) -> io::Result<()> {
    let names = disk.list()?;
    let mut segments: Vec<u64> = names
        .iter()
        .filter_map(|it| Kind::Segment.index(it))
        .collect();
    segments.sort_unstable();
    // A segment ends where the next one begins; the last one goes on.
    for pair in segments.windows(2).filter(|it| it[1] <= index) {
        disk.remove(&Kind::Segment.name(pair[0]))?;
    }
    for name in &names {
        if Kind::Snapshot.index(name).is_some_and(|it| it < index) {
            disk.remove(name)?;
        }
    }
    Ok(())
}

/// Why a snapshot was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The disk does not give it.
    Disk(io::Error),
    /// It is damaged, or of a version that this program does not know.
    Damaged(String),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

/// Reads a snapshot, and gives its chunks to `take`.
pub(crate) fn read(
    disk: &Arc<dyn Disk>,
    index: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<u64, Unread> {
    let name = Kind::Snapshot.name(index);
    let file = disk.open(&name)?;
    let total = file.bytes()?;
    let damaged = |offset: u64, why: &str| {
        Unread::Damaged(format!("{}: at byte {offset}: {why}", disk.shown(&name)))
    };
    let mut begin = [0; header::BYTES];
    let length = file.read_at(&mut begin, 0)?;
    header::check(&begin[..length], Kind::Snapshot, index).map_err(|why| damaged(0, &why))?;
    let (mut offset, mut buffer) = (header::BYTES as u64, Vec::new());
    for number in 0_u64.. {
        buffer.resize(CHUNK_HEADER_BYTES, 0);
        if file.read_at(&mut buffer, offset)? < CHUNK_HEADER_BYTES {
            return Err(damaged(offset, "it ends amid a chunk"));
        }
        let length = u32::from_le_bytes(buffer[4..8].try_into().expect("four bytes")) as usize;
        if length as u64 > total.saturating_sub(offset) {
            return Err(damaged(offset, "a chunk that is longer than the file"));
        }
        buffer.resize(CHUNK_HEADER_BYTES + length, 0);
        let body = &mut buffer[CHUNK_HEADER_BYTES..];
        if file.read_at(body, offset + CHUNK_HEADER_BYTES as u64)? < length {
            return Err(damaged(offset, "it ends amid a chunk"));
        }
        let right = buffer[..4] == crc32fast::hash(&buffer[4..]).to_le_bytes();
        if !right && !seeded!(ChecksumIgnored) || buffer[8..16] != number.to_le_bytes() {
            return Err(damaged(offset, "a chunk that is damaged"));
        }
        if length == 0 {
            break;
        }
        take(&buffer[CHUNK_HEADER_BYTES..]).map_err(|why| damaged(offset, &why))?;
        offset += buffer.len() as u64;
    }
    Ok(offset)
}
