//! What a server begins with: the newest whole snapshot, and the records after it.
//!
//! Only the end of the last segment may be torn: it is cut off there. Whatever else is missing or damaged is told, and
//! nothing is changed. The last segment is written anew, from what was read: the kernel may show what an earlier server has
//! written and a failed sync has dropped.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::disk::Disk;
use super::fault::seeded;
use super::header::{self, Kind};
use super::log::Log;
use super::record::{ALIGNED_TO, Record};
use super::snapshot::{self, Unread};

/// What is recovered.
pub(crate) trait Restore: Default {
    /// Takes the next chunk of a snapshot.
    fn chunk(&mut self, bytes: &[u8]) -> Result<(), String>;
    /// Takes the next entry.
    fn entry(&mut self, bytes: &[u8]) -> Result<(), String>;
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Recovered<S> {
    pub(crate) state: S,
    pub(crate) log: Log,
    /// Bytes of the snapshot.
    pub(crate) snapshot_bytes: u64,
    /// What whoever runs the server should know.
    pub(crate) notes: Vec<String>,
}

/// Recovers what is on a disk; nothing where there is nothing.
pub(crate) fn recover<S: Restore>(
    disk: &Arc<dyn Disk>,
    segment_bytes: u64,
) -> io::Result<Recovered<S>> {
    let names = disk.list()?;
    let of_kind = |kind: Kind| {
        let mut found: Vec<u64> = names.iter().filter_map(|it| kind.index(it)).collect();
        found.sort_unstable();
        found
    };
    let mut notes = Vec::new();
    let (mut at, mut state, mut snapshot_bytes) = (0, S::default(), 0);
    for index in of_kind(Kind::Snapshot).into_iter().rev() {
        let mut found = S::default();
        match snapshot::read(disk, index, |chunk| found.chunk(chunk)) {
            Ok(bytes) => {
                (at, state, snapshot_bytes) = (index, found, bytes);
                break;
            }
            Err(Unread::Disk(error)) => return Err(error),
            Err(Unread::Damaged(why)) => notes.push(why),
        }
    }
    let segments = of_kind(Kind::Segment);
    // A segment ends where the next one begins. Those that end before the snapshot are no longer needed.
    let needed = |place: &usize| segments.get(place + 1).is_none_or(|next| *next > at);
    let places: Vec<usize> = (0..segments.len()).filter(needed).collect();
    let snapshot_at = at;
    let first = places.first().map(|it| segments[*it]);
    let lacks = match first {
        Some(first) => first > at,
        None => !notes.is_empty(),
    };
    if lacks {
        let missing = first.map_or("what follows".to_owned(), |first| {
            format!("the entries from {at} to {first}")
        });
        notes.push(format!(
            "{}: {missing} cannot be had: put the folder back from a copy",
            disk.shown("")
        ));
        return Err(invalid(notes.join("; ")));
    }
    let mut bytes_read = 0;
    let mut last = None;
    for place in places {
        let (first, next) = (segments[place], segments.get(place + 1).copied());
        let segment = Segment::read(disk, first)?;
        let later = &segments[place + 1..];
        let (offset, end) = segment.records(first, later, |index, bytes| {
            if index < snapshot_at && !seeded!(AppliedTwice) {
                return Ok(());
            }
            state.entry(bytes)
        })?;
        bytes_read += (offset - header::BYTES) as u64;
        at = at.max(end);
        let Some(next) = next else {
            notes.extend(segment.torn(offset, end)?);
            last = Some((segment, first, offset, end));
            continue;
        };
        if end != next {
            let why = "a record that is damaged or missing, before others that are whole";
            return Err(segment.damaged(offset, why, later));
        }
    }
    let mut log = match last {
        Some((segment, first, offset, end)) if end >= snapshot_at => match seeded!(TailKept) {
            false => {
                let records = &segment.bytes[header::BYTES..offset];
                Log::begin(Arc::clone(disk), first, records, end, segment_bytes)?
            }
            true => {
                let file = disk.open(&segment.name)?.into();
                let room = disk.open(&segment.name)?.bytes()?;
                let disk = Arc::clone(disk);
                Log::on(disk, file, first, offset as u64, room, end, segment_bytes)
            }
        },
        // The snapshot has more than the log.
        _ => Log::begin(Arc::clone(disk), at, &[], at, segment_bytes)?,
    };
    log.add_bytes(bytes_read);
    Ok(Recovered {
        state,
        log,
        snapshot_bytes,
        notes,
    })
}

/// The log of a disk that was recovered, for another process that goes on with it after the one that has written it has ended. All
/// that it has is durable then. `bytes` are those of all its records.
pub(crate) fn reopen(disk: &Arc<dyn Disk>, segment_bytes: u64, bytes: u64) -> io::Result<Log> {
    let names = disk.list()?;
    let segments = names.iter().filter_map(|it| Kind::Segment.index(it));
    let first = segments.max().ok_or_else(|| {
        invalid(format!(
            "{}: the log that was there is gone",
            disk.shown("")
        ))
    })?;
    let segment = Segment::read(disk, first)?;
    let (offset, end) = segment.records(first, &[], |_, _| Ok(()))?;
    // What is torn is whole at those who have not been answered.
    segment.torn(offset, end)?;
    let records = &segment.bytes[header::BYTES..offset];
    let mut log = Log::begin(Arc::clone(disk), first, records, end, segment_bytes)?;
    log.add_bytes(bytes);
    Ok(log)
}

fn invalid(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// A segment as it was read.
struct Segment<'a> {
    disk: &'a Arc<dyn Disk>,
    name: String,
    bytes: Vec<u8>,
}

impl<'a> Segment<'a> {
    fn read(disk: &'a Arc<dyn Disk>, first: u64) -> io::Result<Self> {
        let name = Kind::Segment.name(first);
        let file = disk.open(&name)?;
        // The room behind it has only zeros, and reading them would take as long as a disk that is slow.
        let length = file.written_bytes()?.max(header::BYTES as u64);
        let length = usize::try_from(length.min(file.bytes()?)).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        let length = file.read_at(&mut bytes, 0)?;
        bytes.truncate(length);
        let segment = Self { disk, name, bytes };
        match header::check(&segment.bytes, Kind::Segment, first) {
            Ok(()) => Ok(segment),
            Err(why) => Err(invalid(format!(
                "{}: {why}: put the folder back from a copy",
                disk.shown(&segment.name)
            ))),
        }
    }

