//! The log as it is written: records in segments, and what is durable of them.
//!
//! **Invariant 1:** a segment gets its name when its length, its header and what it was made with are durable, and the next
//! record is written when the name is. So whatever was told to be durable lies in a file that is found again.
//!
//! **Invariant 2:** a segment is begun when all records before it are durable. So a record that is missing or damaged
//! before the last segment was lost after it was durable.
//!
//! **Invariant 3:** after a failure nothing is written any more. A sync that has failed may have dropped what it was to
//! write, and one that is tried again succeeds without it (Rebello and others, "Can Applications Recover from fsync
//! Failures?", ATC 2020).

use std::io;
use std::sync::Arc;

use super::disk::{Disk, DiskFile};
use super::fault::seeded;
use super::header::{self, Kind};
use super::record::Entries;

/// What a segment is called until it is whole.
pub(crate) const NEW_SEGMENT: &str = "log.new";

/// A place in the log for whoever goes on with it: what lies before is as durable as it has to be, and need not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The index that the segment begins with.
    pub(crate) segment: u64,
    /// Where a record ends in it, and the index that the next one begins with.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    /// How many entries are durable: `end`, unless nothing has to be.
    pub(crate) durable: u64,
}

impl Mark {
    /// The beginning of a segment: by Invariant 2 all before it is durable.
    pub(super) fn begin(segment: u64) -> Self {
        Self {
            segment,
            offset: header::BYTES as u64,
            end: segment,
            durable: segment,
        }
    }
}

/// Up to where a sync beside the log makes all durable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Synced {
    end: u64,
    offset: u64,
}

/// The log as it is written.
#[derive(Debug)]
pub(crate) struct Log {
    disk: Arc<dyn Disk>,
    file: Arc<dyn DiskFile>,
    /// The index that the segment begins with.
    segment: u64,
    /// Where the next record is written, and where the segment's room ends.
    offset: u64,
    room: u64,
    /// Records that are not written yet.
    buffer: Vec<u8>,
    /// The index that the next record begins with.
    end: u64,
    /// How many entries are durable, and where their last record ends in this segment, if that is known.
    durable: u64,
    durable_offset: Option<u64>,
    segment_bytes: u64,
    /// Bytes of all records of this log.
    bytes: u64,
    /// A sync beside the log has not told yet how it has ended.
    is_synced_beside: bool,
    failed: Option<String>,
}

/// Makes the segment that begins with this index, with what is given in it.
fn make_segment(
    disk: &Arc<dyn Disk>,
    first: u64,
    contents: &[u8],
    room: u64,
) -> io::Result<Arc<dyn DiskFile>> {
    let made = try_segment(disk, first, contents, room);
    if made.is_err() {
        // A disk that is full has that room again.
        let _ = disk.remove(NEW_SEGMENT);
    }
    made
}

fn try_segment(
    disk: &Arc<dyn Disk>,
    first: u64,
    contents: &[u8],
    room: u64,
) -> io::Result<Arc<dyn DiskFile>> {
    let file = disk.create(NEW_SEGMENT)?;
    file.allocate(room)?;
    file.write_at(&header::write(Kind::Segment, first), 0)?;
    file.write_at(contents, header::BYTES as u64)?;
    match seeded!(LengthUnsynced) {
        true => file.sync_data()?,
        false => file.sync_all()?,
    }
    disk.rename(NEW_SEGMENT, &Kind::Segment.name(first))?;
    if !seeded!(NameUnsynced) {
        disk.sync_names()?;
    }
    Ok(file.into())
}

impl Log {
    /// A log whose last segment begins with `first` and has these whole records up to `end`, all of which are written anew
    /// and durable.
    pub(crate) fn begin(
        disk: Arc<dyn Disk>,
        first: u64,
        records: &[u8],
        end: u64,
        segment_bytes: u64,
    ) -> io::Result<Self> {
        let offset = (header::BYTES + records.len()) as u64;
        let room = segment_bytes.max(offset);
        let file = make_segment(&disk, first, records, room).map_err(|error| {
            // A disk that is full says neither where nor what was wanted.
            let (file, mib) = (disk.shown(NEW_SEGMENT), room.div_ceil(1 << 20));
            let text = format!("{file}: a segment of {mib} MiB cannot be made: {error}");
            io::Error::new(error.kind(), text)
        })?;
        let mark = Mark {
            segment: first,
            offset,
            end,
            durable: end,
        };
        Ok(Self::on(disk, file, mark, room, segment_bytes))
    }

    /// The log in a segment that is there, which ends at a mark.
    pub(super) fn on(
        disk: Arc<dyn Disk>,
        file: Arc<dyn DiskFile>,
        mark: Mark,
        room: u64,
        segment_bytes: u64,
    ) -> Self {
        Self {
            disk,
            file,
            segment: mark.segment,
            offset: mark.offset,
            room,
            buffer: Vec::new(),
            end: mark.end,
            durable: mark.durable,
            durable_offset: (mark.durable == mark.end).then_some(mark.offset),
            segment_bytes,
            bytes: 0,
            is_synced_beside: false,
            failed: None,
        }
    }

    /// Up to where whoever goes on need not read it: where what is durable ends, or, if nothing `has_to_be_durable`, what was
    /// written.
    pub(crate) fn mark(&self, has_to_be_durable: bool) -> Mark {
        let Self {
            segment,
            durable,
            offset,
            end,
            ..
        } = *self;
        let at = |offset, end| Mark {
            segment,
            offset,
            end,
            durable,
        };
        match self.durable_offset {
            _ if !has_to_be_durable && self.buffer.is_empty() => at(offset, end),
            Some(offset) => at(offset, durable),
            None => Mark::begin(segment),
        }
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// How many entries are durable.
    #[cfg(test)]
    pub(crate) fn durable(&self) -> u64 {
        self.durable
    }

    /// Bytes of all records of this log.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts records that were there before.
    pub(super) fn add_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Whether so many more bytes can be written without waiting for the disk. Amid a sync the kernel may keep a write waiting, and a new
    /// segment is synced before it is used.
    pub(crate) fn takes_at_once(&self, bytes: u64) -> bool {
        let end = self.offset + self.buffer.len() as u64 + bytes;
        (!self.is_synced_beside || seeded!(WroteAmidSync)) && end <= self.room
    }

    /// Adds a record with the entries up to `end`. It is written by the next [`Log::write`].
    pub(crate) fn append(&mut self, entries: &Entries, end: u64) -> io::Result<()> {
        self.sound()?;
        let bytes = entries.record_bytes() as u64;
        let is_full = self.offset + self.buffer.len() as u64 + bytes > self.room;
        // Whether a sync has failed is told once: of two at a time one may hear nothing of it. So no segment is ended while one
        // runs beside the log, and this one grows.
        if is_full && (!self.is_synced_beside || seeded!(EndedAmidSync)) {
            self.write()?;
            if !seeded!(OldSegmentUnsynced) {
                self.sync()?;
            }
            let begun = self.begin_segment(bytes);
            self.poisoned_by(begun)?;
        }
        entries.write(end, self.durable, &mut self.buffer);
        self.end = end;
        self.bytes += bytes;
        Ok(())
    }

    fn begin_segment(&mut self, bytes: u64) -> io::Result<()> {
        self.offset = header::BYTES as u64;
        self.room = self.segment_bytes.max(self.offset + bytes);
        self.file = make_segment(&self.disk, self.end, &[], self.room)?;
        (self.segment, self.durable_offset) = (self.end, Some(self.offset));
        Ok(())
    }

    /// Gives what was appended to the kernel.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        self.sound()?;
        if self.buffer.is_empty() {
            return Ok(());
        }
        let written = self.file.write_at(&self.buffer, self.offset);
        self.poisoned_by(written)?;
        self.offset += self.buffer.len() as u64;
        // A long record's memory is given back.
        const KEPT_BYTES_MAX: usize = 4 << 20;
        match self.buffer.capacity() > KEPT_BYTES_MAX {
            true => self.buffer = Vec::new(),
            false => self.buffer.clear(),
        }
        Ok(())
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.sound()?;
        if self.durable < self.end && !seeded!(ToldUnsynced) {
            let mut synced = match self.offset > self.room {
                false => self.file.sync_data(),
                true => self.file.sync_all(),
            };
            if seeded!(SyncRetried) && synced.is_err() {
                synced = self.file.sync_data();
            }
            self.poisoned_by(synced)?;
        }
        (self.durable, self.durable_offset) = (self.end, Some(self.offset));
        Ok(())
    }

    /// What a sync beside the log has to sync, and up to where all is durable then. `None` if all is. It has to tell how it
    /// has ended.
    pub(crate) fn unsynced(&mut self) -> Option<(Arc<dyn DiskFile>, Synced)> {
        let has = self.durable < self.end && self.failed.is_none();
        self.is_synced_beside = has;
        // By Invariant 2 all that is not durable lies in the last segment.
        let synced = Synced {
            end: self.end,
            offset: self.offset,
        };
        has.then(|| (Arc::clone(&self.file), synced))
    }

    /// Notes how a sync beside the log has ended.
    pub(crate) fn synced(&mut self, synced: Synced, result: io::Result<()>) -> io::Result<()> {
        self.is_synced_beside = false;
        self.poisoned_by(result)?;
        if synced.end > self.durable {
            (self.durable, self.durable_offset) = (synced.end, Some(synced.offset));
        }
        Ok(())
    }

    /// Why nothing is written any more, if so.
    #[cfg(test)]
    pub(crate) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    fn sound(&self) -> io::Result<()> {
        match &self.failed {
            None => Ok(()),
            Some(why) => Err(io::Error::other(why.clone())),
        }
    }

    fn poisoned_by(&mut self, result: io::Result<()>) -> io::Result<()> {
        let Err(error) = result else { return Ok(()) };
        let why = format!(
            "{}: {error}",
            self.disk.shown(&Kind::Segment.name(self.segment))
        );
        self.failed.get_or_insert(why.clone());
        Err(io::Error::new(error.kind(), why))
    }
}