    /// Gives the entries of its whole records to `each`; returns where these end, in bytes and in entries.
    fn records(
        &self,
        first: u64,
        later: &[u64],
        mut each: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> io::Result<(usize, u64)> {
        let (mut offset, mut end) = (header::BYTES, first);
        while let Some(record) = Record::read(&self.bytes[offset..]).filter(|it| it.first == end) {
            for entry in record.entries() {
                let taken = entry.ok_or_else(|| "an entry that is none".to_owned());
                let taken = taken.and_then(|(index, bytes)| each(index, bytes));
                taken.map_err(|why| self.damaged(offset, &why, later))?;
            }
            (offset, end) = (offset + record.bytes, record.end);
        }
        Ok((offset, end))
    }

    /// What is to be told of the rest of the last segment, whose whole records end here. An error if they do not end as a log may.
    fn torn(&self, offset: usize, end: u64) -> io::Result<Option<String>> {
        if self.is_durable_after(offset, end) && !seeded!(DurableCutOff) {
            let why = "a record that is damaged, before others that are whole";
            return Err(self.damaged(offset, why, &[]));
        }
        let rest = &self.bytes[offset..self.used().max(offset)];
        let shown = self.disk.shown(&self.name);
        let told = || {
            format!("{shown}: cut off at byte {offset}, where a record was not written to its end")
        };
        Ok(rest.iter().any(|byte| *byte != 0).then(told))
    }

    /// Where nothing but zeros follows, to a few bytes.
    fn used(&self) -> usize {
        const ZEROS: [u8; 64] = [0; 64];
        let mut pieces = self.bytes.chunks(ZEROS.len());
        let used = pieces.rposition(|it| *it != ZEROS[..it.len()]);
        used.map_or(0, |it| self.bytes.len().min((it + 1) * ZEROS.len()))
    }

    /// Whether a record after `offset` tells that the one there, which begins with entry `end`, was durable.
    fn is_durable_after(&self, offset: usize, end: u64) -> bool {
        let places = (offset..self.used()).step_by(ALIGNED_TO);
        let mut later = places.filter_map(|at| Record::read(&self.bytes[at..]));
        later.any(|record| record.durable > end)
    }

    fn damaged(&self, offset: usize, why: &str, later: &[u64]) -> io::Error {
        let file = self.disk.shown(&self.name);
        let later = later
            .iter()
            .map(|it| self.disk.shown(&Kind::Segment.name(*it)));
        let later: String = later.map(|it| format!(" && rm {it}")).collect();
        invalid(format!(
            "{file}: at byte {offset}: {why}: put the folder back from a copy. To go on with what comes before, and lose what \
             comes after, keep a copy of the folder, and then: truncate -s {offset} {file}{later}"
        ))
    }
}
